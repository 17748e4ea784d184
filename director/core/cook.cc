#include "director/core/cook.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/core.h"

namespace galley::director {

Cook::Cook(Core& core) : Cook(core, 0, CookRequested()) { is_over_ = true; }

Cook::Cook(Core& core, CookSlot slot, CookRequested request)
    : Part(core),
      selection(core, *this),
      judging(core, *this),
      warnings(core, *this),
      roots(core, *this),
      losing(core, *this),
      slot_(slot),
      request_(std::move(request)),
      begun_epoch_(core.epoch) {
  const PlatformMask all =
      core.platform_count == 32 ? ~PlatformMask{0} : MaskOf(core.platform_count) - 1;
  request_.platforms &= all;
  tally.counters.workers_attached = workers_.attached();
  if (core.now != absl::InfinitePast()) tally.monitor.Advance(core.now);
}

bool Cook::IsQuiet() const {
  if (is_over_ || !selection.IsAllSelected() || tally.on_agenda > 0 || losing.is_looking())
    return false;
  const uint64_t left = tally.counters.in_cook - tally.monitor.over();
  return left <= (IsSabotaged(Sabotage::kEndWithPending) ? 1 : 0) && !HasCommits() &&
         !graph().changes.has_late();
}

// While it runs alone, all commits are its own: those that merely feed the cache too.
bool Cook::HasCommits() const {
  return core_.cooks.running() == bit() ? !core_.commits.empty() : core_.commits.HasAnyOf(bit());
}

bool Cook::LacksCommitsOnly() const {
  const uint64_t left = tally.counters.in_cook - tally.monitor.over();
  return left > 0 && tally.monitor.to_cook() == 0 && tally.monitor.In(State::kSave) == left;
}

std::vector<PackageId> Cook::Wanted() const {
  std::vector<PackageId> wanted;
  wanted.reserve(members_.size());
  for (const PackageId id : members_) {
    if (Wants(id)) wanted.push_back(id);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

std::vector<PackageId> Cook::WantedByName() const {
  std::vector<PackageId> wanted = Wanted();
  std::sort(wanted.begin(), wanted.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  return wanted;
}

void Cook::NoteRequeued(PackageId id) {
  judging.Forget(id);
  warnings.ForgetRead(id);
  warnings.ForgetJudged(id);
  if (roots.is_settling()) losing.BeginRound();
}

void Cook::Remap(const PlatformMap& map, PlatformMask added) {
  request_.platforms = map.Mask(request_.platforms) | added;
}

// Packages that were selected up to now are in the cook already.
void Cook::RenameSelected(const NewNames& new_names) {
  RenameIn(request_.selected, selection.selected(), new_names);
}

// Packages that were selected for the difference (as IterativeCook) are selected no longer: one
// of them stays if what the cook selects leads to it.
void Cook::Widen(std::vector<SelectedPackage> whole) {
  const std::vector<PackageId> wanted = Wanted();
  for (const PackageId id : wanted) {
    packages_[id].selected_by &= ~bit();
    packages_[id].named_by &= ~bit();
    graph().edges.DropRoot(id, InstigatorCategory::kIterativeCook);
  }
  request_.standing.reset();
  request_.selected = std::move(whole);
  selection.BeginAgain();
  was_widened_ = true;
  // What was judged of other files is judged anew.
  if (core_.epoch != begun_epoch_) judging.TakeBack();
  for (const PackageId id : wanted) graph().Push({AgendaItem::Kind::kSpread, id});
  roots.OpenAgain();
}

// Packages that the difference led to, and nothing else does.
void Cook::LeaveUnreached() {
  std::vector<bool> is_reached(packages_.size(), false);
  std::vector<PackageId> reached;
  const auto reach_one = [&](PackageId id) {
    if (!id.valid() || is_reached[id.index()] || !Wants(id)) return;
    is_reached[id.index()] = true;
    reached.push_back(id);
  };
  // A generator comes with what it generates, and with what it does not generate any more.
  const auto reach = [&](PackageId id) {
    if (!id.valid()) return;
    reach_one(id);
    if (const std::string_view generator = GeneratorName(packages_[id].name); !generator.empty())
      reach_one(packages_.Find(generator));
  };
  const std::vector<PackageId> wanted = Wanted();
  for (const PackageId id : wanted) {
    if (packages_[id].selected_by & bit()) reach(id);
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    const PackageData& package = packages_[reached[i]];
    graph().edges.ForEachReference(reached[i], [&](const Edge& edge) {
      if (Follows(edge)) reach(edge.target);
    });
    for (const PackageId child : package.generates) reach(child);
    for (const PackageId input : package.cooked_inputs) reach(input);
  }
  for (const PackageId id : wanted) {
    if (!is_reached[id.index()]) graph().claims.LeaveCook(id, bit());
  }
}

void Cook::GoOn() {
  if (is_ending()) {
    if (!HasCommits()) End("");
    return;
  }
  // Others had it opened again when its roots were published already.
  if (losing.is_interrupted() && !roots.is_settling()) return Stop(Ending::kInterrupted), GoOn();
  // The jobs of others do not hold it up: a commit waits for more of them as long as any run.
  if (core_.cooks.running() != bit()) turn_.is_persist_urgent |= LacksCommitsOnly();
  if (roots.is_settling() || !IsQuiet() || judging.Reexplore()) return;
  if (was_widened_) LeaveUnreached();
  const std::vector<PackageId> by_name = WantedByName();
  for (const PackageId package : by_name) judging.Judge(package);
  if (is_ending()) return core_.cooks.GiveUp(), GoOn();
  warnings.NoteFailedTargets();
  // All that was selected is gone, or was never there: there is nothing to be a root of.
  const auto is_there = [&](PackageId id) {
    const PackageData& package = packages_[id];
    if ((package.selected_by & bit()) == 0) return false;
    if (package.generated == nullptr) return core_.catalog->Find(package.name).has_value();
    const PackageId generator = packages_.Find(GeneratorName(package.name));
    return generator.valid() &&
           (core_.advancing.InPhase(generator, Phase::kDone) & request_.platforms) != 0;
  };
  if (request_.standing == nullptr && !request_.selected.empty() &&
      std::none_of(by_name.begin(), by_name.end(), is_there))
    return is_empty_ = true, End("");
  roots.Build(by_name);
}

void Cook::Stop(Ending how) {
  if (is_over_) return;
  if (roots.is_publishing()) {
    if (how == Ending::kInterrupted) losing.Interrupt();
    return;
  }
  if (is_ending()) {
    if (how == Ending::kInterrupted) ending_ = how;
    return;
  }
  ending_ = how;
  core_.cooks.NoteState();
  core_.cooks.NoteStopped();
  if (core_.cooks.active() == 0) core_.survivors.CancelResumed();
  for (const WorkerId worker : workers_.Holding()) {
    for (const AttemptId attempt : workers_.Find(worker)->hand.All()) {
      if (core_.attempts.Current(attempt) == nullptr) continue;  // it ended with one before it
      const PackageId package = core_.attempts.at(attempt).package;
      if (!core_.cooks.IsWanted(package)) core_.attempts.EndAttempt(attempt, Tell::kCancel);
    }
  }
}

void Cook::GiveUp() {
  for (const PackageId id : Wanted()) {
    if (!core_.cooks.IsWanted(id)) core_.advancing.Advance(id);
  }
}

// Packages that others go on with count as skipped in this cook.
void Cook::CountUnfinished() {
  for (const PackageId id : Wanted()) {
    const PackageData& package = packages_[id];
    const PlatformMask judged = judging.JudgedOf(id);
    if (IsOver(package, request_.platforms, judged)) continue;
    const bool has_failed =
        judged != 0 || (core_.advancing.InPhase(id, Phase::kFailed) & request_.platforms) != 0;
    ++(has_failed ? tally.counters.failed : tally.counters.skipped);
  }
}

void Cook::End(const std::string& infrastructure_error) {
  const bool is_complete = infrastructure_error.empty() && !is_ending();
  warnings.TellJudged();
  if (is_complete) warnings.TellFailedTargets();
  if (is_complete) warnings.TellUnsolicited();
  CountUnfinished();
  is_over_ = true;
  core_.cooks.NoteEnded();
  core_.cooks.NoteState();
  graph().changes.LetGo(bit());
  for (const PackageId id : Wanted()) {
    if ((packages_[id].cooks & core_.cooks.running()) == 0) graph().claims.GiveUp(id);
  }
  if (core_.cooks.running() == 0) {
    core_.survivors.CancelResumed();
    graph().ClearAgenda();
    lifecycle().equal_work().Clear();
  }
  Note(CookEnded{request_.request, ending_ == Ending::kInterrupted, ending_ == Ending::kFailFast,
                 infrastructure_error, is_empty_},
       bit());
}

void Cook::CheckTally() const {
  Tally sum;
  for (const PackageId id : Wanted())
    sum.Count(packages_[id], request_.platforms, judging.JudgedOf(id), true);
  const Counters& a = tally.counters;
  const Counters& b = sum.counters;
  GALLEY_CHECK(a.in_cook == b.in_cook && a.loaded == b.loaded && a.failed == b.failed);
  GALLEY_CHECK(a.up_to_date == b.up_to_date && a.results_wanted == b.results_wanted);
  GALLEY_CHECK(a.results_cooked == b.results_cooked && a.results_cached == b.results_cached);
  GALLEY_CHECK(a.results_up_to_date == b.results_up_to_date &&
               a.results_failed == b.results_failed);
  GALLEY_CHECK(tally.on_agenda == sum.on_agenda);
  GALLEY_CHECK(tally.monitor.View(1).packages == sum.monitor.View(1).packages);
  GALLEY_CHECK(tally.monitor.over() == sum.monitor.over());
  GALLEY_CHECK(tally.monitor.to_cook() == sum.monitor.to_cook());
  GALLEY_CHECK(tally.monitor.expected() == sum.monitor.expected());
}

}  // namespace galley::director
