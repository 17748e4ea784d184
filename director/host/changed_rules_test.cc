#include "director/host/changed_rules.h"

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<StandingRule> Rules(const std::vector<std::string>& matches) {
  std::vector<StandingRule> rules;
  for (const std::string& match : matches) rules.push_back({match, false, Digest::Of(match)});
  return rules;
}

std::vector<std::string> Differing(const std::vector<StandingRule>& before,
                                   const std::vector<StandingRule>& now) {
  std::vector<std::string> matches;
  for (const StandingRule& rule : DifferingRules(before, now)) matches.push_back(rule.match);
  return matches;
}

TEST(ChangedRulesTest, WhatLiesBetweenTheCommonBeginningAndEndDiffers) {
  const auto abc = Rules({"/a", "/b", "/c"});
  EXPECT_THAT(Differing(abc, abc), IsEmpty());
  EXPECT_THAT(Differing({}, abc), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(Differing(abc, Rules({"/a", "/c"})), ElementsAre("/b"));
  EXPECT_THAT(Differing(abc, Rules({"/a", "/x", "/b", "/c"})), ElementsAre("/x"));
  EXPECT_THAT(Differing(abc, Rules({"/b", "/a", "/c"})), ElementsAre("/a", "/b", "/b", "/a"));
  EXPECT_THAT(Differing(Rules({"/a", "/a"}), Rules({"/a"})), ElementsAre("/a"));
  auto other = abc;
  other[1].digest = Digest::Of("other settings");
  EXPECT_THAT(Differing(abc, other), ElementsAre("/b", "/b"));
  other = abc;
  other[2].ignore_case = true;
  EXPECT_THAT(Differing(abc, other), ElementsAre("/c", "/c"));
}

TEST(ChangedRulesTest, FilesAreFoundByTheirNamesAndGeneratedPackagesAreToldApart) {
  const TemporaryFolder folder = *TemporaryFolder::Make(testing::TempDir(), "galley-rules-");
  for (const char* const name : {"a.json", "sub/B.JSON", "c.txt"}) {
    const std::string path = JoinPath(folder.path(), name);
    ASSERT_TRUE(CreateDirectories(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomic(path, name).ok());
  }
  const auto files =
      content::Snapshot::Scan({.mounts = {{.path = "/Game", .directory = folder.path()}}}).value();
  const Members members =
      Members::FromBytes(EncodeMembers({"pc"}, {{.package = "/Game/c.txt"}}).bytes).value();
  EXPECT_THAT(NamesOf(Rules({"/Game/*.json", "/Game/a*"}), *files, members).value(),
              ElementsAre("/Game/a.json"));
  EXPECT_THAT(NamesOf({{"/**/*.json", true, Digest()}}, *files, members).value(),
              ElementsAre("/Game/a.json", "/Game/sub/B.JSON"));
  EXPECT_THAT(NamesOf(Rules({"/Game/sub/**"}), *files, members).value(),
              ElementsAre("/Game/sub/B.JSON"));
  EXPECT_THAT(NamesOf({}, *files, members).value(), IsEmpty());
  const Members generated =
      Members::FromBytes(EncodeMembers({"pc"}, {{.package = "/Game/a.level/_gen/x.json"}}).bytes)
          .value();
  EXPECT_TRUE(
      absl::IsFailedPrecondition(NamesOf(Rules({"/Game/**/*.json"}), *files, generated).status()));
  EXPECT_TRUE(NamesOf(Rules({"/Game/**/*.txt"}), *files, generated).ok());
}

}  // namespace
}  // namespace galley::director
