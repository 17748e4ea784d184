// PutTree: a folder, or a file, becomes a tree in a store of this machine: the other way round from
// Checkout.
//
// Each file is read and hashed once, by several threads; what is new goes to the store in groups
// (blob_groups.h). A file whose digest is known from the last time (content/digest_cache.h) is not
// read: the store is asked for it. Links, devices, files that cannot be read, names that no tree
// can hold, and files that change while they are read are told, each by name; the others are put
// all the same, but then there is no root. Empty folders are left out: trees have none.
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
  uint64_t files = 0, files_total = 0;  // total: 0 until it is known
  uint64_t bytes = 0;
};

struct PutTreeOptions {
  std::string path;               // absolute
  std::string digest_cache_file;  // of this path alone; empty: none
  unsigned threads = 0;           // 0: one for each core, at most 8
  Clock* clock = nullptr;         // wall time, for what is racy; nullptr: the system's
  // Told now and then by one thread; false stops it.
  std::function<bool(const PutTreeProgress&)> on_progress;
  // Stops it, also while folders are listed and in the middle of a file. Null: nobody does.
  const Cancellation* stop = nullptr;
};

struct PutTreeReport {
  std::optional<Digest> root;                   // none: there are errors
  uint64_t files = 0, bytes = 0;                // of the tree
  uint64_t read_files = 0, read_bytes = 0;      // of these
  uint64_t stored_blobs = 0, stored_bytes = 0;  // that the store did not have
  std::vector<std::string> errors;              // by path
};

// All of the tree is durable on return. INVALID_ARGUMENT: `path` is no file and no folder, holds
// the store, or holds a part of a tree, because a checkout, a cook or a patch was cut off there
// (nothing was put then). CANCELLED: by on_progress, or by `stop`. RESOURCE_EXHAUSTED and others:
// the store's.
absl::StatusOr<PutTreeReport> PutTree(store::Store& store, const PutTreeOptions& options);

}  // namespace galley::director
