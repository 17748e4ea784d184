#include "director/host/near_names.h"

#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearNamesTest, EditsAreLettersPutInLeftOutOrChanged) {
  EXPECT_EQ(EditsUntilMatch("/Game/town.level", "/Game/town.level", 9), 0u);
  EXPECT_EQ(EditsUntilMatch("/Game/TOWN.level", "/Game/town.level", 9), 0u) << "case is no edit";
  EXPECT_EQ(EditsUntilMatch("/Game/tonw.level", "/Game/town.level", 9), 2u);
  EXPECT_EQ(EditsUntilMatch("/Game/twn.level", "/Game/town.level", 9), 1u);
  EXPECT_GT(EditsUntilMatch("/Game/x", "/Engine/abcdefgh", 3), 3u);
}

TEST(NearNamesTest, StarsMatchForNothing) {
  EXPECT_EQ(EditsUntilMatch("/Game/*.png", "/Game/wood.png", 9), 0u);
  EXPECT_EQ(EditsUntilMatch("/Game/*.png", "/Game/a/wood.png", 9), 1u) << "a star ends at a slash";
  EXPECT_EQ(EditsUntilMatch("/Game/**/*.png", "/Game/a/b/wood.png", 9), 0u);
  EXPECT_EQ(EditsUntilMatch("/Game/**/*.png", "/Game/wood.png", 9), 0u);
  EXPECT_EQ(EditsUntilMatch("/Game/map/*.level", "/Game/maps/town.level", 9), 1u);
  EXPECT_EQ(EditsUntilMatch("/Game/?[a-z].png", "/Game/ab.png", 9), 0u);
}

TEST(NearNamesTest, TheNearestThreeAreNamedNearestFirst) {
  const std::vector<std::string> names = {"/Game/maps/a.level",   "/Game/maps/b.level",
                                          "/Game/maps/c.level",   "/Game/maps/d.level",
                                          "/Game/props/oak.gltf", "/Game/tex/wood.png"};
  EXPECT_THAT(NearNames("/Game/map/*.level", names),
              ElementsAre("/Game/maps/a.level", "/Game/maps/b.level", "/Game/maps/c.level"));
  EXPECT_THAT(NearNames("/Game/maps/e.level", names),
              ElementsAre("/Game/maps/a.level", "/Game/maps/b.level", "/Game/maps/c.level"));
  EXPECT_THAT(NearNames("/Game/tex/{wod,wodo}.png", names), ElementsAre("/Game/tex/wood.png"));
  EXPECT_THAT(NearNames("/Game/tex/{wod,wodo}.png", names, 5), ElementsAre()) << "too many names";
  EXPECT_THAT(NearNames("/Game/wood.png", names), ElementsAre("/Game/tex/wood.png"))
      << "the same name in another folder";
  EXPECT_THAT(NearNames("/Game/models/buildings/*.gltf", names),
              ElementsAre("/Game/props/oak.gltf"));
  EXPECT_THAT(NearNames("/Game/zzzzzz/*", names), IsEmpty());
}

TEST(NearNamesTest, TheTextFitsBehindAnError) {
  EXPECT_EQ(NearText({}), "");
  EXPECT_EQ(NearText(std::vector<std::string>{"/a"}), "; did you mean /a?");
  EXPECT_EQ(NearText(std::vector<std::string>{"release"}), "; did you mean \"release\"?");
  EXPECT_EQ(NearText(std::vector<std::string>{"a", "/b"}), "; the nearest are \"a\" and /b");
  EXPECT_EQ(NearText(std::vector<std::string>{"/a", "/b", "/c"}),
            "; the nearest are /a, /b and /c");
}

}  // namespace
}  // namespace galley::director
