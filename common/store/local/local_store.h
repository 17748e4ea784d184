// LocalStore: the owner of a store directory.
//
// Small blobs that are Put go to the owner's segment, large ones to files; they are *pending*
// (readable, not durable) until the next Commit, which syncs what is named, appends what it learnt
// to the owner's segment, syncs that, and only then indexes. So the index never knows what the disk
// may not have, and the owner's segments alone tell the whole story again. What a sync failed for
// is never believed because a later one went well (sync_doubt.h).
//
// Threads: any. Commits that come together are made as one. `commit_mutex_` serialises what writes
// the index; `mutex_` guards the segment being filled and what is pending, and is never held during
// a sync.
// Order: commit_mutex_, then mutex_.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/base/mutex.h"
#include "common/base/shared_mutex.h"
#include "common/record/result.h"
#include "common/store/interface/dead_bytes.h"
#include "common/store/interface/store.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/local/commit_queue.h"
#include "common/store/local/index.h"
#include "common/store/local/layout.h"
#include "common/store/local/live_index.h"
#include "common/store/local/open.h"
#include "common/store/local/recovery.h"
#include "common/store/local/segment_file.h"
#include "common/store/local/synced_ends.h"
#include "common/store/local/touches.h"

namespace galley::store {

class RecordHeaders;

class LocalStore final : public Store, public DeadBytes {
 public:
  LocalStore(std::string directory, OpenedLayout layout, Recovered recovered,
             LocalStoreOptions options);
  ~LocalStore() override;

  // Removes notes of this owner's predecessors that say nothing which the index does not.
  void RemoveOldWriterNotes();

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override;
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest) override;
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override;
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override;
  absl::StatusOr<StoreInfo> Info() override;
  absl::StatusOr<uint64_t> AllocateSegment() override;
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override;
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override;
  absl::Status Commit(const CommitBatch& batch) override;
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override;
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) override;
  absl::Status Forget(std::span<const Digest> action_keys) override;
  absl::StatusOr<StoreStats> Stats(const StatsOptions& options) override;
  using Store::Stats;
  using Store::Verify;
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) override;
  absl::StatusOr<GcReport> Collect(const GcOptions& options) override;
  absl::StatusOr<GcReport> GiveBackDeadBytes(Cancellation* cancellation) override;
  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) override;

 private:
  class Collector;
  class Compactor;
  class LeftBehind;
  class Verifier;
  class WhyFinder;
  // Holders: those for whose sake things stay.
  struct Holders {
    absl::Time since;                // the oldest live session began; by sessions' clock
    absl::Time oldest_write;         // the same by the files' clock
    bool hold_all = false;           // what they were told before this owner came, nobody knows
    std::vector<std::string> names;  // none: nobody
  };
  struct LargeFile;      // local_unadopted.h
  struct TemporaryLeft;  // local_unadopted.h
  // SetView: views into the CommitBatch, valid until Commit returns.
  struct SetView {
    const Digest& weak_key;
    std::string_view bytes;
  };
  // Plan: what one commit is going to write, made before anything is written.
  struct Plan {
    std::vector<LocatedBlob> adopted;  // not known yet: to be synced and recorded
    std::vector<LocatedBlob> pending;  // Put before; those that are files are recorded
    std::vector<std::pair<Digest, SetPlace>> sets_known;  // are there already: moved to the front
    std::vector<SetView> sets;
    std::vector<const PutResult*> results;
    std::deque<PutResult> disputes;                              // of `results`: made here
    std::vector<std::pair<Digest, std::string>> action_results;  // keys and payloads
    uint64_t bytes = 0;
    // The next three are of all batches that the plan is made of.
    std::set<Digest> adopted_digests;
    std::set<std::pair<Digest, uint64_t>> set_checksums;
    std::map<Digest, record::Result> outcomes;
  };

  // local_store.cc
  // Commits what is pending, if there is room for it: else it stays pending.
  absl::Status CommitIfRoom();
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> KnownBlobs(
      std::span<const Digest> digests);
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Look(std::span<const Digest> digests);
  // Whether the blob went with the end of its segment.
  bool IsCutOff(const Digest& digest, const BlobLocation& location) const;
  std::optional<BlobLocation> Pending(const Digest& digest) const;
  absl::StatusOr<Blob> GetUntold(const Digest& digest);
  std::vector<Digest> NamedBy(RecordKind kind, const std::string& payload);
  void Tell(std::span<const Digest> digests);
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadTold(RecordKind kind,
                                                                   std::span<const Digest> keys);
  absl::StatusOr<std::unique_ptr<SegmentFile>> CreateSegment(SegmentWriterKind writer)
      GALLEY_REQUIRES(mutex_);
  absl::Status Append(RecordKind kind, const Digest& key, std::string_view payload,
                      RecordPlace& place, uint64_t written_s = 0) GALLEY_REQUIRES(mutex_);
  absl::Status PutFile(const BlobView& blob);
  absl::Status PutSmall(std::span<const BlobView> blobs);
  absl::Status AppendPending(std::span<const SegmentFile::KeyedPayload> blobs)
      GALLEY_REQUIRES(mutex_);
  absl::Status NotePendingFile(const Digest& digest);
  absl::Status GiveUp(const Digest& digest, const absl::Status& loss);
  absl::Status RollSegment() GALLEY_REQUIRES(mutex_);
  uint64_t KnownEpoch() const GALLEY_REQUIRES(mutex_);
  absl::Status LogEpoch() GALLEY_REQUIRES(mutex_);
  absl::Status LogEpochThatIsTold();
  absl::Status FlushPendingIfMany();
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadLoggedResults(
      RecordKind kind, std::span<const Digest> keys,
      std::span<const std::optional<ResultPlace>> places);
  absl::StatusOr<std::string> ReadLogged(RecordKind kind, const Digest& key,
                                         const RecordPlace& place);

  // local_commit.cc
  std::vector<absl::Status> CommitGroup(std::span<const CommitBatch* const> batches);
  // Commits what is pending, and the plan.
  absl::Status CommitLocked(Plan plan, const PublishedRoot* root) GALLEY_REQUIRES(commit_mutex_);
  absl::Status PlanBatch(const CommitBatch& batch, Plan& plan) GALLEY_REQUIRES(commit_mutex_);
  absl::Status PlanBlobs(const CommitBatch& batch, Plan& plan) GALLEY_REQUIRES(commit_mutex_);
  absl::Status PlanSets(const CommitBatch& batch, Plan& plan) GALLEY_REQUIRES(commit_mutex_);
  absl::Status PlanResults(const CommitBatch& batch, std::vector<record::Result> given, Plan& plan)
      GALLEY_REQUIRES(commit_mutex_);
  absl::Status CheckLocation(const Digest& digest, const BlobLocation& location,
                             RecordHeaders& headers);
  absl::Status CopyIn(const Digest& digest, const BlobLocation& location);
  static std::vector<Digest> FilesOf(const Plan& plan);
  absl::Status RaiseEpoch(IndexBatch& index) GALLEY_REQUIRES(commit_mutex_);
  absl::Status WritePlan(const Plan& plan, const PublishedRoot* root)
      GALLEY_REQUIRES(commit_mutex_);
  absl::Status SyncNamed(const Plan& plan) GALLEY_REQUIRES(commit_mutex_);
  absl::Status SyncFolders(const Plan& plan) GALLEY_REQUIRES(commit_mutex_);
  absl::Status SyncPath(const std::string& path);
  absl::Status CopyFile(const Digest& digest);
  absl::Status SyncDirectories() GALLEY_REQUIRES(commit_mutex_);
  absl::Status SyncOwn() GALLEY_REQUIRES(commit_mutex_);
  void GiveUpOwn(SegmentFile& file) GALLEY_REQUIRES(commit_mutex_, mutex_);
  absl::Status MovePending(const Digest& digest, BlobLocation& location) GALLEY_REQUIRES(mutex_);
  void Break(const absl::Status& why) GALLEY_REQUIRES(commit_mutex_);
  absl::Status SyncOwnAlone() GALLEY_REQUIRES(commit_mutex_);
  absl::Status AppendPlan(const Plan& plan, const PublishedRoot* root, IndexBatch& index);
  absl::Status AppendAdopted(std::span<const LocatedBlob> blobs);
  absl::Status NoteSegments(const Plan& plan, IndexBatch& index) GALLEY_REQUIRES(commit_mutex_);
  absl::Status WriteIndex(std::unique_ptr<IndexBatch> index) GALLEY_REQUIRES(commit_mutex_);
  absl::Status StampUses(IndexBatch& index);
  void DropPending(const std::vector<LocatedBlob>& blobs);

  // local_lost.cc
  absl::Status DropLost(std::span<const Digest> digests);
  absl::Status NoteGoneSegments() GALLEY_REQUIRES(commit_mutex_);
  absl::Status RestoreOwnSegments() GALLEY_REQUIRES(commit_mutex_);

  // local_gc.cc
  absl::StatusOr<Holders> FindHolders();

  // local_unadopted.cc
  std::vector<TemporaryLeft> TemporaryFiles() const;
  absl::StatusOr<std::vector<LargeFile>> UnadoptedFiles();
  absl::StatusOr<bool> IndexCoversAllSegments();

  // local_verify.cc
  absl::StatusOr<StoreStats> Sizes();  // Stats without what the index does not know
  absl::Status Lose(const std::vector<Digest>& blobs) GALLEY_REQUIRES(commit_mutex_);
  absl::Status CheckBlob(const Digest& digest, const BlobLocation& location);
  absl::Status QuarantineIfWrong(const Digest& digest, bool& was_wrong);

  const std::string directory_;
  const LocalStoreOptions options_;
  const std::string store_id_;
  const FileDescriptor folder_lock_, lock_;
  SyncedEnds own_ends_;  // of the segments that this owner fills
  const std::unique_ptr<LiveIndex> index_;
  // Those that were longer once, and how long they are: what the index says of the rest is wrong.
  std::map<uint64_t, uint64_t> cut_segments_;  // const once it is made

  std::atomic<bool> is_verifying_ = false;

  base::Mutex collect_mutex_;  // one collection at a time; before all others
  // Shared by whoever tells that something is there; held alone to condemn what nobody was told of.
  // Between commit_mutex_ and mutex_.
  base::SharedMutex telling_;
  absl::flat_hash_set<Digest> condemned_ GALLEY_GUARDED_BY(telling_);  // blobs and keys: absent
  Touches touches_;

  CommitQueue queue_;

  base::Mutex commit_mutex_;
  // Not OK: the index is behind the segments, and only a new owner may write.
  absl::Status broken_ GALLEY_GUARDED_BY(commit_mutex_);
  SyncMark sync_mark_ GALLEY_GUARDED_BY(commit_mutex_);
  DoubtfulSegments doubtful_ GALLEY_GUARDED_BY(commit_mutex_);
  // Ends of the owner's segments up to which they are synced and the index does not say so yet.
  std::map<uint64_t, uint64_t> synced_ends_ GALLEY_GUARDED_BY(commit_mutex_);
  // Bytes that were appended since the index was last flushed.
  uint64_t checkpoint_bytes_ GALLEY_GUARDED_BY(commit_mutex_) = 0;

  mutable base::Mutex mutex_;
  std::map<Digest, BlobLocation> pending_ GALLEY_GUARDED_BY(mutex_);
  uint64_t pending_bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  // Results that were asked for, and the index does not say so yet.
  std::set<Digest> used_results_ GALLEY_GUARDED_BY(mutex_), used_action_results_
      GALLEY_GUARDED_BY(mutex_);
  // The segment that is being filled; null until the first append.
  std::shared_ptr<SegmentFile> own_ GALLEY_GUARDED_BY(mutex_);
  // Segments that were filled since the last sync.
  std::vector<std::shared_ptr<SegmentFile>> full_ GALLEY_GUARDED_BY(mutex_);
  std::optional<uint64_t> segment_to_fill_ GALLEY_GUARDED_BY(mutex_);
  uint64_t segment_next_ GALLEY_GUARDED_BY(mutex_) = 1;
  uint64_t loss_epoch_ GALLEY_GUARDED_BY(mutex_);  // as the file says
  // The epoch that the segment being filled says, at its beginning or in a record.
  uint64_t logged_epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  // The highest epoch that some segment says, synced or not.
  uint64_t epoch_in_segments_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> commits_;  // StoreInfo::commits
  bool segments_folder_changed_ GALLEY_GUARDED_BY(mutex_) = true;
};

}  // namespace galley::store
