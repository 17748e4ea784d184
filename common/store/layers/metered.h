// MeteredBlobStore: counts what passes, by method and by how it ended, and how long it took.
//
// Threads: any.
// Cost: one lock and two looks at the clock for a call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::store {

enum class BlobMethod { kFindMissing, kGet, kPut };
std::string_view BlobMethodName(BlobMethod method);  // "find_missing", "get", "put"

struct BlobMeter {
  // Bucket i counts calls that took less than 2^i ms; the last one all that took longer.
  static constexpr size_t kBuckets = 16;
  uint64_t calls = 0;
  uint64_t blobs = 0;  // asked for, read or written
  uint64_t bytes = 0;  // that were read or written; 0 for what failed
  absl::Duration time;
  std::array<uint64_t, kBuckets> took{};
};
using BlobMeters = std::map<std::pair<BlobMethod, absl::StatusCode>, BlobMeter>;

class MeteredBlobStore final : public BlobStore {
 public:
  MeteredBlobStore(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock);

  BlobMeters Counters() const;

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;

 private:
  void Note(BlobMethod method, absl::StatusCode code, absl::Time begun, uint64_t blobs,
            uint64_t bytes);

  const std::shared_ptr<BlobStore> behind_;
  const std::shared_ptr<Clock> clock_;
  mutable base::Mutex mutex_;
  BlobMeters meters_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
