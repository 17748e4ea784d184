// WriteBack: sends results of a director's cooks to an upstream cache, on threads of its own.
//
// A result is sent in this order, so that every blob that a found result names is there:
//   1. the blobs that the result names, and the blobs whose digests are its keys, also blobs of
//      which the remote has wrong bytes;
//   2. a check that all of these blobs are there, because servers evict blobs;
//   3. the result;
//   4. its observation set, before the other sets of its weak key.
//
// While the remote is down, results wait, and are tried again now and then. A full queue drops its
// oldest result. Results that could not be sent are counted and listed, so that the next director
// may send them. Only Flush waits for results.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct WriteBackOptions {
  size_t results_max = 100'000;     // waiting results
  uint64_t bytes_max = 1ull << 30;  // of the blobs that waiting results name
  size_t threads = 4;
  absl::Duration patience = absl::Seconds(30);     // for one question to the remote
  absl::Duration no_progress = absl::Seconds(60);  // Flush gives up after this time
  absl::Duration pause = absl::Seconds(1);         // between two tries while the remote is down
};

struct WriteBackReport {
  uint64_t sent = 0;
  uint64_t dropped = 0;  // the queue was full
  uint64_t failed = 0;
  std::string reason;  // of the last failure
  // Package and platform of each result that was not sent, except results that the server refused
  // for good.
  std::vector<std::pair<std::string, std::string>> unsent;
};

class WriteBack {
 public:
  struct Deps {
    store::Store* store;
    store::RemoteCache* remote;
    store::BlobStore* known;  // the remote behind an ExistenceCache
    // The trust domain of the weak keys.
    std::string trust_domain;
    // Called when a result was sent, or the server refuses it for good, so that no later cook needs
    // to send it. Called on any thread, and before Flush returns. May be null.
    std::function<void(const StoredResult&)> settled = nullptr;
  };
  WriteBack(const Deps& deps, const WriteBackOptions& options);
  // Drops waiting results, and cancels sending. A question through Deps::known is not cancelled: to
  // avoid the wait, call RemoteCache::Stop first.
  ~WriteBack();

  // Queues a result. A dispute replaces the disputed result in the upstream cache. REQUIRES:
  // `stored` is committed, and is no verdict unless it is a dispute.
  void Add(StoredResultPtr stored);
  // Waits until every result is sent, or nothing was sent for `no_progress`, or Cancel is called.
  // Results that still wait then count as failed.
  WriteBackReport Flush();
  void Cancel();
  WriteBackReport Report() const;

 private:
  struct Waiting {
    StoredResultPtr stored;
    uint64_t bytes = 0;
    bool was_unavailable = false;  // a try failed although the remote was not down
  };
  void Run();
  bool IsTimeToSend() GALLEY_REQUIRES(mutex_);
  // Returns the results that are settled by this outcome of a try.
  std::vector<StoredResultPtr> TakeOutcome(Waiting one, const absl::Status& sent);
  bool IsOvertaken(const StoredResult& stored) const GALLEY_REQUIRES(mutex_) {
    return !stored.result.is_disputed && disputed_.contains(stored.action_key);
  }
  void NoteUnsent(const StoredResult& stored) GALLEY_REQUIRES(mutex_) {
    report_.unsent.emplace_back(stored.package, stored.platform_name);
  }
  absl::Status Send(const StoredResult& stored);
  absl::Status SendSet(const StoredResult& stored);
  store::RemoteLimits limits() {
    return {.patience = options_.patience, .cancellation = &cancellation_};
  }

  const Deps deps_;
  const WriteBackOptions options_;
  SystemClock clock_;
  Cancellation cancellation_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Waiting> waiting_ GALLEY_GUARDED_BY(mutex_);
  uint64_t bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::set<StoredResultPtr> sending_ GALLEY_GUARDED_BY(mutex_);
  size_t settling_ GALLEY_GUARDED_BY(mutex_) = 0;        // threads that call Deps::settled
  std::set<Digest> disputed_ GALLEY_GUARDED_BY(mutex_);  // action keys
  std::vector<StoredResultPtr> disputes_sent_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_flushing_ GALLEY_GUARDED_BY(mutex_) = false;  // a failure is final from now on
  absl::Time paused_until_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  WriteBackReport report_ GALLEY_GUARDED_BY(mutex_);
  base::Mutex sets_mutex_;  // held while a set list is read, changed and written
  std::vector<std::thread> threads_;
};

}  // namespace galley::director
