#include "director/core/jobs/assigned_jobs.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

void AssignedJobs::SetSlots(uint32_t slots, absl::Duration awake) {
  slots_ = std::max(slots, 1u);
  BeginSome(awake);
}

void AssignedJobs::BeginSome(absl::Duration awake) {
  if (is_held_) {
    for (const AttemptId attempt : begun_there_) Begin(attempt, awake);
    return;
  }
  while (running_.size() - pending_ < slots_ && !queue_.empty()) {
    running_.push_back({queue_.begin()->second, awake});
    queue_.erase(queue_.begin());
  }
}

size_t AssignedJobs::Add(AttemptId attempt, const AssignedJob& job, absl::Duration awake) {
  GALLEY_CHECK(jobs_.emplace(attempt, job).second);
  if (job.is_spare) {
    spare_.push_back({attempt, awake});
    if (reported_uploading_.erase(attempt) > 0) ApplyUploading(attempt, awake);
    return 0;
  }
  queue_.emplace(-static_cast<int>(job.urgency), attempt);
  by_memory_.emplace(job.memory_bytes, attempt);
  expected_ += job.expected;
  BeginSome(awake);
  if (reported_uploading_.erase(attempt) > 0) ApplyUploading(attempt, awake);
  return reported_pending_.contains(attempt) ? ApplyPending(awake) : 0;
}

size_t AssignedJobs::SetPending(const std::vector<AttemptId>& attempts, absl::Duration awake) {
  reported_pending_.clear();
  for (const AttemptId attempt : attempts) {
    if (reported_pending_.size() < slots_) reported_pending_.insert(attempt);
  }
  return ApplyPending(awake);
}

// An attempt that waits begins, whether it is its turn or not.
void AssignedJobs::Begin(AttemptId attempt, absl::Duration awake) {
  const auto job = jobs_.find(attempt);
  if (job != jobs_.end() && queue_.erase({-static_cast<int>(job->second.urgency), attempt}) > 0)
    running_.push_back({attempt, awake});
}

void AssignedJobs::SetUploading(AttemptId attempt, absl::Duration awake) {
  if (jobs_.contains(attempt)) return ApplyUploading(attempt, awake);
  reported_uploading_.insert(attempt);
}

void AssignedJobs::ApplyUploading(AttemptId attempt, absl::Duration awake) {
  if (uploading_.contains(attempt)) return;
  if (IsSpare(attempt)) SetSpare(attempt, false, awake);  // it needs no slot any more
  Begin(attempt, awake);
  const auto one = FindRunning(attempt);
  const AssignedJob& job = jobs_.at(attempt);
  uploading_.emplace(attempt, Uploading{.began_at = one->began_at, .left_at = awake});
  by_memory_.erase({job.memory_bytes, attempt});
  pending_ -= one->is_pending;
  if (!one->is_pending) expected_ -= job.expected;
  running_.erase(one);
  BeginSome(awake);
}

void AssignedJobs::SetHeld(const std::vector<AttemptId>* begun, absl::Duration awake) {
  is_held_ = begun != nullptr;
  begun_there_.clear();
  if (is_held_) begun_there_.insert(begun->begin(), begun->end());
  // Attempts that were taken to have begun go back to the queue, unless they are said to be
  // pending.
  std::erase_if(running_, [&](const Running& one) {
    const bool has_begun = !is_held_ || one.is_pending || begun_there_.contains(one.attempt);
    if (!has_begun) queue_.emplace(-static_cast<int>(jobs_.at(one.attempt).urgency), one.attempt);
    return !has_begun;
  });
  BeginSome(awake);
}

size_t AssignedJobs::ApplyPending(absl::Duration awake) {
  for (const AttemptId attempt : reported_pending_) Begin(attempt, awake);
  size_t became = 0;
  for (Running& one : running_) {
    const bool is_pending = reported_pending_.contains(one.attempt);
    if (is_pending == one.is_pending) continue;
    one.is_pending = is_pending;
    const absl::Duration expected = jobs_.at(one.attempt).expected;
    if (is_pending) {
      ++pending_;
      ++became;
      expected_ -= expected;
    } else {
      --pending_;
      expected_ += expected;
    }
  }
  BeginSome(awake);
  return became;
}

bool AssignedJobs::IsSpare(AttemptId attempt) const {
  const auto job = jobs_.find(attempt);
  return job != jobs_.end() && job->second.is_spare;
}

void AssignedJobs::SetSpare(AttemptId attempt, bool is_spare, absl::Duration awake) {
  AssignedJob& job = jobs_.at(attempt);
  if (job.is_spare == is_spare) return;
  job.is_spare = is_spare;
  if (is_spare) {
    const auto one = FindRunning(attempt);
    GALLEY_CHECK(one != running_.end());
    pending_ -= one->is_pending;
    if (!one->is_pending) expected_ -= job.expected;
    by_memory_.erase({job.memory_bytes, attempt});
    spare_.push_back({attempt, one->began_at});
    running_.erase(one);
    return BeginSome(awake);
  }
  const auto one =
      std::ranges::find_if(spare_, [&](const Running& other) { return other.attempt == attempt; });
  GALLEY_CHECK(one != spare_.end());
  const Running begun = *one;
  spare_.erase(one);
  const auto after = std::ranges::find_if(
      running_, [&](const Running& other) { return other.began_at > begun.began_at; });
  running_.insert(after, begun);
  by_memory_.emplace(job.memory_bytes, attempt);
  expected_ += job.expected;
  if (reported_pending_.contains(attempt)) ApplyPending(awake);
}

std::vector<AssignedJobs::Running>::const_iterator AssignedJobs::FindRunning(
    AttemptId attempt) const {
  return std::ranges::find_if(running_, [&](const Running& one) { return one.attempt == attempt; });
}

bool AssignedJobs::IsPending(AttemptId attempt) const {
  const auto one = FindRunning(attempt);
  return one != running_.end() && one->is_pending;
}

void AssignedJobs::NoteReport(AttemptId attempt, absl::Duration awake) {
  if (uploading_.contains(attempt)) uploaded_at_ = awake;
}

absl::Duration AssignedJobs::Remove(AttemptId attempt, absl::Duration awake) {
  if (IsSpare(attempt)) return RemoveSpare(attempt, awake);
  const auto job = jobs_.find(attempt);
  GALLEY_CHECK(job != jobs_.end());
  queue_.erase({-static_cast<int>(job->second.urgency), attempt});
  by_memory_.erase({job->second.memory_bytes, attempt});
  absl::Duration ran;
  bool is_expected = true;
  if (const auto one = FindRunning(attempt); one != running_.end()) {
    ran = awake - one->began_at;
    is_expected = !one->is_pending;
    pending_ -= one->is_pending;
    running_.erase(one);
  } else if (const auto left = uploading_.find(attempt); left != uploading_.end()) {
    ran = left->second.left_at - left->second.began_at;
    is_expected = false;
    uploading_.erase(left);
  }
  if (is_expected) expected_ -= job->second.expected;
  jobs_.erase(job);
  BeginSome(awake);
  return ran;
}

// No other job waits for the slot: the spare attempt was in nobody's way.
absl::Duration AssignedJobs::RemoveSpare(AttemptId attempt, absl::Duration awake) {
  const auto one =
      std::ranges::find_if(spare_, [&](const Running& other) { return other.attempt == attempt; });
  const absl::Duration ran = awake - one->began_at;
  spare_.erase(one);
  jobs_.erase(attempt);
  return ran;
}

std::optional<absl::Duration> AssignedJobs::BeganAt(AttemptId attempt) const {
  if (const auto one = FindRunning(attempt); one != running_.end()) return one->began_at;
  for (const Running& one : spare_) {
    if (one.attempt == attempt) return one.began_at;
  }
  const auto left = uploading_.find(attempt);
  if (left == uploading_.end()) return std::nullopt;
  return left->second.began_at;
}

std::vector<AttemptId> AssignedJobs::Queue() const {
  std::vector<AttemptId> queue;
  for (const auto& [urgency, attempt] : queue_) queue.push_back(attempt);
  return queue;
}

std::vector<AttemptId> AssignedJobs::All() const {
  std::vector<AttemptId> all;
  for (const Running& one : running_) all.push_back(one.attempt);
  for (const Running& one : spare_) all.push_back(one.attempt);
  for (const auto& [attempt, one] : uploading_) all.push_back(attempt);
  for (const auto& [urgency, attempt] : queue_) all.push_back(attempt);
  return all;
}

}  // namespace galley::director
