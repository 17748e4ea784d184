// BuildTree: makes the DeviceTree of an audience from nothing: the folder `static` of the world,
// what stands by the journal, what is known to be cooked, and the nodes of roots that an earlier
// director has leased. Its blobs are in the store when the call returns.
//
// Small copied files are hashed once, with progress. Cost: linear in the packages of the world.
// Threads: any; blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/devices/device_tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/static_tree.h"
#include "director/journal/journal.h"
#include "director/resident/package_files.h"
#include "director/resident/shown_world.h"
#include "director/shell/sources.h"

namespace galley::director {

using StaticTreePtr = std::shared_ptr<const devices::StaticTree>;

// BuildProgress: how much of the world was looked at. Threads: any.
struct BuildProgress {
  std::atomic<size_t> done = 0;
  std::atomic<size_t> total = 0;  // 0: not known yet
};

struct TreeBuild {
  ShownWorldPtr shown;
  devices::Audience audience;
  std::string project_id;
  StaticTreePtr static_tree;  // null: it is built, too
  // True: what stands by the journal is looked for.
  bool finds_standing = false;
  CookedPackages cooked;       // known to be cooked in the world
  std::vector<Digest> leased;  // roots of the same file `world`
  SourcesPtr sources;          // of the world
  absl::Time now;              // of the first growth
  // Says whether the world is still the present one.
  std::function<bool()> is_present;
};

struct BuiltTree {
  StaticTreePtr static_tree;
  std::unique_ptr<devices::DeviceTree> tree;  // has grown once
  // The tree has nodes of leased roots of which nothing else is known: not even to what the
  // packages refer.
  bool has_unknown_nodes = false;
  // The results that stand; nullopt: none were looked for, or the world ended meanwhile.
  std::optional<CookedPackages> standing;
};

struct BuildGround {
  store::Store& store;
  Journal& journal;
  const Cancellation& stop;
  BuildProgress& progress;
};

// ABORTED: a file changed meanwhile: a newer world comes. CANCELLED: `stop`. Others: the store's.
absl::StatusOr<BuiltTree> BuildTree(const TreeBuild& build, const BuildGround& ground);

// The package as a DeviceTree takes it.
devices::CookedPackage CookedOf(const ShownWorld& shown, const std::string& package,
                                const PackageFiles& files);
// Puts blobs in their order. After an error some may be missing.
absl::Status PutBlobs(store::Store& store, const std::vector<devices::NamedBlob>& blobs);
// The nodes of a root of a DeviceTree, but for those below the `known` folders
// (devices::ReadNodes).
absl::StatusOr<std::vector<devices::DeviceNode>> NodesOfRoot(const Digest& root,
                                                             const tree::ReadBlob& read,
                                                             std::set<Digest>& known);
// The file `world` of a root. NOT_FOUND: the root, or the file, is not in the store.
// INVALID_ARGUMENT: it is no root of a DeviceTree.
absl::StatusOr<devices::DeviceWorld> WorldOfRoot(const Digest& root, const tree::ReadBlob& read);

}  // namespace galley::director
