#include "director/core/jobs/slot_outlook.h"

#include <algorithm>
#include <iterator>

namespace galley::director {
namespace {

// Memory of the largest jobs that are not spare, `count` of them, each at most the limit.
uint64_t LargestBytes(const AssignedJobs& jobs, size_t count, uint64_t limit_bytes) {
  uint64_t sum = 0;
  const auto& by_memory = jobs.by_memory();
  for (auto at = by_memory.rbegin(); at != by_memory.rend() && count > 0; ++at, --count)
    sum += std::min(at->first, limit_bytes);
  return sum;
}

}  // namespace

size_t CountWaiting(const AssignedJobs& jobs, Urgency urgency) {
  const auto& waiting = jobs.waiting();
  const auto end = waiting.upper_bound({-static_cast<int>(urgency), ~AttemptId{0}});
  return static_cast<size_t>(std::distance(waiting.begin(), end));
}

absl::Duration NextSlot(const AssignedJobs& jobs, absl::Duration awake) {
  if (jobs.has_free_slot()) return absl::ZeroDuration();
  absl::Duration next = absl::InfiniteDuration();
  for (const AssignedJobs::Running& one : jobs.running()) {
    if (one.is_pending) continue;
    const absl::Duration elapsed = awake - one.began_at;
    const absl::Duration expected = jobs.At(one.attempt).expected;
    next = std::min(next, elapsed < expected ? expected - elapsed : elapsed);
  }
  return next;
}

absl::Duration BlockingDelay(const AssignedJobs& jobs, absl::Duration awake) {
  absl::Duration before;
  for (const auto& [urgency, attempt] : jobs.waiting()) {
    if (urgency != -static_cast<int>(Urgency::kBlocking)) break;
    before += jobs.At(attempt).expected;
  }
  return NextSlot(jobs, awake) + before / jobs.slots();
}

absl::Duration DelayOfNew(const AssignedJobs& jobs, absl::Duration awake) {
  absl::Duration before = jobs.expected();
  for (const AssignedJobs::Running& one : jobs.running()) {
    if (!one.is_pending) before -= jobs.At(one.attempt).expected;
  }
  return NextSlot(jobs, awake) + before / jobs.slots();
}

absl::Duration DelayOf(const AssignedJobs& jobs, AttemptId id, absl::Duration awake) {
  if (jobs.HasBegun(id)) return absl::ZeroDuration();
  absl::Duration before;
  for (const auto& [urgency, attempt] : jobs.waiting()) {
    if (attempt == id) break;
    before += jobs.At(attempt).expected;
  }
  return NextSlot(jobs, awake) + before / jobs.slots();
}

bool HasMemoryBesidePending(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes) {
  if (limit_bytes == 0 || jobs.pending_count() == 0) return true;
  uint64_t sum = std::min(memory_bytes, limit_bytes);
  for (const AssignedJobs::Running& one : jobs.running())
    sum += one.is_pending ? std::min(jobs.At(one.attempt).memory_bytes, limit_bytes) : 0;
  return sum <= limit_bytes;
}

bool HasMemoryFor(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes) {
  if (limit_bytes == 0 || jobs.empty()) return true;
  const uint64_t beside = LargestBytes(jobs, jobs.slots() - 1 + jobs.pending_count(), limit_bytes);
  return std::min(memory_bytes, limit_bytes) + beside <= limit_bytes || memory_bytes == 0;
}

std::vector<AttemptId> InTheWay(const AssignedJobs& jobs, uint64_t limit_bytes) {
  const std::vector<AssignedJobs::Running>& spare = jobs.spare();
  const size_t wanted = jobs.running().size() - jobs.pending_count() + jobs.waiting().size();
  const uint64_t others = LargestBytes(jobs, jobs.slots() + jobs.pending_count(), limit_bytes);
  uint64_t spare_bytes = 0;
  for (const AssignedJobs::Running& one : spare)
    spare_bytes += std::min(jobs.At(one.attempt).memory_bytes, limit_bytes);
  std::vector<AttemptId> in_the_way;
  for (size_t left = spare.size(); left > 0; --left) {
    const bool has_slots = wanted + left <= jobs.slots();
    const bool has_memory = limit_bytes == 0 || others == 0 || others + spare_bytes <= limit_bytes;
    if (has_slots && has_memory) break;
    const AttemptId last = spare[left - 1].attempt;
    in_the_way.push_back(last);
    spare_bytes -= std::min(jobs.At(last).memory_bytes, limit_bytes);
  }
  return in_the_way;
}

bool IsEachFreeSlotSpare(const AssignedJobs& jobs) {
  return jobs.has_free_slot() && jobs.active_count() + jobs.spare().size() >= jobs.slots();
}

bool HasRoomForSpare(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes) {
  if (jobs.is_held() || jobs.has_waiting() ||
      jobs.active_count() + jobs.spare().size() >= jobs.slots())
    return false;
  if (limit_bytes == 0) return true;
  uint64_t sum = memory_bytes + LargestBytes(jobs, jobs.by_memory().size(), limit_bytes);  // all
  for (const AssignedJobs::Running& one : jobs.spare())
    sum += std::min(jobs.At(one.attempt).memory_bytes, limit_bytes);
  for (const auto& [attempt, one] : jobs.uploading())
    sum += std::min(jobs.At(attempt).memory_bytes, limit_bytes);
  return sum <= limit_bytes;
}

}  // namespace galley::director
