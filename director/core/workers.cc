#include "director/core/workers.h"

#include <algorithm>

namespace galley::director {

bool Worker::See(ReportId report) {
  if (report <= seen_up_to_ || !seen_.insert(report).second) return false;
  while (!seen_.empty() && *seen_.begin() == seen_up_to_ + 1) {
    ++seen_up_to_;
    seen_.erase(seen_.begin());
  }
  return true;
}

WorkerId Workers::AddOwn(absl::Duration heard_at) {
  WorkerId id(own_count_++);
  while (workers_.contains(id)) id = WorkerId(own_count_++);
  workers_[id].heard_at = heard_at;
  return id;
}

Worker& Workers::Attach(WorkerId id, uint32_t slots) {
  Worker& worker = workers_[id];
  worker.presence = Worker::Presence::kAttached;
  worker.was_attached = true;
  worker.slots = std::max(slots, 1u);
  return worker;
}

Worker* Workers::Find(WorkerId id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

uint32_t Workers::alive() const {
  return static_cast<uint32_t>(std::count_if(
      workers_.begin(), workers_.end(),
      [](const auto& entry) { return entry.second.presence != Worker::Presence::kLost; }));
}

uint32_t Workers::attached() const {
  return static_cast<uint32_t>(std::count_if(
      workers_.begin(), workers_.end(),
      [](const auto& entry) { return entry.second.presence == Worker::Presence::kAttached; }));
}

std::vector<WorkerId> Workers::Silent(absl::Duration awake, absl::Duration silence_max,
                                      absl::Duration start_max) const {
  std::vector<WorkerId> silent;
  for (const auto& [id, worker] : workers_) {
    const bool is_starting = worker.presence == Worker::Presence::kStarting;
    const bool is_working =
        worker.presence == Worker::Presence::kAttached && !worker.in_hand.empty();
    if ((is_starting && awake - worker.heard_at > start_max) ||
        (is_working && awake - worker.heard_at > silence_max))
      silent.push_back(id);
  }
  return silent;
}

bool Workers::HasRoom(const Worker& worker) const {
  if (worker.in_hand.size() >= window_.jobs_max) return false;
  return worker.in_hand.size() < worker.slots + 1 || worker.expected < window_.window;
}

template <typename MayHave>
WorkerId Workers::LeastLoaded(const MayHave& may_have) const {
  WorkerId best;
  absl::Duration best_load;
  for (const auto& [id, worker] : workers_) {
    if (worker.presence != Worker::Presence::kAttached || !may_have(id, worker)) continue;
    // A job more counts even where nothing is expected of it.
    const absl::Duration load =
        (worker.expected + absl::Microseconds(static_cast<int64_t>(worker.in_hand.size()))) /
        worker.slots;
    if (best.valid() && load >= best_load) continue;
    best = id;
    best_load = load;
  }
  return best;
}

WorkerId Workers::Pick(absl::Span<const WorkerId> avoid) const {
  if (!avoid.empty()) {
    const auto is_other = [&](WorkerId id) {
      return std::find(avoid.begin(), avoid.end(), id) == avoid.end();
    };
    const WorkerId with_room = LeastLoaded(
        [&](WorkerId id, const Worker& worker) { return is_other(id) && HasRoom(worker); });
    if (with_room.valid()) return with_room;
    const WorkerId other = LeastLoaded([&](WorkerId id, const Worker&) { return is_other(id); });
    if (other.valid()) return other;
  }
  return LeastLoaded([&](WorkerId, const Worker& worker) { return HasRoom(worker); });
}

std::vector<WorkerId> Workers::Idle() const {
  std::vector<WorkerId> idle;
  for (const auto& [id, worker] : workers_) {
    if (worker.presence == Worker::Presence::kAttached && worker.in_hand.size() < worker.slots)
      idle.push_back(id);
  }
  return idle;
}

std::vector<WorkerId> Workers::Busy() const {
  std::vector<std::pair<absl::Duration, WorkerId>> found;
  for (const auto& [id, worker] : workers_) {
    if (worker.presence == Worker::Presence::kAttached && worker.in_hand.size() > worker.slots)
      found.emplace_back(-worker.expected / worker.slots, id);
  }
  std::sort(found.begin(), found.end());
  std::vector<WorkerId> busy;
  for (const auto& [load, id] : found) busy.push_back(id);
  return busy;
}

}  // namespace galley::director
