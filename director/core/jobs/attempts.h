// Attempts: all hand-overs by id, and the current attempts of each package.
//
// An attempt is *current* while its package counts on it: then it is among its worker's
// AssignedJobs and in the package's Work. A *retracted* attempt is not current, but goes on if it
// has begun. Late results are judged by the record of their attempt.
//
// An attempt is forgotten when no worker can report on it any more: its worker reported its end,
// and all reports up to that one are acknowledged. A worker that is lost, or attaches without the
// attempt, may never report its end: then the attempt is forgotten CookOptions::unheard_max later.
// Reports on a forgotten attempt are refused, and their results are lost.
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

  // nullptr: the attempt is unknown or forgotten.
  const Attempt* Find(AttemptId id) const;
  Attempt& at(AttemptId id) { return attempts_.at(id); }
  const Attempt& at(AttemptId id) const { return attempts_.at(id); }
  // nullptr: the attempt is not current.
  Attempt* Current(AttemptId id);
  // The current attempts at a package, in the order of hand-over.
  std::vector<AttemptId> At(PackageId package) const;
  // The platforms that the package's current attempts still have to report.
  PlatformMask StillInHand(PackageId package) const;
  // The retracted attempts at the package that may still run.
  std::span<const AttemptId> RetractedAt(PackageId package) const;

  // Returns the id of the next attempt.
  AttemptId NewId();
  // True: another director handed the attempt over.
  bool IsOfAnotherTerm(AttemptId id) const;
  // REQUIRES: the attempt's worker is known.
  void Add(AttemptId id, const Attempt& attempt);
  // Marks the attempt as a backup of its package's other attempt. REQUIRES: both are current.
  void SetBackup(AttemptId id);
  uint64_t backups() const { return backups_; }  // current attempts that are backups

  // The attempt runs alone (exclusive_run.h), until EndAlone or its end.
  void SetAlone(AttemptId id);
  void EndAlone();
  AttemptId alone() const { return alone_; }  // 0: no attempt runs alone
  // The total time of attempts that ran alone, since BeginRound or ForgetAloneTime.
  absl::Duration alone_for() const { return alone_for_; }
  void ForgetAloneTime() { alone_for_ = absl::ZeroDuration(); }

  // Ends the attempt. The caller calls PackageProgress::Advance.
  void EndAttempt(AttemptId id, Tell tell);
  // The package is over or begins again: cancels its current and outrun attempts.
  void EndAttempts(PackageId package);
  // Ends the attempts that have nothing left to report. `reporter`: the attempt that has just
  // reported.
  void EndSpent(PackageId package, AttemptId reporter);
  // The attempt does not make these platforms: they are to be cooked, unless another current
  // attempt makes them.
  void TakeBack(const Attempt& attempt, PlatformMask platforms);
  void ForgetRetracted(AttemptId id);
  void ForgetRetractedOf(WorkerId worker);

  // REQUIRES: the attempt is not current.
  void Forget(AttemptId id);
  // The attempt is forgotten later, since its worker may never report its end.
  void ForgetLater(AttemptId id);
  // ForgetLater for all attempts of the worker. REQUIRES: the worker is known.
  void ForgetLaterOf(WorkerId worker);
  // Returns an attempt whose time since ForgetLater is over; the caller forgets it. nullopt: none.
  std::optional<AttemptId> TakeUnheard();
  size_t size() const { return attempts_.size(); }
  // visit(PackageId) for the package of each attempt, in no particular order.
  template <typename Visit>
  void ForEachPackage(Visit visit) const {
    for (const auto& [id, attempt] : attempts_) visit(attempt.package);
    for (const auto& [package, retracted] : retracted_) visit(package);
  }
  // Cancels retracted attempts that still run: their jobs are made elsewhere.
  void CancelRetracted(PackageId package);
  void CancelAllRetracted();
  // Cancels the outrun attempts whose platforms are all durable by now.
  void CancelOutrun(PackageId package, PlatformMask durable);
  // The graph begins anew: attempts of earlier cooks are not wanted any more.
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
  // The attempts that ForgetLater was called for, and when (StepContext::awake).
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
