#include "director/core/cooks/asks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/sabotage.h"
#include "director/core/cooks/judged_errors.h"

namespace galley::director {
namespace {

// So many deferred asks are looked at in a step; the next step goes on.
constexpr size_t kDeferredLooks = 64;
// Others may want a need of an ask for long, and the core knows of the need only when the ask has
// come so far again.
constexpr absl::Duration kDeferredForNeed = absl::Seconds(5);

}  // namespace

void Asks::OnPackageAsked(const PackageAsked& event) {
  if (event.platform >= step_.platform_count || targets_.contains(event.ask)) {
    effects_.Note(AskEnded{.ask = event.ask,
                           .infrastructure_error = "the ask names no platform of the project"},
                  0);
    return;
  }
  // Asks come and go all the time: beside a cook they give workers that were refused, or that do
  // not start, no new chance, and they never end the pause of a held worker.
  const bool is_first = claimants_.masks().running == 0;
  const bool is_first_awaited = !event.is_ahead && claimants_.awaited() == 0;
  Target& target = targets_[event.ask];
  target = {.package = graph_.FindOrAdd(event.package),
            .platform = event.platform,
            .is_ahead = event.is_ahead};
  now_ += !event.is_ahead;
  NoteAsking();
  if (is_first_awaited) deps_.worker_lifecycle.BeginCook();
  if (is_first || is_first_awaited) Distrust();
  if (event.is_ahead && !IsInNobodysWay(target)) return Defer(event.ask, step_.now);
  Claim(event.ask);
}

void Asks::Claim(uint64_t ask) {
  Target& target = targets_.at(ask);
  const PackageId id = target.package;
  const PlatformIndex platform = target.platform;
  target.deferred_until.reset();
  target.name.clear();
  asks_.insert({id, platform, ask});
  packages_[id].selected_by |= kAsksBit;
  packages_[id].named_by |= kAsksBit;
  const bool is_new = deps_.claims.Ask(id, MaskOf(platform), target.is_ahead);
  target.was_there = packages_[id].slots[platform].phase == Phase::kDone;
  // Another ask needs the package already, and its result may have been told before this ask.
  if (!is_new && target.was_there) OnAskSettled({.package = id, .platforms = MaskOf(platform)});
}

void Asks::NoteAsking() {
  const bool is_asking = !targets_.empty();
  const bool is_now = now_ > 0;
  if (is_asking != claimants_.is_asking() || is_now != claimants_.is_asking_now())
    claimants_.SetAsking(is_asking, is_now);
}

// No cook or ask that somebody waits for ran for a while: what the last cooks left is looked up
// again, and has all its attempts again. What asks ahead of need want meanwhile goes on, since its
// changes were taken in, and keeps its faults: otherwise each device that asks now and then would
// set a package that crashes back to its first attempt. O(packages).
void Asks::Distrust() {
  if (IsSabotaged(Sabotage::kBelieveLastCook)) return;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    if (claimants_.IsWanted(id)) continue;
    graph_.blame().Forget(id);
    graph_.blame().Pardon(id);  // also what an earlier director blamed, and no cook ever wanted
    if (packages_[id].is_in_cook()) packages_[id].is_outdated = true;
  }
}

void Asks::OnAskWithdrawn(const AskWithdrawn& event) {
  if (!targets_.contains(event.ask)) return;
  if (const PackageId package = Remove(event.ask).package; package.valid()) Release(package);
  EndIfNobodyAsks();
}

Asks::Target Asks::Remove(uint64_t ask) {
  const auto found = targets_.find(ask);
  const Target target = found->second;
  asks_.erase({target.package, target.platform, ask});
  deferred_.erase(ask);
  now_ -= !target.is_ahead;
  targets_.erase(found);
  return target;
}

// ------------------------------------------------------------------ ahead of need

// True: nobody else wants the package, or others want it on the same platform.
bool Asks::IsInNobodysWay(const Target& target) const {
  const PlatformMask others = WantedByOthers(claimants_, packages_[target.package]);
  return others == 0 || (others & MaskOf(target.platform)) != 0;
}

void Asks::Defer(uint64_t ask, absl::Time until) {
  Target& target = targets_.at(ask);
  const PackageId package = std::exchange(target.package, PackageId());
  target.name = packages_.NameOf(package);
  target.deferred_until = until;
  deferred_.insert(ask);
  if (asks_.erase({package, target.platform, ask}) > 0) Release(package);
}

void Asks::TakeUpDeferred() {
  for (size_t looks = 0; looks < std::min(kDeferredLooks, deferred_.size()); ++looks) {
    auto next = deferred_.upper_bound(looked_up_to_);
    if (next == deferred_.end()) next = deferred_.begin();
    looked_up_to_ = *next;
    Target& target = targets_.at(looked_up_to_);
    if (step_.now < *target.deferred_until) continue;
    target.package = graph_.FindOrAdd(target.name);
    if (!IsInNobodysWay(target)) {
      target.package = PackageId();
      continue;
    }
    deferred_.erase(next);
    Claim(looked_up_to_);
  }
}

// The package may be asked for itself, or be needed by what is asked for.
void Asks::OnAheadDisplaced(const AheadDisplaced& note) {
  const PlatformMask others = WantedByOthers(claimants_, packages_[note.package]);
  const PlatformMask displaced = packages_[note.package].asked & ~others;
  if (others == 0 || displaced == 0) return;
  std::vector<uint64_t> asks;
  for (const auto& [ask, target] : targets_) {
    if (target.is_ahead && !target.deferred_until.has_value() &&
        (displaced & MaskOf(target.platform)) != 0 && Needs(target.package, note.package))
      asks.push_back(ask);
  }
  for (const uint64_t ask : asks) {
    const bool is_own = targets_.at(ask).package == note.package;
    Defer(ask, is_own ? step_.now : step_.now + kDeferredForNeed);
  }
}

// True: the packages are the same, or `package` cannot be cooked without `need`.
bool Asks::Needs(PackageId package, PackageId need) const {
  std::vector<PackageId> all = {package};
  absl::btree_set<PackageId> seen = {package};
  for (size_t i = 0; i < all.size() && !seen.contains(need); ++i) {
    for (const PackageId one : NeedsOf(all[i])) {
      if (IsAskedFor(one) && seen.insert(one).second) all.push_back(one);
    }
  }
  return seen.contains(need);
}

// ------------------------------------------------------------------ how asks end

void Asks::OnAskSettled(const AskSettled& note) {
  const PlatformMask settled = note.platforms & DirectOf(note.package).all;
  for (PlatformIndex p = 0; p < step_.platform_count; ++p) {
    if ((settled & MaskOf(p)) == 0) continue;
    AskEnded how{.package = note.package, .platform = p, .failed = note.failed};
    const PackageData& package = packages_[note.package];
    if (!note.failed.has_value()) {
      // The package may have begun again since.
      if (p >= package.slots.size() || package.slots[p].phase != Phase::kDone) continue;
      how.failed = Judge(note.package, p);
      if (!how.failed.has_value()) how.held = package.slots[p].result;
      how.result = how.held != nullptr ? how.held->id : ResultId();
      how.was_cooked = package.slots[p].source == ResultSource::kCooked;
    }
    EndOf(note.package, p, how);
  }
  if (settled != 0 || !IsAskedFor(note.package)) Release(note.package);
  EndIfNobodyAsks();
}

void Asks::EndOf(PackageId package, PlatformIndex platform, const AskEnded& how) {
  for (auto at = asks_.lower_bound({package, platform, 0});
       at != asks_.end() && std::get<0>(*at) == package && std::get<1>(*at) == platform;
       at = asks_.lower_bound({package, platform, 0})) {
    const uint64_t ask = std::get<2>(*at);
    AskEnded ended = how;
    ended.was_cooked &= !Remove(ask).was_there;
    End(ask, std::move(ended));
  }
}

void Asks::End(uint64_t ask, AskEnded ended) {
  ended.ask = ask;
  effects_.Note(std::move(ended), 0);
}

void Asks::EndAll(const std::string& infrastructure_error) {
  const auto all = std::exchange(targets_, {});
  asks_.clear();
  deferred_.clear();
  now_ = 0;
  for (const auto& [ask, target] : all) {
    End(ask, {.package = target.package, .infrastructure_error = infrastructure_error});
    if (target.package.valid()) Release(target.package);
  }
  EndIfNobodyAsks();
}

void Asks::Remap(const PlatformMap& map) {
  const auto before = std::exchange(targets_, {});
  asks_.clear();
  for (const auto& [ask, target] : before) {
    if (const std::optional<PlatformIndex> now = map.Index(target.platform); now.has_value()) {
      Target& renumbered = targets_[ask] = target;
      renumbered.platform = *now;
      if (!target.deferred_until.has_value()) asks_.insert({target.package, *now, ask});
    } else {
      deferred_.erase(ask);
      now_ -= !target.is_ahead;
      End(ask, {.package = target.package, .infrastructure_error = "its platform was removed"});
    }
  }
  for (const auto& [ask, target] : before) {
    if (target.package.valid()) Release(target.package);
  }
  EndIfNobodyAsks();
}

void Asks::OnFilesChanged(const FilesChanged& event) {
  ForgetFailures(event.packages);
  for (const FilesChanged::Renamed& renamed : event.renamed)
    ForgetFailures({renamed.from, renamed.to});
}

void Asks::ForgetFailures(const std::vector<std::string>& packages) {
  if (deps_.kept_failures.empty()) return;
  absl::btree_set<PackageId> done;
  for (const std::string& asked : packages) {
    const std::string name = deps_.claims.NameAsked(asked);
    deps_.kept_failures.Forget(name);
    const PackageId package = packages_.Find(name);
    if (!package.valid()) continue;
    graph_.ForEachWithReaders(
        package, done, [&](PackageId one) { deps_.kept_failures.Forget(packages_.NameOf(one)); });
  }
}

Claims::Asked Asks::DirectOf(PackageId package) const {
  Claims::Asked direct;
  for (auto at = asks_.lower_bound({package, 0, 0});
       at != asks_.end() && std::get<0>(*at) == package; ++at) {
    direct.all |= MaskOf(std::get<1>(*at));
    if (!targets_.at(std::get<2>(*at)).is_ahead) direct.now |= MaskOf(std::get<1>(*at));
  }
  return direct;
}

// The packages without which the package cannot be cooked: it takes them along.
std::vector<PackageId> Asks::NeedsOf(PackageId id) const {
  const PackageData& package = packages_[id];
  std::vector<PackageId> needs(package.cooked_inputs.begin(), package.cooked_inputs.end());
  if (const std::string_view generator = GeneratorName(package.name); !generator.empty()) {
    if (const PackageId found = packages_.Find(generator); found.valid()) needs.push_back(found);
  }
  return needs;
}

// Lets go of the platforms of the package, and of what it needs, for which nobody asks any more.
// The needs may lead back to the package, so that what is asked for is computed anew from the
// direct asks and from the other packages that need these ones. A package that has left is not
// asked for, and what it needed is not needed by it.
void Asks::Release(PackageId id) {
  if (IsSabotaged(Sabotage::kKeepAsks)) return;
  // There may always be some ask: the changes of files that earlier asks saw must not add up.
  graph_.pending_changes().LetGo(kAsksBit);
  if (DirectOf(id).all == 0) {
    packages_[id].selected_by &= ~kAsksBit;
    packages_[id].named_by &= ~kAsksBit;
  }
  std::vector<PackageId> all = {id};
  absl::btree_map<PackageId, Claims::Asked> asked = {{id, DirectOf(id)}};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const PackageId need : NeedsOf(all[i])) {
      if (!IsAskedFor(need) || !asked.try_emplace(need, DirectOf(need)).second) continue;
      all.push_back(need);
    }
  }
  for (const PackageId one : all) {
    if (IsAskedFor(one)) AddReaders(one, asked);
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const PackageId one : all) {
      for (const PackageId need : NeedsOf(one)) {
        const auto found = asked.find(need);
        const Claims::Asked by_one = asked.at(one);
        if (found == asked.end() || !IsAskedFor(need) ||
            ((by_one.all & ~found->second.all) | (by_one.now & ~found->second.now)) == 0)
          continue;
        found->second.all |= by_one.all;
        found->second.now |= by_one.now;
        is_changed = true;
      }
    }
  }
  for (const PackageId one : all) deps_.claims.Unask(one, asked[one]);
  deps_.claims.LowerUrgencies(all);
}

// Adds what packages beyond `asked` that need the package are asked for.
void Asks::AddReaders(PackageId id, absl::btree_map<PackageId, Claims::Asked>& asked) const {
  graph_.edges().ForEachInstigator(id, [&](const InstigatorView& why) {
    if (!why.referencer.valid() || why.category != InstigatorCategory::kBuildDependency ||
        asked.contains(why.referencer) || packages_[why.referencer].asked == 0)
      return;
    const std::vector<PackageId> needs = NeedsOf(why.referencer);
    if (std::ranges::find(needs, id) == needs.end()) return;
    asked[id].all |= packages_[why.referencer].asked;
    asked[id].now |= packages_[why.referencer].asked_now;
  });
}

void Asks::EndIfNobodyAsks() {
  if (!claimants_.is_asking()) return;
  NoteAsking();
  if (!targets_.empty()) return;
  if (claimants_.masks().running != 0) return;
  deps_.resumed_attempts.CancelResumed();
  graph_.ClearAgenda();
  graph_.lifecycle().equal_work().Clear();
}

// A result stands, but a cook would fail the package.
std::optional<PackageFailed> Asks::Judge(PackageId id, PlatformIndex platform) const {
  const ResultView& result = *packages_[id].slots[platform].result;
  static const std::vector<std::string> none;
  std::optional<JudgedError> judged =
      JudgeResult(*step_.catalog, packages_[id].name, result.references,
                  result.warnings != nullptr ? *result.warnings : none);
  if (!judged.has_value()) return std::nullopt;
  return PackageFailed{.package = id,
                       .platform = platform,
                       .stage = judged->stage,
                       .error = std::move(judged->error)};
}

}  // namespace galley::director
