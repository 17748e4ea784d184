#include "director/resident/device_trees.h"

#include <memory>
#include <string>
#include <string_view>

#include "common/content/name.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const devices::Audience kLinux{.platform = "linux", .cultures = {}};

devices::DeviceWorld WorldOf(const std::string& identity, const std::string& platform = "linux") {
  return {.project = "p", .platform = platform, .cultures = {}, .identity = Digest::Of(identity)};
}

devices::CookedPackage Cooked(const std::string& package, const std::string& bytes) {
  return {.package = package,
          .stage_path = package.substr(1),
          .outputs = {{".ktx2", Digest::Of(bytes)}}};
}

class DeviceTreesTest : public testing::Test {
 protected:
  void Insert(uint64_t world, const devices::DeviceWorld& device_world) {
    trees_.Insert(world, std::make_unique<devices::DeviceTree>(device_world, Digest()), {});
  }

  absl::Time now_ = absl::UnixEpoch();
  DeviceTrees trees_{[](std::string_view name) { return content::FoldName(name); }};
};

TEST_F(DeviceTreesTest, APlatformHasATreeInItsWorldOnly) {
  Insert(1, WorldOf("one"));
  EXPECT_TRUE(trees_.HasAny(1, "linux"));
  EXPECT_FALSE(trees_.HasAny(2, "linux"));
  EXPECT_FALSE(trees_.HasAny(1, "windows"));
}

TEST_F(DeviceTreesTest, AResultGoesToTheTreesOfItsWorldAndPlatform) {
  Insert(1, WorldOf("one"));
  Insert(2, WorldOf("two"));
  Insert(2, WorldOf("two", "windows"));
  EXPECT_THAT(trees_.Grow(now_, true), SizeIs(3)) << "each begins with a view";
  EXPECT_THAT(trees_.Add(2, "linux", Cooked("/Game/a.png", "a")), IsEmpty());
  const auto growths = trees_.Grow(now_, true);
  ASSERT_THAT(growths, SizeIs(1));
  EXPECT_EQ(growths[0].world, 2u);
  EXPECT_EQ(growths[0].view->world->platform, "linux");
  EXPECT_FALSE(growths[0].blobs.empty());
}

TEST_F(DeviceTreesTest, ATreeGrowsAtMostOnceInAHundredMillisecondsUnlessSomebodyWaits) {
  Insert(1, WorldOf("one"));
  trees_.Grow(now_, false);
  EXPECT_EQ(trees_.grows_at(), absl::InfiniteFuture());
  trees_.Add(1, "linux", Cooked("/Game/a.png", "a"));
  EXPECT_THAT(trees_.Grow(now_ + absl::Milliseconds(99), false), IsEmpty());
  EXPECT_EQ(trees_.grows_at(), now_ + absl::Milliseconds(100));
  EXPECT_THAT(trees_.Grow(now_ + absl::Milliseconds(99), true), SizeIs(1));
}

TEST_F(DeviceTreesTest, ASecondResultOfAPackageIsAFaultAndTheFirstOneStays) {
  Insert(1, WorldOf("one"));
  trees_.Add(1, "linux", Cooked("/Game/a.png", "a"));
  EXPECT_THAT(trees_.Add(1, "linux", Cooked("/Game/a.png", "other")), SizeIs(1));
  const auto growths = trees_.Grow(now_, true);
  ASSERT_THAT(growths, SizeIs(1));
  EXPECT_EQ(std::get<devices::CookedFile>(growths[0].view->Find("/Game/a.png", ".ktx2")).digest,
            Digest::Of("a"));
}

TEST_F(DeviceTreesTest, AWorldThatComesAgainGoesOnWithItsTree) {
  Insert(1, WorldOf("one"));
  Insert(2, WorldOf("two"));
  trees_.Grow(now_, true);
  EXPECT_FALSE(trees_.Reuse(3, WorldOf("three")));
  EXPECT_TRUE(trees_.Reuse(3, WorldOf("one")));
  EXPECT_EQ(trees_.Find(1, kLinux), nullptr);
  ASSERT_NE(trees_.Find(3, kLinux), nullptr);
  EXPECT_EQ(trees_.Find(3, kLinux)->newest()->growth, 1u);
}

TEST_F(DeviceTreesTest, ATreeOfANewerWorldDoesNotGoBack) {
  Insert(2, WorldOf("one"));
  EXPECT_TRUE(trees_.Reuse(1, WorldOf("one")));
  EXPECT_NE(trees_.Find(2, kLinux), nullptr);
}

TEST_F(DeviceTreesTest, TheNewestTreeBeforeAWorldHasGrown) {
  Insert(1, WorldOf("one"));
  EXPECT_EQ(trees_.NewestBefore(3, kLinux), 0u) << "it has no view yet";
  trees_.Grow(now_, true);
  Insert(2, WorldOf("two", "windows"));
  trees_.Grow(now_, true);
  EXPECT_EQ(trees_.NewestBefore(3, kLinux), 1u);
  EXPECT_EQ(trees_.NewestBefore(1, kLinux), 0u);
}

TEST_F(DeviceTreesTest, TreesOfOldWorldsAreDropped) {
  Insert(1, WorldOf("one"));
  Insert(2, WorldOf("two"));
  trees_.DropBefore(2);
  EXPECT_EQ(trees_.size(), 1u);
  EXPECT_EQ(trees_.Find(1, kLinux), nullptr);
}

}  // namespace
}  // namespace galley::director
