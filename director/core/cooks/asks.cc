#include "director/core/cooks/asks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/sabotage.h"
#include "director/core/cooks/judged_errors.h"

namespace galley::director {

void Asks::OnPackageAsked(const PackageAsked& event) {
  if (event.platform >= step_.platform_count || targets_.contains(event.ask)) {
    effects_.Note(AskEnded{.ask = event.ask,
                           .infrastructure_error = "the ask names no platform of the project"},
                  0);
    return;
  }
  if (targets_.empty()) Begin();
  const PackageId id = graph_.FindOrAdd(event.package);
  targets_[event.ask] = {id, event.platform};
  asks_.insert({id, event.platform, event.ask});
  packages_[id].selected_by |= kAsksBit;
  packages_[id].named_by |= kAsksBit;
  if (deps_.claims.Ask(id, MaskOf(event.platform))) return;
  // Another ask needs the package already, and its result may have been told before this ask.
  if (packages_[id].slots[event.platform].phase == Phase::kDone)
    OnAskSettled({.package = id, .platforms = MaskOf(event.platform)});
}

// Asks come and go all the time: beside a cook they give workers that were refused, or that do not
// start, no new chance, and they never end the pause of a held worker.
void Asks::Begin() {
  const bool is_first = claimants_.masks().running == 0;
  claimants_.SetAsking(true);
  if (!is_first) return;
  deps_.worker_lifecycle.BeginCook();
  Distrust();
}

// No cook or ask ran for a while, and changes were not taken in: what the last cooks left is looked
// up again, and has all its attempts again. O(packages).
void Asks::Distrust() {
  if (IsSabotaged(Sabotage::kBelieveLastCook)) return;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    if (!packages_[id].is_in_cook()) continue;
    packages_[id].is_outdated = true;
    graph_.blame().Forget(id);
    graph_.blame().Pardon(id);
  }
}

void Asks::OnAskWithdrawn(const AskWithdrawn& event) {
  const auto found = targets_.find(event.ask);
  if (found == targets_.end()) return;
  const PackageId package = found->second.package;
  asks_.erase({package, found->second.platform, event.ask});
  targets_.erase(found);
  Release(package);
  EndIfNobodyAsks();
}

void Asks::OnAskSettled(const AskSettled& note) {
  const PlatformMask settled = note.platforms & DirectOf(note.package);
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
    }
    EndOf(note.package, p, how);
  }
  if (settled != 0 || !IsAskedFor(note.package)) Release(note.package);
  EndIfNobodyAsks();
}

void Asks::EndOf(PackageId package, PlatformIndex platform, const AskEnded& how) {
  for (auto at = asks_.lower_bound({package, platform, 0});
       at != asks_.end() && std::get<0>(*at) == package && std::get<1>(*at) == platform;
       at = asks_.erase(at)) {
    targets_.erase(std::get<2>(*at));
    End(std::get<2>(*at), how);
  }
}

void Asks::End(uint64_t ask, AskEnded ended) {
  ended.ask = ask;
  effects_.Note(std::move(ended), 0);
}

void Asks::EndAll(const std::string& infrastructure_error) {
  const auto all = std::exchange(targets_, {});
  asks_.clear();
  for (const auto& [ask, target] : all) {
    End(ask, {.package = target.package, .infrastructure_error = infrastructure_error});
    Release(target.package);
  }
  EndIfNobodyAsks();
}

void Asks::Remap(const PlatformMap& map) {
  const auto before = std::exchange(targets_, {});
  asks_.clear();
  for (const auto& [ask, target] : before) {
    if (const std::optional<PlatformIndex> now = map.Index(target.platform); now.has_value()) {
      targets_[ask] = {target.package, *now};
      asks_.insert({target.package, *now, ask});
    } else {
      End(ask, {.package = target.package, .infrastructure_error = "its platform was removed"});
    }
  }
  for (const auto& [ask, target] : before) Release(target.package);
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

PlatformMask Asks::DirectOf(PackageId package) const {
  PlatformMask direct = 0;
  for (auto at = asks_.lower_bound({package, 0, 0});
       at != asks_.end() && std::get<0>(*at) == package; ++at)
    direct |= MaskOf(std::get<1>(*at));
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
  if (DirectOf(id) == 0) {
    packages_[id].selected_by &= ~kAsksBit;
    packages_[id].named_by &= ~kAsksBit;
  }
  std::vector<PackageId> all = {id};
  absl::btree_map<PackageId, PlatformMask> asked = {{id, DirectOf(id)}};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const PackageId need : NeedsOf(all[i])) {
      if (!IsAskedFor(need) || !asked.try_emplace(need, DirectOf(need)).second) continue;
      all.push_back(need);
    }
  }
  for (const PackageId one : all) {
    if (!IsAskedFor(one)) continue;
    graph_.edges().ForEachInstigator(one, [&](const InstigatorView& why) {
      if (!why.referencer.valid() || why.category != InstigatorCategory::kBuildDependency ||
          asked.contains(why.referencer) || packages_[why.referencer].asked == 0)
        return;
      const std::vector<PackageId> needs = NeedsOf(why.referencer);
      if (std::ranges::find(needs, one) != needs.end())
        asked[one] |= packages_[why.referencer].asked;
    });
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const PackageId one : all) {
      for (const PackageId need : NeedsOf(one)) {
        const auto found = asked.find(need);
        if (found == asked.end() || !IsAskedFor(need) || (asked[one] & ~found->second) == 0)
          continue;
        found->second |= asked[one];
        is_changed = true;
      }
    }
  }
  for (const PackageId one : all) deps_.claims.Unask(one, asked[one]);
}

void Asks::EndIfNobodyAsks() {
  if (!targets_.empty() || !claimants_.is_asking()) return;
  claimants_.SetAsking(false);
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
