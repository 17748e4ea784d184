// WorldChange: how the paths that devices see differ between a world and its successor. A deletion
// and a rename are one value: `removed` and `added` together.
//
// Threads: none; pure functions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "director/devices/device_tree.h"
#include "director/devices/node_path.h"
#include "director/devices/static_entry.h"

namespace galley::devices {

struct ChangedPath {
  std::string path;              // in the cooked tree
  std::optional<Digest> before;  // nullopt: absent, or not cooked in the older world
  std::optional<Digest> after;   // nullopt: absent, or not cooked yet
  auto operator<=>(const ChangedPath&) const = default;
};

// A package as two worlds show it; nullopt: the world does not show it. At least one is set.
struct PackageChange {
  std::optional<ShownPackage> before;
  std::optional<ShownPackage> after;
};

// StalePackage: a package whose outputs may differ in the newer world, and are not cooked there.
struct StalePackage {
  std::string package;                   // virtual path
  std::string stage_path;                // in the newer world
  std::vector<std::string> suffixes;     // of outputs that a cook always makes
  std::map<std::string, Digest> before;  // by path: outputs of the last cook, which may be there
  bool is_new = false;                   // the older world does not show the package

  // The paths that may differ, sorted: those of `suffixes` and of `before`.
  std::vector<std::string> Paths() const;
  bool operator==(const StalePackage&) const = default;
};

// The lists are sorted, by path or name. A path that is added is not cooked yet where it has no
// digest; when it is cooked, the path is modified.
struct WorldChange {
  std::vector<ChangedPath> added;
  std::vector<ChangedPath> modified;
  std::vector<ChangedPath> removed;
  std::vector<StalePackage> stale;
  std::vector<std::string> not_stale;  // changed packages that are no longer shown, or are files
  // Any path may differ: the lists are empty. More changed at once than is worth listing, or nobody
  // knows what did.
  bool is_cut = false;
  bool operator==(const WorldChange&) const = default;
};

// `changed`: the packages whose sources, rules or inputs differ, also by what they read or refer
// to. `before`: the newest view of the older world; nullptr: it has none.
WorldChange ChangeOf(std::span<const PackageChange> changed, const DeviceView* before);

// How a stale package came out: its outputs before and now. A path that was stale and came out the
// same is in `modified` with equal digests, so that devices know that it is no longer stale.
// Has no stale packages.
WorldChange SettledChange(const StalePackage& stale, const DeviceNode& now);

}  // namespace galley::devices
