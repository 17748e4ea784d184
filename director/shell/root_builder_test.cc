#include "director/shell/root_builder.h"

#include "common/tree/tree.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RootBuilderTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    project_.mounts = {{.path = "/Game", .directory = "/x/game"},
                       {.path = "/Game/dlc", .directory = "/x/dlc", .stage_as = "/Game/dlc1"},
                       {.path = "/Game/dlc/plain", .directory = "/x/plain"},
                       {.path = "/Engine", .directory = "/x/engine"}};
    auto world = std::make_shared<World>();
    world->project = std::make_shared<project::Project>(project_);
    sources_ = SourcesOf(world);
  }
  void Add(std::string package, const std::vector<std::string>& suffixes) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = std::move(package);
    for (const std::string& suffix : suffixes)
      stored->result.outputs.push_back({suffix, Digest::Of(stored->package + suffix)});
    build_.packages.emplace_back(PackageId(static_cast<uint32_t>(build_.packages.size())),
                                 results_.Add(stored)->id);
  }
  RootBuilt Build() {
    auto built = BuildRootTree(*sources_, results_, store_, build_);
    EXPECT_TRUE(built.ok()) << built.status();
    return built.value_or(RootBuilt{});
  }
  std::vector<std::string> Paths(const Digest& root) {
    std::vector<std::string> paths;
    const auto files =
        tree::ListTree(root, [this](const Digest& digest) { return store_.Get(digest); });
    EXPECT_TRUE(files.ok()) << files.status();
    for (const tree::TreeFile& file : *files) paths.push_back(file.path);
    return paths;
  }

  SourcesPtr sources_;
  BuildRoot build_{.platform = 2};
};

TEST_F(RootBuilderTest, OutputsLieAtTheirPackagesPathAndSuffix) {
  Add("/Engine/lit.frag", {".reflect.cbor", ".spv"});
  Add("/Game/a.txt", {""});
  Add("/Game/m.gltf", {".d/lod1.glb", ".glb"});
  const RootBuilt built = Build();
  EXPECT_THAT(built.conflicts, IsEmpty());
  EXPECT_EQ(built.platform, 2u);
  EXPECT_THAT(Paths(built.root),
              ElementsAre("Engine/lit.frag.reflect.cbor", "Engine/lit.frag.spv", "Game/a.txt",
                          "Game/m.gltf.d/lod1.glb", "Game/m.gltf.glb"));
}

TEST_F(RootBuilderTest, NothingThatIsDisputedIsInARoot) {
  Add("/Game/a.txt", {""});
  Add("/Game/b.txt", {""});
  results_.Dispute(Digest::Of("another key"));
  EXPECT_THAT(Build().lost, SizeIs(2)) << "not stored, but not disputed";
  auto disputed = std::make_shared<StoredResult>(*results_.Get(build_.packages[1].second));
  disputed->action_key = Digest::Of("key");
  build_.packages[1].second = results_.Add(disputed)->id;
  results_.Dispute(Digest::Of("key"));
  const RootBuilt built = Build();
  ASSERT_THAT(built.lost, SizeIs(1));
  EXPECT_EQ(built.lost[0].package, PackageId(1));
  EXPECT_EQ(built.lost[0].path, "Game/b.txt");
}

TEST_F(RootBuilderTest, AnEmptyCookHasARootToo) { EXPECT_THAT(Paths(Build().root), IsEmpty()); }

TEST_F(RootBuilderTest, TwoPackagesWithOnePathConflictAndAreBothNamed) {
  Add("/Game/a.txt", {".spv"});
  Add("/Game/a.txt.spv", {""});
  Add("/Game/b.txt", {""});
  const RootBuilt built = Build();
  ASSERT_EQ(built.conflicts.size(), 1u);
  EXPECT_EQ(built.conflicts[0].first, PackageId(0));
  EXPECT_EQ(built.conflicts[0].second, PackageId(1));
  EXPECT_EQ(built.conflicts[0].path, "Game/a.txt.spv");
  EXPECT_EQ(store_.inner.Stats()->blobs, 0u) << "nothing of a tree that cannot be is written";
}

TEST_F(RootBuilderTest, StagingCanMakePackagesConflict) {
  Add("/Game/dlc/a.txt", {""});
  Add("/Game/dlc1/a.txt", {""});
  EXPECT_EQ(Build().conflicts.size(), 1u);
}

TEST_F(RootBuilderTest, PathsThatDifferInCaseOnlyAndAFileAgainstAFolderConflict) {
  Add("/Game/A.txt", {""});
  Add("/Game/a.txt", {""});
  EXPECT_EQ(Build().conflicts.size(), 1u);
  build_.packages.clear();
  Add("/Game/x", {"", ".d/y"});
  Add("/Game/x.d", {""});
  EXPECT_EQ(Build().conflicts.size(), 1u);
}

TEST_F(RootBuilderTest, AnOutputWithANameThatNoFileSystemTakesIsItsPackagesFault) {
  const std::string fits(250, 'a');
  Add("/Game/" + fits, {".ktx2"});
  Add("/Game/b" + fits, {".ktx2"});
  Add("/Game/short.tool", {".d/" + std::string(255, 'x'), ".d/" + std::string(256, 'x')});
  const RootBuilt built = Build();
  ASSERT_THAT(built.conflicts, SizeIs(2));
  EXPECT_EQ(built.conflicts[0].first, PackageId(1));
  EXPECT_EQ(built.conflicts[0].second, PackageId(1));
  EXPECT_EQ(built.conflicts[0].path, "Game/b" + fits + ".ktx2");
  EXPECT_THAT(built.conflicts[0].reason, testing::HasSubstr("a name of 256 bytes"));
  EXPECT_EQ(built.conflicts[1].first, PackageId(2));
  EXPECT_EQ(store_.inner.Stats()->blobs, 0u) << "nothing of a tree that cannot be is written";
  build_.packages.resize(1);
  EXPECT_THAT(Paths(Build().root), ElementsAre("Game/" + fits + ".ktx2"));
}

TEST_F(RootBuilderTest, ATreeBuiltAgainHasTheSameRootAndIsWholeInTheStore) {
  Add("/Game/a.txt", {""});
  const Digest root = Build().root;
  EXPECT_EQ(Build().root, root);
  EXPECT_EQ(store_.inner.Stats()->blobs, 2u) << "the top folder and Game";
  // A folder that the store has is put all the same: it may go with the process that put it.
  store_.put_error = absl::ResourceExhaustedError("no space left on device");
  EXPECT_TRUE(
      absl::IsResourceExhausted(BuildRootTree(*sources_, results_, store_, build_).status()));
}

TEST_F(RootBuilderTest, AResultThatIsNotKnownIsABugNotASilentHole) {
  build_.packages.emplace_back(PackageId(0), ResultId(77));
  EXPECT_TRUE(absl::IsInternal(BuildRootTree(*sources_, results_, store_, build_).status()));
}

TEST_F(RootBuilderTest, WhatTheStoreLacksIsToldWithItsPackage) {
  Add("/Game/a.txt", {"", ".d/1"});
  Add("/Game/b.txt", {""});
  const std::string kept = "/Game/a.txt";
  ASSERT_TRUE(store_.Put(Digest::Of(kept), kept).ok());
  const RootBuilt built = Build();
  ASSERT_THAT(built.lost, SizeIs(2));
  EXPECT_EQ(built.lost[0].path, "Game/a.txt.d/1");
  EXPECT_EQ(built.lost[0].digest, Digest::Of("/Game/a.txt.d/1"));
  EXPECT_EQ(built.lost[0].package, PackageId(0));
  EXPECT_EQ(built.lost[1].package, PackageId(1));
  // The store is asked about any root, except for a root that is known to be whole.
  const Digest other = Digest::Of("other");
  EXPECT_THAT(BuildRootTree(*sources_, results_, store_, build_, &built.root)->lost, IsEmpty());
  EXPECT_THAT(BuildRootTree(*sources_, results_, store_, build_, &other)->lost, SizeIs(2));
}

}  // namespace
}  // namespace galley::director
