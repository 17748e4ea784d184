// DeviceTrees: the DeviceTrees of held worlds: which there are, what is added to them, and when
// they grow.
//
// A tree is named by its file `world`. An older world that comes again goes on with the tree that
// it had. Trees of worlds that are let go are dropped.
//
// Threads: none; owned by the thread of the turns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "director/devices/device_sessions.h"
#include "director/devices/device_tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/static_entry.h"

namespace galley::director {

class DeviceTrees {
 public:
  // Growth: a tree's new view. The blobs must be stored before anybody is told the view, in their
  // order.
  struct Growth {
    uint64_t world = 0;
    devices::DeviceViewPtr view;
    std::vector<devices::NamedBlob> blobs;
  };

  explicit DeviceTrees(devices::FoldPath fold) : fold_(std::move(fold)) {}

  // nullptr: the audience has no tree in this world.
  const devices::DeviceTree* Find(uint64_t world, const devices::Audience& audience) const;
  // Whether an audience of the platform has a tree in this world.
  bool HasAny(uint64_t world, const std::string& platform) const;
  // The newest world before `world` in which the audience has a tree that has grown; 0: none.
  uint64_t NewestBefore(uint64_t world, const devices::Audience& audience) const;
  // REQUIRES: the audience has no tree in the world, and no held tree has the same file `world`.
  // `blobs` come with the tree's next growth.
  void Insert(uint64_t world, std::unique_ptr<devices::DeviceTree> tree,
              std::vector<devices::NamedBlob> blobs);
  // True: a tree with this file `world` is held; it is a tree of the world `world` from now on,
  // unless it is one of a newer world already.
  bool Reuse(uint64_t world, const devices::DeviceWorld& device_world);
  // Adds a result to all trees of the world for the platform. Returns the faults, for the log: a
  // tree has another result of the package, which stays, or the outputs cannot be in a tree.
  std::vector<std::string> Add(uint64_t world, const std::string& platform,
                               const devices::CookedPackage& cooked);
  // The growths that are due. `is_awaited`: all that was added is due.
  std::vector<Growth> Grow(absl::Time now, bool is_awaited);
  // When Grow is next needed; infinite future: nothing was added.
  absl::Time grows_at() const;
  // The file `world` and the audience of each tree of the world, sorted by the digest of the file.
  std::vector<std::pair<Digest, devices::Audience>> TreesOf(uint64_t world) const;
  // Drops the tree with this file `world`; ignored if there is none.
  void Drop(const Digest& world_digest) { trees_.erase(world_digest); }
  // Drops the trees of worlds before `world`.
  void DropBefore(uint64_t world);
  size_t size() const { return trees_.size(); }

 private:
  struct Entry {
    uint64_t world = 0;
    std::unique_ptr<devices::DeviceTree> tree;
    std::vector<devices::NamedBlob> blobs;  // of the next growth
  };
  static devices::Audience AudienceOf(const devices::DeviceTree& tree);

  const devices::FoldPath fold_;
  std::map<Digest, Entry> trees_;  // by digest of the file `world`
};

}  // namespace galley::director
