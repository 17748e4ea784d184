// UploadLedger: what workers uploaded and no result of theirs names yet. It is bounded for each
// worker, so that one that is broken, or lies, fills no disk: what is over is refused before any
// byte of it is kept.
//
// An upload does not say of which attempt it is. So what no result names is given back when all
// attempts are over that the worker had been given when it came: an attempt that failed, or was
// given up, costs its worker nothing for the rest of a cook.
//
// Memory: about 200 bytes a blob, 16 an attempt that is not over. Threads: any.
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
    size_t blobs_max = 262'144;        // likewise
  };
  explicit UploadLedger(Limits limits) : limits_(limits) {}

  // A blob that the store does not have is about to come. True: it is counted from now on, and
  // GiveBack is to be called when it does not come after all; false: it is counted already.
  // RESOURCE_EXHAUSTED: the worker has too much that no result names.
  absl::StatusOr<bool> Take(std::string_view worker, const Digest& digest);
  void GiveBack(std::string_view worker, const Digest& digest);
  // The worker was given an attempt: a newer one than all before.
  void Begin(std::string_view worker, AttemptId attempt);
  // The worker says that the attempt is over: what it uploaded for it, it has reported.
  void End(std::string_view worker, AttemptId attempt);
  // Attempts of which nobody will report any more are over, too. O(workers), and O(such attempts).
  void EndUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known);
  // A result of the worker that the director read names these.
  void Name(std::string_view worker, std::span<const Digest> digests);
  // Nothing of it is counted.
  bool IsClean(std::string_view worker) const;
  // Workers that have no jobs any more can upload nothing: what is counted of them is forgotten.
  void ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs);
  uint64_t bytes(std::string_view worker) const;

 private:
  struct OfWorker {
    static constexpr AttemptId kNone = std::numeric_limits<AttemptId>::max();
    absl::btree_set<AttemptId> open;                           // that are not over
    AttemptId newest = 0;                                      // that it was given
    absl::flat_hash_map<Digest, AttemptId> unnamed;            // the newest one when the blob came
    absl::btree_set<std::pair<AttemptId, Digest>> by_attempt;  // the same
    uint64_t bytes = 0;                                        // of these
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
