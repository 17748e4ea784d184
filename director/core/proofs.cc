#include "director/core/proofs.h"

#include <algorithm>
#include <utility>

#include "common/base/fnv.h"
#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

constexpr uint32_t kThirdQueue = 1u << 30;  // with kFirstQueue: its results so far differ

constexpr size_t kMachinesMax = 65'536;  // names; what comes under further ones is on one machine

// Spreads what Fnv1a leaves together. Source: https://zimbry.blogspot.com/2011/09 (Mix13).
uint64_t Spread(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

}  // namespace

uint32_t Proofs::MachineOf(WorkerId worker, const std::string& name) {
  if (PoolOf(worker) == Pool::kLocal) return kHome;
  if (machine_numbers_.size() >= kMachinesMax && !name.empty() && !machine_numbers_.contains(name))
    return MachineOf(worker, "");
  const auto [at, is_new] =
      machine_numbers_.try_emplace(name, static_cast<uint32_t>(machines_.size()));
  if (is_new) machines_.push_back(name.empty() ? "a machine without a name" : name);
  return at->second;
}

bool Proofs::IsChosen(WorkerId worker, PackageId package) const {
  if (options_.proofs.share <= 0 || PoolOf(worker) == Pool::kLocal) return false;
  const uint64_t drawn = Spread(Fnv1a(NameOf(package)) ^ Spread(options_.proofs.seed));
  return static_cast<double>(drawn >> 11) * 0x1p-53 < options_.proofs.share;
}

// Results of the same inputs that came to the same. (The error of a verdict may have a place of its
// machine in it.)
bool Proofs::Agree(const Candidate& a, const Candidate& b) {
  const ResultView &one = *a.saved.result, &other = *b.saved.result;
  if (one.key != other.key || one.is_verdict != other.is_verdict) return false;
  return one.outputs == other.outputs && one.references == other.references &&
         one.generated == other.generated;
}

bool Proofs::Take(PackageId package, PlatformIndex platform, const Report& by,
                  const WorkerReport::Saved& saved) {
  const Key key(package, platform);
  const bool is_held = held_.contains(key);
  if (!is_held && !IsChosen(by.worker, package)) return false;
  if (!is_held && IsSabotaged(Sabotage::kCommitBeforeProof)) return false;
  const uint32_t machine = workers_.Find(by.worker)->machine;
  Held& held = held_[key];
  const bool is_known = machine != kHome && !IsSabotaged(Sabotage::kProveOnSameMachine) &&
                        std::any_of(held.begin(), held.end(),
                                    [&](const Candidate& one) { return one.machine == machine; });
  const Attempt& attempt = core_.attempts.at(by.attempt);
  workers_.Find(by.worker)->unacknowledged.insert(by.report);
  if (is_known) {
    core_.cooks.Count(package, &Counters::results_dropped);
    core_.worker_lives.Acknowledge(by.worker, by.report);
  } else {
    held.push_back({.worker = by.worker,
                    .report = by.report,
                    .attempt = by.attempt,
                    .machine = machine,
                    .content = attempt.is_earlier ? packages_[package].content : attempt.content,
                    .saved = saved});
  }
  core_.waiting.MissInstead(package, platform);
  lifecycle().SetLoaded(package);
  if (held.size() > 1 && !is_known) {
    Compare(key, by);
  } else {
    core_.attempts.TakeBack(attempt, MaskOf(platform));
    core_.attempts.EndSpent(package, by.attempt);
  }
  return true;
}

// The last one that came has not been compared yet.
void Proofs::Compare(const Key& key, const Report& by) {
  const Held& held = held_.at(key);
  for (size_t i = 0; i + 1 < held.size(); ++i) {
    if (Agree(held[i], held.back())) return Settle(key, i, by);
  }
  core_.attempts.TakeBack(core_.attempts.at(by.attempt), MaskOf(key.second));
  core_.attempts.EndSpent(key.first, by.attempt);
  if (held.size() > 2) Differ(key);
}

// Two agree: the first of them is committed for both. Whoever said something else lied, or its
// machine is broken; but for the director's.
void Proofs::Settle(const Key& key, size_t chosen, const Report& by) {
  Held held = Erase(key);
  const Candidate& first = held[chosen];
  const Candidate& last = held.back();
  core_.cooks.Count(key.first, &Counters::results_proven);
  core_.reports.Accept({.package = key.first,
                        .platform = key.second,
                        .worker = first.worker,
                        .report = first.report,
                        .attempt = by.attempt},
                       first.saved);
  core_.commits.Commit(key.first, key.second, first.saved.result->id, last.worker, last.report);
  for (size_t i = 0; i + 1 < held.size(); ++i) {
    if (i == chosen) continue;
    Release(held[i]);
    Quarantine(held[i], key, held);
  }
}

void Proofs::Differ(const Key& key) {
  const Held held = Erase(key);
  core_.cooks.Count(key.first, &Counters::proofs_failed);
  core_.advancing.FailPlatforms(
      key.first, MaskOf(key.second), Stage::kSave,
      "it was cooked on " + MachinesOf(held) +
          ", and came out different each time: its cooker is not deterministic, or reads what it "
          "does not declare. Nothing of it is kept",
      "", FailureCause::kUnproven, held.back().attempt);
  Release(held);
  core_.advancing.Advance(key.first);
}

void Proofs::FailUndecided(const Key& key) {
  const Held held = Erase(key);
  core_.cooks.Count(key.first, &Counters::proofs_failed);
  Release(held);
  core_.advancing.FailPlatforms(
      key.first, MaskOf(key.second), Stage::kSave,
      "it was cooked on " + MachinesOf(held) +
          ", and came out different; there is no third machine to decide who is right. Nothing of "
          "it is kept",
      "", FailureCause::kUnproven);
  core_.advancing.Advance(key.first);
}

void Proofs::CommitUnproven(const Key& key) {
  const Held held = Erase(key);
  const Candidate& only = held.front();
  core_.cooks.Count(key.first, &Counters::results_unproven);
  NoteUnproven(only.worker, key.first);
  core_.reports.Accept({.package = key.first,
                        .platform = key.second,
                        .worker = only.worker,
                        .report = only.report,
                        .attempt = 0},
                       only.saved);
  core_.advancing.Advance(key.first);
}

void Proofs::NoteUnproven(WorkerId worker, PackageId package) {
  if (options_.proofs.share <= 0 || PoolOf(worker) == Pool::kLocal) return;
  std::vector<PackageId>& all = unproven_[worker];
  if (all.size() < kUnprovenNamed && (all.empty() || all.back() != package)) all.push_back(package);
}

// Its word counts for nothing from now on, be it on its way or of long ago: what else is held of
// it is made by others, and what was committed is told.
void Proofs::Quarantine(const Candidate& odd, const Key& key, const Held& held) {
  if (odd.machine == kHome || !quarantined_.insert(odd.worker).second) return;
  std::string others;
  for (const Candidate& one : held) {
    if (&one == &odd) continue;
    others += (others.empty() ? "" : " and ") + machines_[one.machine];
  }
  Note(WorkerQuarantined{.worker = odd.worker,
                         .package = key.first,
                         .platform = key.second,
                         .others = std::move(others),
                         .unproven = std::move(unproven_[odd.worker])},
       core_.cooks.running());
  unproven_.erase(odd.worker);
  ForgetHeldOf(odd.worker);
  core_.worker_lives.Dismiss(odd.worker);
  if (options_.fleet.max == 0 || quarantined(Pool::kLaunched) < options_.fleet.max) return;
  core_.cooks.EndAll("as many launched workers as there may be (" +
                     std::to_string(options_.fleet.max) +
                     ") made something else than other machines: no more are started");
}

void Proofs::ForgetHeldOf(WorkerId worker) {
  std::vector<Key> keys;
  for (const auto& [key, held] : held_) {
    if (std::any_of(held.begin(), held.end(),
                    [&](const Candidate& one) { return one.worker == worker; }))
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
    // What the director's machine made needs no proof and would wait for nobody: it is made again.
    if (kept.size() == 1 && kept.front().machine == kHome) {
      Release(kept);
    } else if (!kept.empty()) {
      held_[key] = std::move(kept);
    }
  }
}

void Proofs::Release(const Candidate& candidate) {
  core_.worker_lives.Acknowledge(candidate.worker, candidate.report);
}

void Proofs::Release(const Held& held) {
  for (const Candidate& one : held) Release(one);
}

Proofs::Held Proofs::Erase(Key key) {
  const auto found = held_.find(key);
  Held held = std::move(found->second);
  held_.erase(found);
  const Work* work = packages_[key.first].work.get();
  if (work != nullptr && work->parked.has_value() && IsQueue(*work->parked))
    lifecycle().Unpark(key.first);
  return held;
}

bool Proofs::IsHeld(PackageId package) const {
  const auto first = held_.lower_bound({package, 0});
  return first != held_.end() && first->first.first == package;
}

PlatformMask Proofs::NotFor(const Worker& worker, PackageId package) const {
  if (held_.empty() || IsSabotaged(Sabotage::kProveOnSameMachine)) return 0;
  PlatformMask platforms = 0;
  for (auto at = held_.lower_bound({package, 0}); at != held_.end() && at->first.first == package;
       ++at) {
    const Held& held = at->second;
    const auto same = std::count_if(held.begin(), held.end(), [&](const Candidate& one) {
      return one.machine == worker.machine;
    });
    // The director's machine may be asked once more where it does not agree with another.
    const bool is_third = worker.machine == kHome && same == 1 && held.size() == 2;
    if (same > 0 && !is_third) platforms |= MaskOf(at->first.second);
  }
  return platforms;
}

// (Parts of the package may have been made on different machines.)
bool Proofs::MayCook(const Worker& worker, PackageId package) const {
  const PlatformMask not_for_it = NotFor(worker, package);
  if (not_for_it == 0) return true;
  const PlatformMask to_cook = core_.advancing.InPhase(package, Phase::kToCook);
  return to_cook != 0 ? (to_cook & ~not_for_it) != 0
                      : (core_.advancing.InPhase(package, Phase::kInHand) & not_for_it) == 0;
}

uint32_t Proofs::QueueOf(PackageId package) const {
  const Held& held = held_.lower_bound({package, 0})->second;
  return kFirstQueue | (held.size() > 1 ? kThirdQueue : 0) | held.front().machine;
}

bool Proofs::CanHaveHome() const { return options_.workers > 0 || options_.fleet.helpers_max > 0; }

bool Proofs::NeedsHome(PackageId package) const {
  return std::none_of(workers_.ring().begin(), workers_.ring().end(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return worker.machine != kHome && !worker.is_draining && core_.offers.Has(id, worker, package);
  });
}

bool Proofs::HasMachineFor(PackageId package) const {
  return std::any_of(workers_.ring().begin(), workers_.ring().end(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return !worker.is_draining && core_.offers.Has(id, worker, package);
  });
}

bool Proofs::IsOffered(uint32_t queue) {
  const auto first = [&] {
    const auto parked = lifecycle().parked().find(queue);
    return parked == lifecycle().parked().end() ? PackageId() : parked->second.Top();
  };
  if (HasMachineFor(first())) {
    waiting_since_.erase(queue);
    return true;
  }
  const bool is_patient = CanHaveHome() || (queue & kThirdQueue) != 0;
  const absl::Duration patience =
      is_patient ? options_.proofs.third_max : options_.proofs.second_max;
  const absl::Duration since = waiting_since_.try_emplace(queue, core_.awake).first->second;
  if (core_.awake - since < patience) return false;
  for (size_t i = 0; i < Offers::kFailedMax && first().valid() && !core_.cooks.has_stopped(); ++i)
    SettleParked(first());
  // (For a second machine nobody waits again in the same cook; a third one is worth it each time.)
  if ((queue & kThirdQueue) != 0) waiting_since_.erase(queue);
  return false;
}

// No machine is there that could make the package again.
void Proofs::SettleParked(PackageId package) {
  std::vector<std::pair<Key, size_t>> all;
  for (auto at = held_.lower_bound({package, 0}); at != held_.end() && at->first.first == package;
       ++at)
    all.emplace_back(at->first, at->second.size());
  for (const auto& [key, count] : all) {
    if (!held_.contains(key)) continue;
    if (count > 1) {
      FailUndecided(key);
    } else {
      CommitUnproven(key);
    }
  }
}

uint32_t Proofs::quarantined(Pool pool) const {
  return static_cast<uint32_t>(std::count_if(quarantined_.begin(), quarantined_.end(),
                                             [&](WorkerId id) { return PoolOf(id) == pool; }));
}

// Whether the candidate may still be what the package comes to.
bool Proofs::IsStillWanted(const Key& key, const Candidate& candidate) const {
  const PackageData& package = packages_[key.first];
  if (package.work == nullptr || key.second >= package.slots.size() ||
      package.content != candidate.content || !core_.cooks.IsWanted(key.first))
    return false;
  const Phase phase = package.slots[key.second].phase;
  return !IsSettled(phase) && phase != Phase::kUnwanted && phase != Phase::kCommitting;
}

void Proofs::Sweep() {
  if (core_.cooks.running() == 0) waiting_since_.clear();
  if (held_.empty()) return;
  std::vector<Key> over;
  for (const auto& [key, held] : held_) {
    if (!std::all_of(held.begin(), held.end(),
                     [&](const Candidate& one) { return IsStillWanted(key, one); }))
      over.push_back(key);
  }
  for (const Key& key : over) Release(Erase(key));
}

void Proofs::DropAll() {
  while (!held_.empty()) Release(Erase(held_.begin()->first));
}

void Proofs::ForgetReportsOf(WorkerId worker) {
  for (auto& [key, held] : held_) {
    for (Candidate& one : held) {
      if (one.worker == worker) one.report = 0;
    }
  }
}

std::string Proofs::MachinesOf(const Held& held) const {
  std::string all;
  for (size_t i = 0; i < held.size(); ++i) {
    all += i == 0 ? "" : i + 1 == held.size() ? " and " : ", ";
    all += machines_[held[i].machine];
  }
  return all;
}

}  // namespace galley::director
