// PendingBlobs: the locations of blobs that were put and that no commit has made durable yet.
//
// Threads: one at a time; OwnLog guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::store {

class PendingBlobs {
 public:
  // False: the blob is pending already, and stays where it is.
  bool Add(const Digest& digest, const BlobLocation& location) {
    if (!places_.emplace(digest, location).second) return false;
    bytes_ += digest.size_bytes();
    return true;
  }
  // Does nothing if the blob is not pending.
  void Remove(const Digest& digest) {
    if (places_.erase(digest) != 0) bytes_ -= digest.size_bytes();
  }
  // REQUIRES: the blob is pending.
  void Move(const Digest& digest, const BlobLocation& to) { places_.at(digest) = to; }

  std::optional<BlobLocation> Find(const Digest& digest) const {
    const auto at = places_.find(digest);
    return at != places_.end() ? std::optional(at->second) : std::nullopt;
  }
  bool Has(const Digest& digest) const { return places_.contains(digest); }
  const std::map<Digest, BlobLocation>& places() const { return places_; }
  size_t size() const { return places_.size(); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::map<Digest, BlobLocation> places_;
  uint64_t bytes_ = 0;  // of the blobs in places_
};

}  // namespace galley::store
