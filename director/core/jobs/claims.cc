#include "director/core/jobs/claims.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/packages/failure_texts.h"

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
  if (packages_.Find(name_or_file).valid() || step_.catalog->Find(name_or_file).has_value())
    return std::string(name_or_file);
  return step_.catalog->NameOfFile(name_or_file).value_or(std::string(name_or_file));
}

void Claims::Join(PackageId id, InstigatorCategory category, PackageId referencer, CookMask cooks) {
  if (referencer.valid()) {
    graph_.edges().Add(referencer, {id, category}, /*binds_ranks=*/false);
  } else {
    graph_.edges().AddRoot(id, category);
  }
  Bring(id, category, referencer, cooks);
}

void Claims::Bring(PackageId id, InstigatorCategory category, PackageId referencer,
                   CookMask cooks) {
  cooks &= claimants_.masks().active;
  if (category == InstigatorCategory::kSoftDependency) cooks &= claimants_.masks().follow_soft;
  if (category == InstigatorCategory::kCulture) cooks &= graph_.edges().TakersOf(referencer, id);
  if (IsReference(category)) cooks &= ~claimants_.StandingIn(id, cooks);
  if (const CookMask never = claimants_.NeverIn(id, cooks); never != 0) {
    KeepOut(id, category, referencer, never);
    cooks &= ~never;
  }
  // Asks follow no references; what an asked package needs is asked for on the same platforms.
  Asked asked;
  if ((cooks & kAsksBit) != 0 && category == InstigatorCategory::kBuildDependency &&
      referencer.valid()) {
    asked.all = packages_[referencer].asked & ~packages_[id].asked;
    asked.now = packages_[referencer].asked_now & ~packages_[id].asked_now;
  }
  cooks &= kCooksBits;
  if (cooks == 0 && asked.all == 0 && asked.now == 0) return;
  Urgency urgency = asked.now != 0 ? Urgency::kBlocking : Urgency::kSpare;
  if (cooks != 0) urgency = std::max(urgency, claimants_.UrgencyOf(cooks, category));
  if (category == InstigatorCategory::kBuildDependency && referencer.valid())
    urgency = std::max(urgency, packages_[referencer].urgency);
  const CookMask fresh = cooks & ~packages_[id].cooks;
  if (fresh != 0 || asked.all != 0) {
    Claim(id, fresh, asked, urgency);
  } else if (asked.now != 0) {
    Lift(id, asked.now, urgency);
  }
  deps_.urgencies.RaiseUrgency(id, urgency);
}

// Handles a package that these cooks leave out. If only the package itself is left out, and not its
// generator, the generator is asked for all the same: whether the generator lists the package
// decides about references to the package.
void Claims::KeepOut(PackageId id, InstigatorCategory category, PackageId referencer,
                     CookMask cooks) {
  const std::string& name = packages_.NameOf(id);
  const std::string_view generator = GeneratorName(name);
  const CookMask unlisted = generator.empty() ? 0 : claimants_.NeverIn(generator, cooks);
  if (!generator.empty() && category != InstigatorCategory::kGeneratedPackage &&
      (cooks & ~unlisted) != 0)
    Join(graph_.FindOrAdd(generator), InstigatorCategory::kBuildDependency, id, cooks & ~unlisted);
  CookMask failing = 0;
  if (!referencer.valid()) {
    claimants_.ForEachOf(cooks, [id](Claimant& cook) { cook.members.push_back(id); });
    failing = cooks & (packages_[id].named_by | (unlisted & packages_[id].selected_by));
  } else if (category == InstigatorCategory::kBuildDependency && packages_[id].is_cooked_input &&
             GeneratorName(packages_.NameOf(referencer)) != name) {
    failing = unlisted;  // `referencer` reads the output of a package that has no source
  }
  claimants_.ForEachOf(failing, [&](Claimant& cook) {
    deps_.cook_only_failures.Refuse(
        cook, id,
        (unlisted & cook.bit()) != 0 ? UnlistedText(generator) : std::string(kNamedAndNeverCooked));
  });
}

// Cooks join that have other cultures than the cooks before them. True: the package has variants
// for these cultures, and must be explored again.
bool Claims::LacksVariants(PackageId id, CookMask cooks, CookMask before) {
  bool lacks = false;
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) {
    CookMask alike = 0;
    claimants_.ForEachOf(before & claimants_.masks().active, [&](const Claimant& other) {
      if (other.cultures() == cook.cultures()) alike |= other.bit();
    });
    if (alike != 0) {
      graph_.edges().TakeAlike(id, cook.bit(), alike);
    } else {
      lacks |= !step_.catalog->VariantsOf(packages_.NameOf(id), cook.cultures()).empty();
    }
  });
  return lacks;
}

// `cooks` join, or asks for the platforms `asked`.
void Claims::Claim(PackageId id, CookMask cooks, const Asked& asked, Urgency urgency) {
  PackageData& package = packages_[id];
  const CookMask before = package.cooks;
  if ((before & claimants_.masks().active) == 0) graph_.lifecycle().SetUrgency(id, urgency);
  claimants_.ForEachOf(cooks, [id](Claimant& cook) { cook.members.push_back(id); });
  const PlatformMask platforms = claimants_.PlatformsOf(cooks) | asked.all;
  package.asked |= asked.all | asked.now;
  package.asked_now |= asked.now;
  DisplaceAhead(id, cooks);
  if (asked.all != 0) cooks |= kAsksBit;
  graph_.lifecycle().Claim(id, cooks & ~before, platforms, FirstPhaseOf(claimants_, id));
  // The generator joins at once: the cook that wants it may be over before the package's turn
  // comes, and then the list would be forgotten.
  if (package.generated != nullptr)
    Join(graph_.FindOrAdd(GeneratorName(packages_.NameOf(id))),
         InstigatorCategory::kBuildDependency, id, cooks);
  if (before == 0) return graph_.Push({AgendaItem::Kind::kBegin, id});
  if (package.is_outdated) {
    BeginAgain(id);
  } else if (IsListOutdated(id)) {
    package.NoteNewContent();
    BeginAgain(id);
  }
  if ((cooks & claimants_.masks().forcing) != 0) {
    absl::btree_set<PackageId> done;
    RequeueWithReaders(id, done);
  }
  if (const PlatformMask failed = InPhase(packages_[id], Phase::kFailed) & platforms;
      failed != 0 && !IsKept(id, failed, cooks))
    TryAgain(id, failed, before);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Slot& slot = package.slots[p];
    if (slot.phase == Phase::kDone)
      deps_.package_progress.TellDone(id, p, cooks & claimants_.ListenersOn(id, p));
  }
  // True: references that no earlier cook followed, or that were not followed before the cook
  // stopped; or variants that no earlier cook takes.
  const bool is_unfollowed =
      (before & claimants_.masks().follow_soft) == 0 || LacksVariants(id, cooks, before);
  if (is_unfollowed) package.explored_epoch = 0;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].explored != nullptr &&
        (is_unfollowed || (graph_.edges().followed(id) & MaskOf(p)) == 0))
      graph_.Push({AgendaItem::Kind::kExplore, id, p});
  }
  if (package.state == State::kIdle && !IsAllSettled(package)) {
    graph_.lifecycle().SetOutcome(id, Outcome::kNone);
    graph_.lifecycle().SetSkipped(id, false);
    graph_.Push({AgendaItem::Kind::kBegin, id});
  }
  graph_.lifecycle().Refresh(id);
  graph_.Push({AgendaItem::Kind::kSpread, id});
}

// The limits of attempts are limits of a cook: the cooks that saw the package fail keep the
// failure.
void Claims::TryAgain(PackageId id, PlatformMask failed, CookMask before) {
  PackageData& package = packages_[id];
  claimants_.ForEachOf(before,
                       [&](Claimant& cook) { deps_.cook_only_failures.Settle(cook, id, failed); });
  deps_.package_progress.NoteForgiven(id, 0);
  graph_.blame().Forget(id);
  graph_.blame().Pardon(id);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((failed & MaskOf(p)) == 0) continue;
    graph_.lifecycle().SetPhase(id, p, FirstPhaseOf(claimants_, id));
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
  graph_.edges().ForEachReference(id, [&](const Edge& edge) { references.push_back(edge); });
  for (const Edge& edge : references) {
    Bring(edge.target, edge.category, id, claimants_.FollowersOf(edge, cooks));
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
    Join(graph_.FindOrAdd(generator), InstigatorCategory::kBuildDependency, id, cooks);
  deps_.package_progress.Advance(id);
  return 1 + references.size() + generates.size() + inputs.size();
}

void Claims::Withdraw(PackageId id) {
  TellLeft(id, packages_[id].cooks);
  packages_[id].was_told = false;
  deps_.cook_only_failures.Forget(packages_[id].cooks, id);
  graph_.edges().Unfollow(id);
  graph_.lifecycle().Withdraw(id);
}

void Claims::TellLeft(PackageId id, CookMask cooks) {
  const CookMask told = cooks & claimants_.masks().running & ~claimants_.masks().settling;
  if (packages_[id].was_told && told != 0) effects_.Note(PackageLeft{id}, told);
}

// The package leaves these cooks, and goes on in others.
void Claims::Unclaim(PackageId id, CookMask cooks) {
  if (cooks == 0) return;
  if ((cooks & kAsksBit) != 0) TellAsksLeft(id, "nothing leads to it");
  TellLeft(id, cooks);
  deps_.cook_only_failures.Forget(cooks, id);
  graph_.edges().DropTakers(id, cooks);
  graph_.lifecycle().Unclaim(id, cooks);
}

// The package leaves all cooks, with all packages that it generated.
void Claims::Leave(PackageId id, std::string_view reason) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  LeaveOrphans(id, reason);
  ++package.generation;
  graph_.lifecycle().SetSkipped(id, false);
  package.is_listing_final = false;
  if (package.work != nullptr) {
    deps_.waits.WakeWaiters(id);
    deps_.attempts.EndAttempts(id);
    deps_.package_progress.StopWaitingForScan(id);
    graph_.lifecycle().SetState(id, State::kIdle, reason);
  }
  TellAsksLeft(id, reason);
  Withdraw(id);
}

void Claims::LeaveCook(PackageId id, CookMask cooks) {
  if ((packages_[id].cooks & claimants_.masks().running & ~cooks) != 0) return Unclaim(id, cooks);
  Leave(id, "nothing leads to it");
}

void Claims::LeaveOrphans(PackageId generator, std::string_view reason) {
  for (const PackageId child : std::exchange(packages_[generator].generates, {})) {
    PackageData& package = packages_[child];
    package.generated.reset();
    package.NoteNewContent();
    const CookMask active = package.cooks & claimants_.masks().active;
    const CookMask asking = package.selected_by & active;
    // A settled cook that selects the package keeps it, and is told of it if it is opened again.
    const CookMask keeping = package.cooks & package.selected_by & claimants_.masks().settling;
    if (asking == 0 && keeping == 0) {
      Leave(child, reason);
      continue;
    }
    Unclaim(child, active & ~asking);
    Requeue(child);
  }
}

size_t Claims::ReleaseClaims(Claimant& cook, size_t units_max) {
  size_t units = 0;
  std::vector<PackageId>& members = cook.members;
  for (; !members.empty() && units < units_max; ++units) {
    const PackageId id = members.back();
    members.pop_back();
    PackageData& package = packages_[id];
    package.selected_by &= ~cook.bit();
    package.named_by &= ~cook.bit();
    if (!cook.Wants(id)) {
      // The cook left the package out, or the package left the cook.
      if (!package.is_in_cook() && package.selected_by == 0) graph_.edges().DropRoots(id);
      continue;
    }
    graph_.edges().DropTakers(id, cook.bit());
    graph_.lifecycle().Unclaim(id, cook.bit());
    if (package.is_in_cook()) {
      LowerUrgency(id);
    } else {
      Forget(id);
    }
  }
  return units;
}

// No cook wants the package: the knowledge of it here is void when its files change next.
void Claims::Forget(PackageId id) {
  graph_.ForgetNoGenerator(id);
  PackageData& package = packages_[id];
  GALLEY_CHECK(package.work == nullptr);
  for (const PackageId child : package.generates) packages_[child].generated.reset();
  graph_.edges().Unfollow(id);
  graph_.edges().DropRoots(id);
  graph_.blame().Forget(id);
  graph_.blame().Pardon(id);
  const uint32_t on_agenda = package.on_agenda;
  std::unique_ptr<record::Generated> generated = std::move(package.generated);
  package.BeginCook();
  package.on_agenda = on_agenda;
  package.generated = std::move(generated);
}

void Claims::Skip(PackageId id) {
  if (packages_[id].asked != 0) {
    const std::string reason =
        "its generator " + std::string(GeneratorName(packages_.NameOf(id))) + " failed";
    if ((packages_[id].cooks & kCooksBits) == 0) return Leave(id, reason);
    TellAsksLeft(id, reason);
    graph_.lifecycle().Unclaim(id, kAsksBit);
  }
  deps_.waits.WakeWaiters(id);
  graph_.lifecycle().SetSkipped(id, true);
  graph_.lifecycle().SetState(id, State::kIdle, "its generator failed");
}

// Faults and attempts of the earlier content count less at once, whoever wants the package.
void Claims::Requeue(PackageId id) {
  PackageData& package = packages_[id];
  graph_.blame().Pardon(id);
  deps_.resumed_attempts.Outdate(id);
  if (!package.is_in_cook()) return graph_.ForgetNoGenerator(id);
  if (!IsSabotaged(Sabotage::kBumpEpochAtDispatch)) package.NoteNewContent();
  deps_.package_progress.NoteForgiven(id, retry_.OneChanceLeft());
  if (claimants_.IsWanted(id)) return BeginAgain(id);
  package.is_outdated = true;
  deps_.package_progress.Advance(id);  // ends jobs for platforms of a cook that was stopped
}

// The package starts from the beginning. Platforms that only settled cooks want are not made again:
// the cooks have their results. Nor are platforms that cooks which are over and asks have left
// behind. REQUIRES: an active cook wants the package.
void Claims::BeginAgain(PackageId id) {
  PackageData& package = packages_[id];
  package.is_outdated = false;
  graph_.ForgetNoGenerator(id);
  claimants_.ForEachOf(package.cooks, [&](Claimant& cook) {
    deps_.cook_only_failures.Forget(cook.bit(), id);
    if (!cook.is_settling) deps_.warnings.Forget(cook, id);
  });
  deps_.attempts.EndAttempts(id);
  graph_.lifecycle().SetOutcome(id, Outcome::kNone);
  graph_.lifecycle().SetSkipped(id, false);
  package.is_listing_final = false;
  graph_.edges().Unfollow(id);
  package.problems.clear();
  // A cook that was stopped goes on wanting its platforms, unless some cook is settled.
  const bool is_settled_for_some = (package.cooks & claimants_.masks().settling) != 0;
  const CookMask wanting =
      is_settled_for_some ? claimants_.masks().active : claimants_.masks().running;
  const PlatformMask wanted = claimants_.PlatformsOf(package.cooks & wanting) | package.asked;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].phase == Phase::kUnwanted) continue;
    const bool is_unwanted = (wanted & MaskOf(p)) == 0;
    graph_.lifecycle().SetPhase(id, p, is_unwanted ? Phase::kUnwanted : Phase::kToLookUp);
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
    graph_.lifecycle().SetState(id, State::kRequest, "from the beginning");
  }
  graph_.Push({AgendaItem::Kind::kBegin, id});
}

bool Claims::IsListOutdated(PackageId id) const {
  const PackageData& package = packages_[id];
  if (package.asked == 0 || package.generated == nullptr) return false;
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  if (!generator.valid()) return false;
  const PackageData& from = packages_[generator];
  return from.is_in_cook() && !from.is_listing_final &&
         std::ranges::none_of(from.slots,
                              [](const Slot& slot) { return slot.explored != nullptr; });
}

void Claims::RequeueWithReaders(PackageId id, absl::btree_set<PackageId>& done) {
  graph_.ForEachWithReaders(id, done, [this](PackageId one) { Requeue(one); });
}

// Generated packages that were over begin again as readers of the list, and some may not have begun
// yet: all of them wait.
void Claims::MakeAgain(PackageId id, absl::btree_set<PackageId>& done) {
  CookMask holding = 0;
  claimants_.ForEachOf(claimants_.masks().settling, [&](const Claimant& cook) {
    if (cook.IsMember(id)) holding |= cook.bit();
  });
  // Several packages are looked for together.
  if (holding != 0 && notes_.losses_suspected.empty()) notes_.losses_suspected.emplace_back();
  if (holding != 0) notes_.losses_suspected.back().cooks |= holding;
  RequeueWithReaders(id, done);
  for (const PackageId child : packages_[id].generates) {
    packages_[child].generated.reset();
    RequeueWithReaders(child, done);
  }
}

void Claims::TakeUpAgain(Claimant& cook) {
  const std::unique_ptr<CookManifest> judged = std::move(cook.manifest);
  if (judged == nullptr) return;
  TakeMissedRenames(cook);
  for (uint32_t i = 0; i < judged->members().size(); ++i) TakeUpMember(cook, *judged, i);
}

void Claims::TakeMissedRenames(Claimant& cook) {
  const std::vector<std::vector<FilesChanged::Renamed>> missed =
      std::exchange(cook.missed_renames, {});
  if (missed.empty()) return;
  for (const std::vector<FilesChanged::Renamed>& renamed : missed) {
    for (const FilesChanged::Renamed& one : renamed) {
      const PackageId from = packages_.Find(one.from);
      if (from.valid()) deps_.cook_only_failures.TakeBackRefusal(cook, from);
    }
  }
  JoinSelected(cook);
}

// Packages that the cook selected got other names meanwhile, and their reasons with them.
void Claims::JoinSelected(const Claimant& cook) {
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    if ((packages_[id].selected_by & cook.bit()) == 0 || cook.Wants(id)) continue;
    std::optional<InstigatorCategory> cause;
    graph_.edges().ForEachInstigator(id, [&](const InstigatorView& why) {
      if (!why.referencer.valid()) cause = why.category;
    });
    if (cause.has_value()) Bring(id, *cause, PackageId(), cook.bit());
  }
}

void Claims::TakeUpMember(Claimant& cook, const CookManifest& judged, uint32_t number) {
  const CookManifest::Member& member = judged.members()[number];
  const PackageId id = member.package;
  if (cook.Wants(id)) DisplaceAhead(id, cook.bit());
  if (!cook.Wants(id)) {
    deps_.warnings.Forget(cook, id);
    if (!member.is_skipped || member.has_failed) effects_.Note(PackageLeft{id}, cook.bit());
    return;
  }
  // Some platforms may be wanted by no other cook (BeginAgain).
  const PlatformMask platforms = cook.request.platforms;
  if ((platforms & ~WantedPlatforms(packages_[id])) != 0) {
    graph_.lifecycle().Unclaim(id, cook.bit());
    graph_.lifecycle().Claim(id, cook.bit(), platforms, FirstPhaseOf(claimants_, id));
  }
  deps_.urgencies.RaiseUrgency(
      id,
      claimants_.UrgencyOf(cook.bit(), member.is_selected ? InstigatorCategory::kCommandLinePackage
                                                          : InstigatorCategory::kHardDependency));
  if (packages_[id].is_outdated) {
    BeginAgain(id);
  } else {
    TellChanges(cook, judged, number);
  }
  BeginUnsettled(cook, id, member.is_skipped);
}

// The cook hears of results that differ from its manifest. Failures of which it did not hear, or
// that are of newer content, are no failures of this cook: the package is tried again.
void Claims::TellChanges(const Claimant& cook, const CookManifest& judged, uint32_t number) {
  const PackageId id = judged.members()[number].package;
  const PackageData& package = packages_[id];
  const bool is_of_same_content = package.content == judged.members()[number].content;
  PlatformMask unheard = 0;
  bool is_changed = false;
  for (size_t column = 0; column < judged.platforms().size(); ++column) {
    const std::optional<PlatformIndex> platform =
        step_.platform_sets.Index(judged.platforms()[column], judged.platform_set());
    if (!platform.has_value() || *platform >= package.slots.size()) continue;
    const CookManifest::Result& was = judged.ResultOf(number, column);
    const Slot& slot = package.slots[*platform];
    const bool is_judged = (cook.JudgedOf(id) & MaskOf(*platform)) != 0;
    const bool is_heard = was.has_failed && is_of_same_content;
    if (slot.phase == Phase::kFailed && !is_heard && !is_judged) unheard |= MaskOf(*platform);
    if (slot.phase != Phase::kDone) continue;
    const bool is_same = was.id == slot.result->id;
    is_changed |= !is_same;
    if (!is_judged && (!is_same || was.has_failed))
      deps_.package_progress.TellDone(id, *platform, cook.bit());
  }
  if (is_changed || unheard != 0) deps_.warnings.Forget(cook, id);
  if (unheard != 0) TryAgain(id, unheard, package.cooks & ~cook.bit());
}

// The same steps as for a package that other cooks had, when a cook joins it. A cook that was
// stopped meanwhile may have left the package skipped, for platforms of that cook.
void Claims::BeginUnsettled(const Claimant& cook, PackageId id, bool was_skipped) {
  const PackageData& package = packages_[id];
  const bool is_over = package.is_skipped ? was_skipped : IsAllSettled(package);
  if (package.state == State::kIdle && !is_over) {
    const PlatformMask wanted =
        claimants_.PlatformsOf(package.cooks & claimants_.masks().active) | package.asked;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const Phase phase = package.slots[p].phase;
      if (phase != Phase::kUnwanted && !IsSettled(phase) && (wanted & MaskOf(p)) == 0)
        graph_.lifecycle().SetPhase(id, p, Phase::kUnwanted);
    }
    graph_.lifecycle().SetOutcome(id, Outcome::kNone);
    graph_.lifecycle().SetSkipped(id, false);
    if (IsAllSettled(package)) {
      deps_.package_progress.Conclude(id);
    } else {
      graph_.Push({AgendaItem::Kind::kBegin, id});
    }
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].explored != nullptr && (cook.request.platforms & MaskOf(p)) != 0 &&
        (graph_.edges().followed(id) & MaskOf(p)) == 0)
      graph_.Push({AgendaItem::Kind::kExplore, id, p});
  }
  graph_.lifecycle().Refresh(id);
  // References that other cooks followed meanwhile lead into this cook as well.
  graph_.Push({AgendaItem::Kind::kSpread, id});
}

}  // namespace galley::director
