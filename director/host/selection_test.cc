#include "director/host/selection.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SelectionTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    for (const char* file : {"maps/town.txt", "maps/forest.txt", "props/a.png", "props/b/c.png",
                             "propsx.txt", "readme.md"}) {
      Write(std::string("content/") + file, "");
    }
  }
  // Returns "<name> <category>, ..." or the error's text; warnings as "! text".
  std::string Selected() {
    const auto world = MakeWorld();
    const auto selection = Select(ask_, *world->project, *world->table, filter_.get());
    if (!selection.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(selection.status()));
      return std::string(selection.status().message());
    }
    by_the_book_ = selection->by_the_book;
    std::string text;
    for (const auto& one : selection->packages) {
      text +=
          (text.empty() ? "" : ", ") + one.name.substr(6) + " " + std::string(Short(one.category));
    }
    for (const std::string& warning : selection->warnings) text += "! " + warning;
    return text;
  }
  static std::string_view Short(InstigatorCategory category) {
    switch (category) {
      case InstigatorCategory::kCommandLinePackage:
        return "package";
      case InstigatorCategory::kCommandLineDirectory:
        return "folder";
      case InstigatorCategory::kCookMap:
        return "map";
      case InstigatorCategory::kIniMapSection:
        return "section";
      case InstigatorCategory::kAlwaysCookMap:
        return "always";
      default:
        return "?";
    }
  }

  void Ask(google::protobuf::RepeatedPtrField<std::string>* names,
           std::initializer_list<std::string> asked) {
    names->Assign(asked.begin(), asked.end());
  }

  v1::Selection ask_;
  GlobFilterPtr filter_;
  bool by_the_book_ = false;
};

TEST_F(SelectionTest, AFileInASandboxIsNamedAsSuch) {
  Write("content/out/pc/.galley-sandbox", "");
  Write("content/out/pc/Game/a.png", "");
  Ask(ask_.mutable_packages(), {"/Game/out/pc/Game/a.png"});
  EXPECT_EQ(Selected(), "--package: /Game/out/pc/Game/a.png is no package: it is in the sandbox " +
                            dir_ + "/content/out/pc, which is not content");
}

TEST_F(SelectionTest, WithoutAnyWordAllPackagesAreCookedByTheBook) {
  EXPECT_EQ(Selected(),
            "maps/forest.txt folder, maps/town.txt folder, props/a.png folder, props/b/c.png "
            "folder, propsx.txt folder");
  EXPECT_TRUE(by_the_book_);
}

TEST_F(SelectionTest, TheBookIsTheCookSection) {
  project_.cook.maps = {"/Game/maps/t*.txt"};
  project_.cook.directories = {"/Game/props"};
  project_.cook.always = {"/Game/propsx.txt"};
  EXPECT_EQ(Selected(),
            "maps/town.txt map, props/a.png folder, props/b/c.png folder, propsx.txt always");
  EXPECT_TRUE(by_the_book_);
}

TEST_F(SelectionTest, PatternsOfTheProjectThatNameNothingAreErrorsAllAtOnce) {
  project_.cook.maps = {{"/Game/maps/t*.txt", "galley.toml:40"},
                        {"/Game/map/*.txt", "galley.toml:41"},
                        {"/Game/*.md", "galley.toml:42"}};
  project_.cook.directories = {{"/Game/prop", "galley.toml:43"}};
  project_.cook.always = {{"/Game/propsy.txt", "galley.toml:44"}};
  EXPECT_EQ(Selected(),
            "galley.toml:41: [cook] maps: nothing matches \"/Game/map/*.txt\"; the nearest are "
            "/Game/maps/forest.txt and /Game/maps/town.txt\n"
            "galley.toml:42: [cook] maps: nothing matches \"/Game/*.md\": it matches "
            "/Game/readme.md, but no rule or sidecar makes that a package\n"
            "galley.toml:43: [cook] directories: no package is under /Game/prop; did you mean "
            "/Game/props?\n"
            "galley.toml:44: [cook] always: /Game/propsy.txt is no package: there is no such file; "
            "did you mean /Game/propsx.txt?");
}

TEST_F(SelectionTest, NoMoreThanTwentyErrorsAreTold) {
  for (int i = 0; i < 25; ++i) project_.cook.maps.emplace_back("/none/" + std::to_string(i));
  EXPECT_THAT(Selected(), AllOf(HasSubstr("/none/19 "), testing::Not(HasSubstr("/none/20 ")),
                                testing::EndsWith("\nand 5 more")));
}

TEST_F(SelectionTest, WhenAllIsNeverCookedNothingIs) {
  project_.cook.maps = {{"/Game/maps/*", "galley.toml:40"}};
  project_.cook.never = {"/Game/maps/**"};
  EXPECT_THAT(Selected(), HasSubstr("nothing is left to cook"));
  project_.cook.maps.emplace_back("/Game/props/a.png");
  EXPECT_EQ(Selected(),
            "maps/forest.txt map, maps/town.txt map, props/a.png map! galley.toml:40: [cook] maps: "
            "all that /Game/maps/* names is never cooked ([cook] never or --never)");
}

TEST_F(SelectionTest, PackagesThatOnlyTheCookLeavesOutCountLikeThoseOfTheProject) {
  filter_ = GlobFilter::Make({"/Game/maps/**"}, {}).value();
  project_.cook.maps = {{"/Game/maps/*", "galley.toml:40"}};
  EXPECT_THAT(Selected(), HasSubstr("nothing is left to cook"));
  project_.cook.maps.emplace_back("/Game/props/a.png");
  EXPECT_THAT(Selected(), HasSubstr("props/a.png map! galley.toml:40: [cook] maps: all that"));
  filter_ = GlobFilter::Make({}, {"de"}).value();
  EXPECT_EQ(Selected(), "maps/forest.txt map, maps/town.txt map, props/a.png map");
}

TEST_F(SelectionTest, AGlobNamesPackagesOnTheCommandLine) {
  Ask(ask_.mutable_positional(), {"/Game/maps/*", Host("content/props/*.png")});
  EXPECT_EQ(Selected(), "maps/forest.txt folder, maps/town.txt folder, props/a.png folder");
  Ask(ask_.mutable_positional(), {});
  Ask(ask_.mutable_packages(), {"**/c.png"});
  EXPECT_EQ(Selected(), "props/b/c.png folder");
  Ask(ask_.mutable_packages(), {"/Game/mops/*"});
  EXPECT_THAT(Selected(), HasSubstr("--package: nothing matches \"/Game/mops/*\"; the nearest are "
                                    "/Game/maps/forest.txt, /Game/maps/town.txt"));
  Ask(ask_.mutable_packages(), {});
  Ask(ask_.mutable_directories(), {"/Game/pr*"});
  EXPECT_THAT(Selected(), HasSubstr("a folder is named without wildcards"));
}

TEST_F(SelectionTest, ASelectionReplacesMapsAndDirectoriesButNotAlways) {
  project_.cook.maps = {"/Game/maps/*"};
  project_.cook.always = {"/Game/propsx.txt"};
  Ask(ask_.mutable_packages(), {"/Game/props/a.png"});
  EXPECT_EQ(Selected(), "props/a.png package, propsx.txt always");
  EXPECT_FALSE(by_the_book_);
}

TEST_F(SelectionTest, APositionalArgumentIsAPackageOrAFolderVirtualOrNot) {
  Ask(ask_.mutable_positional(), {"/Game/maps/town.txt", "/Game/props/"});
  EXPECT_EQ(Selected(), "maps/town.txt package, props/a.png folder, props/b/c.png folder");
  Ask(ask_.mutable_positional(), {Host("content/maps/town.txt"), Host("content/props/b")});
  EXPECT_EQ(Selected(), "maps/town.txt package, props/b/c.png folder");
  Ask(ask_.mutable_positional(), {"/Game"});
  EXPECT_THAT(Selected(), AllOf(HasSubstr("maps/town.txt"), HasSubstr("propsx.txt")));
}

TEST_F(SelectionTest, AMapMayBeAGlob) {
  Ask(ask_.mutable_maps(), {"/Game/maps/*.txt", "/Game/props/a.png"});
  EXPECT_EQ(Selected(), "maps/forest.txt map, maps/town.txt map, props/a.png map");
  Ask(ask_.mutable_maps(), {"/Game/none/*"});
  EXPECT_THAT(Selected(), HasSubstr("/Game/none/*"));
}

TEST_F(SelectionTest, AMapSectionIsNamedInTheProject) {
  project_.map_sections["nightly"] = {"/Game/maps/f*"};
  Ask(ask_.mutable_map_sections(), {"nightly"});
  EXPECT_EQ(Selected(), "maps/forest.txt section");
  Ask(ask_.mutable_map_sections(), {"weekly"});
  EXPECT_EQ(Selected(), "--map-section: galley.toml has no [map_section.weekly]");
  project_.map_sections["weekly"] = {{"/Game/mops/*", "galley.toml:50"}};
  EXPECT_THAT(Selected(), HasSubstr("galley.toml:50: [map_section.weekly] maps: nothing matches"));
}

TEST_F(SelectionTest, OnePackageForTwoReasonsKeepsBothAndTheSameReasonOnce) {
  Ask(ask_.mutable_packages(), {"/Game/maps/town.txt", "/Game/maps/town.txt"});
  Ask(ask_.mutable_maps(), {"/Game/maps/town.txt"});
  EXPECT_EQ(Selected(), "maps/town.txt package, maps/town.txt map");
}

TEST_F(SelectionTest, AGeneratedPackageIsTakenOnItsGeneratorsWord) {
  Ask(ask_.mutable_packages(), {"/Game/maps/town.txt/_gen/cell.txt"});
  EXPECT_EQ(Selected(), "maps/town.txt/_gen/cell.txt package");
  Ask(ask_.mutable_packages(), {"/Game/maps/town.png/_gen/cell.txt"});
  EXPECT_EQ(Selected(),
            "--package: /Game/maps/town.png/_gen/cell.txt is no package: there is no "
            "/Game/maps/town.png that could generate it; did you mean /Game/maps/town.txt?");
  Ask(ask_.mutable_packages(), {"/Game/maps/town.txt/_gen/*"});
  EXPECT_THAT(Selected(), HasSubstr("name the generator, or each of them without wildcards"));
}

TEST_F(SelectionTest, WhatNamesNothingIsAnErrorThatHelps) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/Game/maps/twon.txt", "no such file; did you mean /Game/maps/town.txt?"},
      {"/Game/Maps/town.txt", "/Game/maps/town.txt"},
      {"/Game/readme.md", "no rule or sidecar"},
      {"/elsewhere/x", "mounts: /Game"}};
  for (const auto& [argument, help] : cases) {
    Ask(ask_.mutable_positional(), {argument});
    EXPECT_THAT(Selected(), AllOf(HasSubstr(argument), HasSubstr(help)));
  }
  ask_.clear_positional();
  Ask(ask_.mutable_directories(), {"/Game/none"});
  EXPECT_THAT(Selected(), HasSubstr("--dir: no package is under /Game/none"));
}

}  // namespace
}  // namespace galley::director
