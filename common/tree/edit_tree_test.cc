// EditTree beside BuildTree: random trees, and random edits.
#include "common/tree/edit_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "common/tree/testing/counted_blobs.h"

namespace galley::tree {
namespace {

std::string Lowered(std::string_view path) {
  std::string text(path);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

class EditTreeTest : public testing::Test {
 protected:
  ReadBlob Read() { return blobs_.Read(); }
  Digest Build(const std::map<std::string, std::string>& files) {
    const BuiltTree tree = BuildTree(FilesOf(files), Lowered);
    EXPECT_TRUE(tree.conflicts.empty());
    blobs_.AddAll(tree.directories);
    return tree.root;
  }
  static TreeFile FileOf(const std::string& path, const std::string& text) {
    return {path, Digest::Of(text), text.ends_with('!')};
  }
  static std::vector<TreeFile> FilesOf(const std::map<std::string, std::string>& files) {
    std::vector<TreeFile> all;
    for (const auto& [path, text] : files) all.push_back(FileOf(path, text));
    return all;
  }

  CountedBlobs blobs_;
};

TEST_F(EditTreeTest, OnlyTheFoldersOfTheEditsAreRead) {
  const Digest root = Build({{"a/b/x", "1"}, {"a/c/y", "2"}, {"d/z", "3"}});
  const auto edited = EditTree(root, {"a/b/x"}, {FileOf("a/b/x", "4")}, Read(), Lowered);
  ASSERT_TRUE(edited.ok()) << edited.status();
  EXPECT_EQ(edited->root, Build({{"a/b/x", "4"}, {"a/c/y", "2"}, {"d/z", "3"}}));
  EXPECT_EQ(blobs_.reads, 3);
  EXPECT_EQ(edited->directories.size(), 3u);
}

TEST_F(EditTreeTest, AFolderOfWhichNothingIsLeftGoes) {
  const Digest root = Build({{"a/b/x", "1"}, {"d", "3"}});
  const auto edited = EditTree(root, {"a/b/x"}, {}, Read(), Lowered);
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->root, Build({{"d", "3"}}));
  const auto empty = EditTree(root, {"a/b/x", "d"}, {}, Read(), Lowered);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->root, Build({}));
}

TEST_F(EditTreeTest, AFileTakesThePlaceOfAFolderThatGoes) {
  const Digest root = Build({{"a/b", "1"}});
  const auto edited = EditTree(root, {"a/b"}, {FileOf("a", "2")}, Read(), Lowered);
  ASSERT_TRUE(edited.ok());
  EXPECT_EQ(edited->root, Build({{"a", "2"}}));
}

TEST_F(EditTreeTest, WhatMayBeAConflictIsNotDone) {
  const Digest root = Build({{"a/b", "1"}, {"c", "2"}});
  const auto edit = [&](std::vector<std::string> removed, const std::string& path) {
    return EditTree(root, removed, {FileOf(path, "3")}, Read(), Lowered).status();
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({}, "c")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({}, "C")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({}, "a")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({}, "A/x")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({}, "c/x")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({"x"}, "d")));
  EXPECT_TRUE(absl::IsFailedPrecondition(edit({"x/y"}, "d")));
  EXPECT_TRUE(edit({"c"}, "C").ok());
  const std::vector<TreeFile> both = {FileOf("c", "3"), FileOf("c", "4")};
  EXPECT_TRUE(absl::IsFailedPrecondition(EditTree(root, {"c"}, both, Read(), Lowered).status()));
}

TEST_F(EditTreeTest, AFolderThatIsGoneIsSaid) {
  const Digest root = Build({{"a/b", "1"}});
  blobs_.Forget(root);
  EXPECT_TRUE(absl::IsNotFound(EditTree(root, {"a/b"}, {}, Read(), Lowered).status()));
}

// Any edit gives the tree that BuildTree makes of the files, or is refused where names are near.
TEST_F(EditTreeTest, AnEditedTreeIsTheTreeThatIsBuilt) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  const auto a_path = [&] {
    std::string path;
    for (size_t depth = below(4); depth > 0; --depth) path += std::string(1, "abA"[below(3)]) + "/";
    return path + "xyzX"[below(4)];
  };
  const auto is_fine = [](const std::map<std::string, std::string>& files) {
    return BuildTree(FilesOf(files), Lowered).conflicts.empty();
  };
  int done = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::map<std::string, std::string> files;
    for (size_t i = below(12); i > 0; --i) {
      std::map<std::string, std::string> more = files;
      more[a_path()] = std::to_string(below(5));
      if (is_fine(more)) files = more;
    }
    const Digest root = Build(files);
    std::map<std::string, std::string> after = files;
    std::vector<std::string> removed;
    std::vector<TreeFile> added;
    for (const auto& [path, text] : files) {
      if (below(3) != 0) continue;
      removed.push_back(path);
      after.erase(path);
    }
    std::map<std::string, std::string> fresh;
    for (size_t i = below(4); i > 0; --i) fresh[a_path()] = std::to_string(below(9));
    bool is_same_path = false;
    for (const auto& [path, text] : fresh) {
      is_same_path |= after.contains(path);
      after[path] = text;
      added.push_back(FileOf(path, text));
    }
    const auto edited = EditTree(root, removed, added, Read(), Lowered);
    if (!edited.ok()) {
      ASSERT_TRUE(absl::IsFailedPrecondition(edited.status())) << edited.status();
      ++refused;
      continue;
    }
    ASSERT_FALSE(is_same_path);
    ASSERT_TRUE(is_fine(after));
    ASSERT_EQ(edited->root, Build(after));
    ++done;
  }
  EXPECT_GT(done, 500);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace galley::tree
