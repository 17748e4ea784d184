#include "director/cli/selection.h"

#include "director/shell/shell_test_world.h"

namespace galley::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SelectionTest : public director::ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    for (const char* file : {"maps/town.txt", "maps/forest.txt", "props/a.png", "props/b/c.png",
                             "propsx.txt", "readme.md"}) {
      Write(std::string("content/") + file, "");
    }
  }
  // "<name> <category>, ..." or the error's text; warnings as "! text".
  std::string Selected() {
    const auto world = MakeWorld();
    const auto selection = Select(options_of_cook_, *world->project, *world->table);
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
  static std::string_view Short(director::InstigatorCategory category) {
    switch (category) {
      case director::InstigatorCategory::kCommandLinePackage:
        return "package";
      case director::InstigatorCategory::kCommandLineDirectory:
        return "folder";
      case director::InstigatorCategory::kCookMap:
        return "map";
      case director::InstigatorCategory::kIniMapSection:
        return "section";
      case director::InstigatorCategory::kAlwaysCookMap:
        return "always";
      default:
        return "?";
    }
  }

  CookCommandOptions options_of_cook_;
  bool by_the_book_ = false;
};

TEST_F(SelectionTest, WithoutAnyWordAllPackagesAreCookedByTheBook) {
  EXPECT_EQ(Selected(),
            "maps/forest.txt folder, maps/town.txt folder, props/a.png folder, props/b/c.png "
            "folder, propsx.txt folder");
  EXPECT_TRUE(by_the_book_);
}

TEST_F(SelectionTest, TheBookIsTheCookSection) {
  project_.cook.maps = {"/Game/maps/t*.txt", "/Game/none/*"};
  project_.cook.directories = {"/Game/props", "/Game/nowhere"};
  project_.cook.always = {"/Game/propsx.txt"};
  EXPECT_EQ(Selected(),
            "maps/town.txt map, props/a.png folder, props/b/c.png folder, propsx.txt always"
            "! [cook] maps: nothing matches /Game/none/*! [cook] directories: no package lies "
            "under /Game/nowhere");
  EXPECT_TRUE(by_the_book_);
}

TEST_F(SelectionTest, ASelectionReplacesMapsAndDirectoriesButNotAlways) {
  project_.cook.maps = {"/Game/maps/*"};
  project_.cook.always = {"/Game/propsx.txt"};
  options_of_cook_.packages = {"/Game/props/a.png"};
  EXPECT_EQ(Selected(), "props/a.png package, propsx.txt always");
  EXPECT_FALSE(by_the_book_);
}

TEST_F(SelectionTest, APositionalArgumentIsAPackageOrAFolderVirtualOrNot) {
  options_of_cook_.positional = {"/Game/maps/town.txt", "/Game/props/"};
  EXPECT_EQ(Selected(), "maps/town.txt package, props/a.png folder, props/b/c.png folder");
  options_of_cook_.positional = {Host("content/maps/town.txt"), Host("content/props/b")};
  EXPECT_EQ(Selected(), "maps/town.txt package, props/b/c.png folder");
  options_of_cook_.positional = {"/Game"};
  EXPECT_THAT(Selected(), AllOf(HasSubstr("maps/town.txt"), HasSubstr("propsx.txt")));
}

TEST_F(SelectionTest, AMapMayBeAGlob) {
  options_of_cook_.maps = {"/Game/maps/*.txt", "/Game/props/a.png"};
  EXPECT_EQ(Selected(), "maps/forest.txt map, maps/town.txt map, props/a.png map");
  options_of_cook_.maps = {"/Game/none/*"};
  EXPECT_THAT(Selected(), HasSubstr("/Game/none/*"));
}

TEST_F(SelectionTest, AMapSectionIsNamedInTheProject) {
  project_.map_sections["nightly"] = {"/Game/maps/f*"};
  options_of_cook_.map_sections = {"nightly"};
  EXPECT_EQ(Selected(), "maps/forest.txt section");
  options_of_cook_.map_sections = {"weekly"};
  EXPECT_THAT(Selected(), HasSubstr("weekly"));
}

TEST_F(SelectionTest, OnePackageForTwoReasonsKeepsBothAndTheSameReasonOnce) {
  options_of_cook_.packages = {"/Game/maps/town.txt", "/Game/maps/town.txt"};
  options_of_cook_.maps = {"/Game/maps/town.txt"};
  EXPECT_EQ(Selected(), "maps/town.txt package, maps/town.txt map");
}

TEST_F(SelectionTest, AGeneratedPackageIsTakenOnItsGeneratorsWord) {
  options_of_cook_.packages = {"/Game/maps/town.txt/_gen/cell.txt"};
  EXPECT_EQ(Selected(), "maps/town.txt/_gen/cell.txt package");
}

TEST_F(SelectionTest, WhatNamesNothingIsAnErrorThatHelps) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/Game/maps/twon.txt", "no such file"},
      {"/Game/Maps/town.txt", "/Game/maps/town.txt"},
      {"/Game/readme.md", "no rule or sidecar"},
      {"/elsewhere/x", "mounts: /Game"}};
  for (const auto& [argument, help] : cases) {
    options_of_cook_.positional = {argument};
    EXPECT_THAT(Selected(), AllOf(HasSubstr(argument), HasSubstr(help)));
  }
  options_of_cook_.positional.clear();
  options_of_cook_.directories = {"/Game/none"};
  EXPECT_THAT(Selected(), HasSubstr("no package lies under /Game/none"));
}

}  // namespace
}  // namespace galley::cli
