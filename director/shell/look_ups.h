// LookUps: the core's questions for results that wait for an answer. LookUpRunner answers from our
// own store and the journal; the misses of LookUpRunner are asked of the upstream cache, if there
// is one (RemoteLookUp); what nobody has is answered from the limits that earlier cooks outgrew
// (LimitAnswers).
//
// A question is answered once for each of its items and platforms, in parts: answers of our own
// store do not wait for other answers. An answer that a new snapshot overtook is dropped, and the
// question is asked again.
//
// Files that are soon hashed are hashed on the way; an item that needs the digest of a larger file
// is answered when the file is hashed (FileHashing), and holds up no other item.
//
// Threads: Ask: the loop's; the other functions: any. LookUps has one thread for our own store,
// some for the remote and some for large files, which call Deps::post, alarm and sources until the
// object has ended.
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
  // Makes the thread of LookUps give back memory that it holds and does not use.
  void GiveBackMemory();
  // Ends requests to the remote and hashing, because nobody waits for open answers any more.
  void Cancel() { cancellation_.Cancel(); }

 private:
  // Waiting: items whose answer needs the digests of large files, and these files.
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

  // The threads are last, so that they end before the members that they use.
  TaskThread thread_;
  FileHashing hashing_{cancellation_};            // posts to thread_
  std::optional<base::TaskPool> remote_threads_;  // posts to thread_
};

}  // namespace galley::director
