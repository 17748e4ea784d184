// Attempts: every hand-over, by its id, and the current attempts of each package.
//
// An attempt is *current* while its package counts on it: the attempt is in its worker's hand, and
// in the package's Work. A *retracted* attempt may have begun, and goes on. Late results are judged
// by the record that is kept of their attempt.
//
// An attempt is forgotten when no worker can report on it any more: its worker said that the
// attempt ended, which is the attempt's last report, and all reports up to that report are
// acknowledged. A worker that is lost, or that attaches without the attempt, may never say so: then
// the attempt is forgotten CookOptions::unheard_max later. Reports on a forgotten attempt are
// refused, and their results are lost.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overrun_histogram.h"
#include "director/core/packages/costs.h"

namespace galley::director {

class Attempts : JobPart {
 public:
  Attempts(const JobGround& ground, Costs& costs, MachineTable& machines, Grants& grants,
           OverrunHistogram& overrun_histogram)
      : JobPart(ground),
        costs_(costs),
        machines_(machines),
        grants_(grants),
        overrun_histogram_(overrun_histogram) {}

  // nullptr: the attempt was never given, or is forgotten.
  const Attempt* Find(AttemptId id) const;
  Attempt& at(AttemptId id) { return attempts_.at(id); }
  const Attempt& at(AttemptId id) const { return attempts_.at(id); }
  // nullptr: the attempt is not current.
  Attempt* Current(AttemptId id);
  // The current attempts at a package, in the order of hand-over.
  std::vector<AttemptId> At(PackageId package) const;
  // The platforms that the package's current attempts are still to report.
  PlatformMask StillInHand(PackageId package) const;
  // Attempts at the package that were retracted and are not over.
  std::span<const AttemptId> RetractedAt(PackageId package) const;

  // Returns the id of the next attempt.
  AttemptId NewId();
  // Another director gave the attempt.
  bool IsOfAnotherTerm(AttemptId id) const;
  // REQUIRES: the attempt's worker is known.
  void Add(AttemptId id, const Attempt& attempt);
  // A backup goes on beside the attempt that it backs up. REQUIRES: both are current.
  void SetBackup(AttemptId id);
  uint64_t backups() const { return backups_; }  // current attempts that are backups

  // The attempt has all workers to itself, until another job is handed over.
  void SetAlone(AttemptId id);
  void EndAlone();
  AttemptId alone() const { return alone_; }  // 0: no attempt runs alone
  // How long attempts that had all workers to themselves took since BeginRound.
  absl::Duration alone_for() const { return alone_for_; }

  // Ends the attempt. The caller calls PackageProgress::Advance.
  void EndAttempt(AttemptId id, Tell tell);
  // The package is over, or begins anew: its current and outrun attempts are cancelled.
  void EndAttempts(PackageId package);
  // Ends the attempts that have nothing left to report; `reporter` has just said so itself.
  void EndSpent(PackageId package, AttemptId reporter);
  // The attempt does not cook these platforms: the platforms are to be cooked, unless another
  // attempt cooks them.
  void TakeBack(const Attempt& attempt, PlatformMask platforms);
  void ForgetRetracted(AttemptId id);
  void ForgetRetractedOf(WorkerId worker);

  // REQUIRES: the attempt is not current.
  void Forget(AttemptId id);
  // The attempt is forgotten later: its worker may never say that it ended.
  void ForgetLater(AttemptId id);
  // ForgetLater for all attempts that were given to the worker. REQUIRES: the worker is known.
  void ForgetLaterOf(WorkerId worker);
  // Returns an attempt of which nothing was heard for long enough; the caller forgets the attempt.
  // nullopt: none.
  std::optional<AttemptId> TakeUnheard();
  size_t size() const { return attempts_.size(); }
  // Cancels jobs that had begun when they were moved: such a job runs twice, and no package waits
  // for the retracted attempt.
  void CancelRetracted(PackageId package);
  void CancelAllRetracted();
  // Cancels the attempts whose platforms others made, when all these platforms are durable.
  void CancelOutrun(PackageId package, PlatformMask durable);
  // Graph begins anew: no cook asks for the attempts of earlier cooks.
  void BeginRound() {
    retracted_.clear();
    alone_ = 0;
    alone_for_ = absl::ZeroDuration();
  }

  // CHECKs the invariants of the package's attempts, and of the workers' hands.
  void CheckInvariants(PackageId package) const;
  void CheckHands() const;

 private:
  void NoteOutrun(PackageId package, AttemptId reporter);
  void Cancel(std::span<const AttemptId> retracted);

  absl::flat_hash_map<AttemptId, Attempt> attempts_;  // look-up only
  // Sorted, since cancels have an order.
  absl::btree_map<PackageId, std::vector<AttemptId>> retracted_;
  // Attempts that are to be forgotten, and since when, in the core's waking time.
  std::deque<std::pair<absl::Duration, AttemptId>> unheard_;
  uint64_t given_ = 0;
  uint64_t backups_ = 0;
  AttemptId alone_ = 0;
  absl::Duration alone_for_;

  Costs& costs_;
  MachineTable& machines_;
  Grants& grants_;
  OverrunHistogram& overrun_histogram_;
};

}  // namespace galley::director
