// PutTree: makes a tree in a store of this machine from a folder, or a file: the reverse of
// Checkout.
//
// Every file is read and hashed once, by several threads; new files go to the store in groups
// (blob_groups.h). A file whose digest is known from the last time (content/digest_cache.h) is not
// read: the store is asked for its digest. Links, devices, files that cannot be read, names that no
// tree can hold, and files that change while they are read are told, each by name; the other files
// are put all the same, but then there is no root. Empty folders are left out, because trees have
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::director {

struct PutTreeProgress {
  uint64_t files = 0, files_total = 0;  // total: 0 until known
  uint64_t bytes = 0;
};

struct PutTreeOptions {
  std::string path;               // absolute
  std::string digest_cache_file;  // for this path alone; empty: none
  unsigned threads = 0;           // 0: one for each core, at most 8
  Clock* clock = nullptr;         // wall time, for racy files; nullptr: the system's clock
  // Called now and then by one thread; false stops the put.
  std::function<bool(const PutTreeProgress&)> on_progress;
  // Stops the put, also while folders are listed and in the middle of a file. Null: nobody does.
  const Cancellation* stop = nullptr;
};

struct PutTreeReport {
  std::optional<Digest> root;                   // none: there are errors
  uint64_t files = 0, bytes = 0;                // of the tree
  uint64_t read_files = 0, read_bytes = 0;      // read, of `files` and `bytes`
  uint64_t stored_blobs = 0, stored_bytes = 0;  // that the store lacked
  std::vector<std::string> errors;              // by path
};

// The whole tree is durable on return. INVALID_ARGUMENT: `path` is no file and no folder, holds the
// store, or holds a part of a tree, because a checkout, a cook or a patch was cut off there (then
// nothing was put). CANCELLED: by on_progress, or by `stop`. RESOURCE_EXHAUSTED and other codes:
// the store's.
absl::StatusOr<PutTreeReport> PutTree(store::Store& store, const PutTreeOptions& options);

}  // namespace galley::director
