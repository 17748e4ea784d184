// GroupCommit: commits the batches of several callers together, on a thread of its own. Batches
// that come during a commit go into the next commit.
//
// Threads: any.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::store {

class GroupCommit {
 public:
  using Done = std::function<void(const absl::Status&)>;

  // `store` must outlive this object.
  explicit GroupCommit(Store& store);
  // Commits the waiting batches.
  ~GroupCommit();

  // Calls `done` on the commit thread, so `done` must not block. A batch that the store refuses
  // (INVALID_ARGUMENT) fails alone.
  void Commit(CommitBatch batch, Done done);

 private:
  struct Waiting {
    CommitBatch batch;
    Done done;
  };
  void Run();
  absl::Status CommitAll(const std::vector<Waiting>& group);

  Store& store_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<Waiting> waiting_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::store
