#include "worker/executor/warm_files.h"

#include <cstring>

namespace galley::worker {

size_t WarmFiles::Hash::operator()(const Digest& digest) const {
  size_t value = 0;
  std::memcpy(&value, digest.hash().data(), sizeof(value));
  return value;
}

Blob WarmFiles::Find(const Digest& digest) {
  const auto found = by_digest_.find(digest);
  if (found == by_digest_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void WarmFiles::Keep(const Digest& digest, const Blob& bytes) {
  if (CostOf(bytes) > bytes_max_ / 4 || by_digest_.contains(digest)) return;
  entries_.emplace_front(digest, bytes);
  by_digest_.emplace(digest, entries_.begin());
  bytes_ += CostOf(bytes);
  DropToLimit();
}

void WarmFiles::set_bytes_max(uint64_t bytes_max) {
  bytes_max_ = bytes_max;
  DropToLimit();
}

void WarmFiles::DropToLimit() {
  while (bytes_ > bytes_max_) {
    bytes_ -= CostOf(entries_.back().second);
    by_digest_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace galley::worker
