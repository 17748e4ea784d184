#include "common/store/local/touches.h"

#include <algorithm>
#include <cstring>

namespace galley::store {

uint64_t Touches::FingerprintOf(const Digest& digest) {
  uint64_t value = 0;
  std::memcpy(&value, digest.hash().data(), sizeof(value));
  return value;
}

void Touches::Add(const Digest& digest, absl::Time now) {
  const uint64_t fingerprint = FingerprintOf(digest);
  Shard& shard = shards_[fingerprint % kShards];
  const base::MutexLock lock(shard.mutex);
  if (shard.spans.empty() || now - shard.spans.back().begin >= kTimeSpan)
    shard.spans.push_back({.begin = now, .end = now, .told = {}});
  Span& span = shard.spans.back();
  span.end = std::max(span.end, now);
  span.told.insert(fingerprint);
}

bool Touches::Have(const Digest& digest, absl::Time since) const {
  const uint64_t fingerprint = FingerprintOf(digest);
  const Shard& shard = shards_[fingerprint % kShards];
  const base::MutexLock lock(shard.mutex);
  for (auto span = shard.spans.rbegin(); span != shard.spans.rend() && span->end >= since; ++span) {
    if (span->told.contains(fingerprint)) return true;
  }
  return false;
}

void Touches::DropBefore(absl::Time since) {
  for (Shard& shard : shards_) {
    const base::MutexLock lock(shard.mutex);
    std::erase_if(shard.spans, [&](const Span& span) { return span.end < since; });
  }
}

size_t Touches::size() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) {
    const base::MutexLock lock(shard.mutex);
    for (const Span& span : shard.spans) sum += span.told.size();
  }
  return sum;
}

}  // namespace galley::store
