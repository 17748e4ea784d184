#include "director/core/workers/worker_choice.h"

#include <algorithm>
#include <tuple>

#include "common/base/fnv.h"
#include "common/base/status_macros.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/packages/job_costs.h"
#include "director/core/workers/class_quota.h"

namespace galley::director {
namespace {

// The most workers, least load first, that are looked at for some that may take the job.
constexpr size_t kLookedAtMax = 64;
constexpr size_t kLightestMax = kCandidatesMax / 2;  // the others are warm

// The most cooked inputs of a package that InputsOf names.
constexpr size_t kCookedInputsMax = 16;
// A worker where all inputs are warm saves the load. A load that was not measured is taken for this
// part of the whole job, up to a limit, since a long job is not long because of its load.
constexpr int kLoadsInAJob = 8;
constexpr absl::Duration kUnknownLoadMax = absl::Milliseconds(50);

}  // namespace

bool WorkerChoice::MayTake(PackageId package, WorkerId id, const Worker& worker) const {
  return deps_.eligibility.Has(id, worker, package) && workers_.attached().IsUsable(worker) &&
         deps_.reservations.MayTakeAt(package, id) && !graph_.blame().HasFailedOn(package, id) &&
         !IsBetterElsewhere(package, worker) && !deps_.reservations.IsKeptFrom(package, id) &&
         !suspects_.IsKeptFrom(package, worker) &&
         deps_.worker_trust.MayTake(package, id, worker) &&
         HasMemoryFor(worker.jobs, MemoryOf(packages_[package], deps_.costs), worker.memory_bytes);
}

bool WorkerChoice::IsUntriedAnywhere(PackageId package) const {
  const Blame& blame = graph_.blame();
  const uint64_t memory_bytes = MemoryOf(packages_[package], deps_.costs);
  return std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& other = *workers_.Find(id);
    return !other.is_draining && !blame.HasFailedAt(package, other.machine) &&
           !blame.HasFailedOn(package, id) && workers_.attached().IsUsable(other) &&
           deps_.eligibility.Has(id, other, package) &&
           (other.memory_bytes == 0 || memory_bytes <= other.memory_bytes);
  });
}

bool WorkerChoice::IsBetterElsewhere(PackageId package, const Worker& worker) const {
  return graph_.blame().HasFailedAt(package, worker.machine) && IsUntriedAnywhere(package);
}

absl::Duration WorkerChoice::SavedAt(PackageId package, WorkerId worker) const {
  for (const InputAffinity::Holder& holder : deps_.input_affinity.Holders(InputsOf(package))) {
    if (holder.worker == worker) return holder.share * LoadTimeOf(package);
  }
  return absl::ZeroDuration();
}

PlacementCandidate WorkerChoice::ViewOf(PackageId package, WorkerId id, const Worker& worker,
                                        double warm) const {
  // A further job counts even where no time is expected of it.
  const absl::Duration jobs = absl::Microseconds(static_cast<int64_t>(worker.jobs.active_count()));
  return {.worker = id,
          .load = (worker.jobs.expected() + jobs) / worker.slots(),
          .delay = DelayOfNew(worker.jobs, step_.awake),
          .saved = warm * LoadTimeOf(package),
          .warm = warm,
          .is_large_enough = worker.memory_bytes == 0 ||
                             MemoryOf(packages_[package], deps_.costs) <= worker.memory_bytes,
          .ends_spare = IsEachFreeSlotSpare(worker.jobs)};
}

std::vector<PlacementCandidate> WorkerChoice::Lightest(PackageId package) const {
  const std::vector<InputAffinity::Holder> holders =
      deps_.input_affinity.Holders(InputsOf(package));
  const auto warm_at = [&](WorkerId id) {
    const auto found = std::ranges::find_if(
        holders, [&](const InputAffinity::Holder& one) { return one.worker == id; });
    return found == holders.end() ? 0 : found->share;
  };
  std::vector<PlacementCandidate> views;
  size_t looked_at = 0;
  for (const WorkerIndex::Load& load : workers_.attached().with_room()) {
    if (views.size() == kLightestMax) break;
    // If some workers lack what others have, the first worker that can do the job may come late.
    if (!deps_.worker_trust.IsDoubtful(load.worker) && ++looked_at > kLookedAtMax &&
        (!views.empty() || !deps_.eligibility.has_lacking()))
      break;
    const Worker& worker = *workers_.Find(load.worker);
    if (MayTake(package, load.worker, worker))
      views.push_back(ViewOf(package, load.worker, worker, warm_at(load.worker)));
  }
  for (const auto& [id, share] : holders) {
    const auto is_it = [id = id](const PlacementCandidate& view) { return view.worker == id; };
    if (views.size() == kCandidatesMax) break;
    const Worker* worker = workers_.Find(id);
    if (worker == nullptr || worker->presence != Worker::Presence::kAttached ||
        std::ranges::any_of(views, is_it) || !workers_.attached().HasRoom(*worker) ||
        !MayTake(package, id, *worker))
      continue;
    views.push_back(ViewOf(package, id, *worker, share));
  }
  return views;
}

// The files that the last cook read, the cooked inputs, the list of its generator, and one id for
// what packages of one folder and cooker have in common: includes, tables, the cooker's own state.
std::vector<uint64_t> WorkerChoice::InputsOf(PackageId id) const {
  const PackageData& package = packages_[id];
  const std::string_view folder =
      std::string_view(package.name).substr(0, package.name.rfind('/') + 1);
  std::vector<uint64_t> inputs = {Fnv1a(folder) + package.cost_traits.cooker};
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  if (generator.valid()) inputs.push_back(generator.value());
  for (const PackageId input : package.cooked_inputs) {
    if (inputs.size() > kCookedInputsMax) break;
    inputs.push_back(input.value());
  }
  if (package.work != nullptr)
    inputs.insert(inputs.end(), package.work->last_read.begin(), package.work->last_read.end());
  return inputs;
}

absl::Duration WorkerChoice::LoadTimeOf(PackageId id) const {
  absl::Duration load;
  bool is_known = false;
  for (const Slot& slot : packages_[id].slots) {
    load = std::max(load, slot.last_load);
    is_known |= slot.last_load + slot.last_save > absl::ZeroDuration();
  }
  return is_known ? load
                  : std::min(CostOf(packages_[id], deps_.costs) / kLoadsInAJob, kUnknownLoadMax);
}

Placement WorkerChoice::Place(PackageId package) const {
  if (packages_[package].urgency == Urgency::kBlocking) return {.worker = PlaceBlocking(package)};
  const std::vector<PlacementCandidate> candidates = Lightest(package);
  if (!candidates.empty()) {
    const PlacementCandidate& chosen = ChooseCandidate(candidates);
    return {.worker = chosen.worker, .saved = chosen.saved};
  }
  if (graph_.blame().WorkersOf(package).empty() && !graph_.blame().HasMachines(package))
    return {.worker = PlaceAtSuspect(package)};
  return {.worker = PlaceElsewhere(package)};
}

// Invalid: no worker is suspect, or a worker that is not suspect can do the package, and is waited
// for. O(workers) where some worker is suspect.
WorkerId WorkerChoice::PlaceAtSuspect(PackageId package) const {
  if (!workers_.attached().has_suspects()) return WorkerId();
  WorkerId best;
  absl::Duration least;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    if (worker.is_draining || !deps_.eligibility.Has(id, worker, package)) continue;
    if (!worker.is_suspect) return WorkerId();
    const absl::Duration load = ViewOf(package, id, worker, 0).load;
    const bool can_now =
        workers_.attached().HasRoom(worker) && deps_.reservations.MayTakeAt(package, id) &&
        HasMemoryFor(worker.jobs, MemoryOf(packages_[package], deps_.costs), worker.memory_bytes);
    if (!can_now || (best.valid() && load >= least)) continue;
    best = id;
    least = load;
  }
  return best;
}

// A package that kills its executor is rather queued at a worker where it has not been than tried
// again at the same worker; when it has been everywhere, it goes anywhere. The same holds for a
// package that a machine failed, though another machine is worth less than another worker.
// O(workers).
WorkerId WorkerChoice::PlaceElsewhere(PackageId package) const {
  using Order = std::tuple<bool, bool, bool, absl::Duration, WorkerId>;
  Order least;
  WorkerId best;
  const bool has_killed = !graph_.blame().WorkersOf(package).empty();
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    const bool was_here = graph_.blame().HasFailedOn(package, id);
    const bool was_failed = graph_.blame().HasFailedAt(package, worker.machine);
    if (worker.is_draining || !deps_.eligibility.Has(id, worker, package) ||
        !deps_.reservations.MayTakeAt(package, id) || suspects_.IsKeptFrom(package, worker) ||
        ((was_here || (was_failed && !has_killed)) && !workers_.attached().HasRoom(worker)))
      continue;
    const Order order(was_here, was_failed, !workers_.attached().IsUsable(worker),
                      ViewOf(package, id, worker, 0).load, id);
    if (best.valid() && least <= order) continue;
    best = id;
    least = order;
  }
  return best;
}

// A package that killed an executor is rather queued where it has not been, as above, whatever jobs
// wait there: it must not hold up the jobs behind it. O(workers).
WorkerId WorkerChoice::PlaceBlocking(PackageId package) const {
  using Order = std::tuple<bool, bool, bool, bool, absl::Duration, bool, WorkerId>;
  const auto cannot_now = [&](const Worker& worker) {
    return !workers_.attached().IsUsable(worker) ||
           CountWaiting(worker.jobs, Urgency::kBlocking) >= options_.blocking_jobs_max;
  };
  WorkerId best;
  Order least;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    if (worker.is_draining || !deps_.eligibility.Has(id, worker, package) ||
        !deps_.reservations.MayTakeAt(package, id))
      continue;
    const Order order(graph_.blame().HasFailedOn(package, id),
                      graph_.blame().HasFailedAt(package, worker.machine), cannot_now(worker),
                      !MayTake(package, id, worker), BlockingDelay(worker.jobs, step_.awake),
                      IsEachFreeSlotSpare(worker.jobs), id);
    if (best.valid() && least <= order) continue;
    best = id;
    least = order;
  }
  if (!best.valid() || !cannot_now(*workers_.Find(best))) return best;
  const bool has_failed =
      !graph_.blame().WorkersOf(package).empty() || graph_.blame().HasMachines(package);
  const bool is_elsewhere = has_failed && !graph_.blame().HasFailedOn(package, best) &&
                            !graph_.blame().HasFailedAt(package, workers_.Find(best)->machine);
  return is_elsewhere ? best : PlaceAtSuspect(package);
}

WorkerId WorkerChoice::PlaceBefore(PackageId package, Urgency urgency) const {
  const size_t of_class = ClassQuota::ClassOf(urgency);
  if (of_class == 0) return WorkerId();
  const Urgency below = ClassQuota::UrgencyBelow(of_class);
  WorkerId best;
  absl::Duration least;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    const size_t before =
        CountWaiting(worker.jobs, static_cast<Urgency>(static_cast<int>(below) + 1));
    const bool can_take = !worker.is_draining && workers_.attached().IsUsable(worker) &&
                          worker.jobs.size() < options_.window_jobs_max + worker.slots() &&
                          worker.jobs.has_waiting() && before < worker.slots() &&
                          MayTake(package, id, worker) && !graph_.blame().HasFailedOn(package, id);
    const absl::Duration delay = NextSlot(worker.jobs, step_.awake);
    if (!can_take || (best.valid() && delay >= least)) continue;
    best = id;
    least = delay;
  }
  return best;
}

}  // namespace galley::director
