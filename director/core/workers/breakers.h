// Breakers: decides which workers are *held*: they get no jobs for now, since jobs failed too often
// in a row through the machine's fault (breaker.h). Each worker and each machine has a breaker.
//
// The jobs that wait at a worker when it becomes held go to other workers. A cook is told once of
// each held worker and machine, with the reason. The cooks end with exit 3 after kAllHeldMax, if
// all attached workers are held, or would be after more such faults, and no other worker is
// starting.
//
// A worker whose process breaks the protocol kViolationsMax times, for example by a result that the
// director refuses, counts as lost, and its breaker opens: a new process has to wait.
//
// Cost: a step O(bad workers before the first good one); a change of an open breaker O(workers).
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "director/core/jobs/breaker.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/job_returns.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/worker_loss.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class Breakers : JobPart {
 public:
  // Together with attempts that began before, the cooks end within two minutes.
  static constexpr absl::Duration kAllHeldMax = absl::Seconds(95);
  // While all are bad, the pauses of all held workers end at these intervals: their machines may
  // have been repaired.
  static constexpr absl::Duration kBetweenTries = absl::Seconds(10);
  static constexpr uint32_t kViolationsMax = 3;

  struct Deps {
    MachineTable& machines;
    PendingCommits& commits;
    JobReturns& job_returns;
    WorkerTrust& worker_trust;
    WorkerLoss& worker_loss;
    JobQueue& job_queue;
  };
  Breakers(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // A job failed at the worker through the machine's fault. `package`: the job's package; invalid:
  // any package would have failed. An unknown worker is ignored.
  void AddFault(WorkerId worker, PackageId package, const std::string& why);
  // The worker made a result.
  void AddSuccess(WorkerId worker);
  // The worker broke the protocol. It may be lost when this returns.
  void AddViolation(WorkerId worker, const std::string& why);
  // Call NoteGiven when a worker gets an attempt, and NoteEnded when the attempt ends.
  void NoteGiven(WorkerId worker, AttemptId attempt);
  void NoteEnded(WorkerId worker, AttemptId attempt);
  // The worker attached: it may be held already, by its own breaker or its machine's.
  void NoteAttached(WorkerId worker);
  // A cook began, and is told of the held workers and machines. If it `is_only`, no other cook
  // runs, and all pauses end, since machines may have been repaired.
  void BeginCook(CookMask cook, bool is_only);
  // Runs once in each step: ends pauses, and ends the cooks when no worker is left for too long.
  void Look();
  // The attached workers whose own or whose machine's breaker is open. Some may be on trial.
  uint64_t held() const { return held_; }
  // True: all workers are held, so that a failure now says nothing of its package.
  bool are_all_held() const {
    return held_ > 0 && held_ == workers_.attached().count() &&
           workers_.alive() == workers_.attached().count();
  }

 private:
  uint32_t AttachedOn(uint32_t machine) const;
  bool IsBad(const Worker& worker) const;
  void HoldAnew();
  void OnOpened(WorkerId worker, bool is_worker, bool is_machine);
  void TellOf(WorkerId worker, CookMask cooks);
  void TellOfMachine(uint32_t machine, CookMask cooks);
  void EndPauses();
  void TellOver(WorkerId worker, bool is_worker, bool is_machine);
  std::string WhyNobody() const;

  // Since when every attached worker is bad (IsBad).
  std::optional<absl::Duration> all_bad_since_;
  int64_t tries_ = 0;  // how often all pauses were ended since then
  bool are_any_open_ = false;
  absl::Duration looks_at_ = absl::InfiniteDuration();  // when a pause ends; waking time
  uint64_t held_ = 0;
  uint64_t losses_seen_ = 0;  // WorkerTable::losses

  const Deps deps_;
};

}  // namespace galley::director
