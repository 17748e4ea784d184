// DeviceTree: what devices see of one world, platform and set of cultures. It only grows.
//
//   world      which world this is (device_world.h)
//   static     what is known before anything is cooked (static_tree.h); absent: nothing
//   resource   the nodes of what is cooked so far (node_table.h); absent: nothing
//
// A *growth* adds nodes and gives a new root, in which all that was there is unchanged. A
// DeviceView is the tree as of one growth: an immutable value that any thread may read, so that a
// path that is cooked is answered without a turn of the core. A session has a view.
//
// Bytes: a growth writes the node, its two folders, the folder `resource` and the root. At a
// million nodes these are at most 48 KiB beside the node itself.
//
// The caller stores the blobs of a growth, and leases its root, before anybody is told the root.
// Threads: a DeviceTree is owned by one thread at a time, so that another thread can make the first
// growth of a large tree; a DeviceView may be read from many.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/devices/device_node.h"
#include "director/devices/device_world.h"
#include "director/devices/named_blob.h"
#include "director/devices/node_table.h"

namespace galley::devices {

// The package has no node: it was not cooked in this view, or it failed.
struct NotCooked {
  bool operator==(const NotCooked&) const = default;
};
// The package was cooked, and has no such output or generated package.
struct NoSuchOutput {
  bool operator==(const NoSuchOutput&) const = default;
};
struct CookedFile {
  Digest digest;
  bool is_executable = false;
  bool operator==(const CookedFile&) const = default;
};
using FileAnswer = std::variant<NotCooked, NoSuchOutput, CookedFile>;

// kListed: the generator's load generated the package, which itself may not be cooked yet.
enum class GeneratedAnswer { kNotCooked, kNotListed, kListed };

struct DeviceView {
  std::shared_ptr<const DeviceWorld> world;
  Digest world_digest;  // of the file `world`: names the DeviceTree
  uint64_t growth = 0;  // from 1
  Digest root;
  Digest static_root;
  NodeTable nodes;
  std::vector<NodeKey> added;  // by this growth, sorted

  // `package`: a virtual path; `suffix`: of one of its outputs (".ktx2", ".d/lod1.glb"). Small
  // copied files are in `static` and have no node. Cost: O(log n), no Directory is read.
  FileAnswer Find(std::string_view package, std::string_view suffix) const;
  // Whether the load of `generator` generated the package that is staged at `stage_path`.
  GeneratedAnswer FindGenerated(std::string_view generator, std::string_view stage_path) const;
};
using DeviceViewPtr = std::shared_ptr<const DeviceView>;

class DeviceTree {
 public:
  // Unless somebody waits for a node.
  static constexpr absl::Duration kGrowthInterval = absl::Milliseconds(100);

  // A tree without nodes. `static_root`: StaticTree::root.
  DeviceTree(DeviceWorld world, const Digest& static_root);
  // The tree of a newer world, which begins with the nodes of the older world's newest view but for
  // those of `changed` packages: packages that are gone, or whose results may differ. REQUIRES:
  // platform and cultures are the same.
  DeviceTree(DeviceWorld world, const Digest& static_root, const DeviceView& before,
             std::vector<NodeKey> changed);

  // Adds a package's result, which the next growth has; appends the node's blobs. The same result
  // again is nothing new. ALREADY_EXISTS: the package has a node with another result, which stays:
  // a cook differs from an equal cook, or the caller did not begin a world for a change.
  // INVALID_ARGUMENT: as MakeNode. The blobs must be stored before the growth's.
  absl::Status Add(const CookedPackage& cooked, const FoldPath& fold,
                   std::vector<NamedBlob>& blobs);
  // The same for a node that was made elsewhere: by MakeNode on another thread, for the many
  // packages of the last cook by the book, or by ReadNodes from a leased root of the same world.
  // The node's blobs must be stored. ALREADY_EXISTS as Add.
  absl::Status AddNode(DeviceNode node);
  // The package has a node, or gets one by the next growth.
  bool Has(const NodeKey& key) const { return FindNode(key) != nullptr; }

  // When Grow may be called, if nobody waits. Infinite past: at once; infinite future: there is
  // nothing new.
  absl::Time grows_at() const;
  // Makes the next view, and appends the folders that changed, the root last. `is_awaited`:
  // somebody waits for a node that was added. nullptr: it is not time, or there is nothing new. The
  // first call always gives a view. REQUIRES: `now` does not go back.
  DeviceViewPtr Grow(absl::Time now, bool is_awaited, std::vector<NamedBlob>& blobs);

  // nullptr: before the first Grow.
  const DeviceViewPtr& newest() const { return newest_; }
  const DeviceWorld& world() const { return *world_; }

 private:
  // The node that the package has, or gets by the next growth; nullptr: none.
  const DeviceNode* FindNode(const NodeKey& key) const;

  const std::shared_ptr<const DeviceWorld> world_;
  const Digest static_root_;
  NodeTable nodes_;                      // of the newest view; before the first, of the older world
  std::set<NodeKey> removed_;            // from nodes_ by the first growth
  std::map<NodeKey, DeviceNode> added_;  // by the next growth
  DeviceViewPtr newest_;
  absl::Time grown_ = absl::InfinitePast();
};

}  // namespace galley::devices
