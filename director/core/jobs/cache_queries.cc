#include "director/core/jobs/cache_queries.h"

#include <algorithm>
#include <iterator>

#include "common/base/sabotage.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {
namespace {

// The most batches that may be unanswered.
constexpr size_t kBatchesInFlight = 4;
// So many more may be unanswered if somebody waits for them.
constexpr size_t kAwaitedInFlight = 128;
// Spare packages are looked up while fewer than so many are unanswered: others come soon after
// them.
constexpr size_t kSpareInFlight = 16;

}  // namespace

void CacheQueries::SendLookUps() {
  if (claimants_.masks().active == 0) return;
  const RequestQueue& queue = graph_.queues().requests();
  const size_t in_flight_max = kBatchesInFlight * options_.look_ups_per_batch;
  const auto has_room = [&] {
    const Urgency urgency = packages_[queue.Top()].urgency;
    if (urgency == Urgency::kSpare) return in_flight_ < kSpareInFlight && !IsAnyToRunAlone();
    const bool is_awaited = urgency == Urgency::kBlocking;
    return in_flight_ < in_flight_max + (is_awaited ? kAwaitedInFlight : 0);
  };
  while (!queue.empty() && effects_.look_ups.size() < options_.look_ups_per_batch && has_room()) {
    effects_.look_ups.push_back(QuestionFor(queue.Top()));
  }
}

// A job that is to run alone waits until no look-up is open (exclusive_run.h).
bool CacheQueries::IsAnyToRunAlone() const {
  const LoadQueue& loads = graph_.queues().loads();
  return loads.wanted_size() > 0 && packages_[loads.Top()].work->runs_alone;
}

// The package leaves the queue: no platform is to be looked up any more.
LookUp::Item CacheQueries::QuestionFor(PackageId id) {
  PackageData& package = packages_[id];
  if (IsSabotaged(Sabotage::kBumpEpochAtDispatch)) ++package.generation;
  LookUp::Item item{.package = id,
                    .platforms = InPhase(packages_[id], Phase::kToLookUp),
                    .generation = package.generation,
                    .is_awaited = package.urgency == Urgency::kBlocking};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(item.platforms & MaskOf(p))) continue;
    ++in_flight_;
    package.slots[p].asked = graph_.lifecycle().equal_work().results_noted();
    graph_.lifecycle().SetPhase(id, p, Phase::kLookingUp);
    for (const PackageId input : package.cooked_inputs) {
      const Waits::Availability availability = deps_.waits.AvailabilityOf(input, p);
      if (availability != Waits::Availability::kReady) continue;
      item.cooked.push_back({input, p, packages_[input].slots[p].result->id});
    }
  }
  graph_.lifecycle().Refresh(id);
  return item;
}

// True: the question was asked, or the attempt handed over, before the package's inputs changed.
bool CacheQueries::IsOutdated(PackageId id, uint64_t generation) const {
  return generation != packages_[id].generation && !IsSabotaged(Sabotage::kSkipEpochCheck);
}

void CacheQueries::OnLookedUp(const LookedUp& event) {
  for (const LookedUp::Item& item : event.items) {
    in_flight_ -= in_flight_ > 0;
    if (!packages_.Has(item.package)) continue;
    PackageData& package = packages_[item.package];
    if (package.work == nullptr || item.platform >= package.slots.size() ||
        IsOutdated(item.package, item.generation))
      continue;
    if (package.slots[item.platform].phase != Phase::kLookingUp) continue;
    struct Answer {
      CacheQueries& queries;
      PackageId id;
      PlatformIndex platform;
      void operator()(const LookedUp::Hit& hit) { queries.OnHit(id, platform, hit); }
      void operator()(const LookedUp::Miss& miss) {
        queries.packages_[id].slots[platform].last_load = miss.last_load;
        queries.packages_[id].slots[platform].last_save = miss.last_save;
        queries.packages_[id].slots[platform].work = miss.work;
        uint64_t& memory_last = queries.packages_[id].work->memory_last;
        memory_last = std::max(memory_last, miss.last_memory_bytes);
        queries.NoteLastRead(id, miss.last_read);
        queries.graph_.lifecycle().SetPhase(id, platform, Phase::kToCook);
        queries.packages_[id].cost = CostOf(queries.packages_[id], queries.deps_.costs);
      }
      void operator()(const LookedUp::NeedsCooked& needs) {
        queries.OnNeedsCooked(id, platform, needs);
      }
      void operator()(const LookedUp::Error& error) {
        queries.deps_.package_progress.FailPlatforms(id, MaskOf(platform), Stage::kRequest,
                                                     error.error, "", FailureCause::kUnread);
      }
      void operator()(const LookedUp::TooLarge& large) {
        queries.deps_.package_progress.FailPlatforms(id, MaskOf(platform), Stage::kRequest,
                                                     large.error, "", FailureCause::kProject);
      }
      void operator()(const LookedUp::Kept& kept) {
        queries.deps_.package_progress.FailPlatforms(id, MaskOf(platform), kept.stage, kept.error,
                                                     kept.log, FailureCause::kLimit);
      }
    };
    std::visit(Answer{*this, item.package, item.platform}, item.outcome);
    deps_.package_progress.Advance(item.package);
  }
  if (in_flight_ == 0) graph_.lifecycle().equal_work().ForgetResults();
}

// Keeps the least ids of all, so that packages that read many of the same files keep the same ids.
void CacheQueries::NoteLastRead(PackageId id, const std::vector<uint64_t>& read) {
  RareVector<uint64_t>& known = packages_[id].work->last_read;
  if (read.empty()) return;
  std::vector<uint64_t> all;
  std::set_union(known.begin(), known.end(), read.begin(), read.end(), std::back_inserter(all));
  if (all.size() > LookedUp::kLastReadMax) all.resize(LookedUp::kLastReadMax);
  known = std::move(all);
}

void CacheQueries::OnHit(PackageId id, PlatformIndex platform, const LookedUp::Hit& hit) {
  PackageData& package = packages_[id];
  package.slots[platform].result = hit.result;
  deps_.commits.Submit({id, platform, hit.result->id, false});
  deps_.warnings.NoteRead(package.cooks, id, hit.read);
  if (hit.result->is_verdict) {
    return deps_.package_progress.FailPlatforms(id, MaskOf(platform), Stage::kSave,
                                                hit.result->error, hit.result->log,
                                                FailureCause::kVerdict);
  }
  graph_.lifecycle().SetPhase(id, platform, Phase::kDone,
                              hit.is_up_to_date ? ResultSource::kUpToDate : ResultSource::kCached);
  deps_.discovered_references.SetExplored(id, platform, hit.result, true);
  deps_.package_progress.Settle(id, platform);
}

// A look-up met an observation set that cannot be judged without results that are not there yet.
// Old sets are only hints: an input that cannot be had, or that closes a cycle, makes this a miss,
// and the cook itself will say what it really reads.
void CacheQueries::OnNeedsCooked(PackageId id, PlatformIndex platform,
                                 const LookedUp::NeedsCooked& needs) {
  PackageData& package = packages_[id];
  graph_.lifecycle().SetPhase(id, platform, Phase::kWaiting);
  bool can_wait = !retry_.AreLateInputsEnough(++package.work->needs);
  for (const std::string& name : needs.packages) {
    std::string error;
    if (!can_wait || !deps_.waits.CanBeCookedInput(name, package.cooks, &error)) {
      can_wait = false;
      break;
    }
    const PackageId input = graph_.FindOrAdd(name);
    deps_.claims.Join(input, InstigatorCategory::kBuildDependency, id, package.cooks);
    deps_.waits.NoteInput(id, input);
    const Waits::Availability availability = deps_.waits.AvailabilityOf(input, platform);
    can_wait = availability != Waits::Availability::kNone &&
               deps_.wait_cycles.AddWait(id, {input, platform, false});
  }
  if (package.work == nullptr || package.slots[platform].phase != Phase::kWaiting) return;
  if (!can_wait) return deps_.waits.MissInstead(id, platform);
  deps_.wait_evaluation.EvaluateWaits(id);
}

}  // namespace galley::director
