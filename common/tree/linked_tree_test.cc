#include "common/tree/linked_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "common/tree/testing/linked_folders.h"

namespace galley::tree {
namespace {

template <typename Differences>
std::string TextOf(const Differences& differences) {
  std::string text;
  for (const auto& difference : differences) {
    const bool is_added = difference.kind == Difference::Kind::kAdded;
    const bool is_removed = difference.kind == Difference::Kind::kRemoved;
    text += (is_added ? "+" : is_removed ? "-" : "~") + difference.path() + " ";
  }
  return text;
}

// The files that differ, '|', and the links that differ.
std::string LinkedDiff(const std::string& before, const std::string& after) {
  LinkedFolders folders;
  const auto found = DiffLinkedTrees(folders.Build(before), folders.Build(after), folders.Read());
  if (!found.ok()) return found.status().ToString();
  return TextOf(found->files) + "| " + TextOf(found->links);
}

TEST(ListLinkedTreeTest, FilesAndLinksAreListedByPath) {
  const std::string text = "b/z a.b l->b a/y! a/l->../b/z b/c/l->../../gone a-b";
  LinkedFolders folders;
  const auto listed = ListLinkedTree(folders.Build(text), folders.Read());
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->files.size(), 4u);
  EXPECT_EQ(listed->files[0], (TreeFile{"a-b", Digest::Of("a-b"), false}));
  EXPECT_EQ(listed->files[2], (TreeFile{"a/y", Digest::Of("a/y"), true}));
  ASSERT_EQ(listed->links.size(), 3u);
  EXPECT_EQ(listed->links[0], (TreeLink{"a/l", "../b/z"}));
  EXPECT_EQ(listed->links[1], (TreeLink{"b/c/l", "../../gone"}));
  EXPECT_EQ(listed->links[2], (TreeLink{"l", "b"}));
}

TEST(ListLinkedTreeTest, ACookedTreeIsListedAsByListTree) {
  LinkedFolders folders;
  const Digest root = folders.Build("b/z a.b a/y!");
  const auto listed = ListLinkedTree(root, folders.Read());
  const auto files = ListTree(root, folders.Read());
  ASSERT_TRUE(listed.ok() && files.ok());
  EXPECT_EQ(listed->files, *files);
  EXPECT_TRUE(listed->links.empty());
}

TEST(ListLinkedTreeTest, ListTreeAndDiffTreesGoOnRefusingLinks) {
  LinkedFolders folders;
  const Digest root = folders.Build("a l->a"), other = folders.Build("a");
  EXPECT_TRUE(absl::IsInvalidArgument(ListTree(root, folders.Read()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(DiffTrees(root, other, folders.Read()).status()));
}

TEST(ListLinkedTreeTest, LinksAreNotFollowed) {
  LinkedFolders folders;
  const auto listed = ListLinkedTree(folders.Build("a/f a/l->. b"), folders.Read());
  EXPECT_TRUE(absl::IsInvalidArgument(listed.status()));  // "." is no target
  const auto loop = ListLinkedTree(folders.Build("a/f a/l->../a"), folders.Read());
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_EQ(loop->files.size(), 1u);
  EXPECT_EQ(loop->links.size(), 1u);
}

// A small tree of shared folders can name very many links.
TEST(ListLinkedTreeTest, LinksCountAsFiles) {
  LinkedFolders folders;
  Digest folder = folders.Add(EncodeLinkedDirectory({.links = {{"l", "x"}}}));
  for (int level = 0; level < 60; ++level) {
    folder = folders.Add(EncodeLinkedDirectory({.directories = {{"a", folder}, {"b", folder}}}));
  }
  EXPECT_EQ(ListLinkedTree(folder, folders.Read(), 1000).status().code(),
            absl::StatusCode::kResourceExhausted);
  const Digest small = folders.Build("a b l->a");
  EXPECT_TRUE(ListLinkedTree(small, folders.Read(), 3).ok());
  EXPECT_FALSE(ListLinkedTree(small, folders.Read(), 2).ok());
}

TEST(DiffLinkedTreesTest, LinksAreAddedRemovedAndChanged) {
  EXPECT_EQ(LinkedDiff("a l->a m->a", "a m->b n->a"), "| -l ~m +n ");
  EXPECT_EQ(LinkedDiff("a d/l->a", "a"), "| -d/l ");
  EXPECT_EQ(LinkedDiff("a", "a d/e/l->a d/f"), "+d/f | +d/e/l ");
}

TEST(DiffLinkedTreesTest, ALinkThatBecameAFileIsRemovedAndAdded) {
  EXPECT_EQ(LinkedDiff("a l->a", "a l=text"), "+l | -l ");
  EXPECT_EQ(LinkedDiff("a l->a", "a l/b"), "+l/b | -l ");
}

TEST(DiffLinkedTreesTest, AChangedLinkSaysBothTargets) {
  LinkedFolders folders;
  const auto found =
      DiffLinkedTrees(folders.Build("d/l->a"), folders.Build("d/l->b"), folders.Read());
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->links.size(), 1u);
  EXPECT_EQ(found->links[0].before, (TreeLink{"d/l", "a"}));
  EXPECT_EQ(found->links[0].after, (TreeLink{"d/l", "b"}));
}

TEST(DiffLinkedTreesTest, EqualFoldersAreNotRead) {
  LinkedFolders folders;
  const Digest before = folders.Build("same/a same/l->a other->x");
  const Digest after = folders.Build("same/a same/l->a other->y");
  ASSERT_TRUE(DiffLinkedTrees(before, after, folders.Read()).ok());
  EXPECT_EQ(folders.reads, 2);
}

// A tree as a map: '=' and the content of a file, "->" and the target of a link.
using ModelTree = std::map<std::string, std::string>;

ModelTree RandomModel(std::mt19937& random) {
  ModelTree model;
  for (const char* folder : {"", "a/", "a/b/", "c/"}) {
    for (const char* name : {"x", "y", "z"}) {
      const size_t kind = random() % 4;
      const std::string value = std::to_string(random() % 2);
      if (kind == 1) model[std::string(folder) + name] = "=" + value;
      if (kind == 2) model[std::string(folder) + name] = "->" + value;
    }
  }
  return model;
}

Digest BuildModel(const ModelTree& model, LinkedFolders& folders) {
  std::string text;
  for (const auto& [path, value] : model) text += path + value + " ";
  return folders.Build(text);
}

std::string ExpectedDiff(const ModelTree& before, const ModelTree& after, const std::string& kind) {
  std::set<std::string> paths;
  for (const ModelTree* model : {&before, &after}) {
    for (const auto& [path, value] : *model) paths.insert(path);
  }
  const auto value_in = [&](const ModelTree& model, const std::string& path) {
    const auto at = model.find(path);
    return at != model.end() && at->second.starts_with(kind) ? at->second : "";
  };
  std::string text;
  for (const std::string& path : paths) {
    const std::string old = value_in(before, path), now = value_in(after, path);
    if (old == now) continue;
    text += (old.empty() ? "+" : now.empty() ? "-" : "~") + path + " ";
  }
  return text;
}

TEST(DiffLinkedTreesTest, RandomTreesDifferAsTheirModels) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 500; ++turn) {
    const ModelTree before = RandomModel(random), after = RandomModel(random);
    LinkedFolders folders;
    const Digest old = BuildModel(before, folders), now = BuildModel(after, folders);
    const auto found = DiffLinkedTrees(old, now, folders.Read());
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(TextOf(found->files), ExpectedDiff(before, after, "=")) << "turn " << turn;
    EXPECT_EQ(TextOf(found->links), ExpectedDiff(before, after, "->")) << "turn " << turn;
  }
}

}  // namespace
}  // namespace galley::tree
