// PutTree: makes a tree in a store of this machine from a folder, or a file: the reverse of
// Checkout.
//
// Every file is read and hashed once, by several threads; new files go to the store in groups
// (blob_groups.h). A file whose digest is known from the last put (content/digest_cache.h) is not
// read if the store has that blob. Links, devices, unreadable files, names that no tree can hold,
// and files that change during the read are reported, each by name; the other files are still put,
// but there is no root. Empty folders are left out, because trees have none.
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
  std::string digest_cache_file;  // for this `path` alone; empty: none
  unsigned threads = 0;           // 0: one for each core, at most 8
  Clock* clock = nullptr;         // wall time, for racy files; null: the system's clock
  // Called now and then by one thread; false stops the put.
  std::function<bool(const PutTreeProgress&)> on_progress;
  // Stops the put, even while folders are listed or in the middle of a file. Null: never.
  const Cancellation* stop = nullptr;
};

struct PutTreeReport {
  std::optional<Digest> root;                   // nullopt: there are errors
  uint64_t files = 0, bytes = 0;                // of the tree
  uint64_t read_files = 0, read_bytes = 0;      // how many of these had to be read
  uint64_t stored_blobs = 0, stored_bytes = 0;  // blobs that the store lacked
  std::vector<std::string> errors;              // by path
};

// On return the whole tree is durable. INVALID_ARGUMENT, and nothing was put: `path` is neither a
// file nor a folder, or it contains the store, or it contains the remains of an interrupted
// checkout, cook or patch. CANCELLED: by on_progress, or by `stop`. Other codes: the store's,
// RESOURCE_EXHAUSTED among them.
absl::StatusOr<PutTreeReport> PutTree(store::Store& store, const PutTreeOptions& options);

}  // namespace galley::director
