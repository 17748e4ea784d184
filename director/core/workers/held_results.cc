#include "director/core/workers/held_results.h"

#include <algorithm>
#include <utility>

#include "common/base/fnv.h"
#include "common/base/sabotage.h"

namespace galley::director {

namespace {

// Spreads what Fnv1a leaves together. Source: https://zimbry.blogspot.com/2011/09 (Mix13).
uint64_t Spread(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

}  // namespace

bool HeldResults::IsChosen(WorkerId worker, PackageId package) const {
  if (options_.proofs.share <= 0 || PoolOf(worker) == Pool::kLocal) return false;
  const uint64_t drawn = Spread(Fnv1a(packages_.NameOf(package)) ^ Spread(options_.proofs.seed));
  return static_cast<double>(drawn >> 11) * 0x1p-53 < options_.proofs.share;
}

void HeldResults::NoteUnproven(WorkerId worker, PackageId package) {
  if (options_.proofs.share <= 0 || PoolOf(worker) == Pool::kLocal) return;
  std::vector<PackageId>& all = unproven_[worker];
  if (all.size() < kUnprovenNamed && (all.empty() || all.back() != package)) all.push_back(package);
}

void HeldResults::Release(const Candidate& candidate) {
  acknowledgements_.Acknowledge(candidate.worker, candidate.report);
}

HeldResults::Held HeldResults::Erase(Key key) {
  const auto found = held_.find(key);
  Held held = std::move(found->second);
  held_.erase(found);
  const Work* work = packages_[key.first].work.get();
  if (work != nullptr && work->parked.has_value() && IsQueue(*work->parked))
    graph_.lifecycle().Unpark(key.first);
  return held;
}

bool HeldResults::IsHeld(PackageId package) const {
  const auto first = held_.lower_bound({package, 0});
  return first != held_.end() && first->first.first == package;
}

PlatformMask HeldResults::NotFor(const Worker& worker, PackageId package) const {
  if (held_.empty() || IsSabotaged(Sabotage::kProveOnSameMachine)) return 0;
  PlatformMask platforms = 0;
  for (auto at = held_.lower_bound({package, 0}); at != held_.end() && at->first.first == package;
       ++at) {
    const Held& held = at->second;
    const auto same = std::ranges::count_if(
        held, [&](const Candidate& one) { return one.machine == worker.machine; });
    // The director's machine may be asked once more where it does not agree with another.
    const bool is_third = worker.machine == kHomeMachine && same == 1 && held.size() == 2;
    if (same > 0 && !is_third) platforms |= MaskOf(at->first.second);
  }
  return platforms;
}

// Parts of the package may have been made on different machines.
bool HeldResults::MayCook(const Worker& worker, PackageId package) const {
  const PlatformMask not_for_it = NotFor(worker, package);
  if (not_for_it == 0) return true;
  const PlatformMask to_cook = InPhase(packages_[package], Phase::kToCook);
  return to_cook != 0 ? (to_cook & ~not_for_it) != 0
                      : (InPhase(packages_[package], Phase::kInHand) & not_for_it) == 0;
}

uint32_t HeldResults::QueueOf(PackageId package) const {
  const Held& held = held_.lower_bound({package, 0})->second;
  return kFirstQueue | (held.size() > 1 ? kThirdQueue : 0) | held.front().machine;
}

uint32_t HeldResults::quarantined(Pool pool) const {
  return static_cast<uint32_t>(
      std::ranges::count_if(quarantined_, [&](WorkerId id) { return PoolOf(id) == pool; }));
}

void HeldResults::ForgetReportsOf(WorkerId worker) {
  for (auto& [key, held] : held_) {
    for (Candidate& one : held) {
      if (one.worker == worker) one.report = 0;
    }
  }
}

void HeldResults::DropAll() {
  while (!held_.empty()) Release(Erase(held_.begin()->first));
}

void HeldResults::ForgetHeldOf(WorkerId worker) {
  std::vector<Key> keys;
  for (const auto& [key, held] : held_) {
    if (std::ranges::any_of(held, [&](const Candidate& one) { return one.worker == worker; }))
      keys.push_back(key);
  }
  for (const Key& key : keys) {
    Held kept;
    for (Candidate& one : Erase(key)) {
      if (one.worker == worker) {
        Release(one);
      } else {
        kept.push_back(std::move(one));
      }
    }
    // A result of the director's machine needs no proof and would wait for no other result: it is
    // made again.
    if (kept.size() == 1 && kept.front().machine == kHomeMachine) {
      Release(kept);
    } else if (!kept.empty()) {
      held_[key] = std::move(kept);
    }
  }
}

void HeldResults::Release(const Held& held) {
  for (const Candidate& one : held) Release(one);
}

}  // namespace galley::director
