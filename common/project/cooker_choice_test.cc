#include "common/project/cooker_choice.h"

#include <gmock/gmock.h>

namespace galley::project {
namespace {

class CookerChoiceTest : public testing::Test {
 protected:
  void AddRule(std::string_view match, std::optional<std::string> cooker, int line) {
    Rule rule{
        .match = *content::Glob::Parse(match), .body = {}, .line = line, .ignore_case = false};
    rule.body.cooker = std::move(cooker);
    project_.rules.push_back(std::move(rule));
  }
  // "texture at galley.toml:10".
  std::string Choice(std::string_view package,
                     const std::optional<std::string>& sidecar = std::nullopt) {
    const std::optional<CookerChoice> choice = FindCookerChoice(project_, package, sidecar);
    return choice ? choice->cooker + " at " + choice->place : "no package";
  }

  Project project_;
};

TEST_F(CookerChoiceTest, TheLastRuleThatChangesTheCookerIsNamed) {
  AddRule("/Game/**/*.png", "texture", 10);
  AddRule("/Game/ui/*.png", std::nullopt, 20);
  AddRule("/Game/ui/*", "texture", 30);
  AddRule("/Game/raw/*", "copy", 40);
  EXPECT_EQ(Choice("/Game/a.png"), "texture at galley.toml:10");
  EXPECT_EQ(Choice("/Game/ui/a.png"), "texture at galley.toml:10");
  EXPECT_EQ(Choice("/Game/raw/a.png"), "copy at galley.toml:40");
  EXPECT_EQ(Choice("/Game/a.txt"), "no package");
  EXPECT_EQ(Choice("/Game/ui/a.png.cook"), "no package");
}

TEST_F(CookerChoiceTest, ARuleThatIgnoresTheCaseChoosesForEachSpelling) {
  AddRule("/game/**/*.png", "texture", 10);
  project_.rules.back().ignore_case = true;
  EXPECT_EQ(Choice("/Game/A.PNG"), "texture at galley.toml:10");
}

TEST_F(CookerChoiceTest, ASidecarIsNamedWithTheLineOfItsCooker) {
  AddRule("/Game/**/*.png", "texture", 10);
  EXPECT_EQ(Choice("/Game/a.png", "# by hand\ncooker = \"copy\"\n"), "copy at /Game/a.png.cook:2");
  EXPECT_EQ(Choice("/Game/a.png", "settings = { mipmaps = false }"), "texture at galley.toml:10");
  EXPECT_EQ(Choice("/Game/a.txt", ""), " at /Game/a.txt.cook:1");
  EXPECT_EQ(Choice("/Game/a.txt", "= what"), " at /Game/a.txt.cook:1");
}

}  // namespace
}  // namespace galley::project
