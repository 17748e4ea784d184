// Changes: what differs between two snapshots of one project's files.
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
// The changes from `before` to `now`, sorted by path. Linear in the files, and reads only files
// whose stat differs or was racy when `before` was scanned: those are hashed in `now` and compared
// with the digest that `before` knew, so a touched file is no change. Where `before` knew no
// digest, a differing stat and a racy file count as changes. Entries with an error differ when
// their errors do. Of a revision (IsRevisionOf) the files that were looked at again are compared.
// A file of kHashedHereMax bytes or more that would have to be hashed counts as a change: whoever
// needs its digest hashes it, beside the rest.
// `touched`: gets the files that were looked at and have the bytes of before; null: nobody asks.
// `stop`: once it is cancelled, files that were not hashed count as changes.
std::vector<Change> Difference(const Snapshot& before, Snapshot& now,
                               std::vector<std::string>* touched = nullptr,
                               const Cancellation* stop = nullptr);

}  // namespace galley::content
