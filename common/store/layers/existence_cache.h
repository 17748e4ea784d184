// ExistenceCache: remembers for a while which blobs the store behind it has, so that one that is
// named by many results is asked for once. Absence is never remembered.
//
// An answer may be a minute old: for stores that keep what they reported present for at least that
// long, as REAPI asks of them. A Get that finds nothing, or wrong bytes, forgets the blob.
// Cost: 16 bytes and a hash table's share for each of at most `count_max` blobs. A blob is known by
// 8 bytes of its hash and its size: two that agree in them (1 in 2^64) count as one.
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
  size_t count_max = 1'000'000;  // when it is full, all that is too old goes, or else all
};

class ExistenceCache final : public BlobStore {
 public:
  ExistenceCache(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock,
                 const ExistenceCacheOptions& options = {});

  // Asks only for those that are not remembered.
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
