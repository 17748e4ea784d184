// BlobGroups: commits blobs in groups. Threads of this process write the blobs to a store's files,
// and the blobs of a group share one sync and one answer of the store. A thread of its own commits
// a group while the others go on.
//
// BlobLane: the part of one writing thread. A lane hashes each blob once, asks the store about many
// blobs at a time, and writes absent blobs to a segment of its own, as a worker does.
//
// Only for a store on this machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "common/store/local/segment_writer.h"

namespace galley::director {

class BlobGroups {
 public:
  struct Options {
    size_t blobs_max = 16'384;  // a group with so many blobs is committed without waiting for more
    uint64_t bytes_max = 128 << 20;
    uint64_t free_bytes_margin = 64 << 20;  // kept free beside the written bytes
  };
  BlobGroups(store::Store& store, std::string store_directory, const Options& options);
  // Blobs that were not flushed are garbage, which a collection removes.
  ~BlobGroups();

  store::Store& store() { return store_; }
  const std::string& store_directory() const { return store_directory_; }
  // RESOURCE_EXHAUSTED: after `bytes` more, less than the margin would be free.
  absl::Status CheckSpace(uint64_t bytes) const;

  // Returns true to the first caller with this digest: later callers need not write the blob.
  bool Claim(const Digest& digest);
  // Adds the blob at `location` to the next group. Waits while two groups are unfinished. May
  // return the error of any group so far.
  absl::Status Add(const Digest& digest, const store::BlobLocation& location);
  // Commits all groups: on return all added blobs are durable, and all blobs that other threads
  // have put.
  absl::Status Flush();

  uint64_t blobs() const { return blobs_; }
  uint64_t bytes() const { return bytes_; }

 private:
  using Group = std::vector<std::pair<Digest, store::BlobLocation>>;
  bool IsFull() const GALLEY_REQUIRES(mutex_) {
    return group_.size() >= options_.blobs_max || group_bytes_ >= options_.bytes_max;
  }
  // Commits the group; releases the lock meanwhile.
  void CommitGroup() GALLEY_REQUIRES(mutex_);
  void Work();

  store::Store& store_;
  const std::string store_directory_;
  const Options options_;
  std::atomic<uint64_t> blobs_ = 0, bytes_ = 0;

  base::Mutex claimed_mutex_;
  absl::flat_hash_set<Digest> claimed_ GALLEY_GUARDED_BY(claimed_mutex_);

  base::Mutex mutex_;
  base::CondVar changed_;
  Group group_ GALLEY_GUARDED_BY(mutex_);
  uint64_t group_bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_committing_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  absl::Status status_ GALLEY_GUARDED_BY(mutex_);  // the first error
  // Not joinable: the thread that fills a group commits it.
  std::thread thread_;
};

// Threads: one.
class BlobLane {
 public:
  explicit BlobLane(BlobGroups& groups) : groups_(groups) {}

  // Returns a buffer. The caller appends a small blob of at most kSmallBlobBytesMax to the bytes in
  // the buffer. Take takes the blob; without Take the next Begin drops it.
  std::string& Begin();
  // Puts the bytes that were appended since Begin, and returns their digest.
  absl::StatusOr<Digest> Take();
  // Puts a larger blob.
  absl::Status PutLarge(const Digest& digest, std::string_view bytes);
  absl::Status PutSmall(std::string_view bytes);
  absl::Status Flush();

 private:
  static constexpr size_t kGatherBytes = 1 << 20, kGatherBlobs = 256;
  struct Held {
    Digest digest;
    size_t begin = 0, size = 0;
  };
  absl::Status OpenSegment();

  BlobGroups& groups_;
  std::unique_ptr<store::SegmentWriter> writer_;
  uint64_t segment_ = 0;
  std::string bytes_;  // bytes of held_, then the blob since Begin
  size_t end_ = 0;     // end of the last blob in held_
  std::vector<Held> held_;
};

}  // namespace galley::director
