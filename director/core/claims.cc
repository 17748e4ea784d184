#include "director/core/claims.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
std::string Claims::NameAsked(std::string_view name_or_file) const {
  if (packages_.Find(name_or_file).valid() || core_.catalog->Find(name_or_file).has_value())
    return std::string(name_or_file);
  return core_.catalog->NameOfFile(name_or_file).value_or(std::string(name_or_file));
}

PackageId Claims::FindOrAdd(std::string_view name) {
  const PackageId package = packages_.FindOrAdd(name);
  graph().edges.Grow(packages_.size());
  graph().ranks.Grow(packages_.size());
  return package;
}

void Claims::Join(PackageId id, InstigatorCategory category, PackageId referencer) {
  if (referencer.valid()) {
    graph().edges.Add(referencer, {id, category}, /*binds_ranks=*/false);
  } else {
    graph().edges.AddRoot(id, category);
  }
  Bring(id, category, referencer);
}

// The reason for the package is in `edges` already.
void Claims::Bring(PackageId id, InstigatorCategory category, PackageId referencer) {
  PackageData& package = packages_[id];
  Urgency urgency = UrgencyOf(category);
  if (category == InstigatorCategory::kBuildDependency && referencer.valid()) {
    urgency = std::max(urgency, packages_[referencer].urgency);
  }
  if (!package.is_in_cook) {
    lifecycle().SetUrgency(id, urgency);
    lifecycle().Enter(id, cook().request().platforms);
    graph().agenda.Push(urgency, {AgendaItem::Kind::kBegin, id});
  }
  RaiseUrgency(id, urgency);
}

// The packages that it waits for become as urgent.
void Claims::RaiseUrgency(PackageId id, Urgency urgency) {
  std::vector<PackageId> raise = {id};
  while (!raise.empty()) {
    const PackageId next = raise.back();
    raise.pop_back();
    PackageData& package = packages_[next];
    if (package.urgency >= urgency) continue;
    lifecycle().SetUrgency(next, urgency);
    if (package.work == nullptr) continue;
    if (urgency == Urgency::kBlocking) core_.balancing.TakeForward(next);
    if (urgency == Urgency::kBlocking)
      turn_.is_persist_urgent |= core_.advancing.InPhase(next, Phase::kCommitting) != 0;
    for (const Wait& wait : package.work->waits) raise.push_back(wait.on);
    for (const PackageId leader : core_.following.LeadersOf(next)) raise.push_back(leader);
    if (package.work->waits_for_generator)
      raise.push_back(packages_.Find(GeneratorName(package.name)));
  }
}

void Claims::Begin(PackageId id) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook || package.outcome != Outcome::kNone || package.is_skipped) return;
  if (package.state == State::kIdle) lifecycle().SetState(id, State::kRequest, "asked for");
  std::optional<CatalogEntry> entry;
  if (GeneratorName(package.name).empty()) {
    entry = core_.catalog->Find(package.name);
  } else if (package.generated != nullptr) {
    entry = core_.catalog->Generated(package.name, package.generated->cooker,
                                     package.generated->settings);
  } else if (!BeginGenerated(id)) {
    return;
  }
  if (!entry.has_value()) {
    return core_.advancing.FailPackage(
        id, Stage::kRequest,
        "unknown package: no source file of that name, or no rule or sidecar makes it a package");
  }
  if (entry->never_cook && package.is_named) {
    return core_.advancing.FailPackage(id, Stage::kRequest,
                                       "is never cooked: [cook] never or --never matches it");
  }
  if (entry->never_cook && !package.is_cooked_input) {
    core_.waiting.WakeWaiters(id);
    lifecycle().SetState(id, State::kIdle, "never cooked");
    return Withdraw(id);
  }
  if (!entry->error.empty()) return core_.advancing.FailPackage(id, Stage::kRequest, entry->error);
  std::string unknown;
  if (!core_.grants.GroupOf(entry->resources, &package.resource_group, &unknown)) {
    return core_.advancing.FailPackage(
        id, Stage::kRequest,
        "its rule asks for the resource '" + unknown +
            "': expected one that [resources] names with a count of 1 or more");
  }
  package.cost_traits = core_.costs.TraitsOf(entry->cooker, entry->source_bytes);
  package.cost = core_.dispatching.CostOf(id);
  package.work->memory_max = entry->memory_bytes;
  package.work->has_begun = true;
  if (cook().request().force) {
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].phase == Phase::kToLookUp) lifecycle().SetPhase(id, p, Phase::kToCook);
    }
  }
  core_.advancing.Advance(id);
}

// Asks the package's generator, which has not listed it yet. False: the package waits, or is over.
// True: nobody could list it.
bool Claims::BeginGenerated(PackageId id) {
  const std::string_view name = GeneratorName(packages_[id].name);
  if (GeneratorName(name).empty() && !core_.catalog->Find(name).has_value()) return true;
  const PackageId generator = FindOrAdd(name);
  Join(generator, InstigatorCategory::kBuildDependency, id);
  if (packages_[id].generated == nullptr && core_.waiting.IsOver(generator)) {
    Unlisted(id, generator);
    return false;
  }
  packages_[id].work->waits_for_generator = true;
  core_.waiting.AddWaiter(generator, id);
  lifecycle().Refresh(id);
  core_.waiting.BreakCycles(id);
  return false;
}

// The package's generator is over and does not list it. A reference to it is judged at the end.
void Claims::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages_[id];
  package.work->waits_for_generator = false;
  const PackageData& from = packages_[generator];
  if (from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final))
    return Skip(id);
  if (package.is_selected || package.is_cooked_input) {
    return core_.advancing.FailPackage(
        id, Stage::kRequest,
        from.name +
            " does not generate it: expected it in the list of packages that its cook gives");
  }
  Leave(id, "not generated");
}

void Claims::Withdraw(PackageId id) {
  cook().judging.Forget(id);
  graph().edges.Unfollow(id);
  lifecycle().Withdraw(id);
}

// The package leaves the cook, with all that it generated.
void Claims::Leave(PackageId id, std::string_view reason) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook) return;
  for (const PackageId child : std::exchange(package.generates, {})) {
    packages_[child].generated.reset();
    Leave(child, reason);
  }
  ++package.generation;
  lifecycle().SetSkipped(id, false);
  package.is_listing_final = false;
  if (package.work != nullptr) {
    core_.waiting.WakeWaiters(id);
    core_.attempts.EndAttempts(id, Tell::kCancel);
    graph().changes.StopWaitingForScan(id);
    lifecycle().SetState(id, State::kIdle, reason);
  }
  Withdraw(id);
}

void Claims::Skip(PackageId id) {
  core_.waiting.WakeWaiters(id);
  lifecycle().SetSkipped(id, true);
  lifecycle().SetState(id, State::kIdle, "its generator failed");
}

// The package's results no longer hold: it starts from the beginning.
void Claims::Requeue(PackageId id) {
  PackageData& package = packages_[id];
  graph().faults.Pardon(id);
  graph().changes.ForgetLate(id);
  cook().judging.Forget(id);
  core_.survivors.Outdate(id);
  if (!package.is_in_cook) return;
  cook().judging.ForgetRead(id);
  if (!IsSabotaged(Sabotage::kBumpEpochAtDispatch)) ++package.generation;
  graph().faults.NoteForgiven(id, options_.own_fault_attempts_max - 1);
  core_.attempts.EndAttempts(id, Tell::kCancel);
  lifecycle().SetOutcome(id, Outcome::kNone);
  lifecycle().SetSkipped(id, false);
  package.is_listing_final = false;
  graph().edges.Unfollow(id);
  package.problems.clear();
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].phase == Phase::kUnwanted) continue;
    lifecycle().SetPhase(id, p, Phase::kToLookUp);
    package.slots[p].result.reset();
    package.slots[p].explored.reset();
    package.slots[p].has_followed = false;
    package.slots[p].work = 0;
  }
  if (package.work != nullptr) {
    package.work->waits.clear();
    package.work->has_begun = false;
    package.work->runs_alone = false;  // it may need less by now
    package.work->waits_for_generator = false;
    package.work->is_loaded = false;
    lifecycle().SetState(id, State::kRequest, "from the beginning");
  }
  graph().agenda.Push(package.urgency, {AgendaItem::Kind::kBegin, id});
}

void Claims::ForEachWithReaders(PackageId id, absl::btree_set<PackageId>& done,
                                absl::FunctionRef<void(PackageId)> visit) {
  std::vector<PackageId> to_do = {id};
  while (!to_do.empty()) {
    const PackageId next = to_do.back();
    to_do.pop_back();
    if (!done.insert(next).second) continue;
    visit(next);
    graph().edges.ForEachInstigator(next, [&](const InstigatorView& why) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid())
        to_do.push_back(why.referencer);
    });
  }
}

void Claims::RequeueWithReaders(PackageId id, absl::btree_set<PackageId>& done) {
  ForEachWithReaders(id, done, [this](PackageId one) { Requeue(one); });
}

}  // namespace galley::director
