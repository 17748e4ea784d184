#include "director/devices/world_change.h"

#include <gtest/gtest.h>

#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

using Paths = std::vector<ChangedPath>;
using Texts = std::vector<std::string>;

std::optional<Digest> Of(const std::string& text) { return Digest::Of(text); }

WorldChange ChangeOfOne(std::optional<ShownPackage> before, std::optional<ShownPackage> after,
                        const DeviceView* view = nullptr) {
  const std::vector<PackageChange> changes = {{std::move(before), std::move(after)}};
  return ChangeOf(changes, view);
}

TEST(WorldChangeTest, AnEditedPackageIsStale) {
  const ShownPackage package = SampleLink("/Game/a.png", {".ktx2"});
  const WorldChange change = ChangeOfOne(package, package);
  EXPECT_TRUE(change.added.empty() && change.modified.empty() && change.removed.empty());
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_EQ(change.stale[0].Paths(), (Texts{"Game/a.png.ktx2"}));
  EXPECT_FALSE(change.stale[0].is_new);
}

TEST(WorldChangeTest, ADeletionAndARenameAreOneChange) {
  const DeviceTree tree = GrownTree(1, {SampleCooked("/Game/a.png", {SampleOutput(".ktx2", "a")})});
  const std::vector<PackageChange> changes = {{SampleLink("/Game/a.png", {".ktx2"}), std::nullopt},
                                              {std::nullopt, SampleLink("/Game/b.png", {".ktx2"})}};
  const WorldChange change = ChangeOf(changes, tree.newest().get());
  EXPECT_EQ(change.removed, (Paths{{"Game/a.png.ktx2", Of("a"), std::nullopt}}));
  EXPECT_EQ(change.added, (Paths{{"Game/b.png.ktx2", std::nullopt, std::nullopt}}));
  EXPECT_EQ(change.not_stale, (Texts{"/Game/a.png"}));
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_TRUE(change.stale[0].is_new);
}

TEST(WorldChangeTest, AnEditedSmallFileIsModifiedAtOnce) {
  const WorldChange change =
      ChangeOfOne(SampleFile("/Game/a.txt", "old"), SampleFile("/Game/a.txt", "new"));
  EXPECT_EQ(change.modified, (Paths{{"Game/a.txt", Of("old"), Of("new")}}));
  EXPECT_TRUE(change.stale.empty());
  EXPECT_TRUE(
      ChangeOfOne(SampleFile("/Game/a.txt", "x"), SampleFile("/Game/a.txt", "x")).modified.empty());
}

TEST(WorldChangeTest, AFileThatBecomesALinkIsStaleWithItsOldBytes) {
  const WorldChange change =
      ChangeOfOne(SampleFile("/Game/a", "old"), SampleLink("/Game/a", {"", ".bin"}));
  EXPECT_EQ(change.added, (Paths{{"Game/a.bin", std::nullopt, std::nullopt}}));
  EXPECT_TRUE(change.removed.empty());
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_EQ(change.stale[0].before, (std::map<std::string, Digest>{{"Game/a", Digest::Of("old")}}));
}

TEST(WorldChangeTest, ALinkThatBecomesAFileIsModified) {
  const DeviceTree tree = GrownTree(1, {SampleCooked("/Game/a", {SampleOutput("", "cooked")})});
  const WorldChange change = ChangeOfOne(SampleLink("/Game/a", {""}),
                                         SampleFile("/Game/a", "copied"), tree.newest().get());
  EXPECT_EQ(change.modified, (Paths{{"Game/a", Of("cooked"), Of("copied")}}));
  EXPECT_EQ(change.not_stale, (Texts{"/Game/a"}));
}

TEST(WorldChangeTest, AnOutputThatNoCookHasAnyMoreIsRemoved) {
  const DeviceTree tree = GrownTree(1, {SampleCooked("/Game/a.png", {SampleOutput(".dds", "d")})});
  const WorldChange change = ChangeOfOne(SampleLink("/Game/a.png", {".dds"}),
                                         SampleLink("/Game/a.png", {".ktx2"}), tree.newest().get());
  EXPECT_EQ(change.removed, (Paths{{"Game/a.png.dds", Of("d"), std::nullopt}}));
  EXPECT_EQ(change.added, (Paths{{"Game/a.png.ktx2", std::nullopt, std::nullopt}}));
}

TEST(WorldChangeTest, FurtherOutputsAreStaleUntilTheCookTells) {
  const DeviceTree tree = GrownTree(
      1, {SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/lod1", "1"),
                                       SampleOutput(".d/lod2", "2")})});
  const ShownPackage package = SampleLink("/Game/a.glb", {".mesh"}, true);
  const WorldChange change = ChangeOfOne(package, package, tree.newest().get());
  EXPECT_TRUE(change.removed.empty());
  ASSERT_EQ(change.stale.size(), 1u);
  EXPECT_EQ(change.stale[0].Paths(),
            (Texts{"Game/a.glb.d/lod1", "Game/a.glb.d/lod2", "Game/a.glb.mesh"}));
  std::vector<NamedBlob> blobs;
  const auto node = MakeNode(
      SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/lod1", "other"),
                                   SampleOutput(".d/lod3", "3")}),
      LoweredPath, blobs);
  ASSERT_TRUE(node.ok()) << node.status();
  const WorldChange settled = SettledChange(change.stale[0], *node);
  EXPECT_EQ(settled.added, (Paths{{"Game/a.glb.d/lod3", std::nullopt, Of("3")}}));
  // The mesh came out the same, and is no longer stale.
  EXPECT_EQ(settled.modified, (Paths{{"Game/a.glb.d/lod1", Of("1"), Of("other")},
                                     {"Game/a.glb.mesh", Of("m"), Of("m")}}));
  EXPECT_EQ(settled.removed, (Paths{{"Game/a.glb.d/lod2", Of("2"), std::nullopt}}));
  EXPECT_TRUE(settled.stale.empty());
}

}  // namespace
}  // namespace galley::devices
