#include "director/core/workers/proofs.h"

#include <algorithm>
#include <utility>

#include "common/base/fnv.h"
#include "common/base/sabotage.h"

namespace galley::director {
namespace {

constexpr size_t kSettledMax = 256;  // packages, in a step, of a queue

}  // namespace
// True: both results are of the same inputs and came to the same. The error of a verdict may name a
// place of its machine, and is not compared.
bool Proofs::Agree(const Candidate& a, const Candidate& b) {
  const ResultView &one = *a.saved.result, &other = *b.saved.result;
  if (one.key != other.key || one.is_verdict != other.is_verdict) return false;
  return one.outputs == other.outputs && one.references == other.references &&
         one.generated == other.generated;
}

bool Proofs::Take(PackageId package, PlatformIndex platform, const Report& by,
                  const WorkerReport::Saved& saved) {
  const Key key(package, platform);
  const bool is_held = deps_.held_results.all().contains(key);
  if (!is_held && !deps_.held_results.IsChosen(by.worker, package)) return false;
  if (!is_held && IsSabotaged(Sabotage::kCommitBeforeProof)) return false;
  const uint32_t machine = workers_.Find(by.worker)->machine;
  Held& held = deps_.held_results.all()[key];
  const bool is_known =
      machine != kHomeMachine && !IsSabotaged(Sabotage::kProveOnSameMachine) &&
      std::ranges::any_of(held, [&](const Candidate& one) { return one.machine == machine; });
  const Attempt& attempt = deps_.attempts.at(by.attempt);
  workers_.Find(by.worker)->reports.unacknowledged.insert(by.report);
  if (is_known) {
    claimants_.Count(package, &Counters::results_dropped);
    deps_.acknowledgements.Acknowledge(by.worker, by.report);
  } else {
    held.push_back({.worker = by.worker,
                    .report = by.report,
                    .attempt = by.attempt,
                    .machine = machine,
                    .content = attempt.is_earlier ? packages_[package].content : attempt.content,
                    .saved = saved});
  }
  deps_.waits.MissInstead(package, platform);
  graph_.lifecycle().SetLoaded(package);
  if (held.size() > 1 && !is_known) {
    Compare(key, by);
  } else {
    deps_.attempts.TakeBack(attempt, MaskOf(platform));
    deps_.attempts.EndSpent(package, by.attempt);
  }
  return true;
}

// Compares the result that came last with the others.
void Proofs::Compare(const Key& key, const Report& by) {
  const Held& held = deps_.held_results.all().at(key);
  for (size_t i = 0; i + 1 < held.size(); ++i) {
    if (Agree(held[i], held.back())) return Settle(key, i, by);
  }
  deps_.attempts.TakeBack(deps_.attempts.at(by.attempt), MaskOf(key.second));
  deps_.attempts.EndSpent(key.first, by.attempt);
  if (held.size() > 2) Differ(key);
}

// Two results agree: the first of them is committed for both. A worker that said something else
// lied, or its machine is broken; the director's machine is not blamed.
void Proofs::Settle(const Key& key, size_t chosen, const Report& by) {
  Held held = deps_.held_results.Erase(key);
  const Candidate& first = held[chosen];
  const Candidate& last = held.back();
  claimants_.Count(key.first, &Counters::results_proven);
  deps_.result_acceptance.Accept({.package = key.first,
                                  .platform = key.second,
                                  .worker = first.worker,
                                  .report = first.report,
                                  .attempt = by.attempt},
                                 first.saved);
  deps_.commits.Commit(key.first, key.second, first.saved.result->id, last.worker, last.report);
  for (size_t i = 0; i + 1 < held.size(); ++i) {
    if (i == chosen) continue;
    deps_.held_results.Release(held[i]);
    Quarantine(held[i], key, held);
  }
}

void Proofs::Differ(const Key& key) {
  const Held held = deps_.held_results.Erase(key);
  claimants_.Count(key.first, &Counters::proofs_failed);
  deps_.package_progress.FailPlatforms(
      key.first, MaskOf(key.second), Stage::kSave,
      "it was cooked on " + MachinesOf(held) +
          ", and came out different each time: its cooker is not deterministic, or reads what it "
          "does not declare. Nothing of it is kept",
      "", FailureCause::kUnproven, held.back().attempt);
  deps_.held_results.Release(held);
  deps_.package_progress.Advance(key.first);
}

void Proofs::FailUndecided(const Key& key) {
  const Held held = deps_.held_results.Erase(key);
  claimants_.Count(key.first, &Counters::proofs_failed);
  deps_.held_results.Release(held);
  deps_.package_progress.FailPlatforms(
      key.first, MaskOf(key.second), Stage::kSave,
      "it was cooked on " + MachinesOf(held) +
          ", and came out different; there is no third machine to decide who is right. Nothing of "
          "it is kept",
      "", FailureCause::kUnproven);
  deps_.package_progress.Advance(key.first);
}

void Proofs::CommitUnproven(const Key& key) {
  const Held held = deps_.held_results.Erase(key);
  const Candidate& only = held.front();
  claimants_.Count(key.first, &Counters::results_unproven);
  deps_.held_results.NoteUnproven(only.worker, key.first);
  deps_.result_acceptance.Accept({.package = key.first,
                                  .platform = key.second,
                                  .worker = only.worker,
                                  .report = only.report,
                                  .attempt = 0},
                                 only.saved);
  deps_.package_progress.Advance(key.first);
}

// The worker's word counts for nothing from now on, be it on its way or of long ago: its other held
// results are made by others, and its committed results are told.
void Proofs::Quarantine(const Candidate& odd, const Key& key, const Held& held) {
  if (odd.machine == kHomeMachine || !deps_.held_results.Quarantine(odd.worker)) return;
  std::string others;
  for (const Candidate& one : held) {
    if (&one == &odd) continue;
    others += (others.empty() ? "" : " and ") + deps_.machines.NameOf(one.machine);
  }
  effects_.Note(WorkerQuarantined{.worker = odd.worker,
                                  .package = key.first,
                                  .platform = key.second,
                                  .others = std::move(others),
                                  .unproven = deps_.held_results.TakeUnproven(odd.worker)},
                claimants_.masks().running);
  deps_.held_results.ForgetHeldOf(odd.worker);
  deps_.worker_loss.Dismiss(odd.worker);
  if (options_.fleet.max == 0 ||
      deps_.held_results.quarantined(Pool::kLaunched) < options_.fleet.max)
    return;
  claimants_.EndAll("as many launched workers as there may be (" +
                    std::to_string(options_.fleet.max) +
                    ") made something else than other machines: no more are started");
}

bool Proofs::CanHaveHome() const { return options_.workers > 0 || options_.fleet.helpers_max > 0; }

bool Proofs::NeedsHome(PackageId package) const {
  return std::ranges::none_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return worker.machine != kHomeMachine && !worker.is_draining &&
           deps_.eligibility.Has(id, worker, package);
  });
}

bool Proofs::HasMachineFor(PackageId package) const {
  return std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return !worker.is_draining && deps_.eligibility.Has(id, worker, package);
  });
}

bool Proofs::IsOffered(uint32_t queue) {
  const auto first = [&] {
    const auto parked = graph_.queues().parked().find(queue);
    return parked == graph_.queues().parked().end() ? PackageId() : parked->second.Top();
  };
  if (HasMachineFor(first())) {
    waiting_since_.erase(queue);
    return true;
  }
  const bool is_patient = CanHaveHome() || (queue & HeldResults::kThirdQueue) != 0;
  const absl::Duration patience =
      is_patient ? options_.proofs.third_max : options_.proofs.second_max;
  const absl::Duration since = waiting_since_.try_emplace(queue, step_.awake).first->second;
  if (step_.awake - since < patience) return false;
  for (size_t i = 0; i < kSettledMax && first().valid() && !claimants_.has_stopped(); ++i)
    SettleParked(first());
  // No package waits again for a second machine in the same cook; a third machine is worth the wait
  // each time.
  if ((queue & HeldResults::kThirdQueue) != 0) waiting_since_.erase(queue);
  return false;
}

// No machine is there that could make the package again.
void Proofs::SettleParked(PackageId package) {
  std::vector<std::pair<Key, size_t>> all;
  for (auto at = deps_.held_results.all().lower_bound({package, 0});
       at != deps_.held_results.all().end() && at->first.first == package; ++at)
    all.emplace_back(at->first, at->second.size());
  for (const auto& [key, count] : all) {
    if (!deps_.held_results.all().contains(key)) continue;
    if (count > 1) {
      FailUndecided(key);
    } else {
      CommitUnproven(key);
    }
  }
}

// True: the candidate may still become the package's result.
bool Proofs::IsStillWanted(const Key& key, const Candidate& candidate) const {
  const PackageData& package = packages_[key.first];
  if (package.work == nullptr || key.second >= package.slots.size() ||
      package.content != candidate.content || !claimants_.IsWanted(key.first))
    return false;
  const Phase phase = package.slots[key.second].phase;
  return !IsSettled(phase) && phase != Phase::kUnwanted && phase != Phase::kCommitting;
}

void Proofs::Sweep() {
  if (claimants_.masks().running == 0) waiting_since_.clear();
  if (deps_.held_results.all().empty()) return;
  std::vector<Key> over;
  for (const auto& [key, held] : deps_.held_results.all()) {
    if (!std::ranges::all_of(held, [&](const Candidate& one) { return IsStillWanted(key, one); }))
      over.push_back(key);
  }
  for (const Key& key : over) deps_.held_results.Release(deps_.held_results.Erase(key));
}

std::string Proofs::MachinesOf(const Held& held) const {
  std::string all;
  for (size_t i = 0; i < held.size(); ++i) {
    all += i == 0 ? "" : i + 1 == held.size() ? " and " : ", ";
    all += deps_.machines.NameOf(held[i].machine);
  }
  return all;
}

}  // namespace galley::director
