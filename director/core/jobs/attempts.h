// Attempts: every hand-over, by its id, and which of them a package has now.
//
// An attempt is *current* while its package counts on it: it is in its worker's hand, and in the
// package's Work. One that was *retracted* may have begun, and goes on. Late results are judged by
// what is kept of an attempt.
//
// An attempt is forgotten when nobody can report on it any more: its worker said that it ended,
// which is its last report, and all reports up to that one are acknowledged. A worker that is lost,
// or that attaches without the attempt, may never say so: it is forgotten CookOptions::unheard_max
// later. What is said of an attempt that was forgotten is refused; a result of it is lost.
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

  // nullptr: never given, or forgotten.
  const Attempt* Find(AttemptId id) const;
  Attempt& at(AttemptId id) { return attempts_.at(id); }
  const Attempt& at(AttemptId id) const { return attempts_.at(id); }
  // nullptr: not current.
  Attempt* Current(AttemptId id);
  // The current attempts at a package, in the order of hand-over.
  std::vector<AttemptId> At(PackageId package) const;
  // The platforms that they are still to report.
  PlatformMask StillInHand(PackageId package) const;
  // Attempts at the package that were retracted and are not over.
  std::span<const AttemptId> RetractedAt(PackageId package) const;

  // The id of the next one.
  AttemptId NewId();
  // Another director gave it.
  bool IsOfAnotherTerm(AttemptId id) const;
  // REQUIRES: its worker is known.
  void Add(AttemptId id, const Attempt& attempt);
  // A backup goes on beside the attempt that it backs up. REQUIRES: both are current.
  void SetBackup(AttemptId id);
  uint64_t backups() const { return backups_; }  // current attempts that are one

  // The attempt has all workers to itself, until another job is handed over.
  void SetAlone(AttemptId id);
  void EndAlone();
  AttemptId alone() const { return alone_; }  // 0: none has
  // How long attempts that had all workers to themselves took since BeginRound.
  absl::Duration alone_for() const { return alone_for_; }

  // The caller calls Advance.
  void EndAttempt(AttemptId id, Tell tell);
  // The package is over, or begins anew: its attempts are cancelled, and those that were outrun.
  void EndAttempts(PackageId package);
  // Ends those that have nothing left to report; `reporter` has just said so itself.
  void EndSpent(PackageId package, AttemptId reporter);
  // The attempt does not cook these platforms: they are to be cooked, unless another one does.
  void TakeBack(const Attempt& attempt, PlatformMask platforms);
  void ForgetRetracted(AttemptId id);
  void ForgetRetractedOf(WorkerId worker);

  // REQUIRES: it is not current.
  void Forget(AttemptId id);
  // The attempt is forgotten later: its worker may never say that it ended.
  void ForgetLater(AttemptId id);
  // The same for all that were given to the worker. REQUIRES: it is known.
  void ForgetLaterOf(WorkerId worker);
  // An attempt of which nothing was heard for long enough; the caller forgets it. nullopt: none.
  std::optional<AttemptId> TakeUnheard();
  size_t size() const { return attempts_.size(); }
  // Cancels jobs that had begun when they were moved: they run twice, and nobody waits for these.
  void CancelRetracted(PackageId package);
  void CancelAllRetracted();
  // Attempts are cancelled of which others made what is durable now, and nothing else.
  void CancelOutrun(PackageId package, PlatformMask durable);
  // Graph begins anew: nobody asks for those of the cooks before.
  void BeginRound() {
    retracted_.clear();
    alone_ = 0;
    alone_for_ = absl::ZeroDuration();
  }

  // CHECKs what holds of the package's attempts, and of the workers' hands.
  void CheckInvariants(PackageId package) const;
  void CheckHands() const;

 private:
  void NoteOutrun(PackageId package, AttemptId reporter);
  void Cancel(std::span<const AttemptId> retracted);

  absl::flat_hash_map<AttemptId, Attempt> attempts_;              // look-up only
  absl::btree_map<PackageId, std::vector<AttemptId>> retracted_;  // (cancels have an order)
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
