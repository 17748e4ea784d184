// GroupCommit: many that wait for a commit share one, on a thread of its own: whoever comes while
// one runs is in the next.
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

  // `store` outlives it.
  explicit GroupCommit(Store& store);
  // Commits what waits.
  ~GroupCommit();

  // `done` is called on the commit thread, soon: it must not wait. A batch that the store refuses
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
