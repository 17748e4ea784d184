// OwnLog: what the owner of a store appends: the segment that is being filled, the numbers of
// segments, the blobs that are pending, and the loss epoch that segments say.
//
// Small blobs that are put go to the owner's segment at once and are *pending* (readable, not
// durable) until a commit has synced and indexed them. Large ones are files; they are pending, too,
// with the place of a file. A segment whose sync failed is given up: what was pending in it is
// moved to the next one.
//
// Errors: RESOURCE_EXHAUSTED: no space. Else those of the disk; what was appended until then may
// be pending.
// Threads: any. mutex() guards everything. Whoever appends several records that must not have
// others between them holds it meanwhile. It is the last of the store's locks (StoreWriter's,
// Told's, this one), and it is never held during a sync. Sync, SyncFolder and Restore are called by
// one thread at a time, which holds StoreWriter's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/store/local/live_index.h"
#include "common/store/local/log_records.h"
#include "common/store/local/pending_blobs.h"
#include "common/store/local/recovery.h"
#include "common/store/local/segment_file.h"
#include "common/store/local/store_folder.h"
#include "common/store/local/synced_ends.h"

namespace galley::store {

class OwnLog {
 public:
  // `index` says the loss epoch, which it may raise when it is made anew. `synced_ends` is told how
  // far the owner's segments are synced. They and `folder` outlive the log.
  OwnLog(const StoreFolder& folder, const LiveIndex& index, SyncedEnds& synced_ends,
         const Recovered& recovered);

  base::Mutex& mutex() GALLEY_RETURN_CAPABILITY(mutex_) { return mutex_; }

  // Returns the record's place. `written_s`: as in SegmentFile::Append.
  absl::StatusOr<RecordPlace> Append(RecordKind kind, const Digest& key, std::string_view payload,
                                     uint64_t written_s = 0) GALLEY_REQUIRES(mutex_);
  // Many, and where each lies. What was placed before an error stays.
  absl::Status Append(RecordKind kind, std::span<const SegmentFile::KeyedPayload> records,
                      absl::FunctionRef<void(size_t, const RecordPlace&)> placed)
      GALLEY_REQUIRES(mutex_);
  // Appends as many adopted records as it takes.
  absl::Status AppendAdopted(std::span<const LocatedBlob> blobs);

  // The number of a new segment that a worker fills.
  absl::StatusOr<uint64_t> AllocateSegment();
  // Begins a new segment for what is appended from here on.
  absl::Status BeginSegment();
  // The number of the segment that is being filled; 0: the next record begins one.
  uint64_t FilledSegment() const;
  // Whether somebody appends to the owner's segment, or the index does not have all of it.
  bool IsInUse(uint64_t segment) const;

  // Appends small blobs, which are pending then; those that are pending already are left out.
  absl::Status PutBlobs(std::span<const BlobView> blobs);
  // Notes a large blob whose file lies in its place and is not synced.
  void PutFile(const Digest& digest);
  std::optional<BlobLocation> Pending(const Digest& digest) const;
  std::vector<std::optional<BlobLocation>> Pending(std::span<const Digest> digests) const;
  bool IsPending(const Digest& digest) const GALLEY_REQUIRES(mutex_);
  // The pending blobs, in the order of digests.
  std::vector<LocatedBlob> AllPending() const;
  // More than the options allow without a commit.
  bool HasTooManyPending() const;
  void RemovePending(std::span<const LocatedBlob> blobs);
  void RemovePending(std::span<const Digest> digests) GALLEY_REQUIRES(mutex_);

  // Syncs the names of segments, when there are new ones.
  absl::Status SyncFolder();
  // Syncs what was appended, and the names. A failure is final for that segment. `lost` is an error
  // when a blob that was pending there could not be moved: somebody relies on it.
  absl::Status Sync(absl::Status& lost);
  // Gives those of the owner's segments their names again that somebody deleted while they were
  // written to; this process still has their bytes. NoteHealed tells of it.
  absl::Status Restore();
  // Says in `states` up to where the owner's segments are in the index once a batch is written that
  // has `indexed` of what was pending (in the order of digests).
  void NoteIndexed(std::span<const LocatedBlob> indexed, std::map<uint64_t, SegmentState>& states);
  // True when more than options.checkpoint_bytes were synced since it was true the last time.
  bool IsFlushDue();

  // The epoch that the file `epoch` says.
  void SetLossEpoch(uint64_t epoch);
  // Whether some segment says the epoch that is known.
  bool IsEpochLogged() const;
  // Appends the epoch, unless the segment being filled says it.
  absl::Status LogEpoch();
  // StoreInfo::commits.
  uint64_t commits() const { return commits_; }

 private:
  absl::StatusOr<std::unique_ptr<SegmentFile>> CreateSegment(SegmentWriterKind writer)
      GALLEY_REQUIRES(mutex_);
  absl::Status RollSegment() GALLEY_REQUIRES(mutex_);
  uint64_t KnownEpoch() const GALLEY_REQUIRES(mutex_);
  absl::Status SayEpoch() GALLEY_REQUIRES(mutex_);
  absl::Status GiveUp(SegmentFile& file) GALLEY_REQUIRES(mutex_);
  absl::StatusOr<BlobLocation> AppendAgain(const Digest& digest, const BlobLocation& from)
      GALLEY_REQUIRES(mutex_);
  absl::Status RestoreOne(std::shared_ptr<SegmentFile>& file) GALLEY_REQUIRES(mutex_);

  const StoreFolder& folder_;
  const LiveIndex& index_;
  SyncedEnds& synced_ends_;
  std::atomic<uint64_t> commits_;

  mutable base::Mutex mutex_;
  PendingBlobs pending_ GALLEY_GUARDED_BY(mutex_);
  // The segment that is being filled; null until the first append.
  std::shared_ptr<SegmentFile> own_ GALLEY_GUARDED_BY(mutex_);
  // Segments that were filled since the last sync.
  std::vector<std::shared_ptr<SegmentFile>> full_ GALLEY_GUARDED_BY(mutex_);
  std::optional<uint64_t> segment_to_fill_ GALLEY_GUARDED_BY(mutex_);
  const uint64_t filled_until_;  // that one: up to there its records are whole
  uint64_t segment_next_ GALLEY_GUARDED_BY(mutex_);
  bool segments_folder_changed_ GALLEY_GUARDED_BY(mutex_) = true;
  // Ends of the owner's segments up to which they are synced and the index does not say so yet.
  std::map<uint64_t, uint64_t> unindexed_ends_ GALLEY_GUARDED_BY(mutex_);
  uint64_t bytes_since_flush_ GALLEY_GUARDED_BY(mutex_) =
      0;                                           // synced since the last true IsFlushDue
  uint64_t loss_epoch_ GALLEY_GUARDED_BY(mutex_);  // as the file says
  // The epoch that the segment being filled says, at its beginning or in a record.
  uint64_t logged_epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  // The highest epoch that some segment says, synced or not.
  uint64_t epoch_in_segments_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
