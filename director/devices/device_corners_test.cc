// The corner rules of what devices see, each by name, with the parts of this folder together: the
// folder `static`, DeviceTrees, and what sessions are told.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/tree/linked_tree.h"
#include "director/devices/device_sessions.h"
#include "director/devices/static_tree.h"
#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

using World = std::map<std::string, ShownPackage>;

World WorldOf(const std::vector<ShownPackage>& packages) {
  World world;
  for (const ShownPackage& package : packages) world[package.package] = package;
  return world;
}

// A project with one session "s", which was opened in world 1.
class DeviceCornersTest : public testing::Test {
 protected:
  void Begin(const std::vector<ShownPackage>& packages) {
    const World world = WorldOf(packages);
    const std::vector<PackageChange> changes = ChangesTo(world);
    std::vector<StaticEntry> gone, fresh;
    std::vector<NodeKey> keys;
    for (const PackageChange& change : changes) {
      if (change.before) AppendStaticEntries(*change.before, gone);
      if (change.after) AppendStaticEntries(*change.after, fresh);
      keys.push_back(NodeKeyOf(change.before ? change.before->package : change.after->package));
    }
    std::vector<NamedBlob> blobs;
    const auto edited = EditStaticTree(static_, gone, fresh, store_.Read(), LoweredPath, blobs);
    ASSERT_TRUE(edited.ok()) << edited.status();
    static_ = *edited;
    ++number_;
    const DeviceViewPtr before = tree_ == nullptr ? nullptr : tree_->newest();
    tree_ = before == nullptr
                ? std::make_unique<DeviceTree>(SampleWorld(number_), static_.root)
                : std::make_unique<DeviceTree>(SampleWorld(number_), static_.root, *before, keys);
    ASSERT_TRUE(store_.Store(std::move(blobs)));
    sessions_.BeginWorld(static_cast<uint64_t>(number_), now_);
    Grow(ChangeOf(changes, before.get()));
    world_ = world;
    if (number_ > 1) return;
    ASSERT_TRUE(sessions_.Open({.id = "s", .audience = {.platform = "linux"}}, now_).ok());
  }
  void Grow(std::optional<WorldChange> change = std::nullopt) {
    std::vector<NamedBlob> blobs;
    const DeviceViewPtr view = tree_->Grow(now_, true, blobs);
    ASSERT_NE(view, nullptr);
    ASSERT_TRUE(store_.Store(std::move(blobs)));
    sessions_.SetNewest(view, static_cast<uint64_t>(number_), std::move(change), now_);
  }
  void Cook(const CookedPackage& cooked) {
    std::vector<NamedBlob> blobs;
    ASSERT_TRUE(tree_->Add(cooked, LoweredPath, blobs).ok());
    ASSERT_TRUE(store_.Store(std::move(blobs)));
    Grow();
  }
  std::vector<PackageChange> ChangesTo(const World& world) const {
    std::vector<PackageChange> changes;
    for (const auto& [name, package] : world_) {
      const auto now = world.find(name);
      if (now == world.end()) changes.push_back({package, std::nullopt});
      if (now != world.end() && !IsSame(package, now->second))
        changes.push_back({package, now->second});
    }
    for (const auto& [name, package] : world) {
      if (!world_.contains(name)) changes.push_back({std::nullopt, package});
    }
    return changes;
  }
  static bool IsSame(const ShownPackage& a, const ShownPackage& b) {
    return a.stage_path == b.stage_path && a.outputs == b.outputs && a.file == b.file;
  }
  // The files and links of a root's folder `static`: path -> true for a link.
  std::map<std::string, bool> Static(const Digest& root) {
    std::map<std::string, bool> paths;
    const auto listed = tree::ListLinkedTree(root, store_.Read());
    EXPECT_TRUE(listed.ok()) << listed.status();
    const std::string start = "static/";
    for (const tree::TreeFile& file : listed->files)
      if (file.path.starts_with(start)) paths[file.path.substr(start.size())] = false;
    for (const tree::TreeLink& link : listed->links) paths[link.path.substr(start.size())] = true;
    return paths;
  }
  SessionView Session() {
    const auto view = sessions_.Renew("s", now_);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.value_or(SessionView());
  }
  std::vector<ChangeEventPtr> Told() {
    const auto events = sessions_.EventsSince("s", std::nullopt);
    EXPECT_TRUE(events.ok()) << events.status();
    return events.value_or(std::vector<ChangeEventPtr>());
  }

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  BlobsInMemory store_;
  StaticTree static_;
  std::unique_ptr<DeviceTree> tree_;
  DeviceSessions sessions_{{.project = "3f9a2c11", .changes = {.term = 7}}};
  World world_;
  int number_ = 0;
};

using Shown = std::map<std::string, bool>;

TEST_F(DeviceCornersTest, ACopiedFileAboveOneMebibyteIsALinkLikeOthers) {
  Begin({SampleFile("/Game/small", std::string(kStaticFileBytesMax, 'a')),
         SampleFile("/Game/large", std::string(kStaticFileBytesMax + 1, 'a'))});
  EXPECT_EQ(Static(Session().root), (Shown{{"Game/small", false}, {"Game/large", true}}));
}

TEST_F(DeviceCornersTest, APackageThatIsJudgedAwayHasNoLink) {
  const ShownPackage texture = SampleLink("/Game/a.png", {".ktx2"});
  Begin({texture, SampleLink("/Game/b.png", {".ktx2"})});
  // An LFS pointer, say: the world does not show the package any more.
  Begin({SampleLink("/Game/b.png", {".ktx2"})});
  EXPECT_EQ(Static(tree_->newest()->root), (Shown{{"Game/b.png.ktx2", true}}));
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0]->removed.size(), 1u);
}

TEST_F(DeviceCornersTest, CookedWithoutTheAskedOutputIsNotThere) {
  Begin({SampleLink("/Game/a.glb", {".mesh"}, true)});
  Cook(SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m")}));
  EXPECT_EQ(tree_->newest()->Find("/Game/a.glb", ".d/lod9"), FileAnswer(NoSuchOutput{}));
}

TEST_F(DeviceCornersTest, AFailedPackageHasNoNodeAndIsNotCooked) {
  Begin({SampleLink("/Game/a.png", {".ktx2"})});
  sessions_.NoteFailed("linux", {.package = "/Game/a.png", .error = "no PNG"}, now_);
  EXPECT_EQ(tree_->newest()->Find("/Game/a.png", ".ktx2"), FileAnswer(NotCooked{}));
  EXPECT_EQ(tree_->grows_at(), absl::InfiniteFuture());
}

TEST_F(DeviceCornersTest, AGeneratedNameThatItsGeneratorDoesNotListIsNotThere) {
  Begin({SampleLink("/Game/town.level", {".bin"})});
  const std::string cell = "Game/town.level/_gen/cell_0.level";
  EXPECT_EQ(tree_->newest()->FindGenerated("/Game/town.level", cell), GeneratedAnswer::kNotCooked);
  CookedPackage town = SampleCooked("/Game/town.level", {SampleOutput(".bin", "t")});
  town.generated = {"_gen/cell_0.level"};
  Cook(town);
  const DeviceViewPtr view = tree_->newest();
  EXPECT_EQ(view->FindGenerated("/Game/town.level", cell), GeneratedAnswer::kListed);
  EXPECT_EQ(view->FindGenerated("/Game/town.level", "Game/town.level/_gen/cell_1.level"),
            GeneratedAnswer::kNotListed);
  EXPECT_EQ(Static(view->root), (Shown{{"Game/town.level.bin", true}}));
  Cook(SampleCooked("/Game/town.level/_gen/cell_0.level", {SampleOutput(".bin", "c")}));
  EXPECT_EQ(tree_->newest()->Find("/Game/town.level/_gen/cell_0.level", ".bin"),
            FileAnswer(CookedFile{Digest::Of("c")}));
}

TEST_F(DeviceCornersTest, AFileBecomesALinkWhenItsCookerChangesAndOldRootsKeepTheFile) {
  Begin({SampleFile("/Game/a.json", "{}")});
  const Digest old_root = Session().root;
  Begin({SampleLink("/Game/a.json", {""})});
  EXPECT_EQ(Static(tree_->newest()->root), (Shown{{"Game/a.json", true}}));
  EXPECT_EQ(Static(old_root), (Shown{{"Game/a.json", false}}));
  EXPECT_EQ(Session().root, old_root);
  ASSERT_EQ(Told().size(), 1u);
  EXPECT_EQ(Told()[0]->stale, (std::vector<std::string>{"Game/a.json"}));
}

TEST_F(DeviceCornersTest, ARenameIsRemovedAndAddedInOneEventAndTheOldSessionAnswers) {
  Begin({SampleLink("/Game/a.png", {".ktx2"})});
  Cook(SampleCooked("/Game/a.png", {SampleOutput(".ktx2", "a")}));
  ASSERT_TRUE(sessions_.Advance("s", tree_->newest(), now_).ok());
  const size_t told = Told().size();
  Begin({SampleLink("/Game/b.png", {".ktx2"})});
  ASSERT_EQ(Told().size(), told + 1);
  const ChangeEvent event = *Told().back();
  ASSERT_EQ(event.removed.size(), 1u);
  EXPECT_EQ(event.removed[0].path, "Game/a.png.ktx2");
  EXPECT_EQ(event.removed[0].before, Digest::Of("a"));
  ASSERT_EQ(event.added.size(), 1u);
  EXPECT_EQ(event.added[0].path, "Game/b.png.ktx2");
  EXPECT_EQ(Static(tree_->newest()->root), (Shown{{"Game/b.png.ktx2", true}}));
  EXPECT_EQ(tree_->newest()->Find("/Game/a.png", ".ktx2"), FileAnswer(NotCooked{}));
  EXPECT_EQ(Session().view->Find("/Game/a.png", ".ktx2"), FileAnswer(CookedFile{Digest::Of("a")}));
}

TEST_F(DeviceCornersTest, AnEditWhileARequestWaitsLeavesTheSessionBehind) {
  Begin({SampleLink("/Game/a.png", {".ktx2"})});
  const Digest root = Session().root;
  auto edited = SampleLink("/Game/a.png", {".ktx2", ".json"});
  Begin({edited});
  // The caller answers 409 with the newest root.
  EXPECT_EQ(Session().standing, SessionStanding::kHeld);
  EXPECT_EQ(Session().root, root);
  EXPECT_EQ(Session().newest_root, tree_->newest()->root);
}

TEST_F(DeviceCornersTest, ASwitchedModChangesThePackagesWhoseWinningFileChanged) {
  std::vector<ShownPackage> packages = {SampleLink("/Game/kept/a.png", {".ktx2"}),
                                        SampleFile("/Game/mod/b.txt", "plain"),
                                        SampleLink("/Game/mod/c.png", {".ktx2"})};
  Begin(packages);
  Cook(SampleCooked("/Game/kept/a.png", {SampleOutput(".ktx2", "a")}));
  const DeviceViewPtr before = tree_->newest();
  const StaticTree plain = static_;
  const size_t told = Told().size();
  packages[1] = SampleFile("/Game/mod/b.txt", "modded");
  Begin(packages);
  const DeviceViewPtr modded = tree_->newest();
  EXPECT_NE(modded->root, before->root);
  EXPECT_EQ(modded->nodes.root(), before->nodes.root());
  ASSERT_EQ(Told().size(), told + 1);
  EXPECT_EQ(Told().back()->entries(), 1u);
  EXPECT_EQ(Told().back()->modified[0].path, "Game/mod/b.txt");
  // Switched off, the world is the first one again, but for its number.
  packages[1] = SampleFile("/Game/mod/b.txt", "plain");
  Begin(packages);
  EXPECT_EQ(static_, plain);
}

TEST_F(DeviceCornersTest, AConflictThatACookFindsLeavesWhatWasAnswered) {
  Begin({SampleLink("/Game/a.glb", {".mesh"}, true), SampleLink("/Game/b.glb", {".mesh"})});
  Cook(SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/x", "x")}));
  const DeviceViewPtr view = tree_->newest();
  sessions_.NoteConflict("linux", {.path = "Game/a.glb.d/x", .packages = {"/Game/a.glb"}});
  EXPECT_EQ(view->Find("/Game/a.glb", ".d/x"), FileAnswer(CookedFile{Digest::Of("x")}));
  EXPECT_EQ(Told().back()->conflicts.size(), 1u);
}

// A client that follows all links finds the tree of the cook by the book, whatever the order of
// requests.
TEST_F(DeviceCornersTest, AllLinksFollowedAreTheTreeOfTheCook) {
  Begin({SampleFile("/Game/a.txt", "copied"), SampleLink("/Game/b.png", {".ktx2"}),
         SampleLink("/Game/c.glb", {".mesh"}, true), SampleLink("/Game/d.rules", {})});
  Cook(SampleCooked("/Game/d.rules", {}));
  Cook(SampleCooked("/Game/c.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/lod1", "1")}));
  Cook(SampleCooked("/Game/b.png", {SampleOutput(".ktx2", "b")}));
  const auto listed = tree::ListLinkedTree(tree_->newest()->root, store_.Read());
  ASSERT_TRUE(listed.ok()) << listed.status();
  std::map<std::string, Digest> followed;
  for (const tree::TreeFile& file : listed->files)
    if (file.path.starts_with("static/")) followed[file.path.substr(7)] = file.digest;
  for (const tree::TreeLink& link : listed->links) {
    const std::string end = link.target.substr(link.target.find("resource/"));
    for (const tree::TreeFile& file : listed->files) {
      const bool is_below = file.path.starts_with(end + "/");
      if (file.path == end || is_below)
        followed[link.path.substr(7) + file.path.substr(end.size())] = file.digest;
    }
  }
  EXPECT_EQ(followed, (std::map<std::string, Digest>{{"Game/a.txt", Digest::Of("copied")},
                                                     {"Game/b.png.ktx2", Digest::Of("b")},
                                                     {"Game/c.glb.d/lod1", Digest::Of("1")},
                                                     {"Game/c.glb.mesh", Digest::Of("m")}}));
}

}  // namespace
}  // namespace galley::devices
