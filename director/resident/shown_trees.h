// ShownTrees: the turns' part of worlds and trees: which world is the present one, the folder
// `static` of each platform, the DeviceTrees, and how they grow.
//
//   Follow   a newer world begins: known results of changed packages are dropped, and each audience
//            gets a tree that begins with the tree of the world before
//   Want     an audience gets a tree; the first one of a platform is built on the thread of builds
//   Add      a package was cooked in the present world
//   Grow     what was added is in the trees' next views: stored, and told to the sessions; of what
//            cooks bring as much as there is room for (NodeBacklog)
//
// Edits that come while a tree is built do not begin it again: the tree is of the older world, and
// the trees of the newer worlds follow from it.
//
// Threads: one, of the turns; progress(): any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/devices/static_tree.h"
#include "director/devices/world_change.h"
#include "director/journal/journal.h"
#include "director/resident/cooked_tables.h"
#include "director/resident/device_trees.h"
#include "director/resident/node_backlog.h"
#include "director/resident/package_files.h"
#include "director/resident/present_project.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_world.h"
#include "director/resident/tree_build.h"
#include "director/resident/world_difference.h"
#include "director/shell/kept_sources.h"
#include "director/shell/tasks.h"
#include "director/shell/tool_digests.h"

namespace galley::director {

// kAsk: a device waits for the package, or has read it. kCook: a cook brought it, maybe with a
// hundred thousand others.
enum class ResultOrigin { kAsk, kCook };

// StalePackages: packages that were known to be cooked before they changed, by platform, sorted.
using StalePackages = std::map<std::string, std::vector<std::string>>;

class ShownTrees {
 public:
  // Audiences that have sessions or are wanted, and trees of one world.
  static constexpr size_t kAudiencesMax = 64;
  static constexpr absl::Duration kRetryInterval = absl::Seconds(1);

  // Everything in Deps outlives ShownTrees.
  struct Deps {
    PresentProject& present;
    store::Store& store;
    Journal& journal;
    SharedSessions& shared;
    CookedTables& cooked;
    KeptSources* kept = nullptr;  // null: sources are not kept
    Tasks& builds;                // a thread of its own
    const Cancellation& stop;
    // Posts a turn.
    std::function<void(std::function<void()> turn)> post;
    std::function<absl::Time()> now;  // never goes back
    size_t worlds_max = 16;
  };
  explicit ShownTrees(Deps deps) : deps_(std::move(deps)), trees_(FoldOfNames()) {}

  // Begins the present world, if it is another one. Returns the packages that differ: none, when
  // somebody touched a file, and devices see the same world. nullopt: the world is the same, or it
  // is not ready (SharedSessions::why_not).
  std::optional<WorldDifference> Follow(absl::Time now);
  // Returns what the worlds that began since the last call made stale. Where nothing is known to be
  // the same (WorldDifference::is_all), nothing is listed.
  StalePackages TakeStale() { return std::exchange(stale_, {}); }
  // nullptr: none was begun.
  ShownWorldPtr present() const { return held_.empty() ? nullptr : held_.back(); }

  // Roots that an earlier director has leased, by the file `world` that they have.
  void NoteLeased(const Digest& world_digest, const Digest& root) {
    leased_[world_digest].insert(root);
  }

  // RESOURCE_EXHAUSTED: there are too many audiences for another one.
  absl::Status Admit(const devices::Audience& audience) const;
  // Sees to it that the audience gets a tree in the present world. RESOURCE_EXHAUSTED as Admit.
  // REQUIRES: the present world has the platform.
  absl::Status Want(const devices::Audience& audience, absl::Time now);
  // Only these audiences are still wanted. An audience with sessions keeps its tree anyway.
  void KeepWanted(const std::set<devices::Audience>& audiences) {
    std::erase_if(wanted_, [&](const auto& one) { return !audiences.contains(one); });
  }
  // Sees to it that each audience that has sessions, or is wanted, gets its tree.
  void CatchUp(absl::Time now);
  // True: the audience has a tree in the present world, whose view was told.
  bool HasTree(const devices::Audience& audience) const;
  // How far the build is that an audience waits for.
  const BuildProgress& progress() const { return progress_; }

  // The package was cooked. Returns false when `shown` is not the present world: nothing is noted.
  bool Add(const ShownWorldPtr& shown, const std::string& platform, const std::string& package,
           const PackageFilesPtr& files, ResultOrigin origin);
  // True: no package generates this one, or its generator's result on the platform is known, and
  // lists it.
  bool IsListed(const ShownWorld& shown, const std::string& platform,
                const std::string& package) const;
  // Sees to it that the trees of the present world get the package, if it is known to be cooked: a
  // tree may be younger than the result.
  void AddKnown(const std::string& platform, const std::string& package);
  // Tells the sessions what the trees have now. Blocks while blobs are stored.
  void Grow(absl::Time now, bool is_awaited);
  // When Grow or TakeRetry is needed next.
  absl::Time due_at() const;
  // True: something failed a while ago, and Follow and CatchUp are to be called again.
  bool TakeRetry(absl::Time now);

 private:
  // The sources, as the folder `static` shows them, of packages that differ between two worlds.
  struct Step {
    std::vector<devices::PackageChange> changes;
    std::vector<devices::StaticEntry> removed, added;
    std::vector<devices::ShownPackage> after;
  };
  using StaticKey = std::pair<uint64_t, std::string>;  // world, platform

  SourcesPtr SourcesOf(const ShownWorld& shown);
  void Begin(ShownWorldPtr shown, const WorldDifference& difference, absl::Time now);
  ShownWorldPtr ShowSuccessor(const WorldPtr& world, const Digest& rules,
                              const WorldDifference& difference) const;
  void NoteDifference(uint64_t before, const WorldDifference& difference);
  void DropOld();
  void DropIdle();
  WorldDifference DifferenceTo(const World& world) const;
  std::set<devices::Audience> Audiences() const;
  bool SucceedFrom(uint64_t before, const devices::Audience& audience, absl::Time now);
  absl::Status Succeed(const ShownWorld& before, const devices::Audience& audience, absl::Time now);
  absl::StatusOr<Step> StepOf(const ShownWorld& before, const std::string& platform) const;
  absl::StatusOr<StaticTreePtr> StaticAfter(const ShownWorld& before, const std::string& platform,
                                            Step& step, std::vector<devices::NamedBlob>& blobs);
  void Build(const devices::Audience& audience);
  void TakeBuilt(const TreeBuild& build, absl::StatusOr<BuiltTree> built);
  void TakeStanding(const ShownWorld& shown, const std::string& platform,
                    const CookedPackages& standing);
  void InsertBuilt(const TreeBuild& build, BuiltTree built, absl::Time now);
  void TellReused(uint64_t number, const devices::Audience& audience);
  void Tell(uint64_t world, const devices::DeviceViewPtr& view, absl::Time now);
  ShownWorldPtr HeldOf(uint64_t world) const;
  void AddGenerated(std::vector<std::string>& packages) const;
  void AddToTrees(const ShownWorld& shown, const std::string& platform, const std::string& package,
                  const PackageFiles& files);

  const Deps deps_;
  DeviceTrees trees_;
  ToolDigests tools_;
  BuildProgress progress_;
  std::deque<ShownWorldPtr> held_;  // oldest first; the last one is present
  // How the present world differs from an older one, by its number.
  std::map<uint64_t, WorldDifference> since_;
  StalePackages stale_;  // since TakeStale
  Digest programs_;      // PresentProject::ProgramsOf of the present world
  std::map<StaticKey, StaticTreePtr> statics_;
  std::set<std::string> has_standing_;  // platforms of which it was looked for what stands
  // Some tree of the present world may have nodes of packages that the CookedTable does not know.
  bool has_unknown_nodes_ = false;
  std::set<devices::Audience> wanted_;
  std::map<Digest, std::set<Digest>> leased_;
  bool is_building_ = false;
  // Results that came while a tree is built: platform, package.
  std::vector<std::pair<std::string, std::string>> late_;
  // How a tree's world differs from the one that its audience was told, until the first view.
  std::map<Digest, devices::WorldChange> untold_;
  // Audiences whose tree is built anew, after they were told an older world: how the worlds differ
  // is not known.
  std::set<devices::Audience> owed_cut_;
  NodeBacklog backlog_;
  std::deque<DeviceTrees::Growth> unsaved_;  // views that are not stored and told yet
  absl::Time retry_at_ = absl::InfiniteFuture();
};

}  // namespace galley::director
