// The folder `static` of a DeviceTree: what a world shows at each output path. It depends on the
// world alone.
//
// Entries that cannot be in one tree are not shown (path_order.h). They are listed in `hidden`, so
// that a later edit can show them again. A tree that was edited equals the tree that
// is built from nothing.
//
// Threads: none. A StaticTree is a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/static_entry.h"

namespace galley::devices {

struct StaticTree {
  // The digest of no bytes: nothing is shown, and the DeviceTree has no folder `static`.
  Digest root;
  // Entries that are not shown, by folded path, path and content.
  std::vector<StaticEntry> hidden;
  // The shown links to an output that IsNamedMore; all other links with such a name lead to what
  // only a cook tells. Sorted; nearly always empty.
  std::vector<std::string> outputs_named_more;
  bool operator==(const StaticTree&) const = default;
};

// Two paths that cannot be in one tree; a cook by the book fails both packages.
struct StaticConflict {
  std::string first;
  std::string second;
  std::string reason;  // as tree::Conflict
  bool operator==(const StaticConflict&) const = default;
};
// The conflicts of a tree, by path. Links to further outputs that gave way are none.
std::vector<StaticConflict> ConflictsOf(const StaticTree& tree, const FoldPath& fold);

// StaticTreeBuild: builds the whole, in parts, so that the bytes of a tree of a million packages
// are never in memory at once:
//
//   StaticTreeBuild build(std::move(entries), fold);
//   while (build.Step(100'000, blobs)) { store and clear `blobs` }
//   store `blobs`, then use build.Take()
//
// Cost: O(n log n) in the constructor; about 150 bytes an entry, and one hash a folder.
class StaticTreeBuild {
 public:
  // `entries` may be in any order. REQUIRES: paths are plain (tree/plain_name.h).
  StaticTreeBuild(std::vector<StaticEntry> entries, const FoldPath& fold);

  // Adds up to `entries_max` further entries, and appends the folders that are complete. False: the
  // tree is whole, and its root was appended. REQUIRES: entries_max > 0.
  bool Step(size_t entries_max, std::vector<NamedBlob>& blobs);
  // REQUIRES: Step returned false. Called once.
  StaticTree Take();

 private:
  struct Open {
    std::string_view name;
    tree::LinkedDirectory directory;
  };

  void HideConflicting(const FoldPath& fold);
  void AddEntry(const StaticEntry& entry, std::vector<NamedBlob>& blobs);
  void CloseTo(size_t depth, std::vector<NamedBlob>& blobs);

  std::vector<StaticEntry> entries_;
  std::vector<uint32_t> order_;  // the shown entries, by path
  size_t next_ = 0;              // in order_
  std::vector<Open> open_;       // from the root to the folder that is being filled
  StaticTree tree_;
};

// Builds the whole at once: for small trees and tests.
StaticTree BuildStaticTree(std::vector<StaticEntry> entries, const FoldPath& fold,
                           std::vector<NamedBlob>& blobs);

// Edits a tree by the entries of the packages that changed: as they were, and as they are. An entry
// in both lists stays. Reads and writes the folders on the paths alone; where an entry wants the
// place of a folder, that folder too. Appends folders after their children, the root last.
// FAILED_PRECONDITION: the tree lacks a removed entry. DATA_LOSS: the tree has a link that no
// StaticTree has. Errors as `read`.
absl::StatusOr<StaticTree> EditStaticTree(const StaticTree& before,
                                          std::vector<StaticEntry> removed,
                                          std::vector<StaticEntry> added,
                                          const tree::ReadBlob& read, const FoldPath& fold,
                                          std::vector<NamedBlob>& blobs);

}  // namespace galley::devices
