// UploadLedger: what workers uploaded and no result of theirs names yet. The ledger is bounded for
// each worker, so that a worker that is broken, or lies, fills no disk: a blob beyond the bound is
// refused before any byte of it is kept.
//
// An upload does not say to which attempt it belongs. So a blob that no result names is given back
// when all attempts are over that the worker had when the blob came: an attempt that failed, or was
// given up, costs its worker nothing for the rest of a cook.
//
// Memory: about 200 bytes for each blob, 16 for each attempt that is not over. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "director/core/ids.h"

namespace galley::director {

class UploadLedger {
 public:
  struct Limits {
    uint64_t bytes_max = 16ull << 30;  // of one worker
    size_t blobs_max = 262'144;        // of one worker
  };
  explicit UploadLedger(Limits limits) : limits_(limits) {}

  // Counts a blob that is about to come and that the store does not have. True: the blob is counted
  // from now on, and the caller calls GiveBack if it does not come after all; false: the blob was
  // counted already. RESOURCE_EXHAUSTED: the worker has too much that no result names.
  absl::StatusOr<bool> Take(std::string_view worker, const Digest& digest);
  void GiveBack(std::string_view worker, const Digest& digest);
  // Notes that the worker got an attempt, which is newer than all before.
  void Begin(std::string_view worker, AttemptId attempt);
  // Notes that the worker ended the attempt, and has reported everything that it uploaded for the
  // attempt.
  void End(std::string_view worker, AttemptId attempt);
  // Ends attempts on which nobody will report any more. O(workers), and O(such attempts).
  void EndUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known);
  // Notes that a result of the worker, which the director has read, names these blobs.
  void Name(std::string_view worker, std::span<const Digest> digests);
  // Says whether nothing of the worker is counted.
  bool IsClean(std::string_view worker) const;
  // Forgets the counts of workers that have no jobs any more, for these workers can upload nothing.
  void ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs);
  uint64_t bytes(std::string_view worker) const;

 private:
  struct OfWorker {
    static constexpr AttemptId kNone = std::numeric_limits<AttemptId>::max();
    absl::btree_set<AttemptId> open;                 // attempts that are not over
    AttemptId newest = 0;                            // newest attempt that the worker got
    absl::flat_hash_map<Digest, AttemptId> unnamed;  // with the newest attempt when the blob came
    absl::btree_set<std::pair<AttemptId, Digest>> by_attempt;  // the same
    uint64_t bytes = 0;                                        // of the unnamed blobs
  };
  static void Erase(OfWorker& of, const Digest& digest);
  static void GiveBackEnded(OfWorker& of);
  void Erase(std::string_view worker, const Digest& digest) GALLEY_REQUIRES(mutex_);
  OfWorker& OfOrNew(std::string_view worker) GALLEY_REQUIRES(mutex_);

  const Limits limits_;
  mutable base::Mutex mutex_;
  std::map<std::string, OfWorker, std::less<>> workers_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
