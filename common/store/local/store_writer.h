// StoreWriter: the only class that syncs the owner's log and writes the index.
//
// A caller that changes the store holds mutex(), appends to the log (own_log.h), syncs the log, and
// only then writes the index. So the index never knows a record that the disk may not have. After
// an error between the two the index is behind the log for good: the writer is *broken*, and
// refuses every call until a new owner opens the store. Bytes of a failed sync are never trusted
// after a later sync that succeeds (sync_doubt.h).
//
// Errors: those of the disk. CheckWritable says why a writer is broken.
// Threads: any; annotations say where the lock is held. Order of locks: this one, then
// ReportedPresent's, then OwnLog's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/local/index.h"
#include "common/store/local/recovery.h"
#include "common/store/local/store_state.h"

namespace galley::store {

class StoreWriter {
 public:
  StoreWriter(StoreState& state, const Recovered& recovered);

  base::Mutex& mutex() GALLEY_RETURN_CAPABILITY(mutex_) { return mutex_; }

  // Call first after taking the lock.
  absl::Status CheckWritable() const GALLEY_REQUIRES(mutex_) { return broken_; }
  // Breaks the writer: the state of a promise, or of the disk, is unknown.
  void Break(const absl::Status& why) GALLEY_REQUIRES(mutex_);

  // Raises the mark of a sync, which names `files`. Call before the sync.
  absl::Status RaiseMark(std::span<const Digest> files) GALLEY_REQUIRES(mutex_) {
    return sync_mark_.Raise(files);
  }
  absl::Status LowerMark() GALLEY_REQUIRES(mutex_) { return sync_mark_.Lower(); }
  // Syncs the log. REQUIRES: the mark is raised.
  absl::Status SyncMarkedLog() GALLEY_REQUIRES(mutex_);
  // Syncs the log outside of a commit: raises the mark, and lowers it.
  absl::Status SyncLog() GALLEY_REQUIRES(mutex_);
  // See OwnLog::Restore. Call before appending anything that must not be lost.
  absl::Status RestoreLog() GALLEY_REQUIRES(mutex_) { return state_.log.Restore(); }

  // Sets in `index` up to where segments are indexed once the batch is written. The batch adopts
  // `adopted`, and indexes the pending blobs `pending` (in the order of digests).
  absl::Status NoteSegments(std::span<const LocatedBlob> adopted,
                            std::span<const LocatedBlob> pending, IndexBatch& index)
      GALLEY_REQUIRES(mutex_);
  // Writes the batch, with the use times of results. An error breaks the writer.
  absl::Status WriteIndex(IndexBatch& index) GALLEY_REQUIRES(mutex_);
  // Runs the steps after the last append: SyncLog, NoteSegments, WriteIndex.
  absl::Status SyncAndIndex(IndexBatch& index) GALLEY_REQUIRES(mutex_);

  // Raises the epoch before any other write about a loss, so that a caller that relies on a lost
  // blob cannot miss the loss.
  absl::Status RaiseEpoch(IndexBatch& index) GALLEY_REQUIRES(mutex_);
  // Removes blobs for good. The epoch rises before the index forgets them, so that a caller with
  // the old epoch is never wrong.
  absl::Status Lose(const std::vector<Digest>& blobs) GALLEY_REQUIRES(mutex_);
  // Makes a segment record the epoch that is about to be reported, so that no epoch is given twice,
  // even if the file `epoch` and the index are lost. Takes the lock if needed.
  absl::Status LogEpoch();

  // From now on a blob in the segment before `end` is copied, never adopted in place.
  void Doubt(uint64_t segment, uint64_t end = UINT64_MAX) GALLEY_REQUIRES(mutex_) {
    doubtful_.Note(segment, end);
  }
  bool IsDoubtful(const BlobLocation& location) const GALLEY_REQUIRES(mutex_) {
    return doubtful_.Hold(location);
  }

 private:
  void StampUses(IndexBatch& index);

  StoreState& state_;
  base::Mutex mutex_;
  // Not OK: the index is behind the segments, and only a new owner may write.
  absl::Status broken_ GALLEY_GUARDED_BY(mutex_);
  SyncMark sync_mark_ GALLEY_GUARDED_BY(mutex_);
  DoubtfulSegments doubtful_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
