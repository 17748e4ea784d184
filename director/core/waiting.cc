#include "director/core/waiting.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

constexpr size_t kChainVisitsMax = 10'000;

}  // namespace

bool Waiting::IsOver(PackageId id) const {
  const PackageData& package = packages_[id];
  if (!package.is_in_cook()) return true;
  return package.state == State::kIdle && (package.outcome != Outcome::kNone || package.is_skipped);
}

Waiting::Availability Waiting::AvailabilityOf(PackageId id, PlatformIndex platform) const {
  const PackageData& package = packages_[id];
  if (!package.is_in_cook() || package.is_skipped || platform >= package.slots.size())
    return Availability::kNone;
  switch (package.slots[platform].phase) {
    case Phase::kDone:
      return Availability::kReady;
    case Phase::kFailed:
      return Availability::kNone;
    case Phase::kUnwanted:
      return Availability::kNone;
    default:
      return Availability::kPending;
  }
}

bool Waiting::CanBeCookedInput(std::string_view name, std::string* error) const {
  if (!GeneratorName(name).empty()) return true;
  const std::optional<CatalogEntry> entry = core_.catalog->Find(name);
  if (!entry.has_value()) *error = "no such package";
  if (entry.has_value() && entry->never_cook)
    *error = "it is never cooked ([cook] never or --never)";
  return error->empty();
}

void Waiting::NoteInput(PackageId id, PackageId input) {
  PackageData& package = packages_[id];
  const auto at =
      std::lower_bound(package.cooked_inputs.begin(), package.cooked_inputs.end(), input);
  if (at == package.cooked_inputs.end() || *at != input) package.cooked_inputs.insert(at, input);
}

bool Waiting::AddWait(PackageId id, const Wait& wait) {
  PackageData& package = packages_[id];
  NoteInput(id, wait.on);
  if (AvailabilityOf(wait.on, wait.platform) != Availability::kPending) return true;
  package.work->waits.push_back(wait);
  AddWaiter(wait.on, id);
  LengthenChain(wait.on, package.cost + package.work->chain);
  if (!BreakCycles(id)) return false;
  if (wait.is_certain) core_.exploring.BindRanks(id, wait.on, InstigatorCategory::kBuildDependency);
  return true;
}

// A package that has no Work yet could wake nobody: it gets its Work here, before its Begin.
void Waiting::AddWaiter(PackageId on, PackageId waiter) {
  if (packages_[on].work == nullptr) lifecycle().SetState(on, State::kRequest, "waited for");
  std::vector<PackageId>& waiters = packages_[on].work->waiters;
  const auto at = std::lower_bound(waiters.begin(), waiters.end(), waiter);
  if (at == waiters.end() || *at != waiter) waiters.insert(at, waiter);
  turn_.is_persist_urgent |= core_.advancing.InPhase(on, Phase::kCommitting) != 0;
}

void Waiting::LengthenChain(PackageId id, absl::Duration chain) {
  std::vector<std::pair<PackageId, absl::Duration>> longer = {{id, chain}};
  for (size_t visits = 0; !longer.empty() && visits < kChainVisitsMax; ++visits) {
    const auto [next, length] = longer.back();
    longer.pop_back();
    PackageData& package = packages_[next];
    if (package.work == nullptr || package.work->chain >= length) continue;
    package.work->chain = length;
    lifecycle().Refresh(next);
    for (const Wait& wait : package.work->waits)
      longer.emplace_back(wait.on, length + package.cost);
    for (const PackageId leader : core_.following.LeadersOf(next))
      longer.emplace_back(leader, length);
  }
}

void Waiting::NextWaits(PackageId id, bool certain_only, std::vector<PackageId>& next) const {
  next.clear();
  const PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  for (const Wait& wait : package.work->waits) {
    if (wait.is_certain || !certain_only) next.push_back(wait.on);
  }
  if (package.work->waits_for_generator)
    next.push_back(packages_.Find(GeneratorName(package.name)));
}

// The shortest way from `start` back to itself along waits, breadth first; empty when there is
// none.
std::vector<PackageId> Waiting::ShortestCycle(PackageId start, bool certain_only) const {
  absl::flat_hash_map<PackageId, PackageId> from;
  std::vector<PackageId> queue = {start};
  std::vector<PackageId> next;
  for (size_t i = 0; i < queue.size(); ++i) {
    NextWaits(queue[i], certain_only, next);
    for (const PackageId package : next) {
      if (package == start) {
        std::vector<PackageId> cycle;
        for (PackageId at = queue[i]; at != start; at = from.at(at)) cycle.push_back(at);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (from.emplace(package, queue[i]).second) queue.push_back(package);
    }
  }
  return {};
}

// True: `id` is on no cycle of waits. A cycle of certain waits fails all packages on it. Any other
// cycle is broken where a look-up waits.
bool Waiting::BreakCycles(PackageId id) {
  if (std::vector<PackageId> cycle = ShortestCycle(id, true); !cycle.empty()) {
    // The text is the same whichever package closed the cycle.
    const auto by_name = [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); };
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end(), by_name), cycle.end());
    const bool has_generator = std::any_of(cycle.begin(), cycle.end(), [&](PackageId package) {
      return packages_[package].work->waits_for_generator;
    });
    std::string text = has_generator ? "cycle of generators: " : "cycle of cooked inputs: ";
    for (const PackageId package : cycle) text += NameOf(package) + " -> ";
    text += NameOf(cycle.front());
    for (const PackageId package : cycle) core_.advancing.FailPackage(package, Stage::kLoad, text);
    return false;
  }
  bool is_free = true;
  for (auto cycle = ShortestCycle(id, false); !cycle.empty(); cycle = ShortestCycle(id, false)) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      const PackageId next = cycle[(i + 1) % cycle.size()];
      const std::vector<Wait> waits = packages_[cycle[i]].work->waits;
      for (const Wait& wait : waits) {
        if (wait.is_certain || wait.on != next) continue;
        MissInstead(cycle[i], wait.platform);
        is_free &= cycle[i] != id;
        if (cycle[i] != id) core_.advancing.Advance(cycle[i]);
      }
    }
  }
  return is_free;
}

void Waiting::MissInstead(PackageId id, PlatformIndex platform) {
  std::erase_if(packages_[id].work->waits,
                [&](const Wait& wait) { return !wait.is_certain && wait.platform == platform; });
  if (packages_[id].slots[platform].phase == Phase::kWaiting)
    lifecycle().SetPhase(id, platform, Phase::kToCook);
}

void Waiting::WakeWaiters(PackageId id) {
  const Work* work = packages_[id].work.get();
  if (work == nullptr) return;
  for (const PackageId waiter : work->waiters) {
    PackageData& package = packages_[waiter];
    if (package.work == nullptr || package.work->wakes) continue;
    package.work->wakes = true;
    graph().Push({AgendaItem::Kind::kWake, waiter});
  }
}

std::string Waiting::WhyNone(PackageId input) const {
  std::string error;
  return CanBeCookedInput(NameOf(input), &error)
             ? "cooked input " + NameOf(input) + " failed"
             : "cooked input " + NameOf(input) + ": expected a package: " + error;
}

// What a package waits for may have been given up when a cook ended.
void Waiting::WantAgain(PackageId on, PackageId waiter, CookMask cooks) {
  std::string error;
  if (!core_.cooks.IsWanted(on) && CanBeCookedInput(NameOf(on), &error))
    graph().claims.Bring(on, InstigatorCategory::kBuildDependency, waiter, cooks);
}

void Waiting::EvaluateGenerator(PackageId id) {
  PackageData& package = packages_[id];
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  WantAgain(generator, id, package.cooks);
  if (package.generated != nullptr) {
    package.work->waits_for_generator = false;
    lifecycle().Refresh(id);
    graph().Push({AgendaItem::Kind::kBegin, id});
  } else if (IsOver(generator)) {
    graph().claims.Unlisted(id, generator);
  } else {
    AddWaiter(generator, id);
  }
}

void Waiting::EvaluateWaits(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  package.work->wakes = false;
  if (package.work->waits_for_generator) return EvaluateGenerator(id);
  const std::vector<Wait> waits = std::move(package.work->waits);
  package.work->waits.clear();
  PlatformMask missed = 0;
  for (const Wait& wait : waits) {
    if (package.slots[wait.platform].phase == Phase::kFailed) continue;
    WantAgain(wait.on, id, package.cooks);
    const Availability availability = AvailabilityOf(wait.on, wait.platform);
    if (availability == Availability::kPending) {
      package.work->waits.push_back(wait);
      AddWaiter(wait.on, id);
    } else if (availability == Availability::kNone && wait.is_certain) {
      core_.advancing.FailPlatforms(id, MaskOf(wait.platform), Stage::kLoad, WhyNone(wait.on), "");
    } else if (availability == Availability::kNone) {
      missed |= MaskOf(wait.platform);
    }
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (missed & MaskOf(p)) MissInstead(id, p);
    if (package.slots[p].phase != Phase::kWaiting) continue;
    const std::vector<Wait>& left = package.work->waits;
    const bool waits_on = std::any_of(left.begin(), left.end(), [&](const Wait& wait) {
      return !wait.is_certain && wait.platform == p;
    });
    if (!waits_on) lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
  core_.advancing.Advance(id);
}

}  // namespace galley::director
