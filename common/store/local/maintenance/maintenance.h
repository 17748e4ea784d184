// Maintenance: administers an open store: verifies it, collects unneeded blobs and results, frees
// dead bytes of segments, counts, and says why a blob is kept.
//
// Every task is a class of its own in this folder that works on StoreParts. This class decides
// which tasks may run at the same time: one collection or freeing of dead bytes, one verify, and
// any number of the others.
//
// Errors: as the functions of Store and DeadBytes.
// Threads: any. A collection's lock is taken before all others of the store.
#pragma once

#include <atomic>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

class Maintenance {
 public:
  // Calls RemoveOldWriterNotes.
  explicit Maintenance(StoreParts& store);

  absl::StatusOr<StoreStats> Stats(const StatsOptions& options);
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options);
  absl::StatusOr<GcReport> Collect(const GcOptions& options);
  absl::StatusOr<GcReport> GiveBackDeadBytes(Cancellation* cancellation);
  absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options);
  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit);

 private:
  StoreParts& store_;
  std::atomic<bool> is_verifying_ = false;
  base::Mutex collect_mutex_;  // one collection at a time; locked before all others
};

}  // namespace galley::store
