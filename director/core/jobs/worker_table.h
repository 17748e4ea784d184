// WorkerTable: who is there, what is in whose hands, and which reports were seen.
//
// A worker that was attached is kept for some time when it is lost: its results are still welcome,
// and it may attach again under its id. Ids tell where a worker comes from (PoolOf): those that the
// core asks for (Spawn) are dense from the beginning of their pool on; a worker that attaches of
// its own accord has an id that the shell gives.
//
// Window: a worker takes jobs while their expected time is below `window` or it has fewer than
// slots + 1, at most `jobs_max`; pending ones count for `jobs_max` only. A worker of which nothing
// was heard for `suspect_after` is *suspect*: others are preferred.
//
// Cost: O(log workers) for each change; functions that look at all workers say so.
// Threads: none; owned by the core.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "director/core/ids.h"
#include "director/core/jobs/assigned_jobs.h"
#include "director/core/jobs/breaker.h"
#include "director/core/jobs/pace.h"
#include "director/core/pools.h"

namespace galley::director {

struct Worker {
  enum class Presence : uint8_t { kStarting, kAttached, kLost };
  Presence presence = Presence::kStarting;  // changed by WorkerTable only, as is `hand`
  bool was_attached = false;
  bool is_survivor = false;  // an earlier director started it
  bool has_worked = false;   // something of a job came back
  bool is_suspect = false;
  bool is_draining = false;                    // it gets no more jobs, and ends
  bool is_held = false;                        // it gets none for now (Breakers)
  uint64_t memory_bytes = 0;                   // that its jobs may take together; 0: unknown
  AssignedJobs jobs;                           // current attempts
  absl::btree_set<AttemptId> given;            // that are not forgotten
  absl::btree_map<ReportId, AttemptId> ended;  // of these: by their last report, which was seen
  absl::btree_set<ReportId> unacknowledged;    // seen, waiting for a commit
  // Seen, but their commit failed: a report of these that is sent again is taken again.
  absl::btree_set<ReportId> uncommitted;
  // The core's waking time at the last sign of life, or when one may first be expected.
  absl::Duration heard_at;
  absl::Duration busy_since;  // when it was last given a job while it had none
  absl::Duration idle_since;  // when it attached, or its hand became empty last
  absl::Duration lost_at;     // while it is kLost
  absl::Duration asked_at;    // of one that the core asked for
  bool is_queued = false;     // it waits for a machine

  Pace pace;            // of its jobs
  double lateness = 0;  // of what runs far too long there (WorkerTrust): how many times too long
  Breaker breaker;
  std::string held_why;       // the last fault of its breaker
  CookMask held_told = 0;     // the cooks that know that it is held
  uint32_t violations = 0;    // of the protocol, by its process
  bool has_violated = false;  // too many: nothing more is taken of that process

  uint64_t session = 0;           // its process
  uint32_t machine = 0;           // MachineTable::NumberOf
  std::vector<uint32_t> lacks;    // sorted: kinds of jobs that it does not get (Eligibility),
  std::vector<uint32_t> refuses;  // and that it turned out that it cannot do
  record::WorkerOffer offer;
  std::vector<uint32_t> unmet;  // sorted: Eligibility::Demand

  uint32_t slots() const { return jobs.slots(); }
  // False: seen before.
  bool See(ReportId report);
  // Of the reports up to this one that it sends, each was seen and is answered for good. (It sends
  // them in order, but leaves out those that another director acknowledged.)
  bool IsSettled(ReportId report) const;
  // Another process took its place: its reports are numbered anew.
  void BeginSession(uint64_t new_session, ReportId persisted);

 private:
  static constexpr size_t kBeyondMax = 1024;  // a hole below so many is never filled
  ReportId seen_up_to_ = 0;                   // all of 1 .. this, but for those that nobody sends
  absl::btree_set<ReportId> seen_;            // beyond
};

struct WorkersOptions {
  absl::Duration window;
  uint32_t jobs_max = 1;
  absl::Duration silence_max = absl::InfiniteDuration();  // while it holds jobs
  absl::Duration start_max = absl::InfiniteDuration();
  absl::Duration survivor_max = absl::InfiniteDuration();  // as start_max
  absl::Duration suspect_after = absl::InfiniteDuration();
  absl::Duration lost_max = absl::InfiniteDuration();  // so long a lost one is kept
};

class WorkerTable {
 public:
  explicit WorkerTable(const WorkersOptions& options) : options_(options) {}

  // kStarting. An id that somebody else attached under is passed over. REQUIRES: not kForeign.
  WorkerId AddOwn(Pool pool, absl::Duration heard_at);
  // kStarting. REQUIRES: unknown.
  void AddSurvivor(WorkerId worker, absl::Duration heard_at);
  // AddOwn gives ids of kLocal from here on.
  void BeginOwnAt(uint32_t first_free) { next_local_ = std::max(next_local_, first_free); }
  Worker& Attach(WorkerId worker, uint32_t slots, absl::Duration awake);
  // REQUIRES: known.
  void SetLost(WorkerId worker, absl::Duration awake);
  // Those that were lost for too long are forgotten.
  void ForgetLost(absl::Duration awake);
  void Heard(WorkerId worker, absl::Duration awake);
  // It waits for a machine, for as long as that takes. REQUIRES: known, and starting.
  void SetQueued(WorkerId worker) {
    workers_.at(worker).heard_at = absl::InfiniteDuration();
    workers_.at(worker).is_queued = true;
  }
  // It has one, and is about to attach. REQUIRES: likewise.
  void SetBeginning(WorkerId worker, absl::Duration awake) {
    workers_.at(worker).is_queued = false;
    Heard(worker, awake);
  }
  // Some worker waits for a machine. O(workers).
  bool AnyQueued() const;
  // As AssignedJobs::Add.
  size_t Take(WorkerId worker, AttemptId attempt, const InHand& job, absl::Duration awake);
  // As AssignedJobs::SetPending and AssignedJobs::SetHeld.
  size_t SetPending(WorkerId worker, const std::vector<AttemptId>& attempts,
                    const std::vector<AttemptId>* begun, absl::Duration awake);
  // As AssignedJobs::SetUploading.
  void SetUploading(WorkerId worker, AttemptId attempt, absl::Duration awake);
  // As AssignedJobs::Remove.
  absl::Duration Drop(WorkerId worker, AttemptId attempt, absl::Duration awake);

  Worker* Find(WorkerId worker);  // nullptr: never heard of, or forgotten
  const Worker* Find(WorkerId worker) const;
  // One that drains has no room, and is never idle. REQUIRES: attached.
  void SetDraining(WorkerId worker, bool is_draining);
  // One that is held has no room, and is never idle. REQUIRES: attached.
  void SetHeld(WorkerId worker, bool is_held);
  // visit(WorkerId, Worker&) for all, the lost ones too. Changes nothing of what is listed.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (auto& [id, worker] : workers_) visit(id, worker);
  }
  // The workers that hold jobs, or drain, and were last heard of too long ago, or that are starting
  // for too long. Looks at all that are present, now and then only, and finds the suspect
  // meanwhile.
  std::vector<WorkerId> Silent(absl::Duration awake);

  size_t size() const { return workers_.size(); }  // the lost ones among them
  // The workers that are starting or attached; and those that are attached.
  uint32_t alive() const { return static_cast<uint32_t>(present_.size()); }
  // The workers among the alive that are of this pool.
  uint32_t alive(Pool pool) const { return alive_of_[static_cast<size_t>(pool)]; }
  // Those among them that drain.
  uint32_t draining(Pool pool) const { return draining_of_[static_cast<size_t>(pool)]; }
  // Nobody is known to refuse anything.
  void ForgetRefusals() {
    for (auto& [id, worker] : workers_) worker.refuses.clear();
  }
  // A worker that was asked for may attach soon on another machine. O(workers).
  bool ExpectsBeside(uint32_t machine, absl::Duration awake) const;
  uint64_t losses() const { return losses_; }  // so far
  uint32_t attached() const { return static_cast<uint32_t>(ring_.size()); }
  uint64_t slots() const { return slots_; }  // of the attached
  uint64_t jobs_in_hand() const { return jobs_in_hand_; }
  uint64_t jobs_in_hand(Pool pool) const { return jobs_of_[static_cast<size_t>(pool)]; }
  uint64_t pending() const { return pending_; }  // of these
  // Sorted.
  const absl::btree_set<WorkerId>& present() const { return present_; }
  const std::vector<WorkerId>& ring() const { return ring_; }  // the attached

  bool HasRoom(const Worker& worker) const;
  bool IsUsable(const Worker& worker) const {  // not suspect, unless all are
    return !worker.is_suspect || suspects_ >= ring_.size();
  }
  bool has_suspects() const { return suspects_ > 0; }  // among the attached
  // The attached with room: the suspect last, then the least expected time for each slot first; a
  // job more counts even where nothing is expected of it.
  struct Load {
    bool is_suspect = false;
    absl::Duration load;
    WorkerId worker;
    friend bool operator<(const Load& a, const Load& b) {
      return std::tie(a.is_suspect, a.load, a.worker) < std::tie(b.is_suspect, b.load, b.worker);
    }
  };
  const absl::btree_set<Load>& with_room() const { return with_room_; }
  // The attached with a free slot.
  const absl::btree_set<WorkerId>& idle() const { return idle_; }
  // The attached with jobs that wait: the suspect first, then the most expected time for each slot.
  struct Excess {
    bool is_trusted = false;
    absl::Duration negated_load;
    WorkerId worker;
    friend bool operator<(const Excess& a, const Excess& b) {
      return std::tie(a.is_trusted, a.negated_load, a.worker) <
             std::tie(b.is_trusted, b.negated_load, b.worker);
    }
  };
  const absl::btree_set<Excess>& busy() const { return busy_; }

  // The workers that hold jobs, whatever their presence. O(workers).
  std::vector<WorkerId> Holding() const;
  // CHECKs that the indexes are true. O(workers).
  void CheckInvariants() const;

 private:
  Load LoadOf(WorkerId id, const Worker& worker) const;
  Excess ExcessOf(WorkerId id, const Worker& worker) const;
  void SetPresent(WorkerId id, bool is_present);
  // Around each change of an attached worker: out of the indexes, and in again.
  void Unlist(WorkerId id, const Worker& worker);
  void List(WorkerId id, const Worker& worker);

  WorkersOptions options_;
  absl::btree_map<WorkerId, Worker> workers_;
  std::deque<std::pair<absl::Duration, WorkerId>> lost_;  // when; some came back since
  absl::btree_set<WorkerId> present_, idle_;
  std::vector<WorkerId> ring_;
  absl::btree_set<Load> with_room_;
  absl::btree_set<Excess> busy_;
  std::array<uint32_t, kPoolCount> alive_of_{}, draining_of_{};  // of the present
  std::array<uint64_t, kPoolCount> jobs_of_{};                   // of the attached
  uint64_t slots_ = 0, jobs_in_hand_ = 0, pending_ = 0, losses_ = 0;
  size_t suspects_ = 0;  // attached
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  uint32_t next_local_ = 0, next_launched_ = kLaunchedWorkers;
};

}  // namespace galley::director
