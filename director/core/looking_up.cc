// Look-ups in the action cache: questions in batches, and their answers.
#include <algorithm>
#include <iterator>

#include "common/base/sabotage.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// So many batches may be unanswered.
constexpr size_t kBatchesInFlight = 4;

}  // namespace

void CookCore::Impl::SendLookUps() {
  if (!request.has_value() || ending != Ending::kNone) return;
  RequestQueue& queue = lifecycle.requests();
  const size_t in_flight_max = kBatchesInFlight * options.look_ups_per_batch;
  while (!queue.empty() && turn.look_ups.size() < options.look_ups_per_batch &&
         look_ups_in_flight < in_flight_max) {
    turn.look_ups.push_back(QuestionFor(queue.Pop()));
  }
}

LookUp::Item CookCore::Impl::QuestionFor(PackageId id) {
  PackageData& package = packages[id];
  if (IsSabotaged(Sabotage::kBumpEpochAtDispatch)) ++package.generation;
  LookUp::Item item{
      .package = id, .platforms = InPhase(id, Phase::kToLookUp), .generation = package.generation};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(item.platforms & MaskOf(p))) continue;
    ++look_ups_in_flight;
    package.slots[p].asked = lifecycle.equal_work().results_noted();
    lifecycle.SetPhase(id, p, Phase::kLookingUp);
    for (const PackageId input : package.cooked_inputs) {
      const Availability availability = AvailabilityOf(input, p);
      if (availability != Availability::kReady) continue;
      item.cooked.push_back({input, p, packages[input].slots[p].result->id});
    }
  }
  lifecycle.Refresh(id);
  return item;
}

// Asked or handed over before what the package is made of changed.
bool CookCore::Impl::IsOutdated(PackageId id, uint64_t generation) const {
  return generation != packages[id].generation && !IsSabotaged(Sabotage::kSkipEpochCheck);
}

void CookCore::Impl::OnLookedUp(const LookedUp& event) {
  for (const LookedUp::Item& item : event.items) {
    look_ups_in_flight -= look_ups_in_flight > 0;
    if (!request.has_value() || !packages.Has(item.package)) continue;
    PackageData& package = packages[item.package];
    if (package.work == nullptr || item.platform >= package.slots.size() ||
        IsOutdated(item.package, item.generation))
      continue;
    if (package.slots[item.platform].phase != Phase::kLookingUp) continue;
    struct Answer {
      Impl& core;
      PackageId id;
      PlatformIndex platform;
      void operator()(const LookedUp::Hit& hit) { core.OnHit(id, platform, hit); }
      void operator()(const LookedUp::Miss& miss) {
        core.packages[id].slots[platform].last_load = miss.last_load;
        core.packages[id].slots[platform].last_save = miss.last_save;
        core.packages[id].slots[platform].work = miss.work;
        uint64_t& memory_last = core.packages[id].work->memory_last;
        memory_last = std::max(memory_last, miss.last_memory_bytes);
        core.NoteLastRead(id, miss.last_read);
        core.lifecycle.SetPhase(id, platform, Phase::kToCook);
        core.packages[id].cost = core.CostOf(id);
      }
      void operator()(const LookedUp::NeedsCooked& needs) {
        core.OnNeedsCooked(id, platform, needs);
      }
      void operator()(const LookedUp::Error& error) {
        core.FailPlatforms(id, MaskOf(platform), Stage::kRequest, error.error, "");
      }
      void operator()(const LookedUp::Kept& kept) {
        core.FailPlatforms(id, MaskOf(platform), kept.stage, kept.error, kept.log,
                           FailureCause::kLimit);
      }
    };
    std::visit(Answer{*this, item.package, item.platform}, item.outcome);
    Advance(item.package);
  }
  if (look_ups_in_flight == 0) lifecycle.equal_work().ForgetResults();
}

// The least ids of all: packages that read many of the same files are known by the same of them.
void CookCore::Impl::NoteLastRead(PackageId id, const std::vector<uint64_t>& read) {
  RareVector<uint64_t>& known = packages[id].work->last_read;
  if (read.empty()) return;
  std::vector<uint64_t> all;
  std::set_union(known.begin(), known.end(), read.begin(), read.end(), std::back_inserter(all));
  if (all.size() > LookedUp::kLastReadMax) all.resize(LookedUp::kLastReadMax);
  known = std::move(all);
}

void CookCore::Impl::OnHit(PackageId id, PlatformIndex platform, const LookedUp::Hit& hit) {
  PackageData& package = packages[id];
  package.slots[platform].result = hit.result;
  turn.persist.push_back({id, platform, hit.result->id, false});
  if (hit.result->is_verdict) {
    return FailPlatforms(id, MaskOf(platform), Stage::kSave, hit.result->error, hit.result->log,
                         FailureCause::kVerdict);
  }
  lifecycle.SetPhase(id, platform, Phase::kDone,
                     hit.is_up_to_date ? ResultSource::kUpToDate : ResultSource::kCached);
  SetExplored(id, platform, hit.result, true);
  Settle(id, platform);
}

// A set that cannot be judged without results that are not there yet. Old sets are only hints: an
// input that cannot be had, or that closes a cycle, makes this a miss, and the cook itself will say
// what it really reads.
void CookCore::Impl::OnNeedsCooked(PackageId id, PlatformIndex platform,
                                   const LookedUp::NeedsCooked& needs) {
  PackageData& package = packages[id];
  lifecycle.SetPhase(id, platform, Phase::kWaiting);
  bool can_wait = ++package.work->needs <= options.needs_max;
  for (const std::string& name : needs.packages) {
    std::string error;
    if (!can_wait || !CanBeCookedInput(name, &error)) {
      can_wait = false;
      break;
    }
    const PackageId input = FindOrAdd(name);
    Join(input, InstigatorCategory::kBuildDependency, id);
    const Availability availability = AvailabilityOf(input, platform);
    can_wait = availability != Availability::kNone && AddWait(id, {input, platform, false});
  }
  if (package.work == nullptr || package.slots[platform].phase != Phase::kWaiting) return;
  if (!can_wait) return MissInstead(id, platform);
  EvaluateWaits(id);
}

}  // namespace galley::director
