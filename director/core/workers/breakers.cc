#include "director/core/workers/breakers.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr size_t kMachinesNamedMax = 8;

}  // namespace

uint32_t Breakers::AttachedOn(uint32_t machine) const {
  return static_cast<uint32_t>(std::ranges::count_if(workers_.attached().ring(), [&](WorkerId id) {
    return workers_.Find(id)->machine == machine;
  }));
}

void Breakers::AddFault(WorkerId id, PackageId package, const std::string& why) {
  Worker* const worker = workers_.Find(id);
  if (worker == nullptr) return;
  const uint32_t number = worker->machine;
  MachineTable::Health& machine = deps_.machines.health()[number];
  if (package.valid()) (void)graph_.blame().AddMachine(package, number);
  worker->health.held_why = machine.why = why;
  const bool is_worker = worker->health.breaker.AddFault(
      {.worker = id, .package = package, .is_only = true}, step_.awake);
  const bool is_machine = machine.breaker.AddFault(
      {.worker = id, .package = package, .is_only = AttachedOn(number) <= 1}, step_.awake);
  deps_.worker_trust.NoteJudged(id);
  OnOpened(id, is_worker, is_machine);
}

void Breakers::AddSuccess(WorkerId id) {
  Worker* const worker = workers_.Find(id);
  if (worker == nullptr) return;
  MachineTable::Health& machine = deps_.machines.health()[worker->machine];
  // The check saves a look at all workers for each result.
  const bool was_doubtful = deps_.machines.HasFailed(workers_.Find(id));
  const bool is_worker = worker->health.breaker.AddSuccess(step_.awake);
  const bool is_machine = machine.breaker.AddSuccess(step_.awake);
  if (was_doubtful) deps_.worker_trust.NoteJudged(id);
  if (!is_worker && !is_machine) return;
  HoldAnew();
  TellOver(id, is_worker, is_machine);
}

void Breakers::AddViolation(WorkerId id, const std::string& why) {
  Worker* const worker = workers_.Find(id);
  if (worker == nullptr || worker->health.has_violated) return;
  if (++worker->health.violations < kViolationsMax) return AddFault(id, PackageId(), why);
  worker->health.has_violated = true;
  const std::string text = "it broke the protocol " + std::to_string(worker->health.violations) +
                           " times, the last: " + why;
  effects_.Note(WorkerViolated{.worker = id, .session = worker->session, .why = text},
                claimants_.masks().running);
  worker->health.held_why = text;
  counts_.figures.breakers_opened += worker->health.breaker.Open(step_.awake);
  deps_.worker_loss.LoseViolator(id);
  HoldAnew();
}

// The jobs that wait there go to other workers. Jobs that have begun may well succeed.
void Breakers::OnOpened(WorkerId id, bool is_worker, bool is_machine) {
  if (!is_worker && !is_machine) return;
  counts_.figures.breakers_opened += (is_worker ? 1 : 0) + (is_machine ? 1 : 0);
  HoldAnew();
  if (is_worker) {
    TellOf(id, claimants_.masks().running);
    deps_.job_returns.TakeBackWaiting(id);
  }
  if (!is_machine) return;
  const uint32_t machine = workers_.Find(id)->machine;
  TellOfMachine(machine, claimants_.masks().running);
  const std::vector<WorkerId> ring = workers_.attached().ring();
  for (const WorkerId other : ring) {
    if (workers_.Find(other)->machine == machine) deps_.job_returns.TakeBackWaiting(other);
  }
}

void Breakers::NoteGiven(WorkerId id, AttemptId attempt) {
  if (!are_any_open_) return;
  Worker& worker = *workers_.Find(id);
  const bool is_trial = worker.health.breaker.NoteGiven(attempt);
  if (deps_.machines.health()[worker.machine].breaker.NoteGiven(attempt) || is_trial) HoldAnew();
}

void Breakers::NoteEnded(WorkerId id, AttemptId attempt) {
  Worker* const worker = are_any_open_ ? workers_.Find(id) : nullptr;
  if (worker == nullptr) return;
  const bool was_trial = worker->health.breaker.NoteEnded(attempt);
  if (deps_.machines.health()[worker->machine].breaker.NoteEnded(attempt) || was_trial)
    looks_at_ = -absl::InfiniteDuration();
}

void Breakers::NoteAttached(WorkerId id) {
  if (!are_any_open_) return;
  HoldAnew();
  if (workers_.Find(id)->health.breaker.is_open()) TellOf(id, claimants_.masks().running);
}

// Finds the held workers anew, so that Look need not look before looks_at_.
void Breakers::HoldAnew() {
  are_any_open_ = false;
  looks_at_ = absl::InfiniteDuration();
  const auto look_at = [this](const Breaker& breaker) {
    if (!breaker.is_open()) return;
    are_any_open_ = true;
    if (step_.awake < breaker.paused_until())
      looks_at_ = std::min(looks_at_, breaker.paused_until());
  };
  for (const auto& [number, machine] : deps_.machines.health()) look_at(machine.breaker);
  workers_.ForEach([&](WorkerId, const Worker& worker) { look_at(worker.health.breaker); });
  held_ = 0;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    const MachineTable::Health& machine = deps_.machines.health()[worker.machine];
    const bool is_held =
        !worker.health.breaker.MayTake(step_.awake) || !machine.breaker.MayTake(step_.awake);
    if (worker.is_held != is_held) workers_.SetHeld(id, is_held);
    held_ += worker.health.breaker.is_open() || machine.breaker.is_open();
  }
}

void Breakers::TellOf(WorkerId id, CookMask cooks) {
  Worker& worker = *workers_.Find(id);
  effects_.Note(
      WorkerHeld{.worker = id, .machine = "", .why = worker.health.held_why, .is_over = false},
      cooks & ~worker.health.held_told);
  worker.health.held_told |= cooks;
}

// Tells nothing where each worker of the machine is held, and told, for its own sake.
void Breakers::TellOfMachine(uint32_t number, CookMask cooks) {
  const bool is_told = std::ranges::all_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return worker.machine != number || worker.health.breaker.is_open();
  });
  if (is_told) return;
  MachineTable::Health& machine = deps_.machines.health()[number];
  effects_.Note(WorkerHeld{.worker = WorkerId(),
                           .machine = deps_.machines.NameOf(number),
                           .why = machine.why,
                           .is_over = false},
                cooks & ~machine.told);
  machine.told |= cooks;
}

void Breakers::TellOver(WorkerId id, bool is_worker, bool is_machine) {
  if (is_worker)
    effects_.Note(WorkerHeld{.worker = id, .machine = "", .why = "", .is_over = true}, 0);
  if (is_machine)
    effects_.Note(WorkerHeld{.worker = WorkerId(),
                             .machine = deps_.machines.NameOf(workers_.Find(id)->machine),
                             .why = "",
                             .is_over = true},
                  0);
}

void Breakers::BeginCook(CookMask cook, bool is_only) {
  all_bad_since_.reset();
  for (auto& [number, machine] : deps_.machines.health()) machine.told &= ~cook;
  workers_.ForEach([&](WorkerId, Worker& worker) { worker.health.held_told &= ~cook; });
  if (!are_any_open_) return;
  if (is_only) EndPauses();
  for (const WorkerId id : workers_.attached().ring()) {
    if (workers_.Find(id)->health.breaker.is_open()) TellOf(id, cook);
  }
  for (const auto& [number, machine] : deps_.machines.health()) {
    if (machine.breaker.is_open() && AttachedOn(number) > 0) TellOfMachine(number, cook);
  }
}

void Breakers::EndPauses() {
  for (auto& [number, machine] : deps_.machines.health()) {
    if (machine.breaker.is_open()) machine.breaker.EndPause(step_.awake);
  }
  workers_.ForEach([&](WorkerId, Worker& worker) {
    if (worker.health.breaker.is_open()) worker.health.breaker.EndPause(step_.awake);
  });
  HoldAnew();
}

std::string Breakers::WhyNobody() const {
  std::string text;
  absl::btree_map<uint32_t, std::string> why;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    std::string& of = why[worker.machine];
    if (of.empty() || worker.health.breaker.is_open())
      of = deps_.machines.health().at(worker.machine).why;
  }
  size_t named = 0;
  for (const auto& [number, of] : why) {
    if (named++ == kMachinesNamedMax) {
      text += "; and " + std::to_string(why.size() - kMachinesNamedMax) + " more machines";
      break;
    }
    text += (text.empty() ? "" : "; ") + deps_.machines.NameOf(number) + ": " + of;
  }
  return text;
}

bool Breakers::IsBad(const Worker& worker) const {
  const auto machine = deps_.machines.health().find(worker.machine);
  return worker.health.breaker.is_bad() ||
         (machine != deps_.machines.health().end() && machine->second.breaker.is_bad());
}

void Breakers::Look() {
  const bool is_one_lost = std::exchange(losses_seen_, workers_.losses()) != workers_.losses();
  if (are_any_open_ && (is_one_lost || step_.awake >= looks_at_)) HoldAnew();
  if (deps_.machines.health().empty()) return;
  const bool has_work = claimants_.masks().active != 0 && deps_.job_queue.HasLoadWork();
  const bool are_all_bad =
      workers_.attached().count() > 0 && workers_.alive() == workers_.attached().count() &&
      std::ranges::all_of(workers_.attached().ring(),
                          [this](WorkerId id) { return IsBad(*workers_.Find(id)); });
  if (!are_all_bad || !has_work) return all_bad_since_.reset();
  if (!all_bad_since_.has_value()) {
    all_bad_since_ = step_.awake;
    tries_ = 0;
  }
  const absl::Duration bad_for = step_.awake - *all_bad_since_;
  if (bad_for >= (tries_ + 1) * kBetweenTries) {
    ++tries_;
    EndPauses();
  }
  // A job that has begun, or is being committed, may still succeed; a ready job goes to a worker
  // that is not held.
  const bool may_go_on =
      workers_.attached().jobs_in_hand() > 0 || deps_.commits.HasAnyOf(claimants_.masks().active) ||
      (graph_.queues().loads().wanted_size() > 0 && !workers_.attached().with_room().empty());
  if (bad_for < kAllHeldMax || may_go_on) return;
  all_bad_since_.reset();
  claimants_.EndAll("no machine can work, whatever it is given: " + WhyNobody() +
                    ". Mend what is named, or let other workers attach, and cook again");
}

}  // namespace galley::director
