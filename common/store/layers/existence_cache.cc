#include "common/store/layers/existence_cache.h"

#include <cstring>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::store {
namespace {

// The size is part of a blob's identity, and often of two with one hash in what is wrong.
uint64_t FingerprintOf(const Digest& digest) {
  constexpr uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;  // spreads the size over all bits
  uint64_t fingerprint = 0;
  std::memcpy(&fingerprint, digest.hash().data(), sizeof fingerprint);
  return fingerprint ^ (digest.size_bytes() * kOdd);
}

}  // namespace

ExistenceCache::ExistenceCache(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock,
                               const ExistenceCacheOptions& options)
    : behind_(std::move(behind)), clock_(std::move(clock)), options_(options) {}

bool ExistenceCache::IsKnownLocked(uint64_t fingerprint) const {
  const auto at = seen_.find(fingerprint);
  return at != seen_.end() && clock_->Monotonic() - at->second < options_.time_to_live;
}

void ExistenceCache::RememberLocked(uint64_t fingerprint) {
  const absl::Time now = clock_->Monotonic();
  if (seen_.size() >= options_.count_max && !seen_.contains(fingerprint)) {
    std::erase_if(seen_,
                  [&](const auto& one) { return now - one.second >= options_.time_to_live; });
    if (seen_.size() >= options_.count_max) seen_.clear();
  }
  seen_[fingerprint] = now;
}

absl::StatusOr<std::vector<Digest>> ExistenceCache::FindMissing(std::span<const Digest> digests) {
  std::vector<Digest> unknown;
  {
    const base::MutexLock lock(mutex_);
    for (const Digest& digest : digests) {
      if (!IsKnownLocked(FingerprintOf(digest))) unknown.push_back(digest);
    }
  }
  if (unknown.empty()) return std::vector<Digest>();
  ASSIGN_OR_RETURN(std::vector<Digest> missing, behind_->FindMissing(unknown));
  const base::MutexLock lock(mutex_);
  // In the order given: what is missing is a part of what was asked for.
  size_t next = 0;
  for (const Digest& digest : unknown) {
    if (next < missing.size() && missing[next] == digest) {
      ++next;
    } else {
      RememberLocked(FingerprintOf(digest));
    }
  }
  // Not in the order of asking, or more than that: nothing is known of any.
  if (next != missing.size()) {
    for (const Digest& digest : unknown) seen_.erase(FingerprintOf(digest));
  }
  return missing;
}

absl::StatusOr<Blob> ExistenceCache::Get(const Digest& digest) {
  absl::StatusOr<Blob> blob = behind_->Get(digest);
  const base::MutexLock lock(mutex_);
  if (blob.ok()) {
    RememberLocked(FingerprintOf(digest));
  } else if (absl::IsNotFound(blob.status()) || absl::IsDataLoss(blob.status())) {
    seen_.erase(FingerprintOf(digest));
  }
  return blob;
}

absl::Status ExistenceCache::Put(const Digest& digest, std::string_view bytes) {
  RETURN_IF_ERROR(behind_->Put(digest, bytes));
  const base::MutexLock lock(mutex_);
  RememberLocked(FingerprintOf(digest));
  return absl::OkStatus();
}

}  // namespace galley::store
