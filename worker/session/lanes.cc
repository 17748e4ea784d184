#include "worker/session/lanes.h"

namespace galley::worker {

bool Lanes::HoldsSlot(uint32_t lane) const {
  const auto held = pending();
  return !lanes_[lane].empty() &&
         std::ranges::find(held, lanes_[lane].front().attempt) == held.end();
}

uint32_t Lanes::SlotsHeld() const {
  uint32_t held = 0;
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) held += HoldsSlot(lane);
  return held;
}

bool Lanes::IsRunning() const {
  return std::ranges::any_of(lanes_, [](const auto& jobs) { return !jobs.empty(); });
}

std::optional<PlannedJob> Lanes::RemoveJob(uint32_t lane, uint64_t attempt) {
  std::deque<PlannedJob>& jobs = lanes_[lane];
  const auto at =
      std::ranges::find_if(jobs, [&](const PlannedJob& job) { return job.attempt == attempt; });
  if (at == jobs.end()) return std::nullopt;
  const PlannedJob job = *at;
  jobs.erase(at);
  return job;
}

bool Lanes::SetWaiting(uint64_t attempt, bool is_waiting) {
  if (!is_waiting) return std::erase(waiting_, attempt) > 0;
  if (std::ranges::find(waiting_, attempt) != waiting_.end()) return false;
  waiting_.push_back(attempt);
  return true;
}

// A session with a single slot sends short jobs ahead. With more slots, a job would wait behind a
// long job while another slot is free.
std::optional<uint32_t> Lanes::FindLane(const PlannedJob& job) const {
  const uint32_t held = SlotsHeld();
  for (uint32_t lane = 0; held < slots_ && lane < lanes_.size(); ++lane) {
    if (lanes_[lane].empty()) return lane;
  }
  if (slots_ > 1 || held != 1) return std::nullopt;
  uint32_t running = 0;
  while (!HoldsSlot(running)) ++running;
  const std::deque<PlannedJob>& ahead = lanes_[running];
  if (ahead.size() >= kAheadJobsMax || ahead.back().starts_programs) return std::nullopt;
  int64_t sum_us = job.expected_us;
  for (const PlannedJob& one : ahead) sum_us += one.expected_us;
  return sum_us <= kAheadUsMax ? std::optional<uint32_t>(running) : std::nullopt;
}

// The director gives what fits beside as many jobs as there are slots, but cannot know which jobs
// will be pending. A job that was sent ahead to an executor follows the job that runs there.
bool Lanes::FitsBesidePending(uint32_t lane, const PlannedJob& job, uint64_t limit_bytes) const {
  if (waiting_.empty() || limit_bytes == 0 || job.memory_bytes == 0) return true;
  uint64_t sum = 0;
  for (uint32_t other = 0; other < lanes_.size(); ++other) {
    uint64_t most = other == lane ? job.memory_bytes : 0;
    for (const PlannedJob& one : lanes_[other]) most = std::max(most, one.memory_bytes);
    sum += std::min(most, limit_bytes);
  }
  return sum <= limit_bytes;
}

bool Lanes::IsPaused(const Governor& governor) const {
  // With a single slot nothing must be reserved: the next job follows the present job, unless the
  // present job is pending.
  const bool is_beside = slots_ > 1 || !waiting_.empty();
  // A job that was sent ahead takes no memory beside the running job of its executor.
  const auto young = std::ranges::count_if(lanes_, [&](const auto& jobs) {
    return !jobs.empty() && governor.IsYoung(jobs.front().began);
  });
  if (is_beside && !governor.HasRoomBeside(static_cast<uint64_t>(young))) return true;
  return governor.is_short() && (IsRunning() || !governor.holds_last_slot());
}

}  // namespace galley::worker
