// Changes: the differences between two snapshots of one project's files.
#pragma once

#include <string>
#include <vector>

#include "common/base/cancellation.h"
#include "common/content/snapshot.h"

namespace galley::content {

// Change: a file that was added or removed, or that has other content now.
struct Change {
  std::string path;
  bool was_there = false;
  bool is_there = false;
};
// The changes from `before` to `now`, sorted by path. A file whose stat differs, or was racy when
// `before` was scanned, is hashed in `now`, and is a change if its digest differs: a touched file
// is no change. Such a file counts as a change without hashing if `before` has no digest of the
// file, or if the file has kHashedHereMax bytes or more; the user of its digest hashes it later,
// beside other work. An entry with an error is a change when the error differs.
// Cost: linear in the files; for a revision (IsRevisionOf), in the files that were looked at again.
// `touched`: gets the hashed files whose digest is the same; null: not wanted.
// `stop`: once it is cancelled, files that were not hashed count as changes.
std::vector<Change> DiffSnapshots(const Snapshot& before, Snapshot& now,
                                  std::vector<std::string>* touched = nullptr,
                                  const Cancellation* stop = nullptr);

}  // namespace galley::content
