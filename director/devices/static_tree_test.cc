// The folder `static`: built whole, edited, and both beside each other for random worlds.
#include "director/devices/static_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "common/tree/linked_tree.h"
#include "director/devices/path_order.h"
#include "director/devices/testing/sample_packages.h"

namespace galley::devices {
namespace {

using Packages = std::map<std::string, ShownPackage>;

std::vector<StaticEntry> EntriesOf(const Packages& packages) {
  std::vector<StaticEntry> entries;
  for (const auto& [name, package] : packages) AppendStaticEntries(package, entries);
  return entries;
}

class StaticTreeTest : public testing::Test {
 protected:
  StaticTree Build(const std::vector<ShownPackage>& packages) {
    std::vector<StaticEntry> entries;
    for (const ShownPackage& package : packages) AppendStaticEntries(package, entries);
    return BuildOf(std::move(entries));
  }
  StaticTree BuildOf(std::vector<StaticEntry> entries) {
    std::vector<NamedBlob> blobs;
    StaticTree tree = BuildStaticTree(std::move(entries), LoweredPath, blobs);
    EXPECT_TRUE(store_.Store(std::move(blobs)));
    return tree;
  }
  absl::StatusOr<StaticTree> Edit(const StaticTree& before,
                                  const std::vector<ShownPackage>& removed,
                                  const std::vector<ShownPackage>& added) {
    std::vector<StaticEntry> gone, fresh;
    for (const ShownPackage& package : removed) AppendStaticEntries(package, gone);
    for (const ShownPackage& package : added) AppendStaticEntries(package, fresh);
    std::vector<NamedBlob> blobs;
    auto tree = EditStaticTree(before, gone, fresh, store_.Read(), LoweredPath, blobs);
    EXPECT_TRUE(store_.Store(std::move(blobs)));
    return tree;
  }
  // The tree's entries as "path" for files and "path -> target" for links.
  std::vector<std::string> Shown(const StaticTree& tree) {
    std::vector<std::string> shown;
    if (tree.root == Digest()) return shown;
    const auto listed = tree::ListLinkedTree(tree.root, store_.Read());
    EXPECT_TRUE(listed.ok()) << listed.status();
    for (const tree::TreeFile& file : listed->files) shown.push_back(file.path);
    for (const tree::TreeLink& link : listed->links)
      shown.push_back(link.path + " -> " + link.target);
    std::ranges::sort(shown);
    return shown;
  }
  // The paths alone.
  std::vector<std::string> Paths(const StaticTree& tree) {
    std::vector<std::string> paths = Shown(tree);
    for (std::string& path : paths) path = path.substr(0, path.find(" -> "));
    return paths;
  }

  BlobsInMemory store_;
};

using Names = std::vector<std::string>;

TEST_F(StaticTreeTest, EachOutputThatAPackageAlwaysHasIsALinkToItsNode) {
  const StaticTree tree = Build({SampleLink("/Game/a.png", {".json", ".ktx2"})});
  const std::string node = "../../" + NodeFolder(NodeKeyOf("/Game/a.png"));
  EXPECT_EQ(Shown(tree), (Names{"Game/a.png.json -> " + node + "/a.png.json",
                                "Game/a.png.ktx2 -> " + node + "/a.png.ktx2"}));
  EXPECT_TRUE(tree.hidden.empty());
}

TEST_F(StaticTreeTest, APackageThatMayHaveMoreHasALinkToTheFolderOfThese) {
  const StaticTree tree = Build({SampleLink("/Game/a.glb", {".d/lod0.glb", ".mesh"}, true),
                                 SampleLink("/Game/b.glb", {".d/lod0.glb", ".mesh"}, false)});
  const std::string a = "../../" + NodeFolder(NodeKeyOf("/Game/a.glb"));
  const std::string b = NodeFolder(NodeKeyOf("/Game/b.glb"));
  EXPECT_EQ(Shown(tree),
            (Names{"Game/a.glb.d -> " + a + "/a.glb.d", "Game/a.glb.mesh -> " + a + "/a.glb.mesh",
                   "Game/b.glb.d/lod0.glb -> ../../../" + b + "/b.glb.d/lod0.glb",
                   "Game/b.glb.mesh -> ../../" + b + "/b.glb.mesh"}));
}

TEST_F(StaticTreeTest, ASmallCopiedFileIsAFileAndALargeOneIsALink) {
  ShownPackage small = SampleFile("/Game/a.txt", std::string(kStaticFileBytesMax, 'a'));
  ShownPackage large = SampleFile("/Game/b.txt", std::string(kStaticFileBytesMax + 1, 'b'));
  ShownPackage not_hashed = SampleLink("/Game/c.txt", {""});
  const std::string b = NodeFolder(NodeKeyOf("/Game/b.txt"));
  const std::string c = NodeFolder(NodeKeyOf("/Game/c.txt"));
  EXPECT_EQ(Shown(Build({small, large, not_hashed})),
            (Names{"Game/a.txt", "Game/b.txt -> ../../" + b + "/b.txt",
                   "Game/c.txt -> ../../" + c + "/c.txt"}));
}

TEST_F(StaticTreeTest, APathThatNoTreeCanHaveHasNoLink) {
  EXPECT_TRUE(Build({SampleLink("/Game/" + std::string(254, 'a'), {".ktx2"})}).hidden.empty());
  EXPECT_EQ(Build({SampleLink("/Game/" + std::string(254, 'a'), {".ktx2"})}).root, Digest());
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "/d";
  EXPECT_EQ(Build({SampleLink(deep, {".ktx2"})}).root, Digest());
}

TEST_F(StaticTreeTest, AWorldWithoutPackagesHasNoFolder) {
  EXPECT_EQ(Build({}), StaticTree());
  EXPECT_EQ(store_.size(), 0u);
}

TEST_F(StaticTreeTest, TwoPackagesWithOnePathHaveNoLinkAndTheCallerIsTold) {
  const StaticTree tree =
      Build({SampleLink("/Game/a.png", {".ktx2"}), SampleFile("/Game/a.png.ktx2", "copied"),
             SampleLink("/Game/b.png", {".ktx2"})});
  EXPECT_EQ(Paths(tree), (Names{"Game/b.png.ktx2"}));
  EXPECT_EQ(ConflictsOf(tree, LoweredPath),
            (std::vector<StaticConflict>{{"Game/a.png.ktx2", "Game/a.png.ktx2", "same path"}}));
}

TEST_F(StaticTreeTest, PathsThatDifferInCaseOnlyHaveNoLink) {
  const StaticTree tree =
      Build({SampleLink("/Game/a.png", {".ktx2"}), SampleLink("/game/A.png", {".ktx2"}),
             SampleLink("/GAME/b.png", {".ktx2"})});
  EXPECT_EQ(Paths(tree), (Names{"GAME/b.png.ktx2"}));
  EXPECT_EQ(ConflictsOf(tree, LoweredPath).size(), 1u);
}

TEST_F(StaticTreeTest, AFileAgainstAFolderHidesBoth) {
  const StaticTree tree = Build({SampleFile("/Game/x", "file"), SampleFile("/Game/x/a", "a"),
                                 SampleFile("/Game/x/b", "b"), SampleFile("/Game/y", "y")});
  EXPECT_EQ(Paths(tree), (Names{"Game/y"}));
  EXPECT_EQ(tree.hidden.size(), 3u);
}

TEST_F(StaticTreeTest, ALinkToFurtherOutputsGivesWayToAPackage) {
  const ShownPackage mesh = SampleLink("/Game/a.glb", {".mesh"}, true);
  const ShownPackage inside = SampleLink("/Game/a.glb.d/x.png", {".ktx2"});
  const StaticTree tree = Build({mesh, inside});
  EXPECT_EQ(Paths(tree), (Names{"Game/a.glb.d/x.png.ktx2", "Game/a.glb.mesh"}));
  EXPECT_TRUE(ConflictsOf(tree, LoweredPath).empty());
  const auto without = Edit(tree, {inside}, {});
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(*without, Build({mesh}));
  EXPECT_EQ(Paths(*without), (Names{"Game/a.glb.d", "Game/a.glb.mesh"}));
}

TEST_F(StaticTreeTest, APackageThatIsCalledLikeAFolderOfFurtherOutputsStays) {
  const ShownPackage mesh = SampleLink("/Game/a.glb", {".mesh"}, true);
  const ShownPackage named_d = SampleLink("/Game/a.glb.d", {""});
  const StaticTree alone = Build({named_d});
  EXPECT_EQ(alone.outputs_named_more, (Names{"Game/a.glb.d"}));
  const auto both = Edit(alone, {}, {mesh});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(*both, Build({mesh, named_d}));
  EXPECT_EQ(Paths(*both), (Names{"Game/a.glb.d", "Game/a.glb.mesh"}));
  const auto mesh_alone = Edit(*both, {named_d}, {});
  ASSERT_TRUE(mesh_alone.ok()) << mesh_alone.status();
  EXPECT_EQ(*mesh_alone, Build({mesh}));
}

TEST_F(StaticTreeTest, ALinkToTheListOfWhatIsGeneratedGivesWayToAPackage) {
  ShownPackage level = SampleLink("/Game/t.level", {".bin"});
  level.outputs.may_generate = true;
  const ShownPackage named_so = SampleLink("/Game/t.level/_gen", {""});
  const StaticTree alone = Build({level});
  EXPECT_EQ(Paths(alone), (Names{"Game/t.level.bin", "Game/t.level/_gen"}));
  const auto both = Edit(alone, {}, {named_so});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(*both, Build({level, named_so}));
  EXPECT_EQ(both->outputs_named_more, (Names{"Game/t.level/_gen"}));
  const auto without = Edit(*both, {named_so}, {});
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(*without, alone);
  ShownPackage odd = SampleLink("/Game/_gen.level", {".bin"});
  odd.outputs.may_generate = true;
  EXPECT_EQ(Paths(Build({odd})), (Names{"Game/_gen.level.bin"})) << "its list has another name";
}

TEST_F(StaticTreeTest, AConflictThatEndsShowsTheOtherAgain) {
  const ShownPackage one = SampleLink("/Game/a.png", {".ktx2"});
  const ShownPackage two = SampleFile("/Game/a.png.ktx2", "copied");
  const auto edited = Edit(Build({one, two}), {two}, {});
  ASSERT_TRUE(edited.ok()) << edited.status();
  EXPECT_EQ(*edited, Build({one}));
}

TEST_F(StaticTreeTest, AnEditReadsTheFoldersOfItsPathsAlone) {
  std::vector<ShownPackage> packages;
  for (const char* folder : {"a", "b", "c"}) {
    for (const char* name : {"x", "y"}) {
      packages.push_back(SampleLink(std::string("/Game/") + folder + "/" + name, {".bin"}));
    }
  }
  const StaticTree tree = Build(packages);
  const int before = store_.reads();
  const auto edited = Edit(tree, {}, {SampleLink("/Game/b/z", {".bin"})});
  ASSERT_TRUE(edited.ok()) << edited.status();
  EXPECT_EQ(store_.reads() - before, 3);
}

TEST_F(StaticTreeTest, WhatIsRemovedMustBeThere) {
  const StaticTree tree = Build({SampleFile("/Game/a", "a")});
  EXPECT_TRUE(absl::IsFailedPrecondition(Edit(tree, {SampleFile("/Game/b", "b")}, {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Edit(tree, {SampleFile("/Game/a", "b")}, {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Edit(tree, {SampleFile("/Game/a/c", "b")}, {}).status()));
}

TEST_F(StaticTreeTest, AFolderThatIsGoneIsSaid) {
  StaticTree tree = Build({SampleFile("/Game/a", "a")});
  tree.root = Digest::Of("a folder that nobody stored");
  EXPECT_TRUE(absl::IsNotFound(Edit(tree, {SampleFile("/Game/a", "a")}, {}).status()));
}

TEST_F(StaticTreeTest, ALinkThatLeadsElsewhereIsDamage) {
  tree::LinkedDirectory folder;
  folder.links.push_back({"a", "../etc/passwd"});
  StaticTree tree;
  std::vector<NamedBlob> blobs;
  tree.root = AppendBlob(tree::EncodeLinkedDirectory(folder), blobs);
  ASSERT_TRUE(store_.Store(std::move(blobs)));
  EXPECT_TRUE(absl::IsDataLoss(Edit(tree, {}, {SampleFile("/a/b", "b")}).status()));
}

TEST_F(StaticTreeTest, PartsOfABuildMakeTheSameTree) {
  Packages packages;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "/Game/" + std::to_string(i % 7) + "/" + std::to_string(i);
    packages[name] = SampleLink(name, {".bin", ".json"}, i % 3 == 0);
  }
  const StaticTree whole = BuildOf(EntriesOf(packages));
  StaticTreeBuild build(EntriesOf(packages), LoweredPath);
  std::vector<NamedBlob> blobs;
  int steps = 0;
  while (build.Step(3, blobs)) ++steps;
  EXPECT_EQ(build.Take(), whole);
  EXPECT_EQ(blobs.back().digest, whole.root);
  EXPECT_GT(steps, 30);
}

// Any chain of edits gives the tree that is built from nothing, whatever is in conflict.
TEST_F(StaticTreeTest, AnEditedTreeIsTheTreeThatIsBuilt) {
  std::mt19937 random(11);
  const auto below = [&](size_t n) { return random() % n; };
  const auto a_package = [&] {
    std::string name;
    for (size_t depth = below(3); depth > 0; --depth)
      name += std::string("/") + Names{"a", "b", "A", "x.d"}[below(4)];
    name += std::string("/") + Names{"x", "y", "X", "x.d", "y.k", "Y"}[below(6)];
    switch (below(3)) {
      case 0:
        return SampleFile(name, std::to_string(below(3)));
      case 1:
        return SampleLink(name, {"", ".k"}, below(2) == 0);
      default:
        return SampleLink(name, {".d/l", ".k"}, below(2) == 0);
    }
  };
  size_t hidden = 0, shown = 0;
  for (int chain = 0; chain < 300; ++chain) {
    Packages packages;
    for (size_t i = below(10); i > 0; --i) {
      const ShownPackage package = a_package();
      packages[package.package] = package;
    }
    StaticTree tree = BuildOf(EntriesOf(packages));
    for (int step = 0; step < 12; ++step) {
      Packages after = packages;
      for (const auto& [name, package] : packages) {
        if (below(4) == 0) after.erase(name);
      }
      for (size_t i = below(5); i > 0; --i) {
        const ShownPackage package = a_package();
        after[package.package] = package;
      }
      std::vector<NamedBlob> blobs;
      const auto edited = EditStaticTree(tree, EntriesOf(packages), EntriesOf(after), store_.Read(),
                                         LoweredPath, blobs);
      ASSERT_TRUE(edited.ok()) << edited.status() << " in chain " << chain;
      ASSERT_TRUE(store_.Store(std::move(blobs)));
      const StaticTree built = BuildOf(EntriesOf(after));
      ASSERT_EQ(Shown(*edited), Shown(built)) << "chain " << chain << " step " << step;
      ASSERT_EQ(*edited, built) << "chain " << chain << " step " << step;
      hidden += built.hidden.size();
      shown += Shown(built).size();
      tree = *edited;
      packages = std::move(after);
    }
  }
  EXPECT_GT(hidden, 1000u);
  EXPECT_GT(shown, 1000u);
}

// Only the shown entries decide what is hidden: the pass of the build agrees with Hides.
TEST_F(StaticTreeTest, TheBuildHidesWhatTheRuleSays) {
  std::mt19937 random(12);
  const auto below = [&](size_t n) { return random() % n; };
  for (int round = 0; round < 500; ++round) {
    std::vector<StaticEntry> entries;
    for (size_t i = below(8); i > 0; --i) {
      std::string path;
      for (size_t depth = below(3); depth > 0; --depth) path += Names{"a/", "A/", "b.d/"}[below(3)];
      path += Names{"a", "b.d", "B.d"}[below(3)];
      const NodeKey node = NodeKeyOf(std::to_string(i));
      entries.push_back({path, StaticLink{.end = {.node = node}, .is_more = below(3) == 0}});
    }
    std::vector<StaticEntry> hidden;
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string folded = LoweredPath(entries[i].path);
      for (size_t j = 0; j < entries.size(); ++j) {
        const std::string other = LoweredPath(entries[j].path);
        if (i == j || !Hides({other, entries[j].is_more()}, {folded, entries[i].is_more()}))
          continue;
        hidden.push_back(entries[i]);
        break;
      }
    }
    std::vector<StaticEntry> built = BuildOf(entries).hidden;
    std::ranges::sort(hidden);
    std::ranges::sort(built);
    ASSERT_EQ(built, hidden) << "round " << round;
  }
}

}  // namespace
}  // namespace galley::devices
