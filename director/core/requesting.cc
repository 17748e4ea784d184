// What is in the cook, and why.
#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::OnCookRequested(const CookRequested& event) {
  waiting_requests.push_back(event);
  if (!request.has_value()) MaybeEnd();
}

// One that waits for its turn is over before it began.
void CookCore::Impl::OnCancelRequested() {
  if (request.has_value()) return Stop(Ending::kInterrupted);
  if (waiting_requests.empty()) return;
  Note(CookEnded{.request = waiting_requests.front().request,
                 .is_interrupted = true,
                 .is_fail_fast = false,
                 .infrastructure_error = ""});
  waiting_requests.pop_front();
}

void CookCore::Impl::StartCook(CookRequested wanted) {
  for (uint32_t i = 0; i < packages.size(); ++i) {
    PackageData& package = packages[PackageId(i)];
    GALLEY_CHECK(package.work == nullptr);
    package.outcome = Outcome::kNone;
    package.urgency = Urgency::kLow;
    package.is_in_cook = package.is_selected = package.is_named = package.is_cooked_input = false;
    package.was_loaded = package.was_up_to_date = package.is_skipped = package.is_listing_final =
        false;
    package.explored_epoch = 0;
    ++package.generation;
    package.slots.clear();
    package.problems.clear();
    package.cooked_inputs.clear();
    package.generates.clear();
    package.generated.reset();
  }
  counters = Counters();
  counters.workers_attached = workers.attached();
  monitor.Clear();
  monitor.Advance(now);
  ++cooks_begun;
  lifecycle.equal_work().Clear();
  edges.Clear();
  edges.Grow(packages.size());
  blame.Clear();
  retracted.clear();
  alone_for = absl::ZeroDuration();
  ranks.Clear();
  ranks.Grow(packages.size());
  stale_files.clear();
  stale_waiters.clear();
  late_changes.clear();
  forgiven_late.clear();
  unsolicited.clear();
  warned.clear();
  unsolicited_count = unsolicited_dropped = 0;
  wanted.platforms &= platform_count == 32 ? ~PlatformMask{0} : MaskOf(platform_count) - 1;
  selected_next = 0;
  ending = Ending::kNone;
  is_settling = is_publishing = is_staging = has_published = false;
  judged_epoch = epoch;
  unpublished = 0;
  judged.clear();
  losses_of_store = Losses();
  built.clear();
  spawn_failures = losses = 0;
  quarantined.clear();
  kept.reset();
  for (CookRequested::Blamed& blamed : wanted.blamed) {
    const PackageId package = FindOrAdd(blamed.package);
    blame.AddEarlierFaults(package, blamed.own_faults);
    if (blamed.own_faults >= options.own_fault_attempts_max)
      quarantined.emplace(package, std::move(blamed));
  }
  request = std::move(wanted);
  // A commit that failed ended a cook: what its workers keep since then may be durable this time.
  for (const WorkerId worker : workers.ring()) {
    if (!workers.Find(worker)->uncommitted.empty()) DesireFor(worker).resend_all = true;
  }
}

size_t CookCore::Impl::SelectSome(size_t units_max) {
  if (!request.has_value() || ending != Ending::kNone) return 0;
  size_t units = 0;
  for (; selected_next < request->selected.size() && units < units_max; ++units) {
    const SelectedPackage& selected = request->selected[selected_next++];
    const PackageId package = FindOrAdd(selected.name);
    packages[package].is_selected = true;
    if (selected.category == InstigatorCategory::kCommandLinePackage)
      packages[package].is_named = true;
    Join(package, selected.category, PackageId());
  }
  return units;
}

void CookCore::Impl::OnPackagesDiscovered(const PackagesDiscovered& event) {
  for (const SelectedPackage& selected : event.packages) {
    const std::string name = NameAsked(selected.name);
    if (CanStillChange()) {
      request->selected.push_back({name, selected.category});
    } else {
      Note(PackageWarned{FindOrAdd(name), std::nullopt,
                         "is asked for too late: no cook runs that it could join"});
    }
  }
}

std::string CookCore::Impl::NameAsked(std::string_view name_or_file) const {
  if (packages.Find(name_or_file).valid() || catalog->Find(name_or_file).has_value())
    return std::string(name_or_file);
  return catalog->NameOfFile(name_or_file).value_or(std::string(name_or_file));
}

PackageId CookCore::Impl::FindOrAdd(std::string_view name) {
  const PackageId package = packages.FindOrAdd(name);
  edges.Grow(packages.size());
  ranks.Grow(packages.size());
  return package;
}

void CookCore::Impl::Join(PackageId id, InstigatorCategory category, PackageId referencer) {
  if (referencer.valid()) {
    edges.Add(referencer, {id, category}, /*binds_ranks=*/false);
  } else {
    edges.AddRoot(id, category);
  }
  Bring(id, category, referencer);
}

// For a reason that is in `edges` already.
void CookCore::Impl::Bring(PackageId id, InstigatorCategory category, PackageId referencer) {
  PackageData& package = packages[id];
  Urgency urgency = UrgencyOf(category);
  if (category == InstigatorCategory::kBuildDependency && referencer.valid()) {
    urgency = std::max(urgency, packages[referencer].urgency);
  }
  if (!package.is_in_cook) {
    lifecycle.SetUrgency(id, urgency);
    lifecycle.Enter(id, request->platforms);
    agenda.Push(urgency, {AgendaItem::Kind::kBegin, id});
  }
  RaiseUrgency(id, urgency);
}

// What it waits for becomes as urgent.
void CookCore::Impl::RaiseUrgency(PackageId id, Urgency urgency) {
  std::vector<PackageId> raise = {id};
  while (!raise.empty()) {
    const PackageId next = raise.back();
    raise.pop_back();
    PackageData& package = packages[next];
    if (package.urgency >= urgency) continue;
    lifecycle.SetUrgency(next, urgency);
    if (package.work == nullptr) continue;
    if (urgency == Urgency::kBlocking) TakeForward(next);
    if (urgency == Urgency::kBlocking)
      turn.is_persist_urgent |= InPhase(next, Phase::kCommitting) != 0;
    for (const Wait& wait : package.work->waits) raise.push_back(wait.on);
    for (const PackageId leader : LeadersOf(next)) raise.push_back(leader);
    if (package.work->waits_for_generator)
      raise.push_back(packages.Find(GeneratorName(package.name)));
  }
}

void CookCore::Impl::Begin(PackageId id) {
  PackageData& package = packages[id];
  if (!package.is_in_cook || package.outcome != Outcome::kNone || package.is_skipped) return;
  if (package.state == State::kIdle) lifecycle.SetState(id, State::kRequest, "asked for");
  std::optional<CatalogEntry> entry;
  if (GeneratorName(package.name).empty()) {
    entry = catalog->Find(package.name);
  } else if (package.generated != nullptr) {
    entry =
        catalog->Generated(package.name, package.generated->cooker, package.generated->settings);
  } else if (!BeginGenerated(id)) {
    return;
  }
  if (!entry.has_value()) {
    return FailPackage(
        id, Stage::kRequest,
        "unknown package: no source file of that name, or no rule or sidecar makes it a package");
  }
  if (entry->never_cook && package.is_named) {
    return FailPackage(id, Stage::kRequest, "is never cooked: [cook] never or --never matches it");
  }
  if (entry->never_cook && !package.is_cooked_input) {
    WakeWaiters(id);
    lifecycle.SetState(id, State::kIdle, "never cooked");
    return Withdraw(id);
  }
  if (!entry->error.empty()) return FailPackage(id, Stage::kRequest, entry->error);
  std::string unknown;
  if (!grants.GroupOf(entry->resources, &package.resource_group, &unknown)) {
    return FailPackage(id, Stage::kRequest,
                       "its rule asks for the resource '" + unknown +
                           "': expected one that [resources] names with a count of 1 or more");
  }
  package.cost_traits = costs.TraitsOf(entry->cooker, entry->source_bytes);
  package.cost = CostOf(id);
  package.work->memory_max = entry->memory_bytes;
  package.work->has_begun = true;
  if (request->force) {
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].phase == Phase::kToLookUp) lifecycle.SetPhase(id, p, Phase::kToCook);
    }
  }
  Advance(id);
}

// The package is not listed yet: asks its generator. False: it waits, or it is over. True: nobody
// could list it.
bool CookCore::Impl::BeginGenerated(PackageId id) {
  const std::string_view name = GeneratorName(packages[id].name);
  if (GeneratorName(name).empty() && !catalog->Find(name).has_value()) return true;
  const PackageId generator = FindOrAdd(name);
  Join(generator, InstigatorCategory::kBuildDependency, id);
  if (packages[id].generated == nullptr && IsOver(generator)) {
    Unlisted(id, generator);
    return false;
  }
  packages[id].work->waits_for_generator = true;
  AddWaiter(generator, id);
  lifecycle.Refresh(id);
  BreakCycles(id);
  return false;
}

// Its generator is over and does not list it. A reference to it is judged at the end.
void CookCore::Impl::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages[id];
  package.work->waits_for_generator = false;
  const PackageData& from = packages[generator];
  if (from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final))
    return Skip(id);
  if (package.is_selected || package.is_cooked_input) {
    return FailPackage(
        id, Stage::kRequest,
        from.name +
            " does not generate it: expected it in the list of packages that its cook gives");
  }
  Leave(id, "not generated");
}

// The cook, with all that it generated.
void CookCore::Impl::Leave(PackageId id, std::string_view reason) {
  PackageData& package = packages[id];
  if (!package.is_in_cook) return;
  for (const PackageId child : std::exchange(package.generates, {})) {
    packages[child].generated.reset();
    Leave(child, reason);
  }
  ++package.generation;
  lifecycle.SetSkipped(id, false);
  package.is_listing_final = false;
  if (package.work != nullptr) {
    WakeWaiters(id);
    EndAttempts(id, Tell::kCancel);
    StopWaitingForScan(id);
    lifecycle.SetState(id, State::kIdle, reason);
  }
  Withdraw(id);
}

void CookCore::Impl::Withdraw(PackageId id) {
  edges.Unfollow(id);
  lifecycle.Withdraw(id);
}

void CookCore::Impl::Skip(PackageId id) {
  WakeWaiters(id);
  lifecycle.SetSkipped(id, true);
  lifecycle.SetState(id, State::kIdle, "its generator failed");
}

// What it gave no longer holds: from the beginning.
void CookCore::Impl::Requeue(PackageId id) {
  PackageData& package = packages[id];
  quarantined.erase(id);  // what it was made of then may have been mended
  forgiven_late.erase(id);
  // Whether it fits in with the others is judged anew: of all, since each stands against another.
  if (judged.erase(id) != 0) {
    for (const auto& [other, platforms] : std::exchange(judged, {})) Requeue(other);
  }
  OutdateSurvivors(id);
  if (!package.is_in_cook) return;
  if (const auto read = unsolicited.find(id); read != unsolicited.end()) {
    unsolicited_count -= read->second.size();
    unsolicited.erase(read);
  }
  if (!IsSabotaged(Sabotage::kBumpEpochAtDispatch)) ++package.generation;
  NoteForgiven(id, options.own_fault_attempts_max - 1);
  EndAttempts(id, Tell::kCancel);
  lifecycle.SetOutcome(id, Outcome::kNone);
  lifecycle.SetUpToDate(id, false);
  lifecycle.SetSkipped(id, false);
  package.is_listing_final = false;
  edges.Unfollow(id);
  package.problems.clear();
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].phase == Phase::kUnwanted) continue;
    lifecycle.SetPhase(id, p, Phase::kToLookUp);
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
    lifecycle.SetState(id, State::kRequest, "from the beginning");
  }
  agenda.Push(package.urgency, {AgendaItem::Kind::kBegin, id});
}

}  // namespace galley::director
