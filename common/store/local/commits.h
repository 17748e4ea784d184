// Commits: makes changes of a store durable: batches, published roots, forgotten results. The
// promises of the store rest on the order of the steps (interface/commit_order.h).
//
// Errors: as Store::Commit, Publish and Forget.
// Threads: any. Concurrent commits are made as one. Takes StoreWriter's lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/store/local/commit_plan.h"
#include "common/store/local/commit_queue.h"
#include "common/store/local/store_reader.h"
#include "common/store/local/store_writer.h"

namespace galley::store {

class Commits {
 public:
  Commits(StoreState& state, StoreReader& reader, StoreWriter& writer);

  // Commits the batch and all pending blobs.
  absl::Status Commit(const CommitBatch& batch) { return queue_.Run(batch); }
  // Commits the pending blobs, if there is space; else they stay pending.
  absl::Status CommitIfRoom();
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root);
  absl::Status Forget(std::span<const Digest> action_keys);
  // Commits the pending blobs, and flushes the index to the disk. REQUIRES: no later commits.
  void Close();

 private:
  std::vector<absl::Status> CommitGroup(std::span<const CommitBatch* const> batches);
  absl::Status CommitPlanned(CommitPlan plan, const PublishedRoot* root)
      GALLEY_REQUIRES(writer_.mutex());
  absl::Status WriteInOrder(const CommitPlan& plan, const PublishedRoot* root)
      GALLEY_REQUIRES(writer_.mutex());
  absl::Status SyncNamed(const CommitPlan& plan) GALLEY_REQUIRES(writer_.mutex());
  absl::Status SyncPendingFiles(const CommitPlan& plan) GALLEY_REQUIRES(writer_.mutex());
  absl::Status SyncSegment(uint64_t segment) GALLEY_REQUIRES(writer_.mutex());
  absl::Status SyncFolders(const CommitPlan& plan) GALLEY_REQUIRES(writer_.mutex());
  absl::Status Append(const CommitPlan& plan, const PublishedRoot* root, IndexBatch& index);
  absl::Status AppendSets(const CommitPlan& plan, IndexBatch& index)
      GALLEY_REQUIRES(state_.log.mutex());
  absl::Status AppendResults(const CommitPlan& plan, IndexBatch& index)
      GALLEY_REQUIRES(state_.log.mutex());
  absl::Status SyncPath(const std::string& path) const;
  absl::Status CopyFile(const Digest& digest) const;

  StoreState& state_;
  StoreReader& reader_;
  StoreWriter& writer_;
  CommitQueue queue_;
};

}  // namespace galley::store
