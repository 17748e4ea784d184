// KnownBlobs: the places of blobs that are in the store, because the session wrote them or the
// store's owner said so. Known blobs are not written again.
//
// Blobs that the session wrote are remembered, the last 65,536 at least. The store is asked only
// for blobs of kAskBytesMin and more, since an answer costs about as much as appending so many
// bytes. While the store seldom has the blobs, only every kProbeEvery-th is asked for, so that
// content that nobody cooked before pays next to nothing. A blob of the store stays known until the
// director's session with the store ends; then everything must be forgotten.
//
// Threads: any; `ask` is called from all of them, under no lock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::worker {

class KnownBlobs {
 public:
  static constexpr size_t kRememberedMax = 65'536;  // in each of two generations
  static constexpr uint64_t kAskBytesMin = 32 << 10;
  static constexpr uint32_t kMissesMax = 16;  // in a row
  static constexpr uint32_t kProbeEvery = 16;

  // nullopt: the store does not have the blob, or nobody answers.
  using Ask = std::function<std::optional<store::BlobLocation>(const Digest& digest)>;
  // Null: nobody can be asked.
  explicit KnownBlobs(Ask ask) : ask_(std::move(ask)) {}

  // nullopt: the blob must be written.
  std::optional<store::BlobLocation> Find(const Digest& digest);
  void Add(const Digest& digest, const store::BlobLocation& location);
  // Forgets everything; an answer that is still on its way is not remembered either.
  void Forget();

 private:
  using Places = std::unordered_map<Digest, store::BlobLocation, DigestHash>;
  bool IsAskedFor(const Digest& digest) GALLEY_REQUIRES(mutex_);
  void Keep(const Digest& digest, const store::BlobLocation& location) GALLEY_REQUIRES(mutex_);

  const Ask ask_;
  base::Mutex mutex_;
  Places recent_ GALLEY_GUARDED_BY(mutex_), older_ GALLEY_GUARDED_BY(mutex_);
  uint64_t times_forgotten_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint32_t misses_ GALLEY_GUARDED_BY(mutex_) = 0;   // since the last hit
  uint32_t skipped_ GALLEY_GUARDED_BY(mutex_) = 0;  // since the last question
};

}  // namespace galley::worker
