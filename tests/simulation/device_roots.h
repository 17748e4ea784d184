// DeviceRoots: reads and checks the roots that devices are told, as clients read them that follow
// all links:
//
//   - The tree is of one world: the plain files, the links and the nodes are those of a clean cook
//     of the files that its marker names (device_worlds.h).
//   - A growth only adds: the newer root of a world has each node of the older one, unchanged.
//   - A root that a lease keeps is whole, unless somebody destroyed parts of the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/tree/linked_directory.h"
#include "director/devices/device_node.h"
#include "director/devices/device_world.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/device_worlds.h"
#include "tests/simulation/sim_store.h"

namespace galley::simulation {

// KnownRoot: a root that was read as a whole.
struct KnownRoot {
  devices::DeviceWorld world;
  const Files* files = nullptr;  // of the world
  std::map<devices::NodeKey, Digest> nodes;
};

class DeviceRoots {
 public:
  // Everything in Deps outlives DeviceRoots.
  struct Deps {
    const World& world;
    const DeviceWorlds& worlds;
    Checks& checks;
    uint64_t names = 0;  // the number of packages at first
  };
  explicit DeviceRoots(const Deps& deps);

  // Reads and checks a root when it is seen first. nullptr: it cannot be read, which is a violation
  // unless `may_be_lost`.
  const KnownRoot* Know(const Digest& root, SimStore& store, bool may_be_lost);
  // nullptr: it was never read as a whole.
  const KnownRoot* Find(const Digest& root) const;
  const std::map<Digest, KnownRoot>& all() const { return roots_; }
  // Checks that `after` has all that `before` has. REQUIRES: both are known.
  void CheckGrowth(const Digest& before, const Digest& after);
  // The digest of the file at the path, as a client finds it; nullopt: the tree has none.
  std::optional<Digest> FileIn(const Digest& root, const std::string& path, SimStore& store) const;

  // The folders of the tree, and the small files that only trees have; complete if `is_whole`.
  struct Closure {
    std::set<Digest> blobs;
    bool is_whole = true;
  };
  // Reads nothing that was read before, and looks whether the store has it all.
  Closure ClosureOf(const Digest& root, SimStore& store);
  // A check reads the store: nobody is told anything.
  bool is_reading() const { return is_reading_; }

 private:
  class Reading {
   public:
    explicit Reading(const DeviceRoots& of) : of_(of) { of_.is_reading_ = true; }
    ~Reading() { of_.is_reading_ = false; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    const DeviceRoots& of_;
  };
  absl::StatusOr<KnownRoot> Read(const Digest& root, SimStore& store);
  void CheckNode(const KnownRoot& root, const devices::DeviceNode& node);
  void CheckStatic(const KnownRoot& known, const Digest& root, SimStore& store);
  void Walk(const Digest& folder, SimStore& store, Closure& closure);
  void Break(const std::string& what);

  const Deps deps_;
  std::vector<std::string> packages_;                     // of which there may be nodes
  std::map<devices::NodeKey, std::string> names_by_key_;  // of packages_
  std::map<Digest, KnownRoot> roots_;
  std::map<Digest, tree::LinkedDirectory> folders_;  // that were read
  mutable bool is_reading_ = false;
};

}  // namespace galley::simulation
