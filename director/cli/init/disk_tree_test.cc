#include "director/cli/init/disk_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::init {
namespace {

class DiskTreeTest : public ::testing::Test {
 protected:
  DiskTreeTest() : root_(*MakeTemporaryDirectory(::testing::TempDir(), "tree-")) {}
  ~DiskTreeTest() override { RemoveAll(root_).IgnoreError(); }

  void Link(const std::string& target, const std::string& path) {
    ASSERT_EQ(::symlink(target.c_str(), JoinPath(root_, path).c_str()), 0);
  }
  std::map<std::string, Entry> List(const std::string& folder) {
    std::map<std::string, Entry> entries;
    const auto listed = DiskTree(root_).List(folder);
    for (const Entry& entry : *listed) entries[entry.name] = entry;
    return entries;
  }

  const std::string root_;
};

TEST_F(DiskTreeTest, LinksAreWhatTheyLeadToOrTrouble) {
  ASSERT_TRUE(CreateDirectories(JoinPath(root_, "a/b")).ok());
  ASSERT_TRUE(WriteFileAtomic(JoinPath(root_, "a/f.png"), "x").ok());
  Link("a/f.png", "file");
  Link("a", "folder");
  Link("nowhere", "dangling");
  Link("loop", "loop");
  Link("/usr", "out");
  Link("..", "a/b/up");
  ASSERT_EQ(::mkfifo(JoinPath(root_, "pipe").c_str(), 0600), 0);
  auto top = List("");
  EXPECT_EQ(top["file"].kind, EntryKind::kFile);
  EXPECT_EQ(top["file"].link_target, "a/f.png");
  EXPECT_EQ(top["folder"].kind, EntryKind::kFolder);
  EXPECT_EQ(top["dangling"].kind, EntryKind::kTrouble);
  EXPECT_EQ(top["loop"].kind, EntryKind::kTrouble);
  EXPECT_EQ(top["out"].kind, EntryKind::kTrouble);
  EXPECT_EQ(top["pipe"].kind, EntryKind::kTrouble);
  EXPECT_EQ(List("a/b")["up"].kind, EntryKind::kTrouble);
}

TEST_F(DiskTreeTest, ANameThatNoPackageCanHaveIsTroubleAndSaysWhy) {
  const std::map<std::string, std::string> names = {{"\xff.png", "is not valid UTF-8"},
                                                    {"a\\b.png", "has a backslash"},
                                                    {"a\nb.png", "has a control character"}};
  for (const auto& [name, why] : names)
    ASSERT_TRUE(WriteFileAtomic(JoinPath(root_, name), "x").ok());
  auto entries = List("");
  ASSERT_EQ(entries.size(), names.size());
  for (const auto& [name, why] : names) {
    EXPECT_EQ(entries[name].kind, EntryKind::kTrouble);
    EXPECT_TRUE(entries[name].has_bad_name);
    EXPECT_EQ(entries[name].trouble, "a name that " + why + ", which no package can have");
  }
}

TEST_F(DiskTreeTest, ALinkToTheWholeTreeContainsItself) {
  Link(".", "here");
  EXPECT_EQ(List("")["here"].trouble, "a link to a folder that contains it");
}

TEST_F(DiskTreeTest, ReadsNoMoreThanItIsAskedFor) {
  ASSERT_TRUE(WriteFileAtomic(JoinPath(root_, "f"), "0123456789").ok());
  EXPECT_EQ(*DiskTree(root_).Read("f", 4), "0123");
  EXPECT_EQ(*DiskTree(root_).Read("f", 400), "0123456789");
  EXPECT_FALSE(DiskTree(root_).Read("absent", 4).ok());
}

}  // namespace
}  // namespace galley::init
