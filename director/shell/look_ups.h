// LookUps: the core's questions for results on their way. LookUpRunner answers them from our own
// store and the journal; what it misses is asked of a store of other people, if there is one
// (RemoteLookUp), and what nobody has is answered from the limits that earlier cooks outgrew
// (LimitAnswers).
//
// A question is answered once for each of its items and platforms, in parts: what our own
// store knows does not wait for others. An answer that a new snapshot overtook is not given: the
// question is asked again.
//
// Threads: Ask: the loop's; the rest: any. Has one thread for our own store and some for the
// remote, which call Deps::post, alarm and sources until the object has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/task_pool.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/limit_answers.h"
#include "director/shell/lookup.h"
#include "director/shell/remote_look_up.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"
#include "director/shell/task_thread.h"

namespace galley::director {

class LookUps {
 public:
  // All outlive it.
  struct Deps {
    PresentSources sources;
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    const LimitAnswers& limits;
    Clock& clock;
    store::RemoteCache* remote = nullptr;             // null: there is none
    StoredReads* reads = nullptr;                     // LookUpRunner::Deps::reads
    std::function<void(const std::string&)> alarm;    // LookUpRunner::Deps::alarm
    std::function<void(std::function<void()>)> post;  // has the loop run it, or drops it
    std::function<void(LookedUp)> answer;             // on the loop
  };

  LookUps(Deps deps, LookUpRunner::Options options);

  void Ask(std::vector<LookUpItem> items);
  // In place of LookUpRunner::Options::retry_failed from now on.
  void RetryFailed(bool is_retried) { runner_.RetryFailed(is_retried); }
  // Has its thread give back memory that it holds and does not use.
  void GiveBackMemory();
  // Nobody waits for the remote any more.
  void CancelRemote() { remote_cancellation_.Cancel(); }

 private:
  void AskRemote(std::vector<LookUpItem> items, LookedUp missed);
  void Answer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer);

  const Deps deps_;
  LookUpRunner runner_;
  Cancellation remote_cancellation_;
  std::optional<RemoteLookUp> remote_look_up_;

  // Last, so that they end before what they use.
  TaskThread thread_;
  std::optional<base::TaskPool> remote_threads_;  // (they post to the other one)
};

}  // namespace galley::director
