#include "worker/session/known_blobs.h"

#include <utility>

namespace galley::worker {

std::optional<store::BlobLocation> KnownBlobs::Find(const Digest& digest) {
  uint64_t times_forgotten = 0;
  {
    const base::MutexLock lock(mutex_);
    times_forgotten = times_forgotten_;
    for (const Places* places : {&recent_, &older_}) {
      const auto found = places->find(digest);
      if (found == places->end()) continue;
      const store::BlobLocation location = found->second;
      if (places == &older_) Keep(digest, location);
      return location;
    }
    if (!IsAskedFor(digest)) return std::nullopt;
  }
  const std::optional<store::BlobLocation> told = ask_(digest);
  const base::MutexLock lock(mutex_);
  if (times_forgotten != times_forgotten_) return std::nullopt;
  misses_ = told.has_value() ? 0 : misses_ + 1;
  if (told.has_value()) Keep(digest, *told);
  return told;
}

bool KnownBlobs::IsAskedFor(const Digest& digest) {
  if (ask_ == nullptr || digest.size_bytes() < kAskBytesMin) return false;
  if (misses_ >= kMissesMax && ++skipped_ < kProbeEvery) return false;
  skipped_ = 0;
  return true;
}

void KnownBlobs::Add(const Digest& digest, const store::BlobLocation& location) {
  const base::MutexLock lock(mutex_);
  Keep(digest, location);
}

void KnownBlobs::Keep(const Digest& digest, const store::BlobLocation& location) {
  if (recent_.size() >= kRememberedMax) older_ = std::exchange(recent_, {});
  recent_.insert_or_assign(digest, location);
}

void KnownBlobs::Forget() {
  const base::MutexLock lock(mutex_);
  recent_.clear();
  older_.clear();
  misses_ = skipped_ = 0;
  ++times_forgotten_;
}

}  // namespace galley::worker
