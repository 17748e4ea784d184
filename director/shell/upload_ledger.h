// UploadLedger: counts the blobs that each worker uploaded and that no result of the worker names
// yet, up to a limit, so that a broken or malicious worker cannot fill the disk. A blob beyond the
// limit is refused before any byte is kept.
//
// An upload does not tell its attempt. So an unnamed blob is counted until all attempts are over
// that the worker had when the blob came. After that, blobs of failed or abandoned attempts do not
// count for the rest of the cook.
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
  // now, and the caller calls GiveBack if it does not come; false: the blob was counted before.
  // RESOURCE_EXHAUSTED: the worker has too many unnamed blobs or bytes.
  absl::StatusOr<bool> Take(std::string_view worker, const Digest& digest);
  void GiveBack(std::string_view worker, const Digest& digest);
  // Notes that the worker got an attempt, newer than all its earlier attempts.
  void Begin(std::string_view worker, AttemptId attempt);
  // Notes that the worker ended the attempt, after reports on everything that it uploaded for it.
  void End(std::string_view worker, AttemptId attempt);
  // Ends the attempts for which `is_known` returns false; no reports on them are expected.
  // O(workers + ended attempts).
  void EndUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known);
  // Notes that a result of the worker names these blobs.
  void Name(std::string_view worker, std::span<const Digest> digests);
  // Says whether no blob of the worker is counted.
  bool IsClean(std::string_view worker) const;
  // Forgets the workers for which `has_jobs` returns false, because they can upload nothing.
  void ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs);
  uint64_t bytes(std::string_view worker) const;

 private:
  struct OfWorker {
    static constexpr AttemptId kNone = std::numeric_limits<AttemptId>::max();
    absl::btree_set<AttemptId> open;                 // attempts that are not over
    AttemptId newest = 0;                            // newest attempt that the worker got
    absl::flat_hash_map<Digest, AttemptId> unnamed;  // with the newest attempt when the blob came
    absl::btree_set<std::pair<AttemptId, Digest>> by_attempt;  // the blobs of `unnamed`
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
