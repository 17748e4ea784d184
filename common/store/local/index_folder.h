// The names of a store's index: the one that is used, one that is being made, and damaged ones that
// were moved aside, for a look.
//
//   index            the one that is used
//   index.anew       one that is being made; it takes the place of `index` when it is finished
//   index.broken-<n> what was in the place of `index` and was damaged, the newest kBrokenFilesMax
//
// A damaged index is moved aside before another one is begun, so that nobody takes it for whole,
// wherever the making is cut off: where there is no `index`, the next owner makes it, or takes
// `index.anew` when it was finished.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::store {

std::string IndexPath(const std::string& store_directory);
std::string NewIndexPath(const std::string& store_directory);

// Moves `index` aside, whatever it is (rocks::MoveAside), and returns its new path. NOT_FOUND:
// there is none.
absl::StatusOr<std::string> MoveIndexAside(const std::string& store_directory);
// Makes room: removes what could not be finished, and the damaged ones but for `kept` (may be
// empty). True: there was any.
bool RemoveUnusedIndexes(const std::string& store_directory, const std::string& kept);
// REQUIRES: there is no `index`. It is durable.
absl::Status PutNewIndexInPlace(const std::string& store_directory);

}  // namespace galley::store
