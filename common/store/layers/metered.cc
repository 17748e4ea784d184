#include "common/store/layers/metered.h"

#include <algorithm>
#include <utility>

namespace galley::store {

std::string_view BlobMethodName(BlobMethod method) {
  switch (method) {
    case BlobMethod::kFindMissing:
      return "find_missing";
    case BlobMethod::kGet:
      return "get";
    case BlobMethod::kPut:
      return "put";
  }
  return "unknown";
}

MeteredBlobStore::MeteredBlobStore(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock)
    : behind_(std::move(behind)), clock_(std::move(clock)) {}

BlobMeters MeteredBlobStore::Counters() const {
  const base::MutexLock lock(mutex_);
  return meters_;
}

void MeteredBlobStore::Note(BlobMethod method, absl::StatusCode code, absl::Time begun,
                            uint64_t blobs, uint64_t bytes) {
  const absl::Duration took = clock_->Monotonic() - begun;
  size_t bucket = 0;
  while (bucket + 1 < BlobMeter::kBuckets && took >= absl::Milliseconds(1) * (int64_t{1} << bucket))
    ++bucket;
  const base::MutexLock lock(mutex_);
  BlobMeter& meter = meters_[{method, code}];
  ++meter.calls;
  meter.blobs += blobs;
  meter.bytes += bytes;
  meter.time += took;
  ++meter.took[bucket];
}

absl::StatusOr<std::vector<Digest>> MeteredBlobStore::FindMissing(std::span<const Digest> digests) {
  const absl::Time begun = clock_->Monotonic();
  auto missing = behind_->FindMissing(digests);
  Note(BlobMethod::kFindMissing, missing.status().code(), begun, digests.size(), 0);
  return missing;
}

absl::StatusOr<Blob> MeteredBlobStore::Get(const Digest& digest) {
  const absl::Time begun = clock_->Monotonic();
  absl::StatusOr<Blob> blob = behind_->Get(digest);
  Note(BlobMethod::kGet, blob.status().code(), begun, 1, blob.ok() ? (*blob)->size() : 0);
  return blob;
}

absl::Status MeteredBlobStore::Put(const Digest& digest, std::string_view bytes) {
  const absl::Time begun = clock_->Monotonic();
  const absl::Status put = behind_->Put(digest, bytes);
  Note(BlobMethod::kPut, put.code(), begun, 1, put.ok() ? bytes.size() : 0);
  return put;
}

}  // namespace galley::store
