#include "director/core/aloneness.h"

#include <optional>

#include "director/core/core.h"

namespace galley::director {
// The package has one attempt left, and all others ended by limits.
bool Aloneness::IsToRunAlone(PackageId package) const {
  if (!core_.cooks.IsWanted(package) || (packages_[package].cooks & core_.cooks.fail_fast()) != 0)
    return false;
  const Blame::Faults faults = graph().blame.Of(package);
  return faults.own + 1 == options_.own_fault_attempts_max && faults.limits == faults.own &&
         faults.own > 0;
}

// REQUIRES: the package is in the cook, and not over.
bool Aloneness::WaitsToBeAlone(PackageId package) const {
  return packages_[package].work->runs_alone && packages_[package].urgency != Urgency::kBlocking &&
         taken_ < options_.alone_max;
}

bool Aloneness::IsAllElseDone() const {
  return workers_.jobs_in_hand() == 0 && lifecycle().requests().empty() &&
         core_.looking_up.in_flight() == 0 && graph().agenda.empty() &&
         !lifecycle().equal_work().has_freed() && core_.commits.empty() &&
         !lifecycle().has_backing_off() && lifecycle().parked().empty() &&
         !graph().changes.is_scan_awaited() && core_.cooks.IsAllSelected();
}

// While jobs wait that came up since.
bool Aloneness::IsForTooLong() const {
  if (attempt_ == 0) return false;
  const LoadQueue& loads = lifecycle().loads();
  const bool others_wait =
      !lifecycle().saves().empty() || (!loads.empty() && !packages_[loads.Top()].work->runs_alone);
  if (!others_wait) return false;
  const Hand& hand = workers_.Find(core_.attempts.at(attempt_).worker)->hand;
  const std::optional<absl::Duration> began_at = hand.BeganAt(attempt_);
  return began_at.has_value() && taken_ + (core_.awake - *began_at) >= options_.alone_max;
}

// A job that a worker of an earlier director has may go on somewhere; but it may never be heard of
// again, and is not waited for.
void Aloneness::HandOver(PackageId id) {
  const Placement at = core_.placing.Place(id);
  if (!at.worker.valid()) return;
  core_.attempts.CancelAllRetracted();
  core_.dispatching.HandOver(id, at);
  if (!core_.survivors.empty()) return;
  attempt_ = packages_[id].work->attempt;
  core_.attempts.at(attempt_).is_alone = true;
}

// Another job is handed over.
void Aloneness::End() {
  if (attempt_ == 0) return;
  core_.attempts.at(attempt_).is_alone = false;
  attempt_ = 0;
}

void Aloneness::EndAttempt(AttemptId id, absl::Duration ran) {
  if (attempt_ != id) return;
  taken_ += ran;
  attempt_ = 0;
}

}  // namespace galley::director
