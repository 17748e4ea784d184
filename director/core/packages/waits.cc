#include "director/core/packages/waits.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "director/core/packages/failure_texts.h"

namespace galley::director {

bool Waits::IsOver(PackageId id) const {
  const PackageData& package = packages_[id];
  if (!package.is_in_cook()) return true;
  return package.state == State::kIdle && (package.outcome != Outcome::kNone || package.is_skipped);
}

Waits::Availability Waits::AvailabilityOf(PackageId id, PlatformIndex platform) const {
  const PackageData& package = packages_[id];
  if (!package.is_in_cook() || package.is_skipped || platform >= package.slots.size())
    return Availability::kNone;
  // The package is made again for the cook that asks for it, if it still can be.
  if (std::string error; package.is_outdated)
    return CanBeCookedInput(package.name, package.cooks, &error) ? Availability::kPending
                                                                 : Availability::kNone;
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

bool Waits::CanBeCookedInput(std::string_view name, CookMask cooks, std::string* error) const {
  if (!GeneratorName(name).empty()) return true;
  const std::optional<CatalogEntry> entry = step_.catalog->Find(name);
  if (!entry.has_value()) *error = "no such package";
  cooks &= claimants_.masks().active;
  const bool is_never_in_all = cooks != 0 && claimants_.NeverIn(name, cooks) == cooks;
  if (entry.has_value() && (entry->never_cook || is_never_in_all)) *error = kIsNeverCooked;
  return error->empty();
}

void Waits::NoteInput(PackageId id, PackageId input) {
  PackageData& package = packages_[id];
  const auto at =
      std::lower_bound(package.cooked_inputs.begin(), package.cooked_inputs.end(), input);
  if (at == package.cooked_inputs.end() || *at != input) package.cooked_inputs.insert(at, input);
}

// A package that has no Work yet could wake no waiter: the package gets its Work here, before its
// Begin.
void Waits::AddWaiter(PackageId on, PackageId waiter) {
  if (packages_[on].work == nullptr) graph_.lifecycle().SetState(on, State::kRequest, "waited for");
  std::vector<PackageId>& waiters = packages_[on].work->waiters;
  const auto at = std::lower_bound(waiters.begin(), waiters.end(), waiter);
  if (at == waiters.end() || *at != waiter) waiters.insert(at, waiter);
  effects_.is_persist_urgent |= InPhase(packages_[on], Phase::kCommitting) != 0;
}

void Waits::MissInstead(PackageId id, PlatformIndex platform) {
  std::erase_if(packages_[id].work->waits,
                [&](const Wait& wait) { return !wait.is_certain && wait.platform == platform; });
  if (packages_[id].slots[platform].phase == Phase::kWaiting)
    graph_.lifecycle().SetPhase(id, platform, Phase::kToCook);
}

void Waits::WakeWaiters(PackageId id) {
  const Work* work = packages_[id].work.get();
  if (work == nullptr) return;
  for (const PackageId waiter : work->waiters) {
    PackageData& package = packages_[waiter];
    if (package.work == nullptr || package.work->wakes) continue;
    package.work->wakes = true;
    graph_.Push({AgendaItem::Kind::kWake, waiter});
  }
}

std::string Waits::WhyNone(PackageId input, CookMask cooks) const {
  const std::string& name = packages_.NameOf(input);
  std::string error;
  return CanBeCookedInput(name, cooks, &error) ? InputFailedText(name) : NoInputText(name, error);
}

// Breadth first.
std::vector<PackageId> Waits::ShortestCycle(PackageId start, bool certain_only) const {
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
        std::ranges::reverse(cycle);
        return cycle;
      }
      if (from.emplace(package, queue[i]).second) queue.push_back(package);
    }
  }
  return {};
}

void Waits::NextWaits(PackageId id, bool certain_only, std::vector<PackageId>& next) const {
  next.clear();
  const PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  for (const Wait& wait : package.work->waits) {
    if (wait.is_certain || !certain_only) next.push_back(wait.on);
  }
  if (package.work->waits_for_generator)
    next.push_back(packages_.Find(GeneratorName(package.name)));
}

}  // namespace galley::director
