// BlobGroups: blobs that threads of this process write to a store's files themselves become the
// store's in groups: what a sync and an answer cost is paid once for many. A thread of its own
// commits a group while the others go on.
//
// BlobLane: one such thread. It hashes what it is given once, asks the store for many at a time,
// and writes what is absent to a segment of its own, as a worker does.
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
    size_t blobs_max = 16'384;  // of a group; a larger one waits for no more
    uint64_t bytes_max = 128 << 20;
    uint64_t free_bytes_margin = 64 << 20;  // kept free beside what is written
  };
  BlobGroups(store::Store& store, std::string store_directory, const Options& options);
  // Blobs that were not flushed are garbage, which a collection finds.
  ~BlobGroups();

  store::Store& store() { return store_; }
  const std::string& store_directory() const { return store_directory_; }
  // RESOURCE_EXHAUSTED: `bytes` more would leave too little.
  absl::Status CheckSpace(uint64_t bytes) const;

  // True for the first who asks: the others need not write it.
  bool Claim(const Digest& digest);
  // The blob lies at `location`, and is to be the store's. Waits while two groups are on their way.
  // An error may be that of any group so far.
  absl::Status Add(const Digest& digest, const store::BlobLocation& location);
  // On return all is durable that was added, and all that others have put and not committed.
  absl::Status Flush();

  uint64_t blobs() const { return blobs_; }
  uint64_t bytes() const { return bytes_; }

 private:
  using Group = std::vector<std::pair<Digest, store::BlobLocation>>;
  bool IsFull() const GALLEY_REQUIRES(mutex_) {
    return group_.size() >= options_.blobs_max || group_bytes_ >= options_.bytes_max;
  }
  // Commits the group, while the lock is not held.
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
  std::thread thread_;                             // none: whoever fills a group commits it
};

// Threads: one.
class BlobLane {
 public:
  explicit BlobLane(BlobGroups& groups) : groups_(groups) {}

  // Room for a small blob (at most kSmallBlobBytesMax), to be filled behind what is there: taken by
  // Take, or forgotten by the next Begin.
  std::string& Begin();
  // The digest of all that was appended since Begin.
  absl::StatusOr<Digest> Take();
  // Puts a blob that is larger.
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
  std::string bytes_;  // of held_, and what is being filled
  size_t end_ = 0;     // of the last of held_
  std::vector<Held> held_;
};

}  // namespace galley::director
