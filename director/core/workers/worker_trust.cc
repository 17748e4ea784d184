#include "director/core/workers/worker_trust.h"

#include <algorithm>
#include <vector>

#include "director/core/jobs/slot_outlook.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {
namespace {

constexpr absl::Duration kBetweenTrustLooks = absl::Milliseconds(100);
constexpr absl::Duration kLeastExpected = absl::Microseconds(1);

}  // namespace

double WorkerTrust::PaceOf(const Worker& worker) const {
  return std::max(
      {worker.health.pace.Factor() / deps_.overrun_histogram.Usual(), worker.health.lateness, 1.0});
}

// How many times too long a job runs; 0: no job runs for far too long.
double WorkerTrust::LatenessOf(const Worker& worker) const {
  double lateness = 0;
  for (const AssignedJobs::Running& one : worker.jobs.running()) {
    const absl::Duration expected = worker.jobs.At(one.attempt).expected;
    const absl::Duration ran = step_.awake - one.began_at;
    if (one.is_pending ||
        ran <= std::max(options_.straggler_min, deps_.overrun_histogram.FarLimit(expected)))
      continue;
    lateness = std::max(lateness, absl::FDivDuration(ran, std::max(expected, kLeastExpected)));
  }
  return lateness;
}

bool WorkerTrust::HasReason(WorkerId id) const {
  return IsSlow(id) || deps_.machines.HasFailed(workers_.Find(id));
}

bool WorkerTrust::HasRoom() const {
  if (doubtful_.empty() || doubtful_.size() == workers_.attached().count())
    return !workers_.attached().with_room().empty();
  return std::ranges::any_of(
      workers_.attached().with_room(),
      [this](const WorkerIndex::Load& load) { return !IsDoubtful(load.worker); });
}

// Jobs at a doubtful worker tell nothing of the costs.
void WorkerTrust::NoteRunning() {
  deps_.costs.ClearRunning();
  for (const WorkerId id : workers_.attached().ring()) {
    if (doubtful_.contains(id)) continue;
    for (const AssignedJobs::Running& one : workers_.Find(id)->jobs.running()) {
      const PackageId package = deps_.attempts.at(one.attempt).package;
      if (!one.is_pending)
        deps_.costs.AddRunning(packages_[package].cost_traits, step_.awake - one.began_at);
    }
  }
}

bool WorkerTrust::Look() {
  if (step_.awake - looked_at_ < kBetweenTrustLooks) return false;
  looked_at_ = step_.awake;
  std::vector<WorkerId> became_slow;
  absl::btree_set<WorkerId> slow;
  for (const WorkerId id : workers_.attached().ring()) {
    Worker& worker = *workers_.Find(id);
    worker.health.lateness = LatenessOf(worker);
    if (PaceOf(worker) < kSlow && worker.health.lateness == 0) continue;
    slow.insert(id);
    if (!slow_.contains(id) && worker.jobs.has_waiting()) became_slow.push_back(id);
  }
  // If most workers are slow, the costs are wrong.
  if (2 * slow.size() > workers_.attached().count()) slow.clear();
  slow_ = std::move(slow);
  doubtful_.clear();
  for (const WorkerId id : workers_.attached().ring()) {
    if (HasReason(id)) doubtful_.insert(id);
  }
  NoteRunning();
  for (const WorkerId id : became_slow) {
    if (slow_.contains(id)) deps_.job_returns.TakeBackWaiting(id);
  }
  return !doubtful_.empty();
}

void WorkerTrust::NoteJudged(WorkerId id) {
  const uint32_t machine = workers_.Find(id)->machine;
  for (const WorkerId other : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(other);
    if (worker.machine != machine) continue;
    if (HasReason(other)) {
      doubtful_.insert(other);
    } else {
      doubtful_.erase(other);
    }
  }
}

bool WorkerTrust::CanTrustedDo(PackageId package) const {
  const Blame& blame = graph_.blame();
  const uint64_t memory_bytes = MemoryOf(packages_[package], deps_.costs);
  return std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& other = *workers_.Find(id);
    return !doubtful_.contains(id) && !other.is_draining && !other.is_held &&
           workers_.attached().IsUsable(other) && !blame.HasFailedAt(package, other.machine) &&
           !blame.HasFailedOn(package, id) && deps_.eligibility.Has(id, other, package) &&
           (other.memory_bytes == 0 || memory_bytes <= other.memory_bytes);
  });
}

absl::Duration WorkerTrust::Left() const {
  uint64_t slots = workers_.attached().slots();
  for (const WorkerId id : doubtful_) slots -= workers_.Find(id)->slots();
  absl::Duration work = graph_.lifecycle().asked_work().expected;
  claimants_.ForEachOf(claimants_.masks().active,
                       [&](const Claimant& cook) { work += cook.tally.monitor.expected(); });
  return work / std::max<uint64_t>(slots, 1);
}

bool WorkerTrust::MayTake(PackageId package, WorkerId id, const Worker& worker) const {
  if (!doubtful_.contains(id)) return true;
  // The cost counts as in Left(), whose costs may have been guessed long ago.
  const absl::Duration cost = packages_[package].work->expected;
  const absl::Duration there = (DelayOfNew(worker.jobs, step_.awake) + cost) * PaceOf(worker);
  return there + cost <= Left() || !CanTrustedDo(package);
}

}  // namespace galley::director
