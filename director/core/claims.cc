#include "director/core/claims.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

// Categories that need no more of a package than that it is in the cook.
bool IsReference(InstigatorCategory category) {
  return category == InstigatorCategory::kHardDependency ||
         category == InstigatorCategory::kSoftDependency ||
         category == InstigatorCategory::kCulture;
}

}  // namespace

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

void Claims::Join(PackageId id, InstigatorCategory category, PackageId referencer, CookMask cooks) {
  if (referencer.valid()) {
    graph().edges.Add(referencer, {id, category}, /*binds_ranks=*/false);
  } else {
    graph().edges.AddRoot(id, category);
  }
  Bring(id, category, referencer, cooks);
}

void Claims::Bring(PackageId id, InstigatorCategory category, PackageId referencer,
                   CookMask cooks) {
  cooks &= core_.cooks.open();
  if (category == InstigatorCategory::kSoftDependency) cooks &= core_.cooks.follow_soft();
  if (IsReference(category)) cooks &= ~core_.cooks.StandingIn(id, cooks);
  if (cooks == 0) return;
  Urgency urgency = core_.cooks.UrgencyOf(cooks, category);
  if (category == InstigatorCategory::kBuildDependency && referencer.valid())
    urgency = std::max(urgency, packages_[referencer].urgency);
  const CookMask fresh = cooks & ~packages_[id].cooks;
  if (fresh != 0) Claim(id, fresh, urgency);
  RaiseUrgency(id, urgency);
}

void Claims::Claim(PackageId id, CookMask cooks, Urgency urgency) {
  PackageData& package = packages_[id];
  const CookMask before = package.cooks;
  if ((before & core_.cooks.active()) == 0) lifecycle().SetUrgency(id, urgency);
  core_.cooks.ForEachOf(cooks, [id](Cook& cook) { cook.NoteMember(id); });
  const PlatformMask platforms = core_.cooks.PlatformsOf(cooks);
  lifecycle().Claim(id, cooks, platforms, core_.cooks.FirstPhaseOf(id));
  // At once: the cook that wants the generator may be over before the package's turn comes, and
  // what it listed would be forgotten.
  if (package.generated != nullptr)
    Join(FindOrAdd(GeneratorName(NameOf(id))), InstigatorCategory::kBuildDependency, id, cooks);
  if (before == 0) return graph().Push({AgendaItem::Kind::kBegin, id});
  if ((cooks & core_.cooks.forcing()) != 0) {
    absl::btree_set<PackageId> done;
    RequeueWithReaders(id, done);
  }
  if (const PlatformMask failed = core_.advancing.InPhase(id, Phase::kFailed) & platforms)
    TryAgain(id, failed, before);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Slot& slot = package.slots[p];
    if (slot.phase == Phase::kDone)
      core_.advancing.TellDone(id, p, cooks & core_.cooks.ListenersOn(id, p));
  }
  // References that no cook before followed, or that were not followed before it stopped.
  const bool is_unfollowed = (before & core_.cooks.follow_soft()) == 0;
  if (is_unfollowed) package.explored_epoch = 0;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].explored != nullptr &&
        (is_unfollowed || (graph().edges.followed(id) & MaskOf(p)) == 0))
      graph().Push({AgendaItem::Kind::kExplore, id, p});
  }
  if (package.state == State::kIdle && !core_.advancing.IsAllSettled(id)) {
    lifecycle().SetOutcome(id, Outcome::kNone);
    lifecycle().SetSkipped(id, false);
    graph().Push({AgendaItem::Kind::kBegin, id});
  }
  lifecycle().Refresh(id);
  graph().Push({AgendaItem::Kind::kSpread, id});
}

// The limits of attempts are those of a cook: the cooks that saw the package fail keep that.
void Claims::TryAgain(PackageId id, PlatformMask failed, CookMask before) {
  PackageData& package = packages_[id];
  core_.cooks.ForEachOf(before, [&](Cook& cook) { cook.judging.Settle(id, failed); });
  graph().faults.NoteForgiven(id, 0);
  graph().blame.Forget(id);
  graph().faults.Pardon(id);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((failed & MaskOf(p)) == 0) continue;
    lifecycle().SetPhase(id, p, core_.cooks.FirstPhaseOf(id));
    package.slots[p].result.reset();
    package.slots[p].explored.reset();
    package.slots[p].has_followed = false;
    package.slots[p].work = 0;
  }
}

size_t Claims::Spread(PackageId id) {
  const PackageData& package = packages_[id];
  const CookMask cooks = package.cooks;
  std::vector<Edge> references;
  graph().edges.ForEachReference(id, [&](const Edge& edge) { references.push_back(edge); });
  for (const Edge& edge : references) {
    CookMask followers = 0;
    core_.cooks.ForEachOf(cooks, [&](const Cook& cook) {
      if (cook.Follows(edge)) followers |= cook.bit();
    });
    Bring(edge.target, edge.category, id, followers);
  }
  const std::vector<PackageId> generates(package.generates.begin(), package.generates.end());
  for (const PackageId child : generates)
    Bring(child, InstigatorCategory::kGeneratedPackage, id, cooks);
  const std::vector<PackageId> inputs(package.cooked_inputs.begin(), package.cooked_inputs.end());
  for (const PackageId input : inputs)
    Bring(input, InstigatorCategory::kBuildDependency, id, cooks);
  const bool waits = package.work != nullptr && package.work->waits_for_generator;
  if (const std::string_view generator = GeneratorName(package.name);
      !generator.empty() && (package.generated != nullptr || waits))
    Join(FindOrAdd(generator), InstigatorCategory::kBuildDependency, id, cooks);
  core_.advancing.Advance(id);
  return 1 + references.size() + generates.size() + inputs.size();
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
    // (Its worker would begin it in its turn, as it was given; and nothing else that is as urgent
    // would be given there before that.)
    if (urgency >= Urgency::kHigh) core_.balancing.TakeForward(next);
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
  if (!core_.cooks.IsWanted(id) || package.outcome != Outcome::kNone || package.is_skipped) return;
  if (package.state == State::kIdle) lifecycle().SetState(id, State::kRequest, "asked for");
  if (graph().changes.IsHeld(id)) return graph().changes.Hold(id);
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
    const CookMask asking = NamersOf(id) & package.cooks & core_.cooks.active();
    if (asking == 0) return Leave(id, "its file is gone");
    Unclaim(id, package.cooks & core_.cooks.active() & ~asking);
    LeaveOrphans(id, "its generator's file is gone");
    NoteNoGenerator(id);
    return core_.advancing.FailPackage(
        id, Stage::kRequest,
        "unknown package: no source file of that name, or no rule or sidecar makes it a package");
  }
  if (!MayCook(id, *entry)) return;
  if (!entry->error.empty()) return core_.advancing.FailPackage(id, Stage::kRequest, entry->error);
  std::string why;
  if (!core_.grants.GroupOf(entry->resources, &package.resource_group, &why))
    return core_.advancing.FailPackage(id, Stage::kRequest, why);
  package.cost_traits = core_.costs.TraitsOf(entry->cooker, entry->source_bytes);
  package.work->job_kind = core_.offers.KindOf(*entry, package.resource_group);
  package.cost = core_.dispatching.CostOf(id);
  package.work->memory_max = entry->memory_bytes;
  package.work->has_begun = true;
  if (core_.cooks.IsForced(id)) {
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].phase == Phase::kToLookUp) lifecycle().SetPhase(id, p, Phase::kToCook);
    }
  }
  core_.advancing.Advance(id);
}

// The cooks that asked for the package itself, and for which it fails when its file is gone: a
// folder just does not hold it any more, and a package that still refers to it fails for that.
CookMask Claims::NamersOf(PackageId id) {
  const PackageData& package = packages_[id];
  bool is_for_all = package.is_cooked_input || !GeneratorName(package.name).empty();
  graph().edges.ForEachInstigator(id, [&](const InstigatorView& why) {
    is_for_all |= !why.referencer.valid() &&
                  why.category != InstigatorCategory::kCommandLineDirectory &&
                  why.category != InstigatorCategory::kCommandLinePackage;
  });
  return is_for_all ? ~CookMask{0} : package.named_by;
}

// False: the package is over, or has left.
bool Claims::MayCook(PackageId id, const CatalogEntry& entry) {
  if (!entry.never_cook) return true;
  const PackageData& package = packages_[id];
  const CookMask named = package.cooks & package.named_by & core_.cooks.active();
  const CookMask others = package.cooks & core_.cooks.active() & ~named;
  if (named != 0) {
    Unclaim(id, others);
    core_.advancing.FailPackage(id, Stage::kRequest,
                                "is never cooked: [cook] never or --never matches it");
    return false;
  }
  return Leave(id, "never cooked"), false;
}

// Asks the package's generator, which has not listed it yet. False: the package waits, or is over.
// True: nobody could list it.
bool Claims::BeginGenerated(PackageId id) {
  const std::string_view name = GeneratorName(packages_[id].name);
  if (GeneratorName(name).empty() && !core_.catalog->Find(name).has_value()) return true;
  const PackageId generator = FindOrAdd(name);
  Join(generator, InstigatorCategory::kBuildDependency, id, packages_[id].cooks);
  if (packages_[id].generated == nullptr && core_.waiting.IsOver(generator)) {
    Unlisted(id, generator);
    return false;
  }
  WaitForGenerator(id, generator);
  return false;
}

void Claims::WaitForGenerator(PackageId id, PackageId generator) {
  packages_[id].work->waits_for_generator = true;
  core_.waiting.AddWaiter(generator, id);
  lifecycle().Refresh(id);
  core_.waiting.BreakCycles(id);
}

// The package's generator is over and does not list it. A reference to it is judged at the end.
void Claims::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages_[id];
  // A cook that has come since wants the generator, too, which may be tried again for it.
  const CookMask fresh =
      package.cooks & core_.cooks.open() & ~packages_[generator].cooks & ~package.asked_generator;
  package.asked_generator |= fresh;
  if (fresh != 0) Join(generator, InstigatorCategory::kBuildDependency, id, fresh);
  if (!core_.waiting.IsOver(generator)) return WaitForGenerator(id, generator);
  package.work->waits_for_generator = false;
  const PackageData& from = packages_[generator];
  const bool has_failed =
      from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final);
  const CookMask active = package.cooks & core_.cooks.active();
  // A cook for which its generator was not tried lacks it as one whose generator lists others.
  const CookMask skipping = has_failed ? active & from.cooks : 0;
  const CookMask lacking = active & ~skipping;
  const CookMask failing = package.is_cooked_input ? lacking : lacking & package.selected_by;
  const std::string text =
      from.name + " does not generate it: expected it in the list of packages that its cook gives";
  if (skipping == 0 && failing == 0) return Leave(id, "not generated");
  Unclaim(id, lacking & ~failing);
  if (skipping == 0) return core_.advancing.FailPackage(id, Stage::kRequest, text);
  TellLeft(id, skipping);  // it may have failed before, when its generator listed others
  core_.cooks.ForEachOf(failing, [&](Cook& cook) {
    cook.judging.FailJudged(id, ~PlatformMask{0}, Stage::kRequest, text);
  });
  Skip(id);
}

void Claims::Withdraw(PackageId id) {
  TellLeft(id, packages_[id].cooks);
  packages_[id].was_told = false;
  core_.cooks.ForEachOf(packages_[id].cooks, [id](Cook& cook) { cook.judging.Forget(id); });
  graph().edges.Unfollow(id);
  lifecycle().Withdraw(id);
}

// A cook whose roots are being built or published keeps what it judged.
void Claims::TellLeft(PackageId id, CookMask cooks) {
  const CookMask told = cooks & core_.cooks.running() & ~core_.cooks.settling();
  if (packages_[id].was_told && told != 0) Note(PackageLeft{id}, told);
}

// The package leaves these cooks, and goes on in others.
void Claims::Unclaim(PackageId id, CookMask cooks) {
  if (cooks == 0) return;
  TellLeft(id, cooks);
  core_.cooks.ForEachOf(cooks, [id](Cook& cook) { cook.judging.Forget(id); });
  lifecycle().Unclaim(id, cooks);
}

// The package leaves all cooks, with all that it generated.
void Claims::Leave(PackageId id, std::string_view reason) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  LeaveOrphans(id, reason);
  ++package.generation;
  lifecycle().SetSkipped(id, false);
  package.is_listing_final = false;
  if (package.work != nullptr) {
    core_.waiting.WakeWaiters(id);
    core_.attempts.EndAttempts(id);
    graph().changes.StopWaitingForScan(id);
    lifecycle().SetState(id, State::kIdle, reason);
  }
  Withdraw(id);
}

void Claims::LeaveCook(PackageId id, CookMask cooks) {
  if ((packages_[id].cooks & core_.cooks.running() & ~cooks) != 0) return Unclaim(id, cooks);
  Leave(id, "nothing leads to it");
}

// All that the package generated leaves. A cook that asked for one of these itself has it fail, and
// does not lose it in silence.
void Claims::LeaveOrphans(PackageId generator, std::string_view reason) {
  for (const PackageId child : std::exchange(packages_[generator].generates, {})) {
    PackageData& package = packages_[child];
    package.generated.reset();
    package.NoteNewContent();
    const CookMask active = package.cooks & core_.cooks.active();
    const CookMask asking = package.selected_by & active;
    if (asking == 0) {
      Leave(child, reason);
      continue;
    }
    Unclaim(child, active & ~asking);
    Requeue(child);
  }
}

// Questions about the package are asked again when another cook wants it.
void Claims::GiveUp(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work != nullptr) {
    core_.waiting.WakeWaiters(id);
    core_.attempts.EndAttempts(id);
    graph().changes.StopWaitingForScan(id);
    ++package.generation;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const Phase phase = package.slots[p].phase;
      if (phase == Phase::kLookingUp || phase == Phase::kWaiting || phase == Phase::kFollowing ||
          phase == Phase::kCommitting)
        lifecycle().SetPhase(id, p, Phase::kToLookUp);
    }
    lifecycle().SetState(id, State::kIdle, "no cook wants it any more");
  }
  if (package.outcome != Outcome::kNone) return;
  if (core_.advancing.InPhase(id, Phase::kFailed) != 0) {
    lifecycle().SetOutcome(id, Outcome::kFailed);
  } else {
    lifecycle().SetSkipped(id, true);
  }
}

size_t Claims::LetGo(Cook& cook, size_t units_max) {
  size_t units = 0;
  std::vector<PackageId>& members = cook.members();
  for (; !members.empty() && units < units_max; ++units) {
    const PackageId id = members.back();
    members.pop_back();
    PackageData& package = packages_[id];
    package.selected_by &= ~cook.bit();
    package.named_by &= ~cook.bit();
    if (!cook.Wants(id)) continue;
    lifecycle().Unclaim(id, cook.bit());
    if (package.is_in_cook()) {
      LowerUrgency(id);
    } else {
      Forget(id);
    }
  }
  return units;
}

// Who is left may be less urgent.
void Claims::LowerUrgency(PackageId id) {
  const PackageData& package = packages_[id];
  const CookMask left = package.cooks & core_.cooks.active();
  const Urgency urgency = core_.cooks.UrgencyOf(left, (package.selected_by & left) != 0
                                                          ? InstigatorCategory::kCommandLinePackage
                                                          : InstigatorCategory::kHardDependency);
  if (urgency >= package.urgency) return;
  lifecycle().SetUrgency(id, urgency);
  if (package.work == nullptr) return;
  for (const PackageId waiter : std::vector<PackageId>(package.work->waiters))
    RaiseUrgency(id, packages_[waiter].urgency);
}

// No cook wants the package: what is known of it here is void when its files change next.
void Claims::Forget(PackageId id) {
  ForgetNoGenerator(id);
  PackageData& package = packages_[id];
  GALLEY_CHECK(package.work == nullptr);
  for (const PackageId child : package.generates) packages_[child].generated.reset();
  graph().edges.Unfollow(id);
  graph().edges.DropRoots(id);
  graph().blame.Forget(id);
  graph().faults.Pardon(id);
  const uint32_t on_agenda = package.on_agenda;
  std::unique_ptr<record::Generated> generated = std::move(package.generated);
  package.BeginCook();
  package.on_agenda = on_agenda;
  package.generated = std::move(generated);
}

void Claims::Skip(PackageId id) {
  core_.waiting.WakeWaiters(id);
  lifecycle().SetSkipped(id, true);
  lifecycle().SetState(id, State::kIdle, "its generator failed");
}

void Claims::NoteNoGenerator(PackageId id) {
  if (const std::string_view name = GeneratorName(packages_[id].name); !name.empty())
    without_generator_[FindOrAdd(name)].insert(id);
}

void Claims::ForgetNoGenerator(PackageId id) {
  if (without_generator_.empty()) return;
  const std::string_view name = GeneratorName(packages_[id].name);
  const auto found = without_generator_.find(packages_.Find(name));
  if (name.empty() || found == without_generator_.end()) return;
  found->second.erase(id);
  if (found->second.empty()) without_generator_.erase(found);
}

// The package's results no longer hold: it starts from the beginning.
void Claims::Requeue(PackageId id) {
  PackageData& package = packages_[id];
  ForgetNoGenerator(id);
  graph().faults.Pardon(id);
  graph().changes.ForgetLate(id);
  core_.survivors.Outdate(id);
  if (!package.is_in_cook()) return;
  core_.cooks.ForEachOf(package.cooks, [id](Cook& cook) { cook.NoteRequeued(id); });
  if (!IsSabotaged(Sabotage::kBumpEpochAtDispatch)) package.NoteNewContent();
  graph().faults.NoteForgiven(id, options_.own_fault_attempts_max - 1);
  core_.attempts.EndAttempts(id);
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
  }
  if (!core_.cooks.IsWanted(id)) return GiveUp(id);
  if (package.work != nullptr) lifecycle().SetState(id, State::kRequest, "from the beginning");
  graph().Push({AgendaItem::Kind::kBegin, id});
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
    if (const auto found = without_generator_.find(next); found != without_generator_.end())
      to_do.insert(to_do.end(), found->second.begin(), found->second.end());
  }
}

void Claims::RequeueWithReaders(PackageId id, absl::btree_set<PackageId>& done) {
  ForEachWithReaders(id, done, [this](PackageId one) { Requeue(one); });
}

}  // namespace galley::director
