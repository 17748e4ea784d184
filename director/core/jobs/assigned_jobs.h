// AssignedJobs: the attempts in one worker's hands, in the order in which it takes them.
//
// A worker runs the first `slots` of them; what waits behind these goes by urgency, then in the
// order of hand-over (so does the session: worker/session/session_core.h). When an attempt began is
// known from when those before it ended. A *pending* one has begun, too, and its time goes on, but
// its external program merely waits: its slot is free for another, and no work is expected of it.
// The worker says which ones are pending. One that is *uploading* is done but for its reports: it
// has left its slot, and what it made is on its way. The worker says so, and it stays so. A worker
// that is *held* begins nothing though a slot is free, for want of memory: then it says what has
// begun, and nothing else is taken to have begun.
//
// Cost: O(slots + log n) each.
// Threads: none; owned by Workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"

namespace galley::director {

struct InHand {
  Urgency urgency = Urgency::kNormal;
  absl::Duration expected;
  uint64_t memory_bytes = 0;  // expected; 0: unknown
};

class AssignedJobs {
 public:
  struct Running {
    AttemptId attempt = 0;
    absl::Duration began_at;
    bool is_pending = false;
  };
  struct Uploading {
    absl::Duration began_at;
    absl::Duration left_at;  // its slot
  };

  void SetSlots(uint32_t slots, absl::Duration awake);
  // Returns how many became pending. REQUIRES: not in this hand.
  size_t Add(AttemptId attempt, const InHand& job, absl::Duration awake);
  // Returns how long it ran; zero: that it had begun was not known. REQUIRES: in this hand.
  absl::Duration Remove(AttemptId attempt, absl::Duration awake);
  // `attempts` are all that are pending at the worker now, at most `slots` (more are not believed),
  // also those that come to this hand later. Returns how many became pending.
  size_t SetPending(const std::vector<AttemptId>& attempts, absl::Duration awake);
  // The attempt is uploading; it may come to this hand later.
  void SetUploading(AttemptId attempt, absl::Duration awake);
  // `begun` are all attempts that have begun at a worker that is held; nullptr: it is not held.
  void SetHeld(const std::vector<AttemptId>* begun, absl::Duration awake);

  uint32_t slots() const { return slots_; }
  bool Contains(AttemptId attempt) const { return jobs_.contains(attempt); }
  std::optional<absl::Duration> BeganAt(AttemptId attempt) const;  // nullopt: it waits
  bool HasBegun(AttemptId attempt) const { return BeganAt(attempt).has_value(); }
  // REQUIRES: in this hand.
  const InHand& At(AttemptId attempt) const { return jobs_.at(attempt); }
  size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  size_t pending_count() const { return pending_; }
  bool IsPending(AttemptId attempt) const;
  bool IsUploading(AttemptId attempt) const { return uploading_.contains(attempt); }
  size_t active_count() const {  // all but the pending and the uploading
    return jobs_.size() - pending_ - uploading_.size();
  }
  bool has_waiting() const { return !queue_.empty(); }
  bool has_free_slot() const { return !has_waiting() && active_count() < slots_; }
  absl::Duration expected() const { return expected_; }  // of the active
  // The attempts that began and are not uploading, in the order in which they did; and those that
  // wait, the next one first.
  const std::vector<Running>& running() const { return running_; }
  std::vector<AttemptId> Queue() const;
  const absl::btree_map<AttemptId, Uploading>& uploading() const { return uploading_; }
  // The worker reports on the attempt. (An attempt that is removed for others' sake tells nothing
  // of the worker's line.)
  void NoteReport(AttemptId attempt, absl::Duration awake);
  // When it last reported on one that was uploading.
  absl::Duration uploaded_at() const { return uploaded_at_; }
  std::vector<AttemptId> All() const;  // running, then the uploading, then the queue
  // How many jobs wait that are as urgent, or more.
  size_t CountWaiting(Urgency urgency) const;
  // How many Blocking jobs wait.
  size_t blocking_count() const { return CountWaiting(Urgency::kBlocking); }
  // Guesses of the time until a slot is free, one that runs for longer than expected being taken to
  // run as long again: for a Blocking job that comes now, any other, and what is in this hand
  // (zero: it has begun).
  absl::Duration BlockingDelay(absl::Duration awake) const;
  absl::Duration Delay(absl::Duration awake) const;
  absl::Duration DelayOf(AttemptId attempt, absl::Duration awake) const;
  // The same for a job that is more urgent than all that wait.
  absl::Duration NextSlot(absl::Duration awake) const;
  // A job of `memory_bytes` and those that may run beside it (any that fill the other slots, and as
  // many as are pending) fit into `limit_bytes` (0: unknown, all fits). A job that alone is larger
  // fits where nothing else is.
  bool HasMemoryFor(uint64_t memory_bytes, uint64_t limit_bytes) const;
  // Likewise, once nothing else is there but what is pending.
  bool HasMemoryBesidePending(uint64_t memory_bytes, uint64_t limit_bytes) const;

 private:
  void BeginSome(absl::Duration awake);
  void Begin(AttemptId attempt, absl::Duration awake);
  std::vector<Running>::const_iterator FindRunning(AttemptId attempt) const;
  size_t ApplyPending(absl::Duration awake);
  void ApplyUploading(AttemptId attempt, absl::Duration awake);

  uint32_t slots_ = 1;
  absl::btree_map<AttemptId, InHand> jobs_;
  std::vector<Running> running_;
  absl::btree_set<std::pair<int, AttemptId>> queue_;  // negated urgency
  absl::btree_set<std::pair<uint64_t, AttemptId>> by_memory_;
  absl::Duration expected_;
  size_t pending_ = 0;  // of running_
  absl::btree_set<AttemptId> said_to_be_pending_;
  absl::btree_map<AttemptId, Uploading> uploading_;
  absl::btree_set<AttemptId> said_to_be_uploading_;  // and not in this hand
  absl::Duration uploaded_at_;
  bool is_held_ = false;
  absl::btree_set<AttemptId> begun_there_;  // while it is held
};

}  // namespace galley::director
