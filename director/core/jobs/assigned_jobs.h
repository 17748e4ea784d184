// AssignedJobs: the attempts in one worker's hands, in the order in which the worker takes them.
//
// A worker runs as many attempts as it has slots. The others wait, ordered by urgency, then in the
// order of hand-over, as in worker/session/session_core.h. The core assumes that the next attempt
// begins when a slot is free, unless the worker reports one of these states:
//
//   pending     The attempt has begun, and its time goes on, but its external program merely waits:
//               the slot is free for another attempt, and no work is expected.
//   uploading   The attempt has left its slot for good, and its outputs are on their way.
//   held        For want of memory the worker begins nothing though a slot is free, and names the
//               attempts that have begun.
//
// A *spare* attempt is one that only asks ahead of need want (workers/spare_jobs.h). It has begun,
// and counts for nothing else: its slot and its memory are free for every other job, no work is
// expected, and it never waits. Where another job needs its slot, InTheWay (slot_outlook.h) names
// it, and it is ended in the same step.
//
// Cost: O(slots + log n) for each call.
// Threads: none; owned by Worker.
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

struct AssignedJob {
  Urgency urgency = Urgency::kNormal;
  absl::Duration expected;
  uint64_t memory_bytes = 0;  // expected; 0: unknown
  bool is_spare = false;
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
    absl::Duration left_at;  // when the attempt left its slot
  };

  void SetSlots(uint32_t slots, absl::Duration awake);
  // Returns how many attempts became pending. REQUIRES: the attempt is not assigned yet.
  size_t Add(AttemptId attempt, const AssignedJob& job, absl::Duration awake);
  // Returns how long the attempt ran in its slot; zero: it has not begun. REQUIRES: it is assigned.
  absl::Duration Remove(AttemptId attempt, absl::Duration awake);
  // `attempts`: the complete list of the worker's pending attempts, of which at most `slots` are
  // believed. Some may be assigned only later. Returns how many became pending.
  size_t SetPending(const std::vector<AttemptId>& attempts, absl::Duration awake);
  // The attempt is uploading. It may be assigned only later.
  void SetUploading(AttemptId attempt, absl::Duration awake);
  // `begun`: the attempts that have begun at the held worker; nullptr: the worker is not held.
  void SetHeld(const std::vector<AttemptId>* begun, absl::Duration awake);
  // The attempt becomes spare, or is spare no longer. REQUIRES: it has begun and is not uploading.
  void SetSpare(AttemptId attempt, bool is_spare, absl::Duration awake);

  uint32_t slots() const { return slots_; }
  bool Contains(AttemptId attempt) const { return jobs_.contains(attempt); }
  std::optional<absl::Duration> BeganAt(AttemptId attempt) const;  // nullopt: the attempt waits
  bool HasBegun(AttemptId attempt) const { return BeganAt(attempt).has_value(); }
  // REQUIRES: the attempt is assigned.
  const AssignedJob& At(AttemptId attempt) const { return jobs_.at(attempt); }
  size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  bool is_idle() const { return jobs_.size() == spare_.size(); }  // no job, or spare ones only
  bool IsSpare(AttemptId attempt) const;
  // The spare attempts, in the order in which they began or became spare.
  const std::vector<Running>& spare() const { return spare_; }
  size_t pending_count() const { return pending_; }
  bool IsPending(AttemptId attempt) const;
  bool IsUploading(AttemptId attempt) const { return uploading_.contains(attempt); }
  size_t active_count() const {  // neither pending, uploading nor spare
    return jobs_.size() - pending_ - uploading_.size() - spare_.size();
  }
  bool is_held() const { return is_held_; }  // SetHeld
  bool has_waiting() const { return !queue_.empty(); }
  bool has_free_slot() const { return !has_waiting() && active_count() < slots_; }
  absl::Duration expected() const { return expected_; }  // sum over the active attempts
  // running: the attempts that have begun and are neither uploading nor spare, in the order in
  // which they began.
  // Queue: the attempts that wait, the next one first.
  const std::vector<Running>& running() const { return running_; }
  std::vector<AttemptId> Queue() const;
  // The attempts of Queue with their negated urgencies.
  const absl::btree_set<std::pair<int, AttemptId>>& waiting() const { return queue_; }
  // The attempts that are neither uploading nor spare, by expected memory.
  const absl::btree_set<std::pair<uint64_t, AttemptId>>& by_memory() const { return by_memory_; }
  const absl::btree_map<AttemptId, Uploading>& uploading() const { return uploading_; }
  // The worker reported on the attempt: sets uploaded_at() if the attempt is uploading.
  void NoteReport(AttemptId attempt, absl::Duration awake);
  // When the worker last reported on an uploading attempt.
  absl::Duration uploaded_at() const { return uploaded_at_; }
  // running(), then spare(), then uploading(), then Queue(). The first in_slots_count() attempts
  // are those that are in slots, or pending.
  std::vector<AttemptId> All() const;
  size_t in_slots_count() const { return running_.size() + spare_.size(); }

 private:
  absl::Duration RemoveSpare(AttemptId attempt, absl::Duration awake);
  void BeginSome(absl::Duration awake);
  void Begin(AttemptId attempt, absl::Duration awake);
  std::vector<Running>::const_iterator FindRunning(AttemptId attempt) const;
  size_t ApplyPending(absl::Duration awake);
  void ApplyUploading(AttemptId attempt, absl::Duration awake);

  uint32_t slots_ = 1;
  absl::btree_map<AttemptId, AssignedJob> jobs_;
  std::vector<Running> running_;
  std::vector<Running> spare_;                                 // none is in another list
  absl::btree_set<std::pair<int, AttemptId>> queue_;           // by negated urgency
  absl::btree_set<std::pair<uint64_t, AttemptId>> by_memory_;  // without spare attempts
  absl::Duration expected_;
  size_t pending_ = 0;  // attempts in running_
  absl::btree_set<AttemptId> reported_pending_;
  absl::btree_map<AttemptId, Uploading> uploading_;
  absl::btree_set<AttemptId> reported_uploading_;  // not assigned yet
  absl::Duration uploaded_at_;
  bool is_held_ = false;
  absl::btree_set<AttemptId> begun_there_;  // while the worker is held
};

}  // namespace galley::director
