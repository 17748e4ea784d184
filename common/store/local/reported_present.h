// ReportedPresent: the blobs and keys that anybody was told are present, and the *condemned* ones:
// about to be dropped, and absent for all callers from that decision on.
//
// The lock makes the two agree. A caller that reports something as present holds the lock shared
// from its look into the index until Add. A caller that condemns holds the lock exclusively while
// it asks WasTold and calls Condemn. So nobody is told of something that goes a moment later.
//
// Threads: any. Order of locks: StoreWriter's, then this one, then OwnLog's.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/shared_mutex.h"
#include "common/store/local/touches.h"

namespace galley::store {

class ReportedPresent {
 public:
  // `boot_time`: the clock of sessions.h.
  explicit ReportedPresent(std::function<absl::Time()> boot_time)
      : boot_time_(std::move(boot_time)), touches_(boot_time_()) {}

  base::SharedMutex& mutex() GALLEY_RETURN_CAPABILITY(mutex_) { return mutex_; }
  absl::Time Now() const { return boot_time_(); }

  // Notes that somebody is told of blobs or keys, so that they stay while anybody may rely on them.
  void Tell(std::span<const Digest> digests) {
    const base::SharedLock lock(mutex_);
    const absl::Time now = Now();
    for (const Digest& digest : digests) Add(digest, now);
  }
  void Add(const Digest& digest, absl::Time now) GALLEY_REQUIRES_SHARED(mutex_) {
    touches_.Add(digest, now);
  }
  bool IsCondemned(const Digest& digest) const GALLEY_REQUIRES_SHARED(mutex_) {
    return !condemned_.empty() && condemned_.contains(digest);
  }

  void Condemn(std::span<const Digest> digests) GALLEY_REQUIRES(mutex_) {
    condemned_.insert(digests.begin(), digests.end());
  }
  // Ends all condemnations: the index has forgotten the digests, or they stay after all.
  void Pardon() GALLEY_REQUIRES(mutex_) { condemned_.clear(); }
  void PardonAll() {
    const base::ExclusiveLock lock(mutex_);
    Pardon();
  }

  // True: somebody was told at `since` or later; see Touches::Have for the precision.
  bool WasTold(const Digest& digest, absl::Time since) const {
    return touches_.Have(digest, since);
  }
  void DropBefore(absl::Time since) { touches_.DropBefore(since); }
  // WasTold knows nothing before this time.
  absl::Time begun() const { return touches_.begun(); }

 private:
  const std::function<absl::Time()> boot_time_;
  Touches touches_;  // locks itself
  base::SharedMutex mutex_;
  absl::flat_hash_set<Digest> condemned_ GALLEY_GUARDED_BY(mutex_);  // blobs and keys
};

}  // namespace galley::store
