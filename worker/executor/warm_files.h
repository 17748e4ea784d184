// WarmFiles: the bytes of files and cooked inputs that jobs read lately, so that a thousand shaders
// read and hash a shared include once.
//
// Files are known by content: a caller names the digest from the snapshot, so that kept bytes
// cannot be stale. The least recently used file goes first.
// Invariant: bytes() <= the limit; a file of more than a quarter of the limit is not kept. A file
// counts for its bytes and kEntryBytes, so that a million empty files are bounded, too.
// Cost: Find, Keep O(1).
// Threads: one owner.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

#include "common/base/blob.h"
#include "common/base/digest.h"

namespace galley::worker {

class WarmFiles {
 public:
  // The memory of an entry beside its bytes, in the lists, the table and the blob: an estimate for
  // a 64-bit machine with glibc.
  static constexpr uint64_t kEntryBytes = 256;

  // nullptr: the file is not kept.
  Blob Find(const Digest& digest);
  void Keep(const Digest& digest, const Blob& bytes);
  // Drops files above the new limit.
  void set_bytes_max(uint64_t bytes_max);
  uint64_t bytes() const { return bytes_; }

 private:
  struct Hash {
    size_t operator()(const Digest& digest) const;
  };
  using Entry = std::pair<Digest, Blob>;
  static uint64_t CostOf(const Blob& bytes) { return bytes->size() + kEntryBytes; }
  void DropToLimit();

  uint64_t bytes_max_ = 0;
  uint64_t bytes_ = 0;
  std::list<Entry> entries_;                                                // the latest used first
  std::unordered_map<Digest, std::list<Entry>::iterator, Hash> by_digest_;  // look-up only
};

}  // namespace galley::worker
