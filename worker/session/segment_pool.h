// SegmentPool: writes the output bytes of a session's executors into segments that the director
// gave, one segment at a time. Blobs that the store has already, as far as KnownBlobs knows, are
// not written again.
//
// Threads: all methods may be called from many threads. Append waits for a limited time when there
// is no segment.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "worker/session/blob_sink.h"
#include "worker/session/known_blobs.h"

namespace galley::worker {

class SegmentPool final : public BlobSink {
 public:
  // `starved`: called when a writer begins to wait. `unusable` says why the last given segment
  // cannot be written to; empty: all segments are full.
  using Starved = std::function<void(const std::string& unusable)>;
  SegmentPool(absl::Duration wait_max, Starved starved, KnownBlobs::Ask ask = nullptr);

  // Another directory closes the open segment, and drops the others. Another director, known by its
  // `term`, has its own session with the store, so known blobs are forgotten.
  void SetStore(const std::string& directory, uint64_t term);
  void Give(std::span<const uint64_t> segments);
  // Ends all waiting, for good.
  void Close();
  // Large blobs are files of their own, need no segment, and are written while others append.
  // RESOURCE_EXHAUSTED: no space; UNAVAILABLE: no segment came in time; other codes: the write
  // failed, or a second segment cannot be opened, either.
  absl::StatusOr<wire::BlobAt> Append(std::string_view bytes) override;
  // A file for a blob that comes in pieces.
  absl::StatusOr<store::HashedFile> CreateFile() override;

 private:
  // OK: writer_ can be written to. NOT_FOUND: the director must give a segment first. Other codes:
  // the error of the last segment that the director gave.
  absl::Status OpenNext() GALLEY_REQUIRES(mutex_);
  std::string Directory();
  static constexpr std::chrono::seconds kThereFor{1};
  static constexpr uint64_t kUncheckedBytes = 1 << 20;  // bytes between two looks at the free space
  static constexpr size_t kSeenThereMax = 10'000;
  bool IsThere(const Digest& digest, const store::BlobLocation& location);
  absl::StatusOr<wire::BlobAt> AppendTo(const Digest& digest, std::string_view bytes)
      GALLEY_REQUIRES(mutex_);
  // Opens the next segment; waits for one until `deadline`.
  absl::Status Open(std::chrono::steady_clock::time_point deadline) GALLEY_REQUIRES(mutex_);

  const absl::Duration wait_max_;
  const Starved starved_;
  KnownBlobs known_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  std::string directory_ GALLEY_GUARDED_BY(mutex_);
  uint64_t term_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::deque<uint64_t> free_ GALLEY_GUARDED_BY(mutex_);
  std::string unusable_ GALLEY_GUARDED_BY(mutex_);  // why the last given segment is unusable
  std::set<uint64_t> seen_ GALLEY_GUARDED_BY(mutex_);
  std::unique_ptr<store::SegmentWriter> writer_ GALLEY_GUARDED_BY(mutex_);
  // The bytes for which there was room at the last look.
  uint64_t unchecked_bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<Digest, std::chrono::steady_clock::time_point> seen_there_
      GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::worker
