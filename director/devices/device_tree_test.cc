#include "director/devices/device_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/tree/linked_tree.h"
#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

class DeviceTreeTest : public testing::Test {
 protected:
  absl::Status Add(DeviceTree& tree, const CookedPackage& cooked) {
    std::vector<NamedBlob> blobs;
    const absl::Status status = tree.Add(cooked, LoweredPath, blobs);
    EXPECT_TRUE(store_.Store(std::move(blobs)));
    return status;
  }
  DeviceViewPtr Grow(DeviceTree& tree, bool is_awaited = true) {
    std::vector<NamedBlob> blobs;
    DeviceViewPtr view = tree.Grow(now_, is_awaited, blobs);
    written_ = 0;
    for (const NamedBlob& blob : blobs) written_ += blob.bytes.size();
    EXPECT_TRUE(view == nullptr || blobs.back().digest == view->root);
    EXPECT_TRUE(store_.Store(std::move(blobs)));
    return view;
  }
  std::map<std::string, Digest> FilesBelow(const Digest& root) {
    std::map<std::string, Digest> files;
    const auto listed = tree::ListLinkedTree(root, store_.Read());
    EXPECT_TRUE(listed.ok()) << listed.status();
    for (const tree::TreeFile& file : listed->files) files.emplace(file.path, file.digest);
    return files;
  }
  static CookedPackage Texture(const std::string& name, const std::string& text) {
    return SampleCooked("/Game/" + name, {SampleOutput(".ktx2", text)});
  }

  BlobsInMemory store_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  size_t written_ = 0;
};

TEST_F(DeviceTreeTest, TheFirstRootNamesItsWorld) {
  DeviceTree tree(SampleWorld(1), Digest());
  EXPECT_EQ(tree.newest(), nullptr);
  EXPECT_EQ(tree.grows_at(), absl::InfinitePast());
  const DeviceViewPtr view = Grow(tree, false);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->growth, 1u);
  const auto files = FilesBelow(view->root);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(DecodeDeviceWorld(*store_.Find(files.at("world"))).value(), SampleWorld(1));
  EXPECT_EQ(view->world_digest, files.at("world"));
}

TEST_F(DeviceTreeTest, TwoWorldsNeverShareARoot) {
  DeviceTree one(SampleWorld(1), Digest());
  DeviceTree two(SampleWorld(2), Digest());
  ASSERT_TRUE(Add(one, Texture("a.png", "a")).ok());
  ASSERT_TRUE(Add(two, Texture("a.png", "a")).ok());
  const DeviceViewPtr view_of_one = Grow(one), view_of_two = Grow(two);
  EXPECT_EQ(view_of_one->nodes.root(), view_of_two->nodes.root());
  EXPECT_NE(view_of_one->root, view_of_two->root);
}

TEST_F(DeviceTreeTest, TheTreeHasTheThreeChildren) {
  std::vector<NamedBlob> blobs;
  tree::Directory folder;
  folder.files.push_back({"a", Digest::Of("copied")});
  const Digest static_root = AppendBlob(tree::EncodeDirectory(folder), blobs);
  ASSERT_TRUE(store_.Store(std::move(blobs)));
  DeviceTree tree(SampleWorld(1), static_root);
  ASSERT_TRUE(Add(tree, Texture("a.png", "cooked")).ok());
  const auto files = FilesBelow(Grow(tree)->root);
  EXPECT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("static/a"), Digest::Of("copied"));
  EXPECT_EQ(files.at(NodeFolder(NodeKeyOf("/Game/a.png")) + "/a.png.ktx2"), Digest::Of("cooked"));
}

TEST_F(DeviceTreeTest, ALookUpSaysWhetherItIsCooked) {
  DeviceTree tree(SampleWorld(1), Digest());
  ASSERT_TRUE(Add(tree, Texture("a.png", "a")).ok());
  const DeviceViewPtr view = Grow(tree);
  EXPECT_EQ(view->Find("/Game/a.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("a")}));
  EXPECT_EQ(view->Find("/Game/a.png", ".d/lod9"), FileAnswer(NoSuchOutput{}));
  EXPECT_EQ(view->Find("/Game/b.png", ".ktx2"), FileAnswer(NotCooked{}));
}

TEST_F(DeviceTreeTest, AViewNeverSeesALaterGrowth) {
  DeviceTree tree(SampleWorld(1), Digest());
  const DeviceViewPtr first = Grow(tree);
  ASSERT_TRUE(Add(tree, Texture("a.png", "a")).ok());
  const DeviceViewPtr second = Grow(tree);
  EXPECT_EQ(second->growth, 2u);
  EXPECT_EQ(second->added, (std::vector<NodeKey>{NodeKeyOf("/Game/a.png")}));
  EXPECT_EQ(first->Find("/Game/a.png", ".ktx2"), FileAnswer(NotCooked{}));
  EXPECT_EQ(second->Find("/Game/a.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("a")}));
}

TEST_F(DeviceTreeTest, AGrowthLeavesAllThatWasThere) {
  DeviceTree tree(SampleWorld(1), Digest());
  std::mt19937 random(3);
  std::map<std::string, Digest> before = FilesBelow(Grow(tree)->root);
  for (int i = 0; i < 200; ++i) {
    for (uint32_t count = random() % 4; count > 0; --count) {
      const std::string name = std::to_string(random() % 5000) + ".png";
      ASSERT_TRUE(Add(tree, Texture(name, name)).ok());
    }
    const DeviceViewPtr view = Grow(tree);
    if (view == nullptr) continue;
    const std::map<std::string, Digest> after = FilesBelow(view->root);
    for (const auto& [path, digest] : before) ASSERT_EQ(after.at(path), digest);
    ASSERT_EQ(after.size(), before.size() + view->added.size());
    before = after;
  }
}

TEST_F(DeviceTreeTest, OneRootForManyAndTheOrderDoesNotMatter) {
  DeviceTree one(SampleWorld(1), Digest());
  DeviceTree two(SampleWorld(1), Digest());
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(Add(one, Texture(std::to_string(i), std::to_string(i))).ok());
    ASSERT_TRUE(Add(two, Texture(std::to_string(499 - i), std::to_string(499 - i))).ok());
    if (i % 50 == 0) Grow(two);
  }
  EXPECT_EQ(Grow(one)->root, Grow(two)->root);
  EXPECT_EQ(one.newest()->nodes.size(), 500u);
}

TEST_F(DeviceTreeTest, ANodeIsWrittenOnce) {
  DeviceTree tree(SampleWorld(1), Digest());
  ASSERT_TRUE(Add(tree, Texture("a.png", "a")).ok());
  // Before the growth and after.
  EXPECT_TRUE(absl::IsAlreadyExists(Add(tree, Texture("a.png", "b"))));
  const DeviceViewPtr view = Grow(tree);
  EXPECT_TRUE(absl::IsAlreadyExists(Add(tree, Texture("a.png", "b"))));
  EXPECT_EQ(Grow(tree), nullptr);
  EXPECT_EQ(view->Find("/Game/a.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("a")}));
}

TEST_F(DeviceTreeTest, ATreeWithoutNodesIsReadToo) {
  DeviceTree tree(SampleWorld(1), Digest());
  const auto nodes = ReadNodes(Grow(tree)->nodes.root(), store_.Read());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_TRUE(nodes->empty());
  EXPECT_TRUE(absl::IsNotFound(ReadNodes(Digest::Of("no"), store_.Read()).status()));
}

TEST_F(DeviceTreeTest, ANodeThatIsMadeElsewhereIsTheSame) {
  DeviceTree one(SampleWorld(1), Digest());
  DeviceTree two(SampleWorld(1), Digest());
  ASSERT_TRUE(Add(one, Texture("a.png", "a")).ok());
  std::vector<NamedBlob> blobs;
  const auto node = MakeNode(Texture("a.png", "a"), LoweredPath, blobs);
  ASSERT_TRUE(node.ok()) << node.status();
  ASSERT_TRUE(two.AddNode(*node).ok());
  ASSERT_TRUE(two.AddNode(*node).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Add(two, Texture("a.png", "b"))));
  EXPECT_EQ(Grow(one)->root, Grow(two)->root);
}

TEST_F(DeviceTreeTest, TheSameResultAgainIsNothingNew) {
  DeviceTree tree(SampleWorld(1), Digest());
  ASSERT_TRUE(Add(tree, Texture("a.png", "a")).ok());
  Grow(tree);
  std::vector<NamedBlob> blobs;
  EXPECT_TRUE(tree.Add(Texture("a.png", "a"), LoweredPath, blobs).ok());
  EXPECT_TRUE(blobs.empty());
  EXPECT_EQ(tree.grows_at(), absl::InfiniteFuture());
  EXPECT_EQ(Grow(tree), nullptr);
}

TEST_F(DeviceTreeTest, OutputsThatCannotBeInOneTreeAreNotAdded) {
  DeviceTree tree(SampleWorld(1), Digest());
  Grow(tree);
  EXPECT_TRUE(absl::IsInvalidArgument(
      Add(tree, SampleCooked("/Game/a", {SampleOutput(".x", "1"), SampleOutput(".X", "2")}))));
  EXPECT_EQ(Grow(tree), nullptr);
}

TEST_F(DeviceTreeTest, RootsComeAtMostEveryHundredMillisecondsUnlessSomebodyWaits) {
  DeviceTree tree(SampleWorld(1), Digest());
  Grow(tree, false);
  ASSERT_TRUE(Add(tree, Texture("a.png", "a")).ok());
  EXPECT_EQ(tree.grows_at(), now_ + absl::Milliseconds(100));
  now_ += absl::Milliseconds(99);
  EXPECT_EQ(Grow(tree, false), nullptr);
  now_ += absl::Milliseconds(1);
  EXPECT_NE(Grow(tree, false), nullptr);
  ASSERT_TRUE(Add(tree, Texture("b.png", "b")).ok());
  EXPECT_NE(Grow(tree, true), nullptr);
}

TEST_F(DeviceTreeTest, ASuccessorKeepsTheNodesThatHold) {
  DeviceTree older(SampleWorld(1), Digest());
  for (const char* name : {"a.png", "b.png", "c.png"})
    ASSERT_TRUE(Add(older, Texture(name, name)).ok());
  Grow(older);
  const std::vector<NodeKey> changed = {NodeKeyOf("/Game/a.png"), NodeKeyOf("/Game/b.png"),
                                        NodeKeyOf("/Game/never cooked")};
  DeviceTree newer(SampleWorld(2), Digest(), *older.newest(), changed);
  // A changed package may be cooked before the first growth.
  ASSERT_TRUE(Add(newer, Texture("b.png", "other")).ok());
  const DeviceViewPtr view = Grow(newer);
  EXPECT_EQ(view->Find("/Game/a.png", ".ktx2"), FileAnswer(NotCooked{}));
  EXPECT_EQ(view->Find("/Game/b.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("other")}));
  EXPECT_EQ(view->Find("/Game/c.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("c.png")}));
  EXPECT_EQ(view->nodes.size(), 2u);
  EXPECT_EQ(FilesBelow(view->root).size(), 3u);
  EXPECT_EQ(older.newest()->nodes.size(), 3u);
  // The tree is the one that is made from nothing.
  DeviceTree afresh(SampleWorld(2), Digest());
  ASSERT_TRUE(Add(afresh, Texture("c.png", "c.png")).ok());
  ASSERT_TRUE(Add(afresh, Texture("b.png", "other")).ok());
  EXPECT_EQ(Grow(afresh)->root, view->root);
}

TEST_F(DeviceTreeTest, ASuccessorOfWhichNothingHoldsHasNoNodes) {
  DeviceTree older(SampleWorld(1), Digest());
  ASSERT_TRUE(Add(older, Texture("a.png", "a")).ok());
  Grow(older);
  DeviceTree newer(SampleWorld(2), Digest(), *older.newest(), {NodeKeyOf("/Game/a.png")});
  EXPECT_EQ(FilesBelow(Grow(newer)->root).size(), 1u);
}

TEST_F(DeviceTreeTest, ARestartedDirectorReadsTheNodesOfALeasedRoot) {
  DeviceTree before(SampleWorld(1), Digest());
  CookedPackage level = SampleCooked("/Game/town.level", {SampleOutput(".bin", "b")});
  level.generated = {"_gen/cell_0"};
  ASSERT_TRUE(Add(before, level).ok());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Add(before, Texture(std::to_string(i), "x")).ok());
  const DeviceViewPtr old_view = Grow(before);
  auto nodes = ReadNodes(old_view->nodes.root(), store_.Read());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  DeviceTree after(SampleWorld(1), Digest());
  for (DeviceNode& node : *nodes) ASSERT_TRUE(after.AddNode(std::move(node)).ok());
  const DeviceViewPtr view = Grow(after);
  EXPECT_EQ(view->root, old_view->root);
  EXPECT_EQ(view->FindGenerated("/Game/town.level", "Game/town.level/_gen/cell_0"),
            GeneratedAnswer::kListed);
  EXPECT_EQ(view->Find("/Game/7", ".ktx2"), FileAnswer(CookedFile{Digest::Of("x")}));
}

TEST_F(DeviceTreeTest, FoldersThatTwoLeasedRootsShareAreReadOnce) {
  DeviceTree grown(SampleWorld(1), Digest());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Add(grown, Texture(std::to_string(i), "x")).ok());
  const Digest before = Grow(grown)->nodes.root();
  ASSERT_TRUE(Add(grown, Texture("a.png", "a")).ok());
  const Digest after = Grow(grown)->nodes.root();
  int reads = 0;
  const tree::ReadBlob counted = [&](const Digest& digest) {
    ++reads;
    return store_.Read()(digest);
  };
  std::set<Digest> known;
  EXPECT_FALSE(ReadNodes(Digest::Of("no"), counted, &known).ok());
  EXPECT_TRUE(known.empty()) << "what could not be read is not known";
  const auto nodes = ReadNodes(after, counted, &known);
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ(nodes->size(), 301u);
  reads = 0;
  const auto more = ReadNodes(before, counted, &known);
  ASSERT_TRUE(more.ok()) << more.status();
  EXPECT_LT(more->size(), 5u);
  EXPECT_LT(reads, 10);
}

TEST_F(DeviceTreeTest, ANodeThatCannotBeReadCostsNoOthers) {
  DeviceTree before(SampleWorld(1), Digest());
  // Two files of this node may be the list of what it generates.
  CookedPackage odd = SampleCooked("/Game/_gen", {SampleOutput("", "b")});
  odd.generated = {"_gen/a"};
  ASSERT_TRUE(Add(before, odd).ok());
  ASSERT_TRUE(Add(before, Texture("a.png", "a")).ok());
  auto nodes = ReadNodes(Grow(before)->nodes.root(), store_.Read());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 1u);
  DeviceTree after(SampleWorld(1), Digest());
  ASSERT_TRUE(after.AddNode(std::move(nodes->front())).ok());
  ASSERT_TRUE(Add(after, odd).ok());
  EXPECT_EQ(Grow(after)->root, before.newest()->root);
}

// The folders on the way to a node are as full as they are at a million packages: 256 and 256
// entries, and 40 nodes in the last, where the mean is 15 and no folder of 65,536 is expected to
// have more.
TEST_F(DeviceTreeTest, AGrowthAtAMillionPackagesWritesLittle) {
  DeviceTree tree(SampleWorld(1), Digest::Of("static"));
  const auto add_at = [&](uint8_t first, uint8_t second, uint8_t last) {
    DeviceNode node;
    node.key.hash = {first, second};
    node.key.hash[31] = last;
    node.files.push_back({"a.ktx2", Digest::Of("a")});
    node.root = Digest::Of(std::string(120, 'a'));
    ASSERT_TRUE(tree.AddNode(node).ok());
  };
  const NodeKey fresh = NodeKeyOf("/Game/fresh.png");
  const uint8_t first = fresh.hash[0], second = fresh.hash[1];
  for (int i = 0; i < 256; ++i) {
    const auto digit = static_cast<uint8_t>(i);
    if (digit != first) add_at(digit, 0, 0);
    add_at(first, digit, 0);
  }
  for (uint8_t i = 1; i < 40; ++i) add_at(first, second, i);
  Grow(tree);
  std::vector<NamedBlob> node_blobs;
  ASSERT_TRUE(tree.Add(Texture("fresh.png", "x"), LoweredPath, node_blobs).ok());
  ASSERT_NE(Grow(tree), nullptr);
  EXPECT_GT(written_, 40u << 10);
  EXPECT_LE(written_, 48u << 10);
  for (const NamedBlob& blob : node_blobs) written_ += blob.bytes.size();
  EXPECT_LE(written_, 64u << 10);
}

}  // namespace
}  // namespace galley::devices
