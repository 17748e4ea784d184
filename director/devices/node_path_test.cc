#include "director/devices/node_path.h"

#include <gtest/gtest.h>

#include "director/devices/path_order.h"

namespace galley::devices {
namespace {

// printf /Game/props/a.png | sha256sum
TEST(NodePathTest, ANodeIsNamedByItsPackage) {
  const NodeKey key = NodeKeyOf("/Game/props/a.png");
  const std::string hex = key.hex();
  EXPECT_EQ(hex.size(), 64u);
  EXPECT_EQ(ParseNodeKey(hex), key);
  EXPECT_EQ(NodeFolder(key), "resource/" + hex.substr(0, 2) + "/" + hex.substr(2, 2) + "/" + hex);
  EXPECT_NE(NodeKeyOf("/Game/props/A.png"), key);
  EXPECT_FALSE(ParseNodeKey(hex.substr(1)));
  EXPECT_FALSE(ParseNodeKey("G" + hex.substr(1)));
}

TEST(NodePathTest, ALinkLeadsFromItsFolderToTheNode) {
  const NodeKey key = NodeKeyOf("/Game/a.glb");
  EXPECT_EQ(LinkTarget("Game/a.glb.mesh", {.node = key}),
            "../../" + NodeFolder(key) + "/a.glb.mesh");
  EXPECT_EQ(LinkTarget("top", {.node = key}), "../" + NodeFolder(key) + "/top");
  EXPECT_EQ(LinkTarget("Game/a.glb.d/lod1.glb", {.node = key, .names = 2}),
            "../../../" + NodeFolder(key) + "/a.glb.d/lod1.glb");
}

TEST(NodePathTest, ATargetIsReadBack) {
  const NodeKey key = NodeKeyOf("/Game/a.glb");
  for (const uint32_t names : {1u, 2u, 3u}) {
    const LinkEnd end{.node = key, .names = names};
    EXPECT_EQ(ParseLinkTarget("Game/a.d/b", LinkTarget("Game/a.d/b", end)), end);
  }
  const std::string target = LinkTarget("Game/a.d/b", {.node = key});
  EXPECT_FALSE(ParseLinkTarget("Game/b", target));
  EXPECT_FALSE(ParseLinkTarget("Game/a.d/c", target));
  EXPECT_FALSE(ParseLinkTarget("Game/a.d/b", target + "/b/b/b/b"));
  EXPECT_FALSE(ParseLinkTarget("Game/a.d/b", "../../../resource"));
  EXPECT_FALSE(ParseLinkTarget("a", "../" + NodeFolder(key) + "xx"));
  EXPECT_FALSE(ParseLinkTarget("Game/a.d/b", ""));
}

TEST(PathOrderTest, AFolderComesBeforeItsNeighbours) {
  EXPECT_LT(ComparePaths("a", "a/x"), 0);
  EXPECT_LT(ComparePaths("a/x", "a.b"), 0);
  EXPECT_GT(ComparePaths("a.b", "a/x"), 0);
  EXPECT_EQ(ComparePaths("a/x", "a/x"), 0);
  EXPECT_LT(ComparePaths("a", "\xc3\xa4"), 0);
  EXPECT_TRUE(LiesBelow("a/b/c", "a"));
  EXPECT_FALSE(LiesBelow("a", "a"));
  EXPECT_FALSE(LiesBelow("ab/c", "a"));
}

TEST(PathOrderTest, OutputsHideOneAnotherAndALinkToFurtherOutputsGivesWay) {
  const EntryShape output{"a/b"}, same{"a/b"}, below{"a/b/c"}, other{"a/bc"};
  const EntryShape more{"a/b", true}, more_below{"a/b/c", true};
  EXPECT_TRUE(Hides(output, same));
  EXPECT_TRUE(Hides(output, below) && Hides(below, output));
  EXPECT_FALSE(Hides(output, other));
  EXPECT_TRUE(Hides(output, more) && Hides(below, more) && Hides(more, more));
  EXPECT_TRUE(Hides(output, more_below) && Hides(more_below, more));
  EXPECT_FALSE(Hides(more, output) || Hides(more, below) || Hides(more, more_below));
  EXPECT_FALSE(Hides(more_below, output));
}

}  // namespace
}  // namespace galley::devices
