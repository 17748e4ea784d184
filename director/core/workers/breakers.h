// Breakers: which workers and machines are *held*: they get no jobs, since what they did failed too
// often in a row for the machine's sake (breaker.h). Each worker has a breaker, and each machine.
//
// The jobs that wait at a worker when it is held go to others. A cook is told once of each that is
// held, with the reason. Where all that are attached are held, or would be after more of the same,
// and nobody else is about to come, the cooks end with exit 3 after kAllHeldMax.
//
// A worker that breaks the protocol kViolationsMax times in its life (a result that the director
// refuses, say) is ended, and its breaker opens: if it comes back, it has to wait.
//
// Cost: O(workers that are bad, at the beginning of the ring) for a step; O(workers) while one is
// open.
// Threads: none; owned by Core.
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
  // (With what was begun before, that is within two minutes.)
  static constexpr absl::Duration kAllHeldMax = absl::Seconds(95);
  // Meanwhile each is tried so often at least, however long its pause is: one may be mended.
  static constexpr absl::Duration kBetweenTries = absl::Seconds(10);
  static constexpr uint32_t kViolationsMax = 3;

  Breakers(const JobGround& ground, MachineTable& machines, PendingCommits& commits,
           JobReturns& job_returns, WorkerTrust& worker_trust, WorkerLoss& worker_loss,
           JobQueue& job_queue)
      : JobPart(ground),
        machines_(machines),
        commits_(commits),
        job_returns_(job_returns),
        worker_trust_(worker_trust),
        worker_loss_(worker_loss),
        job_queue_(job_queue) {}

  // Something failed at the worker for its machine's sake. `package`: the one that was cooked;
  // invalid: any would have failed. Nothing where the worker is not known (any more).
  void AddFault(WorkerId worker, PackageId package, const std::string& why);
  // The worker made a result.
  void AddSuccess(WorkerId worker);
  // The worker said what cannot be, or what is not true. It may be lost now.
  void AddViolation(WorkerId worker, const std::string& why);
  // Around each attempt in a worker's hand.
  void NoteGiven(WorkerId worker, AttemptId attempt);
  void NoteEnded(WorkerId worker, AttemptId attempt);
  // The worker attached: its machine may be held. A worker was lost.
  void NoteAttached(WorkerId worker);
  // A cook began; `is_only`: no other one runs. It is told what is held; pauses end for the only
  // one, since what was wrong may have been mended.
  void BeginCook(CookMask cook, bool is_only);
  // A step: pauses may be over; cooks end where nobody is left.
  void Look();
  uint64_t held() const { return held_; }  // workers, of the attached
  // Nobody is left: what fails now says nothing of the package.
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

  // All that are attached are bad since then.
  std::optional<absl::Duration> all_bad_since_;
  int64_t tries_ = 0;  // of all, since then
  bool are_any_open_ = false;
  absl::Duration looks_at_ = absl::InfiniteDuration();  // when a pause ends; waking time
  uint64_t held_ = 0;
  uint64_t losses_seen_ = 0;  // WorkerTable::losses

  MachineTable& machines_;
  PendingCommits& commits_;
  JobReturns& job_returns_;
  WorkerTrust& worker_trust_;
  WorkerLoss& worker_loss_;
  JobQueue& job_queue_;
};

}  // namespace galley::director
