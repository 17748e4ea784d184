#include "director/core/workers/exclusive_run.h"

#include <optional>

namespace galley::director {
// The package has one attempt left, and all others ended by limits.
bool ExclusiveRun::IsToRunAlone(PackageId package) const {
  if (!claimants_.IsWanted(package) ||
      (packages_[package].cooks & claimants_.masks().fail_fast) != 0)
    return false;
  const Blame::Faults faults = graph_.blame().Of(package);
  return retry_.IsLastAttempt(faults.own) && faults.limits == faults.own && faults.own > 0;
}

// REQUIRES: the package is in the cook, and not over.
bool ExclusiveRun::WaitsToBeAlone(PackageId package) const {
  return packages_[package].work->runs_alone && packages_[package].urgency != Urgency::kBlocking &&
         attempts_.alone_for() < options_.alone_max;
}

bool ExclusiveRun::IsAllElseDone() const {
  const RequestQueue& requests = graph_.queues().requests();
  const bool is_any_asked =
      !requests.empty() && packages_[requests.Top()].urgency != Urgency::kSpare;
  return workers_.attached().jobs_in_hand() == 0 && !is_any_asked &&
         cache_queries_.in_flight() == 0 && graph_.agenda().empty() &&
         !graph_.lifecycle().equal_work().has_freed() && commits_.empty() &&
         !graph_.queues().HasWantedBackingOff() && !graph_.queues().HasWantedParked() &&
         !graph_.pending_changes().is_scan_awaited() && claimants_.IsAllSelected();
}

// True: attempts ran alone for too long, while jobs wait that came up since.
bool ExclusiveRun::IsForTooLong() const {
  const AttemptId alone = attempts_.alone();
  if (alone == 0) return false;
  const LoadQueue& loads = graph_.queues().loads();
  const bool others_wait =
      !graph_.queues().saves().empty() ||
      (!loads.empty() && !loads.IsTopSpare() && !packages_[loads.Top()].work->runs_alone);
  if (!others_wait) return false;
  const AssignedJobs& hand = workers_.Find(attempts_.at(alone).worker)->jobs;
  const std::optional<absl::Duration> began_at = hand.BeganAt(alone);
  return began_at.has_value() &&
         attempts_.alone_for() + (step_.awake - *began_at) >= options_.alone_max;
}

}  // namespace galley::director
