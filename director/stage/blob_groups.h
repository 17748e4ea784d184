// BlobGroups: makes blobs that threads of this process write to a store's files the store's in
// groups: many blobs pay once for a sync and an answer. A thread of its own commits a group while
// the others go on.
//
// BlobLane: one of the writing threads. A lane hashes each blob once, asks the store about many
// blobs at a time, and writes absent blobs to a segment of its own, as a worker does.
//
// Only for a store of this machine.
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
    size_t blobs_max = 16'384;  // of a group; a larger group does not wait for more
    uint64_t bytes_max = 128 << 20;
    uint64_t free_bytes_margin = 64 << 20;  // kept free beside the written bytes
  };
  BlobGroups(store::Store& store, std::string store_directory, const Options& options);
  // Blobs that were not flushed are garbage, which a collection finds.
  ~BlobGroups();

  store::Store& store() { return store_; }
  const std::string& store_directory() const { return store_directory_; }
  // RESOURCE_EXHAUSTED: `bytes` more would leave too little room.
  absl::Status CheckSpace(uint64_t bytes) const;

  // Returns true for the first caller: the others need not write the blob.
  bool Claim(const Digest& digest);
  // Adds a blob that lies at `location` to the next group. Waits while two groups are on their way.
  // An error may be that of any group so far.
  absl::Status Add(const Digest& digest, const store::BlobLocation& location);
  // On return everything that was added is durable, and everything that others have put and not
  // committed.
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
  std::thread thread_;                             // none: the thread that fills a group commits it
};

// Threads: one.
class BlobLane {
 public:
  explicit BlobLane(BlobGroups& groups) : groups_(groups) {}

  // Returns room for a small blob (at most kSmallBlobBytesMax), to be filled behind the bytes
  // there: Take takes the blob, and the next Begin drops it.
  std::string& Begin();
  // Returns the digest of the bytes that were appended since Begin.
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
  std::string bytes_;  // bytes of held_, then the blob that is being filled
  size_t end_ = 0;     // end of the last blob of held_
  std::vector<Held> held_;
};

}  // namespace galley::director
