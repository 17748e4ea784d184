// The paths of a store's indexes:
//
//   index            the index in use
//   index.anew       an index that is being made; replaces `index` when it is finished
//   index.broken-<n> damaged indexes that were moved aside, the newest kBrokenFilesMax
//
// A damaged index is moved aside before another index is begun. So nobody uses the damaged index,
// even if the process dies before the new index is finished: without an `index`, the next owner
// makes one, or takes a finished `index.anew`.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::store {

std::string IndexPath(const std::string& store_directory);
std::string NewIndexPath(const std::string& store_directory);

// Moves `index` aside, a file too (rocks::MoveAside), and returns its new path. NOT_FOUND: there is
// no `index`.
absl::StatusOr<std::string> MoveIndexAside(const std::string& store_directory);
// Removes unfinished and damaged indexes, except `kept` (may be empty), to free space. True: there
// were any.
bool RemoveUnusedIndexes(const std::string& store_directory, const std::string& kept);
// Renames `index.anew` to `index`, durably. REQUIRES: there is no `index`.
absl::Status PutNewIndexInPlace(const std::string& store_directory);

}  // namespace galley::store
