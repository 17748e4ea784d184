// Hand: the attempts in one worker's hands, in the order in which it takes them.
//
// A worker runs the first `slots` of them; what waits behind these goes by urgency, then in the
// order of hand-over (so does the session: worker/session/session_core.h). When an attempt began is
// known from when those before it ended. Cost: O(slots + log n) each.   Threads: none; owned by
// Workers.
#pragma once

#include <cstddef>
#include <cstdint>
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

class Hand {
 public:
  struct Running {
    AttemptId attempt = 0;
    absl::Duration began_at;
  };

  void SetSlots(uint32_t slots, absl::Duration awake);
  // REQUIRES: not in this hand.
  void Add(AttemptId attempt, const InHand& job, absl::Duration awake);
  // Returns how long it ran; zero: it had not begun. REQUIRES: in this hand.
  absl::Duration Remove(AttemptId attempt, absl::Duration awake);

  uint32_t slots() const { return slots_; }
  bool Contains(AttemptId attempt) const { return jobs_.contains(attempt); }
  bool IsRunning(AttemptId attempt) const;
  // REQUIRES: in this hand.
  const InHand& At(AttemptId attempt) const { return jobs_.at(attempt); }
  size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  bool has_free_slot() const { return jobs_.size() < slots_; }
  absl::Duration expected() const { return expected_; }  // of all
  // What began, in the order in which it did; and what waits, the next one first.
  const std::vector<Running>& running() const { return running_; }
  std::vector<AttemptId> Queue() const;
  std::vector<AttemptId> All() const;  // running, then the queue
  // Of waiting Blocking jobs.
  size_t blocking_count() const;
  // The time until a Blocking job that comes now would begin: a guess. One that runs for longer
  // than expected is taken to run as long again.
  absl::Duration BlockingDelay(absl::Duration awake) const;
  // Any `slots` of the jobs in hand and one of `memory_bytes` more fit into `limit_bytes` (0:
  // unknown, all fits). A job that alone is larger fits where nothing else is.
  bool HasMemoryFor(uint64_t memory_bytes, uint64_t limit_bytes) const;

 private:
  void BeginSome(absl::Duration awake);

  uint32_t slots_ = 1;
  absl::btree_map<AttemptId, InHand> jobs_;
  std::vector<Running> running_;
  absl::btree_set<std::pair<int, AttemptId>> queue_;  // negated urgency
  absl::btree_set<std::pair<uint64_t, AttemptId>> by_memory_;
  absl::Duration expected_;
};

}  // namespace galley::director
