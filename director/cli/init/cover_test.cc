#include "director/cli/init/cover.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::init {
namespace {

using ::testing::ElementsAre;

TEST(CoverTest, AFolderOfWhichAllIsChosenIsOneGlob) {
  EXPECT_THAT(
      Cover({"/G/a/1.png", "/G/a/b/2.png", "/G/c/3.png"}, {"/G/a/1.png", "/G/a/b/2.png"}, "*.png"),
      ElementsAre("/G/a/**/*.png"));
}

TEST(CoverTest, FilesOfAMixedFolderAreNamedTogether) {
  EXPECT_THAT(Cover({"/G/1.png", "/G/2.png", "/G/3.png"}, {"/G/1.png", "/G/3.png"}, "*.png"),
              ElementsAre("/G/{1.png,3.png}"));
}

TEST(CoverTest, AFoldersOwnFilesCanBeChosenWithoutThoseBelow) {
  EXPECT_THAT(Cover({"/G/1.png", "/G/2.png", "/G/b/3.png"}, {"/G/1.png", "/G/2.png"}, "*.png"),
              ElementsAre("/G/*.png"));
}

TEST(CoverTest, NothingChosenIsNoGlob) { EXPECT_TRUE(Cover({"/G/1.png"}, {}, "*.png").empty()); }

}  // namespace
}  // namespace galley::init
