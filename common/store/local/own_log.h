// OwnLog: the log of a store's owner: the segment that is being filled, the numbers of segments,
// the pending blobs, and the loss epoch that segments record.
//
// PutBlobs appends small blobs to the owner's segment at once; they are *pending* (readable, not
// durable) until a commit has synced and indexed them. Large blobs are files, and pending as well,
// with the location of a file. After a failed sync a segment is given up, and its pending blobs are
// moved to the next segment.
//
// Errors: RESOURCE_EXHAUSTED: no space. Other errors are the disk's; blobs that were appended
// before the error may be pending.
// Threads: any. mutex() guards everything; a caller holds it across Appends that must have no
// records between them. It is the last of the store's locks (StoreWriter's, ReportedPresent's, this
// one), and is never held during a sync. Sync, SyncFolder and Restore are called by one thread at a
// time, with StoreWriter's lock held.
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
  // `index`: has the loss epoch, and may raise it when it is made anew. `synced_ends`: gets the
  // synced ends of the owner's segments. Both, and `folder`, must outlive the log.
  OwnLog(const StoreFolder& folder, const LiveIndex& index, SyncedEnds& synced_ends,
         const Recovered& recovered);

  base::Mutex& mutex() GALLEY_RETURN_CAPABILITY(mutex_) { return mutex_; }

  // Returns the record's place. `written_s`: as in SegmentFile::Append.
  absl::StatusOr<RecordPlace> Append(RecordKind kind, const Digest& key, std::string_view payload,
                                     uint64_t written_s = 0) GALLEY_REQUIRES(mutex_);
  // Appends many records, and calls `placed` with the place of each. Records that were placed
  // before an error stay.
  absl::Status Append(RecordKind kind, std::span<const SegmentFile::KeyedPayload> records,
                      absl::FunctionRef<void(size_t, const RecordPlace&)> placed)
      GALLEY_REQUIRES(mutex_);
  // Appends adopted records for these blobs, as many as needed.
  absl::Status AppendAdopted(std::span<const LocatedBlob> blobs);

  // Makes a segment for a worker, and returns its number.
  absl::StatusOr<uint64_t> AllocateSegment();
  // Begins a new segment for later records.
  absl::Status BeginSegment();
  // Returns the number of the segment that is being filled; 0: the next record begins one.
  uint64_t FilledSegment() const;
  // True: the segment is being filled, or the index does not cover all of it.
  bool IsInUse(uint64_t segment) const;

  // Appends small blobs, which are pending then; leaves out blobs that are pending already.
  absl::Status PutBlobs(std::span<const BlobView> blobs);
  // Notes a large blob as pending. REQUIRES: its file lies in its place; it need not be synced.
  void PutFile(const Digest& digest);
  std::optional<BlobLocation> Pending(const Digest& digest) const;
  std::vector<std::optional<BlobLocation>> Pending(std::span<const Digest> digests) const;
  bool IsPending(const Digest& digest) const GALLEY_REQUIRES(mutex_);
  // Returns the pending blobs, in the order of digests.
  std::vector<LocatedBlob> AllPending() const;
  // True: more blobs are pending than the options allow without a commit.
  bool HasTooManyPending() const;
  void RemovePending(std::span<const LocatedBlob> blobs);
  void RemovePending(std::span<const Digest> digests) GALLEY_REQUIRES(mutex_);

  // Syncs the names of segments, if there are new segments.
  absl::Status SyncFolder();
  // Syncs all appended records, and the names of segments. After a failure the segment is never
  // synced again. `lost`: an error if a pending blob of that segment could not be moved, since a
  // caller relies on the blob.
  absl::Status Sync(absl::Status& lost);
  // Restores the names of owner's segments that somebody deleted while they were written: this
  // process still has their bytes. Notes that (repairs.h).
  absl::Status Restore();
  // Sets in `states` up to where the owner's segments are indexed, once a batch is written that
  // indexes the pending blobs `indexed` (in the order of digests).
  void NoteIndexed(std::span<const LocatedBlob> indexed, std::map<uint64_t, SegmentState>& states);
  // True: more than options.checkpoint_bytes were synced since the last true return.
  bool IsFlushDue();

  // Notes the epoch of the file `epoch`.
  void SetLossEpoch(uint64_t epoch);
  // True: some segment records the known epoch.
  bool IsEpochLogged() const;
  // Appends the epoch, unless the segment being filled records it.
  absl::Status LogEpoch();
  // See StoreInfo::commits.
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
  const uint64_t filled_until_;  // end of the whole records of segment_to_fill_
  uint64_t segment_next_ GALLEY_GUARDED_BY(mutex_);
  bool segments_folder_changed_ GALLEY_GUARDED_BY(mutex_) = true;
  // Synced ends of the owner's segments that the index does not know yet.
  std::map<uint64_t, uint64_t> unindexed_ends_ GALLEY_GUARDED_BY(mutex_);
  uint64_t bytes_since_flush_ GALLEY_GUARDED_BY(mutex_) =
      0;                                           // synced since the last true IsFlushDue
  uint64_t loss_epoch_ GALLEY_GUARDED_BY(mutex_);  // of the file `epoch`
  // The epoch that the segment being filled records, at its beginning or in a record.
  uint64_t logged_epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  // The highest epoch that a segment records, synced or not.
  uint64_t epoch_in_segments_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
