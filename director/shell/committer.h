// Committer: the commit thread. Makes groups durable in order: data and results in the store, then
// the journal; only then says Persisted. It also does what must be ordered with commits: publishing
// roots and making a new snapshot the base of differences.
//
// Threads: Post from any thread; the work runs on one thread of its own, in order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

// A thread that runs what is posted, in order.
class TaskThread {
 public:
  TaskThread();
  ~TaskThread();  // runs what is posted, then ends
  void Post(std::function<void()> task);
  // Waits until all that was posted has run.
  void Drain();

 private:
  void Run();
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
  bool ending_ GALLEY_GUARDED_BY(mutex_) = false;
  bool busy_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

struct CommitOutcome {
  Persisted event;
  struct Alarm {
    std::string package;
    std::string platform;
    std::string text;
  };
  std::vector<Alarm> alarms;  // a key that has another outcome in the store
  uint64_t bytes_stored = 0;
  uint64_t bytes_deduplicated = 0;  // written, and there already
};

// One group. Blocking. The journal learns only what holds in `holds`' snapshot, the one that is now
// the base of differences: a result that a change of files overtook on its way here feeds the cache
// and no more. A key that has another outcome in the store keeps it: the item's `instead` is what
// the store holds, and what the journal learns, so that all projects that share the store agree.
CommitOutcome CommitGroup(store::Store& store, Journal& journal, ResultTable& results,
                          const Persist& persist,
                          const std::function<bool(const StoredResult&)>& holds);

}  // namespace galley::director
