// Workers: who is there, what is in whose hands, and which reports were seen.
//
// A worker is kept for ever once known: results of a lost one are still welcome, and it may attach
// again under its id. Ids of workers that the core asks for (Spawn) are dense from 0; a worker that
// attaches of its own accord has an id from kForeignWorkers on, given by the shell. Window: a
// worker takes jobs while their expected time is below `window` or it has fewer than slots + 1, at
// most `jobs_max`. Cost: Pick O(workers).   Threads: none; owned by CookCore.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "director/core/ids.h"

namespace galley::director {

inline constexpr uint32_t kForeignWorkers = 1u << 31;

struct Worker {
  enum class Presence : uint8_t { kStarting, kAttached, kLost };
  Presence presence = Presence::kStarting;
  uint32_t slots = 1;
  bool was_attached = false;
  bool has_worked = false;                   // something of a job came back
  absl::btree_set<AttemptId> in_hand;        // current attempts
  absl::Duration expected;                   // of these
  absl::btree_set<ReportId> unacknowledged;  // seen, waiting for a commit
  absl::btree_set<ReportId>
      uncommitted;          // seen, but its commit failed: when it is sent again it is taken again
  absl::Duration heard_at;  // the core's waking time at the last sign of life, or when one may
                            // first be expected

  // False: seen before.
  bool See(ReportId report);

 private:
  ReportId seen_up_to_ = 0;         // all of 1 .. this
  absl::btree_set<ReportId> seen_;  // beyond
};

struct WindowOptions {
  absl::Duration window;
  uint32_t jobs_max = 1;
};

class Workers {
 public:
  explicit Workers(const WindowOptions& window) : window_(window) {}

  // kStarting. An id that somebody else attached under is passed over.
  WorkerId AddOwn(absl::Duration heard_at);
  Worker& Attach(WorkerId worker, uint32_t slots);
  Worker* Find(WorkerId worker);  // nullptr: never heard of
  const absl::btree_map<WorkerId, Worker>& all() const { return workers_; }
  // Those that were last heard of more than `silence_max` ago though they hold jobs, or more than
  // `start_max` though they are starting.
  std::vector<WorkerId> Silent(absl::Duration awake, absl::Duration silence_max,
                               absl::Duration start_max) const;
  // Starting or attached.
  uint32_t alive() const;
  uint32_t attached() const;
  bool HasRoom(const Worker& worker) const;
  // The attached worker with room and the least expected time for each slot; ties by id. Invalid:
  // none has room. While another one is attached, none of `avoid`, and then it may be one without
  // room: what kills its executor is rather queued elsewhere than tried again at the same place.
  WorkerId Pick(absl::Span<const WorkerId> avoid = {}) const;
  // The attached workers with a free slot.
  std::vector<WorkerId> Idle() const;
  // The attached workers with more jobs than slots; the most expected time for each slot first.
  std::vector<WorkerId> Busy() const;

 private:
  template <typename MayHave>
  WorkerId LeastLoaded(const MayHave& may_have) const;

  WindowOptions window_;
  absl::btree_map<WorkerId, Worker> workers_;
  uint32_t own_count_ = 0;
};

}  // namespace galley::director
