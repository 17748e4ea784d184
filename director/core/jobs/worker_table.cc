#include "director/core/jobs/worker_table.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

void Worker::BeginSession(uint64_t new_session, ReportId persisted) {
  session = new_session;
  has_worked = false;
  health.violations = 0;
  health.has_violated = false;
  health.pace = Pace();
  health.lateness = 0;
  reports.BeginSession(persisted);
}

WorkerId WorkerTable::AddOwn(Pool pool, absl::Duration heard_at) {
  uint32_t& next = pool == Pool::kLaunched ? next_launched_ : next_local_;
  WorkerId id(next++);
  while (workers_.contains(id)) id = WorkerId(next++);
  workers_[id].heard_at = workers_[id].asked_at = heard_at;
  SetPresent(id, true);
  return id;
}

void WorkerTable::AddSurvivor(WorkerId id, absl::Duration heard_at) {
  Worker& worker = workers_[id];
  worker.heard_at = heard_at;
  worker.is_survivor = true;
  SetPresent(id, true);
}

Worker& WorkerTable::Attach(WorkerId id, uint32_t slots, absl::Duration awake) {
  Worker& worker = workers_[id];
  attached_.Unlist(id, worker);
  if (worker.presence != Worker::Presence::kAttached) {
    SetPresent(id, true);
    attached_.Add(id);
    worker.idle_since = awake;
  }
  worker.presence = Worker::Presence::kAttached;
  worker.was_attached = true;
  worker.jobs.SetSlots(slots, awake);
  worker.heard_at = awake;
  worker.is_suspect = false;
  attached_.List(id, worker);
  return worker;
}

bool WorkerTable::AnyQueued() const {
  return std::ranges::any_of(present_, [this](WorkerId id) {
    const Worker& worker = workers_.at(id);
    return worker.is_queued && worker.presence == Worker::Presence::kStarting;
  });
}

void WorkerTable::SetPresent(WorkerId id, bool is_present) {
  const bool changes = is_present ? present_.insert(id).second : present_.erase(id) > 0;
  if (!changes) return;
  const uint32_t by = is_present ? 1u : ~0u;
  alive_of_[static_cast<size_t>(PoolOf(id))] += by;
  if (workers_.at(id).is_draining) draining_of_[static_cast<size_t>(PoolOf(id))] += by;
}

void WorkerTable::SetLost(WorkerId id, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  if (worker.presence == Worker::Presence::kAttached) attached_.Remove(id);
  SetPresent(id, false);
  worker.presence = Worker::Presence::kLost;
  ++losses_;
  worker.lost_at = awake;
  if (!worker.was_attached) {
    workers_.erase(id);
  } else {
    lost_.emplace_back(awake, id);
  }
}

void WorkerTable::ForgetLost(absl::Duration awake) {
  for (; !lost_.empty() && awake - lost_.front().first >= options_.lost_max; lost_.pop_front()) {
    const auto [lost_at, id] = lost_.front();
    const Worker* worker = Find(id);
    if (worker != nullptr && worker->presence == Worker::Presence::kLost &&
        worker->lost_at == lost_at)
      workers_.erase(id);
  }
}

void WorkerTable::Heard(WorkerId id, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  worker.heard_at = awake;
  if (!worker.is_suspect) return;
  attached_.Unlist(id, worker);
  worker.is_suspect = false;
  attached_.List(id, worker);
}

size_t WorkerTable::Take(WorkerId id, AttemptId attempt, const AssignedJob& job,
                         absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  if (worker.jobs.empty()) worker.busy_since = awake;
  const size_t became = worker.jobs.Add(attempt, job, awake);
  attached_.List(id, worker);
  return became;
}

size_t WorkerTable::SetPending(WorkerId id, const std::vector<AttemptId>& attempts,
                               const std::vector<AttemptId>* begun, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  const size_t became = worker.jobs.SetPending(attempts, awake);
  worker.jobs.SetHeld(begun, awake);
  attached_.List(id, worker);
  return became;
}

void WorkerTable::SetUploading(WorkerId id, AttemptId attempt, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  worker.jobs.SetUploading(attempt, awake);
  attached_.List(id, worker);
}

void WorkerTable::SetSpare(WorkerId id, AttemptId attempt, bool is_spare, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  worker.jobs.SetSpare(attempt, is_spare, awake);
  if (worker.jobs.is_idle()) worker.idle_since = awake;
  attached_.List(id, worker);
}

absl::Duration WorkerTable::Drop(WorkerId id, AttemptId attempt, absl::Duration awake) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  const bool was_spare = worker.jobs.IsSpare(attempt);
  const absl::Duration ran = worker.jobs.Remove(attempt, awake);
  if (worker.jobs.is_idle() && !was_spare) worker.idle_since = awake;
  attached_.List(id, worker);
  return ran;
}

Worker* WorkerTable::Find(WorkerId id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

const Worker* WorkerTable::Find(WorkerId id) const {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

std::vector<WorkerId> WorkerTable::Silent(absl::Duration awake) {
  constexpr int kLooksInTheShortest = 32;
  const absl::Duration shortest = std::min(
      {options_.silence_max, options_.start_max, options_.survivor_max, options_.suspect_after});
  if (awake - looked_at_ < shortest / kLooksInTheShortest) return {};
  looked_at_ = awake;
  std::vector<WorkerId> silent, suspect;
  for (const WorkerId id : present_) {
    const Worker& worker = workers_.at(id);
    const absl::Duration silence = awake - worker.heard_at;
    const bool is_starting = worker.presence == Worker::Presence::kStarting;
    const absl::Duration start_max =
        worker.is_survivor ? options_.survivor_max : options_.start_max;
    if (is_starting
            ? silence > start_max
            : (!worker.jobs.empty() || worker.is_draining) &&
                  awake - std::max(worker.heard_at, worker.busy_since) > options_.silence_max) {
      silent.push_back(id);
    } else if (!is_starting && !worker.is_suspect && silence > options_.suspect_after) {
      suspect.push_back(id);
    }
  }
  for (const WorkerId id : suspect) {
    Worker& worker = workers_.at(id);
    attached_.Unlist(id, worker);
    worker.is_suspect = true;
    attached_.List(id, worker);
  }
  return silent;
}

void WorkerTable::SetDraining(WorkerId id, bool is_draining) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  if (worker.is_draining != is_draining && present_.contains(id))
    draining_of_[static_cast<size_t>(PoolOf(id))] += is_draining ? 1u : ~0u;
  worker.is_draining = is_draining;
  attached_.List(id, worker);
}

void WorkerTable::SetHeld(WorkerId id, bool is_held) {
  Worker& worker = workers_.at(id);
  attached_.Unlist(id, worker);
  worker.is_held = is_held;
  attached_.List(id, worker);
}

std::vector<WorkerId> WorkerTable::Holding() const {
  std::vector<WorkerId> holding;
  for (const auto& [id, worker] : workers_) {
    if (!worker.jobs.empty()) holding.push_back(id);
  }
  return holding;
}

void WorkerTable::CheckInvariants() const {
  size_t present = 0;
  std::array<uint32_t, kPoolCount> alive_of{}, draining_of{};
  for (const auto& [id, worker] : workers_) {
    const bool is_present = worker.presence != Worker::Presence::kLost;
    GALLEY_CHECK(present_.contains(id) == is_present);
    present += is_present;
    alive_of[static_cast<size_t>(PoolOf(id))] += is_present;
    draining_of[static_cast<size_t>(PoolOf(id))] += is_present && worker.is_draining;
  }
  GALLEY_CHECK(present == present_.size() && alive_of == alive_of_ && draining_of == draining_of_);
  attached_.CheckInvariants(workers_);
}

// Workers that launchers bring up may come on any machine.
bool WorkerTable::ExpectsBeside(uint32_t machine, absl::Duration awake) const {
  constexpr absl::Duration kExpectedMax = absl::Minutes(1);
  return std::ranges::any_of(present_, [&](WorkerId id) {
    const Worker& worker = *Find(id);
    const bool may_be_elsewhere = PoolOf(id) != Pool::kLocal || machine != kHomeMachine;
    return worker.presence == Worker::Presence::kStarting && may_be_elsewhere &&
           awake - worker.asked_at < kExpectedMax;
  });
}

}  // namespace galley::director
