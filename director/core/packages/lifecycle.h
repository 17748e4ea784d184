// Lifecycle: the only place that changes a package's state, phases and outcome. With each change,
// it updates the queues, the leads of equal work, the package's Work, the tallies of the cooks, and
// AskedWork.
//
// Invariants (CheckInvariants):
//   - `work` exists exactly while state != kIdle;
//   - each queue holds what its header says;
//   - a platform leads only in a phase that may lead, and EqualWork agrees.
// Tallies agree with the packages as well (Cook::CheckTally).
// Cost: O(log n + platforms) for each cook that wants the package.
// Threads: none; owned by Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "director/core/packages/asked_work.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/equal_work.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/package_queues.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

class Lifecycle {
 public:
  // `now`: the time of the present step.
  Lifecycle(PackageTable& packages, Ranks& ranks, const Claimants& claimants, const absl::Time& now)
      : packages_(packages), claimants_(claimants), now_(now), queues_(packages, ranks, now) {}

  // REQUIRES: IsLegalEdge. `reason` helps a person who debugs: "looked up", "attempt lost".
  void SetState(PackageId package, State state, std::string_view reason);
  // REQUIRES: a cook wants the platform.
  void SetPhase(PackageId package, PlatformIndex platform, Phase phase,
                ResultSource source = ResultSource::kCached);
  void SetOutcome(PackageId package, Outcome outcome);
  void SetSkipped(PackageId package, bool is_skipped);
  void SetUrgency(PackageId package, Urgency urgency);
  // The packages in the works that became spare (Urgency::kSpare), or are spare no longer, since
  // the last call.
  absl::btree_set<PackageId> TakeCrossed() { return std::exchange(crossed_, {}); }
  void SetLoaded(PackageId package, bool is_loaded = true);
  // The cooks want the package from now on. Platforms that no cook wanted begin in phase `first`.
  void Claim(PackageId package, CookMask cooks, PlatformMask platforms, Phase first);
  // The cooks do not want the package any more.
  void Unclaim(PackageId package, CookMask cooks);
  // Nobody wants these platforms any more, though other platforms of the package are wanted. A
  // platform that has not begun becomes unwanted. The caller calls PackageProgress::Advance.
  void Unwant(PackageId package, PlatformMask platforms);
  // An agenda item of the package was added or removed.
  void CountOnAgenda(PackageId package, bool is_there);
  // Takes all packages, also those that are refused, out of all tallies, or puts them in again. In
  // between, platforms may get new numbers.
  void CountEvery(bool is_there);
  // The package's platforms have new numbers. Platforms that are being looked up, or follow equal
  // work, are looked up again; no platform leads. `added` begin in `added_phase`. The caller clears
  // EqualWork, and sets state and outcome.
  // REQUIRES: CountEvery(false).
  void Remap(PackageId package, const PlatformMap& map, PlatformMask added, Phase added_phase);
  // Takes the package out of all its cooks. REQUIRES: idle, in a cook.
  void Withdraw(PackageId package);
  // Ends the package's leads, except for platforms that are being committed.
  void StopLeading(PackageId package);
  // Runs `change`, which changes the package's failures in a Claimant, and updates the tallies.
  void Recount(PackageId package, absl::FunctionRef<void()> change);
  // Puts the package into its queues. Call Refresh after any change on which the queues depend.
  void Refresh(PackageId package);
  // The platform leads all equal work. REQUIRES: its phase may lead (CanLead); no other package
  // leads.
  void Lead(PackageId package, PlatformIndex platform);
  // Ends the platform's lead, if any, with EqualWork::End::kExhausted. The caller calls SetPhase.
  void ExhaustLead(PackageId package, PlatformIndex platform);

  // The package is not handed over before `until`. REQUIRES: not idle.
  void BackOff(PackageId package, absl::Time until);
  // Packages whose back-off is over by `now` go back to their queues.
  void Release(absl::Time now);

  // No eligible worker can take the package now: it waits only in the parking queue `queue`, until
  // Unpark or until its state changes. `queue`: Eligibility::KindOf, or HeldResults::QueueOf.
  // REQUIRES: the package is in a queue of jobs to be handed over.
  void Park(PackageId package, uint32_t queue);
  // The package goes back to its queue. REQUIRES: the package is parked.
  void Unpark(PackageId package);
  // Takes the package out of the queues of jobs to be handed over, until the next Refresh.
  void SetAside(PackageId package) { queues_.SetAside(package); }

  uint32_t in_works() const { return in_works_; }
  const AskedWork& asked_work() const { return asked_work_; }
  const PackageQueues& queues() const { return queues_; }
  // PackageQueues::ReadySince; not const, since it drops packages that no longer wait.
  std::optional<absl::Time> ReadySince() { return queues_.ReadySince(); }
  EqualWork& equal_work() { return equal_work_; }
  const EqualWork& equal_work() const { return equal_work_; }
  // CHECKs the invariants over all packages.
  void CheckInvariants() const;

 private:
  // While a Change exists, its package is in no tally and may change. Changes of one package may
  // nest; changes of two packages may not.
  class Change;
  void CountAll(PackageId package, bool is_there);
  void Expect(PackageId package);
  void EndLead(PackageId package, Slot& slot, EqualWork::End how);
  void EndLeads(PackageId package);
  void NoteLeaving(PackageId package);
  void CheckEqualWork() const;

  PackageTable& packages_;
  const Claimants& claimants_;
  const absl::Time& now_;
  PackageQueues queues_;
  EqualWork equal_work_;
  uint32_t in_works_ = 0;
  AskedWork asked_work_;
  PackageId changing_;
  absl::btree_set<PackageId> crossed_;
};

}  // namespace galley::director
