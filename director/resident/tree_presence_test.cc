#include "director/resident/tree_presence.h"

#include <string>

#include "common/store/testing/memory_store.h"
#include "common/tree/linked_directory.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// TreePresenceTest: a tree with a file below two folders, one of which is there twice.
class TreePresenceTest : public testing::Test {
 protected:
  void SetUp() override {
    tree::LinkedDirectory inner;
    inner.files.push_back({.name = "a.txt", .digest = PutBytes("a")});
    inner.links.push_back({.name = "b.txt", .target = "../resource/nowhere"});
    inner_ = PutBytes(tree::EncodeLinkedDirectory(inner));
    tree::LinkedDirectory root;
    root.directories.push_back({.name = "one", .digest = inner_});
    root.directories.push_back({.name = "two", .digest = inner_});
    root_ = PutBytes(tree::EncodeLinkedDirectory(root));
  }
  Digest PutBytes(const std::string& bytes) {
    EXPECT_TRUE(store_.Put(Digest::Of(bytes), bytes).ok());
    return Digest::Of(bytes);
  }

  store::MemoryStore store_;
  Cancellation stop_;
  Digest inner_, root_;
};

TEST_F(TreePresenceTest, ATreeIsWholeWhateverItsLinksLeadTo) {
  EXPECT_TRUE(IsTreeWhole(store_, root_, stop_).value());
}

TEST_F(TreePresenceTest, ATreeWithoutAFileOrAFolderIsNotWhole) {
  store_.Drop(Digest::Of("a"));
  EXPECT_FALSE(IsTreeWhole(store_, root_, stop_).value());
  PutBytes("a");
  EXPECT_TRUE(IsTreeWhole(store_, root_, stop_).value());
  store_.Drop(inner_);
  EXPECT_FALSE(IsTreeWhole(store_, root_, stop_).value());
  EXPECT_FALSE(IsTreeWhole(store_, Digest::Of("no root"), stop_).value());
}

TEST_F(TreePresenceTest, NobodyWaitsForItAnyMore) {
  stop_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(IsTreeWhole(store_, root_, stop_).status()));
}

}  // namespace
}  // namespace galley::director
