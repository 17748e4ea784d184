// Breakers: the workers and machines that are *held*: they get no jobs, since their jobs failed too
// often in a row for the machine's sake (breaker.h). Each worker has a breaker, and each machine.
//
// The jobs that wait at a worker when the worker is held go to other workers. A cook is told once
// of each held worker and machine, with the reason. Where all attached workers are held, or would
// be held after more faults of the same kind, and no other worker is about to come, the cooks end
// with exit 3 after kAllHeldMax.
//
// A worker that breaks the protocol kViolationsMax times in its life (a result that the director
// refuses, say) is ended, and its breaker opens: if the worker comes back, it has to wait.
//
// Cost: O(bad workers at the beginning of the ring) for a step; O(workers) while a breaker is open.
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
  // With the attempts that began before, the cooks end within two minutes.
  static constexpr absl::Duration kAllHeldMax = absl::Seconds(95);
  // Meanwhile each held worker is tried at least so often, however long its pause is: a worker may
  // have been mended.
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

  // Something failed at the worker for its machine's sake. `package`: the package that was cooked;
  // invalid: any package would have failed. An unknown worker changes nothing.
  void AddFault(WorkerId worker, PackageId package, const std::string& why);
  // The worker made a result.
  void AddSuccess(WorkerId worker);
  // The worker said what cannot be, or what is not true. The worker may be lost when this returns.
  void AddViolation(WorkerId worker, const std::string& why);
  // Call NoteGiven and NoteEnded when an attempt comes to a worker's hand and leaves it.
  void NoteGiven(WorkerId worker, AttemptId attempt);
  void NoteEnded(WorkerId worker, AttemptId attempt);
  // The worker attached: its machine may be held.
  void NoteAttached(WorkerId worker);
  // A cook began, and is told of the held workers and machines; `is_only`: no other cook runs.
  // Pauses end for the only cook, since faults may have been mended.
  void BeginCook(CookMask cook, bool is_only);
  // Runs once in each step: ends pauses that are over, and ends the cooks when no worker is left.
  void Look();
  uint64_t held() const { return held_; }  // attached workers that are held
  // True: no worker is left; failures from now on say nothing of the package.
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

  // Since then every attached worker is bad.
  std::optional<absl::Duration> all_bad_since_;
  int64_t tries_ = 0;  // of all held workers, since all_bad_since_
  bool are_any_open_ = false;
  absl::Duration looks_at_ = absl::InfiniteDuration();  // when a pause ends; waking time
  uint64_t held_ = 0;
  uint64_t losses_seen_ = 0;  // WorkerTable::losses

  const Deps deps_;
};

}  // namespace galley::director
