// ExistenceCache: remembers for a while which blobs the store behind it has, so that a blob that
// many results name is asked for once. Absence is never remembered.
//
// An answer may be a minute old, so the store behind must keep a reported blob for at least that
// long, as REAPI demands. A Get that finds nothing, or wrong bytes, forgets the blob.
// Cost: 16 bytes and the hash table's overhead for each of at most `count_max` blobs. A blob is
// known by 8 bytes of its hash and its size; two blobs that agree in these (1 in 2^64) count as the
// same blob.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::store {

struct ExistenceCacheOptions {
  absl::Duration time_to_live = absl::Seconds(60);
  size_t count_max = 1'000'000;  // a full cache drops entries that are too old, or else all
};

class ExistenceCache final : public BlobStore {
 public:
  ExistenceCache(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock,
                 const ExistenceCacheOptions& options = {});

  // Asks the store behind only for blobs that are not remembered.
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;

 private:
  bool IsKnownLocked(uint64_t fingerprint) const GALLEY_REQUIRES(mutex_);
  void RememberLocked(uint64_t fingerprint) GALLEY_REQUIRES(mutex_);

  const std::shared_ptr<BlobStore> behind_;
  const std::shared_ptr<Clock> clock_;
  const ExistenceCacheOptions options_;
  base::Mutex mutex_;
  std::unordered_map<uint64_t, absl::Time> seen_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
