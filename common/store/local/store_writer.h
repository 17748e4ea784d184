// StoreWriter: the one door through which the owner's log is synced and the index is written.
//
// Whoever changes what is stored holds mutex(), appends to the log (own_log.h), syncs the log, and
// only then writes the index. So the index never knows what the disk may not have. After an error
// between the two the index is behind the log for good: the writer is *broken*, and refuses
// everything until a new owner opens the store. What a sync failed for is never believed because a
// later one went well (sync_doubt.h).
//
// Errors: those of the disk. Once it is broken, CheckWritable says why.
// Threads: any; functions say that the lock is held. Order of locks: this one, then Told's, then
// OwnLog's.
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

  // Asked first by whoever has taken the lock.
  absl::Status CheckWritable() const GALLEY_REQUIRES(mutex_) { return broken_; }
  // From here on everything is refused: what was promised, or what the disk has, is not known.
  void Break(const absl::Status& why) GALLEY_REQUIRES(mutex_);

  // Raises the mark of a sync, which names `files`; nothing is synced before.
  absl::Status RaiseMark(std::span<const Digest> files) GALLEY_REQUIRES(mutex_) {
    return sync_mark_.Raise(files);
  }
  absl::Status LowerMark() GALLEY_REQUIRES(mutex_) { return sync_mark_.Lower(); }
  // Syncs the log. REQUIRES: the mark is raised.
  absl::Status SyncMarkedLog() GALLEY_REQUIRES(mutex_);
  // Syncs the log outside of a commit: raises the mark, and lowers it.
  absl::Status SyncLog() GALLEY_REQUIRES(mutex_);
  // OwnLog::Restore. Called before anything is appended that must not be lost.
  absl::Status RestoreLog() GALLEY_REQUIRES(mutex_) { return state_.log.Restore(); }

  // Says in `index` up to where segments are indexed once it is written. The batch adopts
  // `adopted`, and has `pending` of what was pending (in the order of digests).
  absl::Status NoteSegments(std::span<const LocatedBlob> adopted,
                            std::span<const LocatedBlob> pending, IndexBatch& index)
      GALLEY_REQUIRES(mutex_);
  // Writes the batch, and which results were asked for. An error breaks the writer.
  absl::Status WriteIndex(IndexBatch& index) GALLEY_REQUIRES(mutex_);
  // The steps after everything is appended: SyncLog, NoteSegments, WriteIndex.
  absl::Status SyncAndIndex(IndexBatch& index) GALLEY_REQUIRES(mutex_);

  // Raises the epoch before anything else of a loss is written: whoever relies on what was there
  // must not miss that it is gone.
  absl::Status RaiseEpoch(IndexBatch& index) GALLEY_REQUIRES(mutex_);
  // Takes blobs out for good. The epoch rises before the index forgets them, so that nobody who
  // trusts the old one is wrong.
  absl::Status Lose(const std::vector<Digest>& blobs) GALLEY_REQUIRES(mutex_);
  // Sees to it that a segment says the epoch that is about to be told, so that no number is given
  // twice, whatever becomes of the file `epoch` and of the index. Takes the lock where needed.
  absl::Status LogEpoch();

  // From here on a blob that is reported to lie in the segment before `end` is copied, never
  // adopted where it lies.
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
