// Survivors: workers that outlive a director bring to the next one jobs and reports that it does
// not know. The journal says which of them an earlier term gave them (WorkersSurvived); the rest is
// cancelled and refused.
//
// An attempt that may still be in hand is *resumed*: when its package comes to be handed over, the
// attempt is taken for the hand-over; until its worker has spoken or is given up, the package
// waits. When all that was asked for is looked up, attempts that are not wanted are cancelled.
//
// Until then it holds what its package asks for (Grants). While it is not known yet what that is,
// or on which machine, nobody else gets any resource: `is_unsure`.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/attempt.h"
#include "director/core/part.h"

namespace galley::director {

class Survivors : Part {
 public:
  explicit Survivors(Core& core) : Part(core) {}

  void OnWorkersSurvived(const WorkersSurvived& event);
  // A worker says what it really has.
  void Resume(const WorkerAttached& event);
  bool IsResumed(AttemptId id) const;
  bool Has(PackageId package) const { return resumed_.contains(package); }
  bool empty() const { return resumed_.empty(); }
  bool names_packages() const { return !resumed_.empty() || !given_.empty(); }
  void ForgetResumed(AttemptId id);
  // Nobody can report on the attempt any more.
  void Forget(AttemptId id);
  void ForgetResumedOf(WorkerId worker);
  // The package's inputs have changed under this director: its attempts are as any that came
  // before.
  void Outdate(PackageId package);
  void CancelResumed();
  // True: the package is dealt with for now.
  bool TakeUp(PackageId package);
  void DropUnwanted();
  // A step hands jobs over. O(resumed attempts of which it is not settled what they hold).
  void HoldResources();
  bool is_unsure() const { return is_unsure_; }
  // The attempt's results are made from the inputs that the package has now. Whether files and
  // settings are those of an earlier term the shell has seen; a generated source may be another.
  bool IsOfToday(const Attempt& attempt) const;

 private:
  struct Resumed {
    AttemptId attempt = 0;
    std::optional<Digest> generated_source;
    bool has_begun = false;
    absl::Time over_at = absl::InfiniteFuture();  // its reports are here by then
  };

  using ByPackage = absl::btree_map<PackageId, Resumed>;

  ByPackage::iterator Erase(ByPackage::iterator at);
  bool IsAwaited(const Resumed& one) const;
  std::optional<uint32_t> GroupOf(PackageId package) const;
  bool SettleHold(PackageId package, const Resumed& one);

  // In the hands of workers of an earlier director, or said to be until they attach.
  ByPackage resumed_;
  absl::btree_set<PackageId> unsettled_;  // of these: HoldResources is to look at them
  uint32_t settled_epoch_ = 0;            // Core::epoch for which the others are settled
  absl::Duration dropped_at_ = -absl::InfiniteDuration();  // DropUnwanted looked; Core::awake
  bool is_unsure_ = false;  // some of these may hold resources: which, or where, is not known
  // All attempts that the journal knows of, by package.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> given_;  // look-up only
};

}  // namespace galley::director
