#include "director/core/cooks/cook.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/cooks/make_manifest.h"
#include "director/core/packages/changed_names.h"

namespace galley::director {

Cook::Cook(const JobGround& ground, const CookParts& parts, Claimant& claimant)
    : JobPart(ground),
      resumed_attempts_(parts.resumed_attempts),
      commits_(parts.commits),
      package_progress_(parts.package_progress),
      cook_only_failures_(parts.cook_only_failures),
      warnings_(parts.warnings),
      claims_(parts.claims),
      cook_validation_(parts.cook_validation),
      cook_(claimant),
      lost_blob_repair_(ground, package_progress_, cook_only_failures_, claims_, claimant),
      roots_(ground, cook_only_failures_, warnings_, claimant, lost_blob_repair_),
      begun_epoch_(step_.epoch) {
  const PlatformMask all =
      step_.platform_count == 32 ? ~PlatformMask{0} : MaskOf(step_.platform_count) - 1;
  cook_.request.platforms &= all;
  cook_.tally.counters.workers_attached = workers_.attached().count();
  if (step_.now != absl::InfinitePast()) cook_.tally.monitor.Advance(step_.now);
}

bool Cook::IsQuiet() const {
  if (cook_.is_over || !cook_.IsAllSelected() || cook_.tally.on_agenda > 0 ||
      lost_blob_repair_.is_looking())
    return false;
  const uint64_t left = cook_.tally.counters.in_cook - cook_.tally.monitor.over();
  return left <= (IsSabotaged(Sabotage::kEndWithPending) ? 1 : 0) && !HasCommits();
}

// While the cook runs alone, all commits are its own, including commits that merely feed the cache.
bool Cook::HasCommits() const {
  return claimants_.masks().running == cook_.bit() ? !commits_.empty()
                                                   : commits_.HasAnyOf(cook_.bit());
}

bool Cook::LacksCommitsOnly() const {
  const uint64_t left = cook_.tally.counters.in_cook - cook_.tally.monitor.over();
  return left > 0 && cook_.tally.monitor.to_cook() == 0 &&
         cook_.tally.monitor.In(State::kSave) == left;
}

void Cook::Remap(const PlatformMap& map, PlatformMask added) {
  cook_.request.platforms = map.Mask(cook_.request.platforms) | added;
  CookOnlyFailures::Remap(cook_, map);
}

// Packages that were selected for the difference (as IterativeCook) are selected no longer: such a
// package stays if the cook's selection leads to it.
void Cook::Widen(std::vector<SelectedPackage> whole) {
  for (const std::vector<FilesChanged::Renamed>& renamed : cook_.missed_renames)
    RenameIn(whole, 0, NewNamesOf(renamed));
  // Files that were discovered since the cook was judged.
  whole.insert(whole.end(),
               cook_.request.selected.begin() + static_cast<std::ptrdiff_t>(cook_.selected),
               cook_.request.selected.end());
  claims_.OpenAgain(cook_);
  const std::vector<PackageId> wanted = cook_.Wanted();
  for (const PackageId id : wanted) {
    packages_[id].selected_by &= ~cook_.bit();
    packages_[id].named_by &= ~cook_.bit();
    graph_.edges().DropRoot(id, InstigatorCategory::kIterativeCook);
  }
  cook_.request.standing.reset();
  cook_.request.selected = std::move(whole);
  cook_.selected = 0;
  cook_.was_widened = true;
  // Judgements of other files are made anew.
  if (step_.epoch != begun_epoch_) cook_only_failures_.TakeBack(cook_);
  for (const PackageId id : wanted) graph_.Push({AgendaItem::Kind::kSpread, id});
}

// Packages leave that only the difference led to.
void Cook::LeaveUnreached() {
  std::vector<bool> is_reached(packages_.size(), false);
  std::vector<PackageId> reached;
  const auto reach_one = [&](PackageId id) {
    if (!id.valid() || is_reached[id.index()] || !cook_.Wants(id)) return;
    is_reached[id.index()] = true;
    reached.push_back(id);
  };
  // A generator comes with the packages that it generates, and with packages that it does not
  // generate any more.
  const auto reach = [&](PackageId id) {
    if (!id.valid()) return;
    reach_one(id);
    if (const std::string_view generator = GeneratorName(packages_[id].name); !generator.empty())
      reach_one(packages_.Find(generator));
  };
  const std::vector<PackageId> wanted = cook_.Wanted();
  for (const PackageId id : wanted) {
    if (packages_[id].selected_by & cook_.bit()) reach(id);
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    const PackageData& package = packages_[reached[i]];
    graph_.edges().ForEachReference(reached[i], [&](const Edge& edge) {
      if (cook_.Follows(edge)) reach(edge.target);
    });
    for (const PackageId child : package.generates) reach(child);
    for (const PackageId input : package.cooked_inputs) reach(input);
  }
  for (const PackageId id : wanted) {
    if (!is_reached[id.index()]) claims_.LeaveCook(id, cook_.bit());
  }
}

bool Cook::GoOn() {
  if (cook_.is_ending()) {
    if (!HasCommits()) End("");
    return true;
  }
  // Other changes had opened the cook again when its roots were published already.
  if (lost_blob_repair_.is_interrupted() && !cook_.is_settling) {
    package_progress_.StopCook(cook_, Claimant::Ending::kInterrupted);
    return false;
  }
  // The jobs of other cooks do not hold up this cook: a commit waits for more results as long as
  // any jobs run.
  if (claimants_.masks().running != cook_.bit()) effects_.is_persist_urgent |= LacksCommitsOnly();
  if (cook_.is_settling || !IsQuiet() || cook_validation_.Reexplore(cook_)) return true;
  if (cook_.was_widened) LeaveUnreached();
  const std::vector<PackageId> by_name = cook_.WantedByName();
  cook_validation_.JudgeInputs(cook_, by_name);
  for (const PackageId package : by_name) cook_validation_.Judge(cook_, package);
  if (cook_.is_ending()) return false;
  cook_.manifest = MakeManifest(cook_, by_name, graph_.edges(), step_);
  warnings_.NoteFailedTargets(cook_);
  if (IsNothingThere(by_name)) {
    is_empty_ = true;
    End("");
    return true;
  }
  roots_.Build();
  EndIfConcluded();
  return true;
}

// True: no selected package is there any more: a root would be empty.
bool Cook::IsNothingThere(const std::vector<PackageId>& by_name) const {
  if (cook_.request.standing != nullptr || cook_.request.selected.empty()) return false;
  const bool is_refused_there = std::ranges::any_of(cook_.refused, [&](PackageId id) {
    return (packages_[id].selected_by & cook_.bit()) != 0 &&
           step_.catalog->Find(packages_[id].name).has_value();
  });
  if (is_refused_there) return false;
  return std::ranges::none_of(by_name, [&](PackageId id) {
    const PackageData& package = packages_[id];
    if ((package.selected_by & cook_.bit()) == 0) return false;
    if (package.generated == nullptr) return step_.catalog->Find(package.name).has_value();
    const PackageId generator = packages_.Find(GeneratorName(package.name));
    return generator.valid() && (InPhase(packages_[generator], Phase::kDone) &
                                 cook_.request.platforms & ~cook_.BarredOf(generator)) != 0;
  });
}

void Cook::EndIfConcluded() {
  if (cook_.conclusion.has_value() && !cook_.is_over) End(*cook_.conclusion);
}

void Cook::OnRootBuilt(const RootBuilt& event) {
  if (roots_.OnRootBuilt(event)) Widen(event.whole);
  EndIfConcluded();
}

void Cook::OnRootPublished(const RootPublished& event) {
  roots_.OnRootPublished(event);
  EndIfConcluded();
}

void Cook::OnRootsStaged(const RootsStaged& event) {
  roots_.OnRootsStaged(event);
  EndIfConcluded();
}

void Cook::OnLossSeen(const LossSeen& event) { lost_blob_repair_.OnLossSeen(event); }

void Cook::OnLostFound(const LostFound& event) {
  if (lost_blob_repair_.OnLostFound(event)) roots_.PublishIfBuilt();
  EndIfConcluded();
}

void Cook::Interrupt() {
  if (!cook_.is_over && cook_.is_publishing) return lost_blob_repair_.Interrupt();
  package_progress_.StopCook(cook_, Claimant::Ending::kInterrupted);
}

size_t Cook::SelectSome(size_t units_max) {
  if (cook_.is_over || cook_.is_ending()) return 0;
  size_t units = 0;
  // A cook that fails fast ends with the first package that it names and leaves out.
  for (; !cook_.IsAllSelected() && !cook_.is_ending() && units < units_max; ++units) {
    const SelectedPackage& selected = cook_.request.selected[cook_.selected++];
    const PackageId package = graph_.FindOrAdd(selected.name);
    packages_[package].selected_by |= cook_.bit();
    if (selected.category == InstigatorCategory::kCommandLinePackage)
      packages_[package].named_by |= cook_.bit();
    claims_.Join(package, selected.category, PackageId(), cook_.bit());
  }
  return units;
}

void Cook::GiveUp() {
  for (const PackageId id : cook_.Wanted()) {
    if (!claimants_.IsWanted(id)) package_progress_.Advance(id);
  }
}

// Packages that other cooks go on with count as skipped in this cook.
void Cook::CountUnfinished() {
  for (const PackageId id : cook_.Wanted()) {
    const PackageData& package = packages_[id];
    const PlatformMask judged = cook_.JudgedOf(id);
    if (IsOver(package, cook_.request.platforms, judged)) continue;
    const bool has_failed =
        judged != 0 || (InPhase(packages_[id], Phase::kFailed) & cook_.request.platforms) != 0;
    ++(has_failed ? cook_.tally.counters.failed : cook_.tally.counters.skipped);
  }
}

void Cook::End(const std::string& infrastructure_error) {
  const bool is_complete = infrastructure_error.empty() && !cook_.is_ending();
  warnings_.TellJudged(cook_);
  if (is_complete) warnings_.TellFailedTargets(cook_);
  if (is_complete) warnings_.TellUnsolicited(cook_);
  if (cook_.manifest == nullptr) CountUnfinished();
  claimants_.NoteOver(cook_);
  cook_.tally = cook_.shown_tally();
  graph_.pending_changes().LetGo(cook_.bit());
  for (const PackageId id : cook_.Wanted()) {
    if (claimants_.UnsettledOf(id) == 0) package_progress_.GiveUp(id);
  }
  if (claimants_.masks().running == 0) {
    resumed_attempts_.CancelResumed();
    graph_.ClearAgenda();
    graph_.lifecycle().equal_work().Clear();
  }
  effects_.Note(CookEnded{.request = cook_.request.request,
                          .is_interrupted = cook_.ending == Claimant::Ending::kInterrupted,
                          .is_fail_fast = cook_.ending == Claimant::Ending::kFailFast,
                          .infrastructure_error = infrastructure_error,
                          .is_empty = is_empty_},
                cook_.bit());
}

void Cook::CheckTally() const {
  Tally sum;
  for (const PackageId id : cook_.Wanted()) {
    GALLEY_CHECK(!cook_.IsNever(id));
    sum.Count(packages_[id], cook_.request.platforms, cook_.JudgedOf(id), true);
  }
  for (size_t n = cook_.refused.size(); n > 0; --n) sum.CountRefused(cook_.request.platforms, true);
  const Counters& a = cook_.tally.counters;
  const Counters& b = sum.counters;
  GALLEY_CHECK(a.in_cook == b.in_cook && a.loaded == b.loaded && a.failed == b.failed);
  GALLEY_CHECK(a.up_to_date == b.up_to_date && a.results_wanted == b.results_wanted);
  GALLEY_CHECK(a.results_cooked == b.results_cooked && a.results_cached == b.results_cached);
  GALLEY_CHECK(a.results_up_to_date == b.results_up_to_date &&
               a.results_failed == b.results_failed);
  GALLEY_CHECK(cook_.tally.on_agenda == sum.on_agenda);
  GALLEY_CHECK(cook_.tally.monitor.View(1).packages == sum.monitor.View(1).packages);
  GALLEY_CHECK(cook_.tally.monitor.over() == sum.monitor.over());
  GALLEY_CHECK(cook_.tally.monitor.to_cook() == sum.monitor.to_cook());
  GALLEY_CHECK(cook_.tally.monitor.expected() == sum.monitor.expected());
}

}  // namespace galley::director
