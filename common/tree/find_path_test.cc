#include "common/tree/find_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "common/tree/testing/linked_folders.h"

namespace galley::tree {
namespace {

std::string TextOf(const TreeFile& file) { return "file " + file.path; }
std::string TextOf(const FoundFolder& folder) { return "folder " + folder.path; }
std::string TextOf(const FoundLink& link) {
  return fmt::format("link {} to {}, rest {}", link.path, link.target, link.rest);
}
std::string TextOf(const AbsentPath& absent) {
  return fmt::format("absent {}, existing {}", absent.path, absent.existing);
}
std::string TextOf(const DanglingLink& link) {
  return fmt::format("dangling {}, existing {}", link.path, link.existing);
}
template <typename Entry>
std::string TextOf(const absl::StatusOr<Entry>& entry) {
  if (!entry.ok()) return entry.status().ToString();
  return std::visit([](const auto& one) { return TextOf(one); }, *entry);
}

std::string Find(const std::string& tree, std::string_view path) {
  LinkedFolders folders;
  return TextOf(FindPath(folders.Build(tree), path, folders.Read()));
}

std::string Follow(const std::string& tree, std::string_view path) {
  LinkedFolders folders;
  return TextOf(FollowLinks(folders.Build(tree), path, folders.Read()));
}

TEST(FindPathTest, AFileIsFoundWithItsDigest) {
  LinkedFolders folders;
  const Digest root = folders.Build("a/b/c=text a/d!");
  const auto found = FindPath(root, "a/b/c", folders.Read());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, PathEntry(TreeFile{"a/b/c", Digest::Of("text"), false}));
  const auto program = FindPath(root, "a/d", folders.Read());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(*program, PathEntry(TreeFile{"a/d", Digest::Of("a/d"), true}));
}

TEST(FindPathTest, AFolderIsFoundWithItsDigestAndNotRead) {
  LinkedFolders folders;
  const Digest inner = folders.Build("c");
  const Digest root = folders.Build("a/b/c=c x");
  folders.Forget(inner);
  const auto found = FindPath(root, "a/b", folders.Read());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, PathEntry(FoundFolder{"a/b", inner}));
}

TEST(FindPathTest, TheEmptyPathIsTheRoot) {
  EXPECT_EQ(Find("a", ""), "folder ");
  EXPECT_EQ(Follow("a", ""), "folder ");
}

TEST(FindPathTest, AnAbsentPathSaysWhatExists) {
  EXPECT_EQ(Find("a/b", "c"), "absent c, existing ");
  EXPECT_EQ(Find("a/b", "a/c"), "absent a/c, existing a");
  EXPECT_EQ(Find("a/b", "a/c/d"), "absent a/c/d, existing a");
  EXPECT_EQ(Find("a/b", "a/b/c"), "absent a/b/c, existing a/b");
}

TEST(FindPathTest, ALinkEndsTheSearch) {
  EXPECT_EQ(Find("a l->a", "l"), "link l to a, rest ");
  EXPECT_EQ(Find("d/l->../a a/b/c", "d/l/b/c"), "link d/l to ../a, rest b/c");
}

TEST(FindPathTest, APathThatIsNotPlainIsRefused) {
  for (const char* path : {"/", "/a", "a/", "a//b", "../a", "a/..", ".", "a\\b"}) {
    LinkedFolders folders;
    const Digest root = folders.Build("a/b");
    EXPECT_TRUE(absl::IsInvalidArgument(FindPath(root, path, folders.Read()).status())) << path;
    EXPECT_TRUE(absl::IsInvalidArgument(FollowLinks(root, path, folders.Read()).status())) << path;
  }
}

TEST(FindPathTest, TheCostIsTheFoldersOnThePath) {
  LinkedFolders folders;
  const Digest root = folders.Build("a/b/c/d a/x/1 a/y/2 z/3 l->a/b/c/d");
  EXPECT_EQ(TextOf(FindPath(root, "a/b/c/d", folders.Read())), "file a/b/c/d");
  EXPECT_EQ(folders.reads, 4);
  folders.reads = 0;
  EXPECT_EQ(TextOf(FollowLinks(root, "l", folders.Read())), "file a/b/c/d");
  EXPECT_EQ(folders.reads, 5);  // the root once more, for the path to which the link leads
}

TEST(FindPathTest, AMissingFolderIsAnErrorThatNamesIt) {
  LinkedFolders folders;
  const Digest inner = folders.Build("b");
  const Digest root = folders.Build("a/b=b x");
  folders.Forget(inner);
  const auto found = FindPath(root, "a/b", folders.Read());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(found.status().ToString().find("folder a ("), std::string::npos) << found.status();
  EXPECT_EQ(TextOf(FindPath(root, "x", folders.Read())), "file x");
}

TEST(FindPathTest, AFolderThatIsNotCanonicalIsAnError) {
  LinkedFolders folders;
  const Digest wrong = folders.Add("no Directory");
  const Digest root = folders.Add(EncodeLinkedDirectory({.directories = {{"a", wrong}}}));
  EXPECT_TRUE(absl::IsInvalidArgument(FindPath(root, "a/b", folders.Read()).status()));
}

TEST(FindPathTest, APathDeeperThanATreeMayBeIsRefused) {
  std::string path = "f";
  for (size_t depth = 0; depth < kTreeDepthMax; ++depth) path = "d/" + path;
  LinkedFolders folders;
  const Digest root = folders.Build(path);
  EXPECT_TRUE(absl::IsInvalidArgument(FindPath(root, path, folders.Read()).status()));
  EXPECT_EQ(TextOf(FindPath(root, path.substr(0, path.size() - 2), folders.Read())),
            "folder " + path.substr(0, path.size() - 2));
}

TEST(FollowLinksTest, ALinkLeadsToAFile) {
  EXPECT_EQ(Follow("resource/1f/a s/l->../resource/1f/a", "s/l"), "file resource/1f/a");
}

TEST(FollowLinksTest, ALinkToAFolderLeadsOn) {
  EXPECT_EQ(Follow("resource/1f/a.d/lod1 s/a.d->../resource/1f/a.d", "s/a.d/lod1"),
            "file resource/1f/a.d/lod1");
  EXPECT_EQ(Follow("resource/1f/a.d/lod1 s/a.d->../resource/1f/a.d", "s/a.d"),
            "folder resource/1f/a.d");
}

TEST(FollowLinksTest, ALinkMayLeadToTheRootOrBeOnThePathOfAnother) {
  EXPECT_EQ(Follow("a/up->.. b/c", "a/up"), "folder ");
  EXPECT_EQ(Follow("a/up->.. b/c", "a/up/b/c"), "file b/c");
  EXPECT_EQ(Follow("l->m/x m->n n/x/f", "l/f"), "file n/x/f");
}

TEST(FollowLinksTest, ALinkIsRelativeToTheFolderInWhichItReallyLies) {
  // "s/d" is "r/d", so ".." of the link in it is "r", not "s".
  EXPECT_EQ(Follow("r/d/l->../f r/f=right s/d->../r/d s/f=wrong", "s/d/l"), "file r/f");
}

TEST(FollowLinksTest, ALinkThatLeadsNowhereDangles) {
  EXPECT_EQ(Follow("s/l->../resource/1f/a x", "s/l"), "dangling resource/1f/a, existing ");
  EXPECT_EQ(Follow("s/l->../resource/1f/a resource/1f/b", "s/l"),
            "dangling resource/1f/a, existing resource/1f");
  EXPECT_EQ(Follow("s/a.d->../resource/1f/a.d resource/1f/b", "s/a.d/lod1"),
            "dangling resource/1f/a.d/lod1, existing resource/1f");
}

TEST(FollowLinksTest, APathBehindALinkThatLeadsSomewhereIsAbsent) {
  EXPECT_EQ(Follow("s/a.d->../resource/1f/a.d resource/1f/a.d/lod0", "s/a.d/lod9"),
            "absent resource/1f/a.d/lod9, existing resource/1f/a.d");
  EXPECT_EQ(Follow("s/l->../f f", "s/l/x"), "absent f/x, existing f");
  EXPECT_EQ(Follow("a/up->.. b", "a/up/c"), "absent c, existing ");
  EXPECT_EQ(Follow("a/b", "a/c"), "absent a/c, existing a");
}

TEST(FollowLinksTest, AChainDanglesWhereItsLastLinkLeadsNowhere) {
  EXPECT_EQ(Follow("l->m m->gone x", "l"), "dangling gone, existing ");
  EXPECT_EQ(Follow("l->m/sub m->n n/x", "l/f"), "dangling n/sub/f, existing n");
  EXPECT_EQ(Follow("l->m/sub m->n n/sub/x", "l/f"), "absent n/sub/f, existing n/sub");
}

TEST(FollowLinksTest, ALinkThatLeavesTheTreeIsRefused) {
  for (const char* tree : {"l->..", "l->../a", "a/l->../..", "a/l->../../b"}) {
    LinkedFolders folders;
    const Digest root = folders.Build(tree);
    const std::string path = tree[0] == 'l' ? "l" : "a/l";
    const auto found = FollowLinks(root, path, folders.Read());
    EXPECT_TRUE(absl::IsInvalidArgument(found.status())) << tree;
    EXPECT_NE(found.status().ToString().find("leaves the tree"), std::string::npos) << tree;
  }
}

std::string Chain(int links) {
  std::string tree = "f";
  for (int i = 0; i < links; ++i) {
    tree += fmt::format(" l{}->{}", i, i + 1 == links ? "f" : fmt::format("l{}", i + 1));
  }
  return tree;
}

TEST(FollowLinksTest, AtMostFortyLinksAreOnAPath) {
  EXPECT_EQ(Follow(Chain(40), "l0"), "file f");
  LinkedFolders folders;
  const auto found = FollowLinks(folders.Build(Chain(41)), "l0", folders.Read());
  EXPECT_TRUE(absl::IsInvalidArgument(found.status())) << found.status();
  EXPECT_NE(found.status().ToString().find("more than 40 links"), std::string::npos);
}

TEST(FollowLinksTest, ALoopIsRefused) {
  for (const char* tree : {"l->l", "l->m m->l", "l->l/a", "l->d/m d/m->../l"}) {
    LinkedFolders folders;
    const auto found = FollowLinks(folders.Build(tree), "l", folders.Read());
    EXPECT_TRUE(absl::IsInvalidArgument(found.status())) << tree;
  }
}

TEST(ResolveLinkTest, TargetsAreRelativeToTheFolderOfTheLink) {
  EXPECT_EQ(*ResolveLink("l", "a"), "a");
  EXPECT_EQ(*ResolveLink("a/l", "b/c"), "a/b/c");
  EXPECT_EQ(*ResolveLink("a/b/l", "../c"), "a/c");
  EXPECT_EQ(*ResolveLink("a/b/l", "../../c"), "c");
  EXPECT_EQ(*ResolveLink("a/b/l", "../.."), "");
  EXPECT_TRUE(absl::IsInvalidArgument(ResolveLink("a/b/l", "../../..").status()));
}

// Model: a map of paths, in which links are followed one segment at a time from the left. Random
// trees of three names and three levels; every path of up to four segments is asked for.
class Model {
 public:
  explicit Model(const LinkedTree& tree) {
    for (const TreeFile& file : tree.files) Add(file.path, "file");
    for (const TreeLink& link : tree.links) Add(link.path, "->" + link.target);
  }

  // "file <path>", "folder <path>", "nothing" or "refused".
  std::string Follow(const std::string& path) const {
    std::string done, left = path;
    for (int links = 0; !left.empty();) {
      const size_t slash = std::min(left.find('/'), left.size());
      const std::string name = left.substr(0, slash);
      left = slash == left.size() ? "" : left.substr(slash + 1);
      if (name == "..") {
        if (done.empty()) return "refused";
        done = done.substr(0, done.find('/') == std::string::npos ? 0 : done.rfind('/'));
        continue;
      }
      const std::string here = done.empty() ? name : done + "/" + name;
      const auto at = entries_.find(here);
      if (at == entries_.end()) return "nothing";
      if (at->second == "file" && !left.empty()) return "nothing";
      if (!at->second.starts_with("->")) {
        done = here;
        continue;
      }
      if (++links > kLinksOnPathMax) return "refused";
      left = at->second.substr(2) + (left.empty() ? "" : "/" + left);
    }
    const auto at = entries_.find(done);
    return (at != entries_.end() && at->second == "file" ? "file " : "folder ") + done;
  }

 private:
  void Add(const std::string& path, const std::string& what) {
    entries_[path] = what;
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      entries_[path.substr(0, slash)] = "folder";
    }
  }
  std::map<std::string, std::string> entries_;
};

std::string PlainAnswer(const absl::StatusOr<FollowedPath>& found) {
  if (!found.ok()) return absl::IsInvalidArgument(found.status()) ? "refused" : "error";
  const std::string text = TextOf(found);
  return text.starts_with("absent") || text.starts_with("dangling") ? "nothing" : text;
}

class RandomTree {
 public:
  explicit RandomTree(uint32_t seed) : random_(seed) { Fill("", 1); }
  const LinkedTree& tree() const { return tree_; }

 private:
  void Fill(const std::string& folder, int depth) {
    for (const char* name : {"a", "b", "c"}) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      const size_t kind = random_() % (depth == 3 ? 2 : 3);
      if (kind == 0) tree_.files.push_back({path, Digest::Of(path), false});
      if (kind == 1) tree_.links.push_back({path, Target()});
      if (kind == 2) Fill(path, depth + 1);
    }
  }
  std::string Target() {
    std::string target;
    for (size_t up = random_() % 3; up > 0; --up) target += "../";
    for (size_t down = random_() % 3; down > 0; --down) {
      target += std::string(1, "abc"[random_() % 3]) + "/";
    }
    return target.empty() ? "a" : target.substr(0, target.size() - 1);
  }

  std::mt19937 random_;
  LinkedTree tree_;
};

std::vector<std::string> PathsUpTo(size_t segments) {
  std::vector<std::string> paths = {""};
  for (size_t begin = 0; segments > 0; --segments) {
    const size_t end = paths.size();
    for (; begin < end; ++begin) {
      for (const char* name : {"a", "b", "c"}) {
        paths.push_back(paths[begin].empty() ? name : paths[begin] + "/" + name);
      }
    }
  }
  return paths;
}

TEST(FollowLinksTest, RandomTreesAnswerAsTheirModel) {
  const std::vector<std::string> paths = PathsUpTo(4);
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const LinkedTree tree = RandomTree(seed).tree();
    const Model model(tree);
    LinkedFolders folders;
    const Digest root = folders.Build(tree);
    for (const std::string& path : paths) {
      ASSERT_EQ(PlainAnswer(FollowLinks(root, path, folders.Read())), model.Follow(path))
          << "seed " << seed << " path " << path;
    }
  }
}

}  // namespace
}  // namespace galley::tree
