// UploadLedger: what workers uploaded and no result of theirs names yet. It is bounded for each
// worker, so that one that is broken, or lies, fills no disk: what is over is refused before any
// byte of it is kept.
//
// Memory: about 100 bytes a blob. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"

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
  // A result of the worker that the director read names these.
  void Name(std::string_view worker, std::span<const Digest> digests);
  // Nothing of it is counted.
  bool IsClean(std::string_view worker) const;
  // Workers that have no jobs any more can upload nothing: what is counted of them is forgotten.
  void ForgetUnless(absl::FunctionRef<bool(std::string_view worker)> has_jobs);
  uint64_t bytes(std::string_view worker) const;

 private:
  struct Unnamed {
    absl::flat_hash_set<Digest> blobs;
    uint64_t bytes = 0;
  };
  void Erase(std::string_view worker, const Digest& digest) GALLEY_REQUIRES(mutex_);

  const Limits limits_;
  mutable base::Mutex mutex_;
  std::map<std::string, Unnamed, std::less<>> unnamed_ GALLEY_GUARDED_BY(mutex_);  // none is empty
};

}  // namespace galley::director
