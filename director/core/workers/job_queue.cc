#include "director/core/workers/job_queue.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {

// The next package whose resources are free; packages met on the way whose resources are not free
// go to the save queue. Invalid: none.
PackageId JobQueue::NextJob() {
  while (true) {
    const PackageId next = NextInTurn();
    if (!next.valid() || graph_.queues().saves().Contains(next) ||
        deps_.exclusive_run.WaitsToBeAlone(next) || HasResources(next))
      return next;
    graph_.lifecycle().SetState(next, State::kSaveStalled, "its resources are taken");
  }
}

// The first job of the class whose turn it is, among the jobs whose resources are free, that need
// no resource, or whose resources were not asked for yet.
PackageId JobQueue::NextInTurn() {
  const LoadQueue& loads = graph_.queues().loads();
  lent_ = {};
  const PackageId stalled = FirstStalled(Urgency::kBlocking);
  PackageId next = stalled;
  // Other jobs are to end before the package that waits to be alone begins; but a job that has its
  // resource goes on.
  const bool is_any_ready = loads.wanted_size() > 0;
  const bool waits_alone = is_any_ready && deps_.exclusive_run.WaitsToBeAlone(loads.Top());
  if (is_any_ready && !(waits_alone && stalled.valid()) &&
      (!stalled.valid() || packages_[stalled].urgency < loads.TopUrgency()))
    next = loads.Top();
  if (!next.valid() || packages_[next].work->runs_alone) return next;
  const Urgency urgency = packages_[next].urgency;
  while (true) {
    const size_t of_class = ClassQuota::ClassOf(packages_[next].urgency);
    if (of_class == 0) break;
    const Urgency below = ClassQuota::UrgencyBelow(of_class);
    const PackageId lower = waits_alone ? FirstStalled(below) : FirstAtMost(below);
    if (!lower.valid() || IsSabotaged(Sabotage::kStarveClass)) break;
    // A package that waits to be alone has no turn before higher classes.
    if (deps_.exclusive_run.WaitsToBeAlone(lower)) break;
    const bool is_held_up =
        urgency == Urgency::kBlocking && IsSabotaged(Sabotage::kHoldUpNow) && lent_.package != next;
    if (!class_quota_.IsTurnOfLower(of_class, CostOf(packages_[lower], deps_.costs)) && !is_held_up)
      break;
    next = lower;
    lent_ = {next, urgency};
  }
  return next;
}

// A package whose earlier attempt may go on has its resources: Survivors::TakeUp looks at that.
bool JobQueue::HasResources(PackageId package) const {
  const uint32_t group = packages_[package].resource_group;
  if (group == 0 || deps_.resumed_attempts.Has(package)) return true;
  return !deps_.resumed_attempts.is_unsure() && deps_.grants.IsFree(group) &&
         deps_.reservations.MayTake(package);
}

// The first package that waits for resources which are free by now and that is at most as urgent. A
// spare package is in no line, except until SpareJobs::Sort takes it out.
PackageId JobQueue::FirstStalled(Urgency urgency) const {
  return graph_.queues().saves().BestAtMost(urgency, [&](uint32_t, PackageId first) {
    return packages_[first].urgency != Urgency::kSpare && HasResources(first);
  });
}

bool JobQueue::HasReadyJob() const {
  return graph_.queues().loads().wanted_size() > 0 || FirstStalled(Urgency::kBlocking).valid();
}

// The first of the stalled packages, and of the ready packages that need not run alone.
PackageId JobQueue::FirstAtMost(Urgency urgency) const {
  const PackageId stalled = FirstStalled(urgency);
  const PackageId load = graph_.queues().loads().TopAtMost(urgency);
  if (!stalled.valid() || !load.valid()) return stalled.valid() ? stalled : load;
  return packages_[stalled].urgency >= packages_[load].urgency ? stalled : load;
}

// A job that has its turn before more urgent jobs is not overtaken by them at its worker.
Urgency JobQueue::UrgencyOf(PackageId id) const {
  return lent_.package == id ? lent_.urgency : packages_[id].urgency;
}

// Charges the job's class for the job, and credits the lower classes with their share of it.
void JobQueue::Account(PackageId id, absl::Duration expected) {
  const size_t of_class = ClassQuota::ClassOf(packages_[id].urgency);
  if (of_class > 0 && FirstAtMost(ClassQuota::UrgencyBelow(of_class)).valid())
    class_quota_.Earn(of_class, expected);
  if (lent_.package != id) return;
  for (size_t above = of_class + 1; above <= ClassQuota::ClassOf(lent_.urgency); ++above)
    class_quota_.Spend(above, expected);
  lent_ = {};
}

bool JobQueue::HasBlockingJob() const {
  const PackageId stalled = FirstStalled(Urgency::kBlocking);
  return (stalled.valid() && packages_[stalled].urgency == Urgency::kBlocking) ||
         (!graph_.queues().loads().empty() &&
          graph_.queues().loads().TopUrgency() == Urgency::kBlocking);
}

bool JobQueue::IsAnyStalled() const {
  bool is_any = false;
  graph_.queues().saves().ForEachLine([&](uint32_t, PackageId first, size_t) {
    is_any |= packages_[first].urgency != Urgency::kSpare;
  });
  return is_any;
}

bool JobQueue::HasLoadWork() const {
  return graph_.queues().loads().wanted_size() > 0 || IsAnyStalled() ||
         graph_.queues().HasWantedParked() || graph_.queues().HasWantedBackingOff() ||
         workers_.attached().jobs_in_hand() > 0;
}

}  // namespace galley::director
