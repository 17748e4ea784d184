// LookUps: the core's questions for results on their way. LookUpRunner answers them from our own
// store and the journal; what it misses is asked of a store of other people, if there is one
// (RemoteLookUp), and what nobody has is answered from the limits that earlier cooks outgrew
// (LimitAnswers).
//
// A question is answered once for each of its items and platforms, in parts: what our own
// store knows does not wait for others. An answer that a new snapshot overtook is not given: the
// question is asked again.
//
// Files that are soon hashed are hashed on the way; an item that needs the digest of a larger one
// is answered when it is hashed (FileHashing), and holds up no other.
//
// Threads: Ask: the loop's; the rest: any. Has one thread for our own store, some for the remote
// and some for large files, which call Deps::post, alarm and sources until the object has ended.
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
#include "director/shell/file_hashing.h"
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
  // Nobody waits for open answers any more: what is asked of the remote and what is hashed ends.
  void Cancel() { cancellation_.Cancel(); }

 private:
  // Items whose answer needs the digests of large files, and these files.
  struct Waiting {
    LookUpItem item;
    std::vector<std::string> files;
  };

  SourcesPtr Stoppable(SourcesPtr sources) const;
  void AnswerItems(std::vector<LookUpItem> items, const FailedHashes& failed);
  LookedUp RunQuickly(std::vector<LookUpItem>& items, const SourcesPtr& sources,
                      const FailedHashes& failed, std::vector<Waiting>& waiting);
  void AwaitFiles(const SourcesPtr& sources, Waiting waiting, const FailedHashes& failed);
  void TakeAnswer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer);
  void AskRemote(std::vector<LookUpItem> items, LookedUp missed);
  void Answer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer);

  const Deps deps_;
  Cancellation cancellation_;
  LookUpRunner runner_;
  std::optional<RemoteLookUp> remote_look_up_;

  // Last, so that they end before what they use.
  TaskThread thread_;
  FileHashing hashing_{cancellation_};            // (it posts to the other one)
  std::optional<base::TaskPool> remote_threads_;  // (they post to the other one)
};

}  // namespace galley::director
