// CommitQueue: groups concurrent commits, so that many callers share one sync. The first caller
// commits at once; callers that come meanwhile wait, and one of them commits for all.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::store {

class CommitQueue {
 public:
  static constexpr size_t kGroupMax = 4096;
  // Returns one outcome for each batch. Called by one thread at a time.
  using Commit =
      std::function<std::vector<absl::Status>(std::span<const CommitBatch* const> batches)>;

  explicit CommitQueue(Commit commit) : commit_(std::move(commit)) {}

  // Blocks until `batch` was part of a commit; returns its outcome.
  absl::Status Run(const CommitBatch& batch);
  // Returns the number of callers that wait for the next commit.
  size_t waiting() const;

 private:
  struct Caller {
    const CommitBatch* batch;
    bool is_done = false;
    absl::Status outcome = absl::OkStatus();
  };
  // Commits the batches of the waiting callers.
  void RunGroup() GALLEY_REQUIRES(mutex_);

  const Commit commit_;
  mutable base::Mutex mutex_;
  base::CondVar done_;
  bool is_running_ GALLEY_GUARDED_BY(mutex_) = false;
  std::vector<Caller*> waiting_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
