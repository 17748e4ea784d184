// Told: what anybody was told is in the store, and what is *condemned*: about to go, and absent for
// everybody from the moment on at which that was decided.
//
// The lock is what makes the two agree. Whoever tells that something is there holds it shared from
// the look into the index until Add. Whoever condemns holds it alone while it asks WasTold and
// calls Condemn. So nobody is told that something is there which goes a moment later.
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

class Told {
 public:
  // `boot_time`: the clock of sessions.h.
  explicit Told(std::function<absl::Time()> boot_time)
      : boot_time_(std::move(boot_time)), touches_(boot_time_()) {}

  base::SharedMutex& mutex() GALLEY_RETURN_CAPABILITY(mutex_) { return mutex_; }
  absl::Time Now() const { return boot_time_(); }

  // Notes that somebody is told of blobs or keys: they stay while anybody may rely on it.
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
  // Ends the condemnation of everything: the index knows it no more, or it stays after all.
  void Pardon() GALLEY_REQUIRES(mutex_) { condemned_.clear(); }
  void PardonAll() {
    const base::ExclusiveLock lock(mutex_);
    Pardon();
  }

  // Whether anybody was told since then (touches.h says how exactly).
  bool WasTold(const Digest& digest, absl::Time since) const {
    return touches_.Have(digest, since);
  }
  void DropBefore(absl::Time since) { touches_.DropBefore(since); }
  // The time from which on WasTold knows.
  absl::Time begun() const { return touches_.begun(); }

 private:
  const std::function<absl::Time()> boot_time_;
  Touches touches_;  // has locks of its own
  base::SharedMutex mutex_;
  absl::flat_hash_set<Digest> condemned_ GALLEY_GUARDED_BY(mutex_);  // blobs and keys
};

}  // namespace galley::store
