#include "director/core/workers/spare_jobs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "absl/container/btree_set.h"
#include "common/base/sabotage.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {

void SpareJobs::Sort() {
  for (const PackageId id : graph_.lifecycle().TakeCrossed()) {
    if (!packages_.Has(id) || packages_[id].work == nullptr) continue;
    const bool is_spare = packages_[id].urgency == Urgency::kSpare;
    for (const AttemptId attempt : deps_.attempts.At(id)) SortAttempt(attempt, is_spare);
    // A spare package does not stand in line for resources.
    if (is_spare && packages_[id].state == State::kSaveStalled)
      graph_.lifecycle().SetState(id, State::kLoad, "only asks ahead of need want it");
  }
}

// A job that waits at its worker, or is to run alone, is taken back when it becomes spare.
void SpareJobs::SortAttempt(AttemptId attempt, bool is_spare) {
  if (deps_.attempts.Current(attempt) == nullptr) return;  // it ended with another one
  const Attempt& one = deps_.attempts.at(attempt);
  const AssignedJobs& hand = workers_.Find(one.worker)->jobs;
  if (hand.IsSpare(attempt) == is_spare || hand.IsUploading(attempt)) return;
  if (!is_spare || (hand.HasBegun(attempt) && !one.is_alone)) {
    if (!is_spare) counts_.figures.ahead_slot_time += step_.awake - *hand.BeganAt(attempt);
    return workers_.SetSpare(one.worker, attempt, is_spare, step_.awake);
  }
  TakeBack(attempt);
}

// The job is as good as never handed over. A worker where it waits drops it, at no cost; where it
// has begun after all, it must not go on unseen in a slot that counts as free.
void SpareJobs::TakeBack(AttemptId attempt) {
  const PackageId package = deps_.attempts.at(attempt).package;
  --packages_[package].work->attempts;
  deps_.attempts.EndAttempt(attempt, Tell::kCancel);
  deps_.package_progress.Advance(package);
}

void SpareJobs::End(AttemptId attempt) {
  if (deps_.attempts.Current(attempt) == nullptr) return;  // it ended with another one
  ++counts_.figures.ahead_killed;
  TakeBack(attempt);
}

// The attempts that run while no other job is in hand (exclusive_run.h).
std::vector<AttemptId> SpareJobs::Alone() const {
  std::vector<AttemptId> alone;
  for (const WorkerId id : workers_.attached().with_spare()) {
    for (const AssignedJobs::Running& one : workers_.Find(id)->jobs.spare()) {
      if (packages_[deps_.attempts.at(one.attempt).package].work->runs_alone)
        alone.push_back(one.attempt);
    }
  }
  return alone;
}

void SpareJobs::MakeWay() {
  if (IsSabotaged(Sabotage::kKeepAheadJobs)) return;
  if (workers_.attached().jobs_in_hand() > 0) {
    const std::vector<AttemptId> alone = Alone();
    for (const AttemptId attempt : alone) End(attempt);
  }
  const absl::btree_set<WorkerId> with_spare = workers_.attached().with_spare();
  for (const WorkerId id : with_spare) {
    const Worker& worker = *workers_.Find(id);
    for (const AttemptId attempt : InTheWay(worker.jobs, worker.memory_bytes)) End(attempt);
  }
}

void SpareJobs::EndAll() {
  const absl::btree_set<WorkerId> with_spare = workers_.attached().with_spare();
  for (const WorkerId id : with_spare) {
    const std::vector<AssignedJobs::Running> spare = workers_.Find(id)->jobs.spare();
    for (const AssignedJobs::Running& one : spare) End(one.attempt);
  }
}

// ------------------------------------------------------------------ resources

// The spare jobs that hold resources, the last ones first.
std::vector<AttemptId> SpareJobs::Holding() const {
  std::vector<AttemptId> holding;
  for (const WorkerId id : workers_.attached().with_spare()) {
    for (const AssignedJobs::Running& one : workers_.Find(id)->jobs.spare()) {
      if (deps_.grants.Holds(one.attempt)) holding.push_back(one.attempt);
    }
  }
  std::ranges::sort(holding, std::greater<>());
  return holding;
}

// The resources are free in the farm, and on the machine of a worker that can do the job.
bool SpareJobs::CanHaveResources(PackageId package) const {
  return deps_.job_queue.HasResources(package) &&
         std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
           return deps_.eligibility.Has(id, *workers_.Find(id), package) &&
                  deps_.reservations.MayTakeAt(package, id);
         });
}

// True: both groups want some unit of the same resource.
bool SpareJobs::DoShare(uint32_t group, uint32_t other) const {
  const record::ResourceCounts wanted = deps_.grants.WantedBy(group);
  const record::ResourceCounts of_other = deps_.grants.WantedBy(other);
  return std::ranges::any_of(
      wanted, [&](const auto& resource) { return of_other.contains(resource.first); });
}

// The spare jobs that hold some resource which the package wants.
std::vector<AttemptId> SpareJobs::InTheWayOf(PackageId package) const {
  std::vector<AttemptId> in_the_way = Holding();
  std::erase_if(in_the_way, [&](AttemptId attempt) {
    return !DoShare(packages_[package].resource_group, deps_.attempts.at(attempt).group);
  });
  return in_the_way;
}

// The first packages of the lines that wait for resources, without spare packages, and without
// those that no attached worker can cook, whoever holds what.
std::vector<PackageId> SpareJobs::WaitingForResources() const {
  std::vector<PackageId> waiting;
  graph_.queues().saves().ForEachLine(
      [&](uint32_t, PackageId first, size_t) { waiting.push_back(first); });
  for (const auto& [kind, queue] : graph_.queues().parked()) {
    if (deps_.eligibility.HasAttached(deps_.eligibility.KindOf(queue.Top())))
      waiting.push_back(queue.Top());
  }
  std::erase_if(waiting, [&](PackageId package) {
    return packages_[package].urgency == Urgency::kSpare || packages_[package].resource_group == 0;
  });
  return waiting;
}

// Ends nothing in vain: others may hold what is wanted, too, or no attached worker may be able to
// do the job.
bool SpareJobs::FreeResources() {
  if (IsSabotaged(Sabotage::kKeepAheadJobs) || Holding().empty()) return false;
  bool has_ended = false;
  for (const PackageId package : WaitingForResources()) {
    const auto can_have = [&] { return CanHaveResources(package); };
    const std::vector<AttemptId> in_the_way = InTheWayOf(package);
    if (in_the_way.empty() || can_have() || !deps_.grants.LookWithout(in_the_way, can_have))
      continue;
    has_ended = true;
    for (const AttemptId attempt : in_the_way) {
      if (can_have()) break;
      End(attempt);
    }
  }
  return has_ended;
}

// ------------------------------------------------------------------ hand-over

void SpareJobs::HandOver() {
  const absl::Duration quiet = step_.awake - deps_.job_handover.handed_over_at();
  if (!IsAnyReady() || quiet < kQuiet || deps_.job_queue.HasReadyJob() || !Alone().empty()) return;
  const LoadQueue& loads = graph_.queues().loads();
  const std::vector<PackageId> waiting = WaitingForResources();
  std::vector<PackageId> aside;
  while (!claimants_.has_stopped() && !loads.empty() && aside.size() < kLooksMax && IsSlotLeft()) {
    const PackageId next = loads.Top();
    if (deps_.faults.Quarantine(next) || deps_.survivors.TakeUp(next)) continue;
    // A resource for which others wait would only be taken from the job again.
    const bool has_resources =
        deps_.job_queue.HasResources(next) && std::ranges::none_of(waiting, [&](PackageId other) {
          return DoShare(packages_[next].resource_group, packages_[other].resource_group);
        });
    const WorkerId worker = has_resources ? Choose(next) : WorkerId();
    if (worker.valid()) {
      deps_.job_handover.HandOver(next, {.worker = worker});
      if (packages_[next].work->runs_alone) break;
    } else if (!CannotGoAnywhere(next) || !deps_.parked_jobs.Park(next)) {
      graph_.lifecycle().SetAside(next);
      aside.push_back(next);
    }
  }
  for (const PackageId package : aside) graph_.lifecycle().Refresh(package);
}

// True: some slot is free beside the one that is left for the next claim.
bool SpareJobs::IsSlotLeft() const {
  const WorkerIndex& attached = workers_.attached();
  const uint64_t kept = attached.usable_slots() > 1 ? 1 : 0;
  return !attached.idle().empty() && attached.free_slots() > kept;
}

// True: no attached worker can do the job, or its result waits for another machine.
bool SpareJobs::CannotGoAnywhere(PackageId package) {
  return deps_.held_results.IsHeld(package) ||
         !deps_.eligibility.HasAttached(deps_.eligibility.KindOf(package));
}

// The worker with a free slot where most of the job's inputs are warm, and among equals the one
// with the fewest jobs. Invalid: none.
WorkerId SpareJobs::Choose(PackageId package) const {
  const bool is_any_job =
      workers_.attached().jobs_in_hand() + workers_.attached().spare_in_hand() > 0;
  if (packages_[package].work->runs_alone && is_any_job) return WorkerId();
  using Order = std::tuple<absl::Duration, size_t, WorkerId>;
  const uint64_t memory_bytes = MemoryOf(packages_[package], deps_.costs);
  std::optional<Order> best;
  size_t looks = 0;
  for (const WorkerId id : workers_.attached().idle()) {
    if (++looks > kIdleLooksMax) break;
    const Worker& worker = *workers_.Find(id);
    if (!HasRoomForSpare(worker.jobs, memory_bytes, worker.memory_bytes) ||
        !deps_.worker_choice.MayTake(package, id, worker))
      continue;
    const Order order(-deps_.worker_choice.SavedAt(package, id), worker.jobs.size(), id);
    if (!best.has_value() || order < *best) best = order;
  }
  return best.has_value() ? std::get<WorkerId>(*best) : ChooseAgain(package);
}

// A package that failed on the workers which are free goes where other packages would go: to a
// worker where it has not been, and when it has been everywhere, anywhere. O(workers) if it failed.
WorkerId SpareJobs::ChooseAgain(PackageId package) const {
  if (graph_.blame().WorkersOf(package).empty() && !graph_.blame().HasMachines(package))
    return WorkerId();
  const WorkerId id = deps_.worker_choice.Place(package).worker;
  if (!id.valid()) return WorkerId();
  const Worker& worker = *workers_.Find(id);
  const bool has_room =
      workers_.attached().idle().contains(id) &&
      HasRoomForSpare(worker.jobs, MemoryOf(packages_[package], deps_.costs), worker.memory_bytes);
  return has_room ? id : WorkerId();
}

}  // namespace galley::director
