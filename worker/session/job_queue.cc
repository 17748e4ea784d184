#include "worker/session/job_queue.h"

#include <algorithm>

namespace galley::worker {

void JobQueue::AddJob(const PlannedJob& job) {
  const auto is_as_urgent = [&](const PlannedJob& other) { return other.urgency >= job.urgency; };
  InsertJob(std::find_if(jobs_.rbegin(), jobs_.rend(), is_as_urgent).base(), job);
}

void JobQueue::InsertJob(std::deque<PlannedJob>::const_iterator before, const PlannedJob& job) {
  jobs_.insert(before, job);
  expected_us_ += job.expected_us;
  if (job.is_fetched) CountFetched(job, 1);
}

std::optional<PlannedJob> JobQueue::RemoveJob(uint64_t attempt) {
  const auto at =
      std::ranges::find_if(jobs_, [&](const PlannedJob& job) { return job.attempt == attempt; });
  if (at == jobs_.end()) return std::nullopt;
  const PlannedJob job = *at;
  jobs_.erase(at);
  expected_us_ -= job.expected_us;
  if (job.is_fetched) CountFetched(job, -1);
  return job;
}

void JobQueue::CountFetched(const PlannedJob& job, int sign) {
  fetched_ += static_cast<size_t>(sign);
  fetched_us_ += sign * job.expected_us;
}

bool JobQueue::IsFetchedBelow(absl::Duration limit) const {
  return fetched_ < slots_ || absl::Microseconds(fetched_us_) < limit * slots_;
}

// The jobs that begin next are fetched in any case, even if jobs that they overtook are fetched
// already.
std::vector<uint64_t> JobQueue::TakeJobsToFetch() {
  std::vector<uint64_t> attempts;
  if (!fetches_ahead_ || fetched_ == jobs_.size()) return attempts;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (i >= slots_ && !IsFetchedBelow(i == slots_ ? kFetchAheadMax / 2 : kFetchAheadMax)) break;
    PlannedJob& job = jobs_[i];
    if (job.is_fetched) continue;
    job.is_fetched = true;
    CountFetched(job, 1);
    attempts.push_back(job.attempt);
  }
  return attempts;
}

}  // namespace galley::worker
