#include "director/host/idle_names.h"

#include <filesystem>

#include "common/base/file.h"
#include "director/host/scanned_project.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHead = R"([[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "pc"
)";

class IdleNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = testing::TempDir() + "/idle_names_" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(dir_);
    for (const char* file : {"textures/one.png", "maps/town.level", "maps/town.level.cook"})
      Put(file);
  }
  void Put(const std::string& file, const std::string& text = "x") {
    const std::filesystem::path path = dir_ + "/content/" + file;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(WriteFileAtomic(path.string(), text).ok());
  }
  // Returns "<text> [<kind>]" for each warning of a project with these lines from line 6 on.
  std::vector<std::string> Idle(const std::string& more,
                                const std::vector<std::string>& generated = {},
                                const std::vector<std::string>& cultures = {}) {
    EXPECT_TRUE(WriteFileAtomic(dir_ + "/galley.toml", std::string(kHead) + more).ok());
    auto project = project::LoadProject({.directory = dir_});
    EXPECT_TRUE(project.ok()) << project.status();
    if (!project.ok()) return {};
    const auto kept = std::make_shared<const project::Project>(*std::move(project));
    SnapshotPtr snapshot = content::Snapshot::Scan(ScanOptionsOf(*kept)).value();
    const record::CookerDescription copy{.name = "copy", .identity = "1"};
    const auto table =
        ProjectCatalog::Build(snapshot, kept,
                              std::make_shared<const project::RecipeResolver>(
                                  *kept, std::vector<record::CookerDescription>{copy}),
                              {});
    EXPECT_TRUE(table.ok()) << table.status();
    std::vector<std::string> texts;
    const auto visit_generated = [&](const auto& visit) {
      for (const std::string& name : generated) visit(name);
    };
    for (const record::Warning& one : IdleNames(*kept, **table, visit_generated, cultures)) {
      std::string text = one.ToText();
      if (const size_t at = text.find(dir_); at != std::string::npos)
        text.replace(at, dir_.size(), "~");
      texts.push_back(text);
    }
    return texts;
  }
  static std::string Rule(const std::string& match, const std::string& more = "") {
    return "[[rule]]\nmatch = \"" + match + "\"\ncooker = \"copy\"\n" + more;
  }

  std::string dir_;
};

TEST_F(IdleNamesTest, AKeyOfAnOlderGalleyHasNoEffect) {
  EXPECT_THAT(Idle(Rule("/**") + "[farm]\nplacement = \"cost\"\n"),
              ElementsAre("galley.toml:10: `farm.placement` has no effect any more: remove it "
                          "[key-without-effect]"));
}

TEST_F(IdleNamesTest, ARuleThatMatchesNoFileNamesItsPlaceAndTheNearest) {
  EXPECT_THAT(
      Idle(Rule("/Game/textures/**") + Rule("/Game/textres/**")),
      ElementsAre("galley.toml:10: [[rule]] match: nothing matches \"/Game/textres/**\"; did "
                  "you mean /Game/textures? [rule-matches-nothing]"));
  EXPECT_THAT(
      Idle(Rule("/Game/maps/*.levle")),
      ElementsAre("galley.toml:7: [[rule]] match: nothing matches \"/Game/maps/*.levle\"; did "
                  "you mean /Game/maps/town.level? [rule-matches-nothing]"));
  EXPECT_THAT(Idle(Rule("/**/*.cook")).size(), 1u) << "a sidecar is no package";
  EXPECT_THAT(Idle(Rule("/Game/**/*.PNG", "ignore_case = true\n")), IsEmpty());
}

TEST_F(IdleNamesTest, WhatIsNotNearIsNotNamed) {
  Put("large0.bin");
  Put("a.tga");
  EXPECT_THAT(Idle(Rule("/Game/**/*.txt")),
              ElementsAre("galley.toml:7: [[rule]] match: nothing matches \"/Game/**/*.txt\" "
                          "[rule-matches-nothing]"));
  EXPECT_THAT(Idle(Rule("/Game/**/*.pgn")), ElementsAre(testing::HasSubstr("/one.png? [")));
  EXPECT_THAT(Idle(Rule("/Game/images/one.png")), ElementsAre(testing::HasSubstr("/one.png? [")));
}

TEST_F(IdleNamesTest, ARuleMayBeAboutGeneratedPackages) {
  const std::string rule = Rule("/Game/**/_gen/*.level");
  EXPECT_THAT(Idle(rule).size(), 1u);
  EXPECT_THAT(Idle(rule, {"/Game/maps/town.level/_gen/cell_0_0.level"}), IsEmpty());
}

TEST_F(IdleNamesTest, OfManyIdleRulesTheFirstAreTold) {
  std::string rules;
  for (int i = 0; i < 25; ++i) rules += Rule("/Game/" + std::to_string(i) + "/**");
  const std::vector<std::string> told = Idle(rules);
  ASSERT_EQ(told.size(), 21u);
  EXPECT_EQ(told.back(), "and 5 more rules match nothing [rule-matches-nothing]");
}

TEST_F(IdleNamesTest, AMountWithoutAFileIsTold) {
  std::filesystem::create_directories(dir_ + "/contant");
  EXPECT_THAT(Idle(Rule("/Game/**") + "[[mount]]\npath = \"/Mod\"\ndir = \"contant\"\n"),
              ElementsAre(testing::AllOf(
                  testing::StartsWith("galley.toml:9: [[mount]] /Mod: no file of /"),
                  testing::HasSubstr("/contant is there to be cooked; did you mean /"),
                  testing::EndsWith("/content? [mount-empty]"))));
}

TEST_F(IdleNamesTest, ResourcesAndLabelsThatNameNothingAreTold) {
  EXPECT_THAT(
      Idle("[resources]\nlicense = 1\ngpu = 1\n" +
           Rule("/Game/**", "resources = [\"gpu\", \"licence\"]\nlabels = [\"sdk-y\"]\n") +
           "[farm]\nlabels = [\"sdk-x\"]\n"),
      ElementsAre("galley.toml:7: [resources] \"license\": no rule asks for it; did you mean "
                  "\"licence\"? [resource-unknown]",
                  "galley.toml:10: [[rule]] resources \"licence\": neither [resources] nor "
                  "[farm] resources has it; did you mean \"license\"? [resource-unknown]",
                  "galley.toml:10: [[rule]] labels \"sdk-y\": no machine of [farm] labels "
                  "has it; did you mean \"sdk-x\"? [label-unknown]"));
  EXPECT_THAT(Idle(Rule("/Game/**", "labels = [\"sdk-y\"]\n") + "[farm]\nlauncher = \"none\"\n"),
              IsEmpty())
      << "a worker may come that has it";
}

TEST_F(IdleNamesTest, WhatASidecarAsksForAndNobodyHasIsToldWithItsPlace) {
  Put("maps/town.level.cook", "# the town\nlabels = [\"sdk-x\",\n  \"sdk-y\"]\n");
  Put("textures/one.png.cook", "resources = [\"gpu\", \"licence=2\"]\n");
  Put("textures/two.png");
  Put("textures/two.png.cook", "[resources]\ngpu = 1\ngup = 1\n");
  Put("textures/gone.png.cook", "labels = [\"no-package\"]\n");
  const std::string project =
      "[resources]\nlicense = 1\ngpu = 1\n" + Rule("/Game/**", "labels = [\"sdk-x\"]\n");
  EXPECT_THAT(
      Idle(project + "[farm]\nlabels = [\"sdk-x\"]\n"),
      ElementsAre(
          testing::StartsWith("galley.toml:7: [resources] \"license\": no rule asks for it"),
          "content/maps/town.level.cook:3: labels \"sdk-y\": no machine of [farm] labels has it; "
          "did you mean \"sdk-x\"? [label-unknown]",
          "content/textures/one.png.cook:1: resources \"licence\": neither [resources] nor [farm] "
          "resources has it; did you mean \"license\"? [resource-unknown]",
          "content/textures/two.png.cook:3: resources \"gup\": neither [resources] nor [farm] "
          "resources has it; did you mean \"gpu\"? [resource-unknown]"));
  EXPECT_THAT(Idle(project + "[farm]\nlauncher = \"none\"\n").size(), 1u)
      << "a worker may come that has it";
}

TEST_F(IdleNamesTest, CulturesAndMapSectionsThatNameNothingAreTold) {
  Put("L10N/de/logo.png");
  EXPECT_THAT(
      Idle(Rule("/Game/**") + "[cook]\ncultures = [\"de\", \"dee\"]\n[map_section.nightly]\n"
                              "maps = [\"/Game/maps/*.level\", \"/Game/map/*.level\"]\n"),
      ElementsAre("galley.toml:10: [cook] cultures \"dee\": no file is in a folder L10N/dee; "
                  "did you mean \"de\"? [culture-unknown]",
                  "galley.toml:12: [map_section.nightly]: nothing matches "
                  "\"/Game/map/*.level\"; did you mean /Game/maps? "
                  "[map-section-matches-nothing]"));
  EXPECT_THAT(Idle(Rule("/Game/**") + "[cook]\ncultures = [\"nosuch\"]\n", {}, {"de", "dee"}),
              ElementsAre("--culture \"dee\": no file is in a folder L10N/dee; did you mean "
                          "\"de\"? [culture-unknown]"));
}

}  // namespace
}  // namespace galley::director
