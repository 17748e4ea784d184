#include "director/shell/changed_platforms.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using Platforms = std::vector<project::Platform>;

TEST(ChangedPlatformsTest, PlatformsAreKnownByTheirNames) {
  const Platforms before = {{"windows", {}}, {"deck", {}}, {"android", {}}};
  const Platforms now = {{"android", {}}, {"switch", {}}, {"windows", {}}};
  EXPECT_THAT(PlatformMapping(before, now), ElementsAre(2, std::nullopt, 0));
  EXPECT_FALSE(IsSameNumbering(before, now));
}

TEST(ChangedPlatformsTest, APlatformWithOtherParametersIsAnother) {
  const Platforms before = {{"windows", {{"texture", "bc"}}}, {"deck", {}}};
  const Platforms now = {{"windows", {{"texture", "astc"}}}, {"deck", {}}};
  EXPECT_THAT(PlatformMapping(before, now), ElementsAre(std::nullopt, 1));
  EXPECT_FALSE(IsSameNumbering(before, now));
  EXPECT_TRUE(IsSameNumbering(before, before));
}

}  // namespace
}  // namespace galley::director
