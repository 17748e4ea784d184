#include "common/record/warning.h"

#include <fstream>
#include <regex>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::record {
namespace {

TEST(WarningTest, ATextEndsWithTheNameOfItsKind) {
  const Warning warning{WarningKind::kTextureBlockSize, "70 x 66 texels"};
  EXPECT_EQ(warning.ToText(), "70 x 66 texels [texture-block-size]");
  EXPECT_EQ(Warning::Parse(warning.ToText()), warning);
}

TEST(WarningTest, ATextOfAnOlderGalleyIsRead) {
  for (const char* text :
       {"no normals", "", "odd [", "odd []", "odd [no-such-kind]", "[audio-file]"})
    EXPECT_EQ(Warning::Parse(text), (Warning{WarningKind::kOther, text})) << text;
}

TEST(WarningTest, AKindThatTheTextNamesWins) {
  EXPECT_EQ(KeptWarning(WarningKind::kMeshFile, "x"), "x [mesh-file]");
  EXPECT_EQ(KeptWarning(WarningKind::kMeshFile, "x [mesh-repaired]"), "x [mesh-repaired]");
  EXPECT_EQ(KeptWarning(WarningKind::kProgramWarning, "x [1]"), "x [1] [program-warning]");
}

TEST(WarningTest, NamesAreLowerCaseAndDiffer) {
  const std::vector<std::string> names = WarningKindNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), kWarningKindCount);
  for (const std::string& name : names) {
    EXPECT_THAT(name, testing::MatchesRegex("[a-z]+(-[a-z]+)*"));
    EXPECT_EQ(WarningKindName(WarningKindNamed(name).value()), name);
  }
  EXPECT_EQ(WarningKindNamed("texture"), std::nullopt);
}

TEST(WarningTest, ALaterLayerHasTheLastWordOnTheKindsThatItNames) {
  const auto rules = [](std::vector<WarningKind> off, std::vector<WarningKind> error) {
    WarningRules made;
    for (const WarningKind kind : off) made.off.set(static_cast<size_t>(kind));
    for (const WarningKind kind : error) made.error.set(static_cast<size_t>(kind));
    return made;
  };
  using enum WarningKind;
  WarningRules all = rules({kAudioFile, kMeshFile}, {kShaderCompiler, kMeshRepaired});
  all.Add(rules({kShaderCompiler}, {kMeshFile}));
  EXPECT_EQ(all, rules({kAudioFile, kShaderCompiler}, {kMeshRepaired, kMeshFile}));
  all.Add({});
  EXPECT_EQ(all, rules({kAudioFile, kShaderCompiler}, {kMeshRepaired, kMeshFile}));
}

// The table of docs/warnings.md has each kind once, and no other.
TEST(WarningTest, ThePageHasEachKind) {
  std::ifstream page(GALLEY_SOURCE_DIR "/docs/warnings.md");
  ASSERT_TRUE(page.is_open());
  std::multiset<std::string> rows;
  const std::regex row("^\\| `([a-z-]+)` \\|.*");
  for (std::string line; std::getline(page, line);) {
    if (std::smatch match; std::regex_match(line, match, row)) rows.insert(match[1]);
  }
  const std::vector<std::string> names = WarningKindNames();
  EXPECT_THAT(std::vector<std::string>(rows.begin(), rows.end()), testing::ElementsAreArray(names));
}

}  // namespace
}  // namespace galley::record
