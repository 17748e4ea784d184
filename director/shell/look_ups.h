// LookUps: answers the core's questions for results, first from the journal and our own store
// (LookUpRunner), then from the upstream cache, if there is one (RemoteLookUp), and last from the
// limits that earlier jobs exceeded (LimitAnswers).
//
// Every item and platform of a question is answered once; the answers come in parts, so that an
// answer from our own store waits for no other answer. If a new snapshot came meanwhile, the answer
// is dropped and the question is asked again.
//
// Small files are hashed at once. An item that needs the digest of a larger file is answered when
// the file is hashed (FileHashing), and delays no other item.
//
// Items that somebody awaits have a *lane* of their own, so that they wait behind no item of a
// cook. The items of a lane are looked up in the order in which they were asked.
//
// Threads: Ask: the loop's; the other functions: any. A lane has one thread for our own store, some
// for the remote and some for large files. They call Deps::post, alarm and sources until LookUps is
// destroyed.
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
  // Everything in Deps outlives LookUps.
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
    std::function<void(std::function<void()>)> post;  // runs on the loop, or is dropped
    std::function<void(LookedUp)> answer;             // called on the loop
  };

  LookUps(Deps deps, LookUpRunner::Options options);

  void Ask(std::vector<LookUpItem> items);
  // Replaces LookUpRunner::Options::retry_failed from now on.
  void RetryFailed(bool is_retried) { runner_.RetryFailed(is_retried); }
  // Makes the threads for our own store give unused memory back to the system.
  void GiveBackMemory();
  // Cancels requests to the remote and hashing; open questions get no answer.
  void Cancel() { cancellation_.Cancel(); }

 private:
  // Waiting: an item whose answer needs the digests of large files, and these files.
  struct Waiting {
    LookUpItem item;
    std::vector<std::string> files;
  };

  // Lane: the threads of one kind of items, and their queues.
  struct Lane {
    Lane(const Cancellation& stop, size_t remote_threads);

    TaskThread thread;
    FileHashing hashing;                   // posts to `thread`
    std::optional<base::TaskPool> remote;  // posts to `thread`; nullopt: there is no remote
  };

  Lane& LaneOf(const std::vector<LookUpItem>& items);
  void PostItems(std::vector<LookUpItem> items);
  SourcesPtr Stoppable(SourcesPtr sources) const;
  void AnswerItems(Lane& lane, std::vector<LookUpItem> items, const FailedHashes& failed);
  LookedUp RunQuickly(std::vector<LookUpItem>& items, const SourcesPtr& sources,
                      const FailedHashes& failed, std::vector<Waiting>& waiting);
  void AwaitFiles(Lane& lane, const SourcesPtr& sources, Waiting waiting,
                  const FailedHashes& failed);
  void TakeAnswer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer);
  void AskRemote(std::vector<LookUpItem> items, LookedUp missed);
  void Answer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer);

  const Deps deps_;
  Cancellation cancellation_;
  LookUpRunner runner_;
  std::optional<RemoteLookUp> remote_look_up_;

  // The threads are last, so that they end before the members that they use.
  Lane for_cooks_;
  Lane awaited_;
};

}  // namespace galley::director
