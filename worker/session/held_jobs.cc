#include "worker/session/held_jobs.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "worker/session/job_targets.h"

namespace galley::worker {
namespace {

constexpr int kStartFailuresMax = 3;
// The most jobs that do not fit beside a pending job and are overtaken.
constexpr size_t kOvertakenMax = 64;

bool EndsJob(const v1::Report& report) {
  switch (report.what_case()) {
    case v1::Report::kNeeds:
    case v1::Report::kStale:
    case v1::Report::kEnded:
      return true;
    case v1::Report::kFailed:
      return report.failed().cause() != v1::Failed::VERDICT;
    case v1::Report::kLoaded:
    case v1::Report::kSaved:
    case v1::Report::WHAT_NOT_SET:
      return false;
  }
  return false;
}

v1::Failed FailedWith(v1::Failed::Cause cause, std::string error) {
  v1::Failed failed;
  failed.set_cause(cause);
  failed.set_error(std::move(error));
  return failed;
}

}  // namespace

void HeldJobs::AddSnapshot(const v1::Snapshot& snapshot) {
  snapshots_[snapshot.number()] = std::make_shared<const v1::Snapshot>(snapshot);
}

void HeldJobs::KeepNewestSnapshot() {
  while (snapshots_.size() > 1) snapshots_.erase(snapshots_.begin());
}

void HeldJobs::TakeJob(v1::Job given) {
  const uint64_t attempt = given.attempt();
  // The director sends a job again on a new stream.
  if (jobs_.contains(attempt) || reports_.HasEndOf(attempt)) return;
  HeldJob& held = jobs_[attempt];
  held.job = std::move(given);
  const v1::Job& job = held.job;
  const auto snapshot = snapshots_.find(job.snapshot());
  if (snapshot != snapshots_.end()) held.snapshot = snapshot->second;
  for (const v1::Target& target : job.targets()) held.platforms_left.insert(target.platform());
  if (jobs_.size() > kJobsMax) {
    FailJob(held, FailedWith(v1::Failed::INFRASTRUCTURE,
                             fmt::format("more than {} jobs in hand", kJobsMax)));
    return EndJob(held);
  }
  // A job of unknown length may be long.
  queue_.AddJob({.attempt = attempt,
                 .urgency = job.urgency(),
                 .expected_us = job.expected_us() > 0 ? job.expected_us() : kAheadUsMax,
                 .memory_bytes = job.expected_memory_bytes(),
                 .starts_programs = StartsPrograms(job)});
}

bool HeldJobs::RetractJob(uint64_t attempt) {
  if (!queue_.RemoveJob(attempt).has_value()) return false;
  EndJob(jobs_.at(attempt), true);  // another worker may wait for the job
  return true;
}

// A platform that has begun is reported all the same.
void HeldJobs::RetractPart(const v1::JobPart& part, SessionEffects& effects) {
  const auto at = jobs_.find(part.attempt());
  if (at == jobs_.end()) return;
  HeldJob& held = at->second;
  for (const uint32_t platform : part.platforms()) held.platforms_left.erase(platform);
  StrikeTargets(part, held.job);
  if (held.slot.has_value()) {
    effects.emplace_back(LeaveOut{.slot = *held.slot, .part = part});
  } else if (held.job.targets().empty()) {
    RetractJob(part.attempt());
  }
}

void HeldJobs::CancelJob(uint64_t attempt, SessionEffects& effects) {
  const auto at = jobs_.find(attempt);
  if (at == jobs_.end() || RetractJob(attempt)) return;
  if (std::exchange(at->second.is_cancelled, true)) return;
  effects.emplace_back(StopJob{.slot = *at->second.slot, .attempt = attempt});
}

void HeldJobs::DropJobs() {
  while (!queue_.empty()) queue_.RemoveJob(queue_[0].attempt);
  while (!jobs_.empty()) EndJob(jobs_.begin()->second);
}

HeldJobs::HeldJob* HeldJobs::FindOnSlot(uint32_t slot, uint64_t attempt) {
  const auto at = jobs_.find(attempt);
  return at != jobs_.end() && at->second.slot == slot ? &at->second : nullptr;
}

void HeldJobs::TakeReport(SlotReported& event) {
  HeldJob* const held = FindOnSlot(event.slot, event.attempt);
  if (held == nullptr) return;
  start_failures_ = 0;
  v1::Report& report = event.report;
  if (report.has_saved()) held->platforms_left.erase(report.saved().platform());
  if (!EndsJob(report)) {
    for (const uint32_t platform : report.failed().platforms())
      held->platforms_left.erase(platform);
    return AddReport(*held, std::move(report));
  }
  lanes_.RemoveJob(event.slot, event.attempt);
  if (report.has_failed()) {
    FailJob(*held, report.failed(), report.bytes());
  } else if (!report.has_ended()) {
    AddReport(*held, std::move(report));
  } else if (!held->platforms_left.empty() && !held->is_cancelled) {
    FailJob(*held,
            FailedWith(v1::Failed::CAUSE_UNKNOWN, "the executor ended the job before all was done"),
            report.bytes());
  }
  EndJob(*held);
}

void HeldJobs::LoseJob(const SlotLost& event) {
  HeldJob* const held = FindOnSlot(event.slot, event.attempt);
  if (held == nullptr) return;
  lanes_.RemoveJob(event.slot, event.attempt);
  start_failures_ = 0;  // the executor had started
  if (!held->is_cancelled) {
    v1::Failed failed = FailedWith(event.cause, event.error);
    failed.set_log_tail(event.log_tail);
    failed.set_executor_lost(true);
    failed.set_is_loaded(event.is_loaded);
    failed.set_killed(event.was_killed);
    if (event.opened.has_value()) *failed.mutable_opened() = *event.opened;
    FailJob(*held, std::move(failed));
  }
  EndJob(*held);
}

bool HeldJobs::PutJobsBack(const SlotFailed& event) {
  for (auto attempt = event.attempts.rbegin(); attempt != event.attempts.rend(); ++attempt) {
    HeldJob* const held = FindOnSlot(event.slot, *attempt);
    const std::optional<PlannedJob> planned = lanes_.RemoveJob(event.slot, *attempt);
    if (held == nullptr || !planned.has_value()) continue;
    held->slot.reset();
    SetWaiting(*attempt, false);
    if (held->is_cancelled) {
      EndJob(*held);
    } else {
      queue_.PutBack(*planned);
    }
  }
  waits_to_start_ = true;
  return ++start_failures_ >= kStartFailuresMax && !lanes_.IsRunning();
}

// Reports that wait for their blobs end the attempt as always.
void HeldJobs::FreeSlot(const SlotFreed& event) {
  HeldJob* const held = FindOnSlot(event.slot, event.attempt);
  if (held == nullptr) return;
  lanes_.RemoveJob(event.slot, event.attempt);
  start_failures_ = 0;  // the executor had started
  if (!std::exchange(held->is_uploading, true)) left_slots_.push_back(event.attempt);
  SetWaiting(event.attempt, false);
}

void HeldJobs::SetPending(const SlotPending& event) {
  if (FindOnSlot(event.slot, event.attempt) != nullptr) SetWaiting(event.attempt, event.is_pending);
}

void HeldJobs::SetWaiting(uint64_t attempt, bool is_waiting) {
  is_pending_due_ |= lanes_.SetWaiting(attempt, is_waiting);
}

// The last messages of a stream that was replaced may come late, so the state is repeated. Hold-ups
// of jobs come and go, and are told when they last.
void HeldJobs::Tick() {
  is_pending_due_ |= !lanes_.pending().empty() || IsHeldUp() || has_told_pending_;
  waits_to_start_ = false;
}

void HeldJobs::FetchJobsAhead(SessionEffects& effects) {
  FetchAhead ahead;
  for (const uint64_t attempt : queue_.TakeJobsToFetch()) AddAhead(jobs_.at(attempt).job, ahead);
  if (!ahead.jobs.empty()) effects.emplace_back(std::move(ahead));
}

void HeldJobs::AddAhead(const v1::Job& job, FetchAhead& ahead) {
  v1::Job& read = *ahead.jobs.Add();
  read.set_attempt(job.attempt());
  read.set_package(job.package());
  if (job.has_source()) *read.mutable_source() = job.source();
  if (job.has_generated_source()) *read.mutable_generated_source() = job.generated_source();
  *read.mutable_likely_reads() = job.likely_reads();
}

void HeldJobs::BeginJobs(const v1::Welcome& welcome, const Governor& governor,
                         const std::string& disk_lack, SessionEffects& effects) {
  if (waits_to_start_) return;
  // A job that began would fail, perhaps after hours.
  while (!disk_lack.empty() && !queue_.empty()) {
    HeldJob& held = jobs_.at(queue_[0].attempt);
    queue_.RemoveJob(held.job.attempt());
    FailJob(held, FailedWith(v1::Failed::NO_ROOM, disk_lack));
    EndJob(held);
  }
  size_t overtaken = 0;
  while (overtaken < std::min(queue_.size(), kOvertakenMax) && reports_.size() < kReportsKeptMax &&
         !lanes_.IsPaused(governor)) {
    const PlannedJob& next = queue_[overtaken];
    const std::optional<uint32_t> lane = lanes_.FindLane(next);
    if (!lane.has_value()) return;
    if (!lanes_.FitsBesidePending(*lane, next, governor.limit_bytes())) {
      ++overtaken;
      continue;
    }
    BeginJob(*lane, *queue_.RemoveJob(next.attempt), welcome, governor, effects);
  }
}

void HeldJobs::BeginJob(uint32_t slot, PlannedJob planned, const v1::Welcome& welcome,
                        const Governor& governor, SessionEffects& effects) {
  HeldJob& held = jobs_.at(planned.attempt);
  if (held.snapshot == nullptr) {
    FailJob(held,
            FailedWith(v1::Failed::INFRASTRUCTURE,
                       fmt::format("the director did not send snapshot {}", held.job.snapshot())));
    return EndJob(held);
  }
  // The job may have overtaken jobs that begin soon, whose bytes are fetched already.
  if (is_without_files_ && !std::exchange(planned.is_fetched, true)) {
    FetchAhead ahead;
    AddAhead(held.job, ahead);
    effects.emplace_back(std::move(ahead));
  }
  held.slot = slot;
  is_pending_due_ |= has_told_pending_;
  planned.began = governor.samples();
  lanes_.AddJob(slot, planned);
  StartJob start{.slot = slot, .job = {}};
  *start.job.mutable_job() = held.job;
  start.job.set_snapshot_file(held.snapshot->table_file());
  *start.job.mutable_platforms() = held.snapshot->platforms();
  start.job.set_starts_programs(planned.starts_programs);
  v1::Job& job = *start.job.mutable_job();
  if (job.memory_bytes() == 0) job.set_memory_bytes(welcome.memory_bytes_default());
  if (job.memory_bytes() == 0) job.set_memory_bytes(kMemoryBytesDefault);
  if (job.timeout_us() <= 0) job.set_timeout_us(welcome.timeout_us_default());
  if (job.timeout_us() <= 0) job.set_timeout_us(absl::ToInt64Microseconds(kTimeoutDefault));
  effects.emplace_back(std::move(start));
}

void HeldJobs::FailJob(HeldJob& held, v1::Failed failed, const v1::JobBytes& bytes) {
  failed.clear_platforms();
  for (const uint32_t platform : std::exchange(held.platforms_left, {}))
    failed.add_platforms(platform);
  v1::Report report;
  *report.mutable_failed() = std::move(failed);
  if (bytes.ByteSizeLong() > 0) *report.mutable_bytes() = bytes;
  AddReport(held, std::move(report));
}

void HeldJobs::EndJob(HeldJob& held, bool is_pressing) {
  const uint64_t attempt = held.job.attempt();
  v1::Report report;
  report.mutable_ended();
  AddReport(held, std::move(report), is_pressing);
  jobs_.erase(attempt);
  SetWaiting(attempt, false);
}

// A report is pressing when the director must act upon it at once: somebody needs the result, or
// the report names packages that must be cooked, too.
void HeldJobs::AddReport(const HeldJob& held, v1::Report report, bool is_pressing) {
  is_pressing |= report.has_failed() || report.has_needs() || report.has_stale() ||
                 report.loaded().names_packages() || held.job.is_awaited() || held.is_cancelled;
  using Haste = ReportOutbox::Haste;
  const bool is_at_once = held.job.is_awaited() && held.job.urgency() >= kBlockingUrgency;
  reports_.AddReport(held.job.attempt(), std::move(report),
                     is_at_once    ? Haste::kAtOnce
                     : is_pressing ? Haste::kPressing
                                   : Haste::kNone);
}

uint64_t HeldJobs::CheckSum() const {
  uint64_t sum = 0;
  for (const auto& [attempt, held] : jobs_) sum += attempt;
  return sum;
}

void HeldJobs::AddNews(bool all, v1::FromWorker& message) {
  for (const auto& [attempt, held] : jobs_) {
    if (!all) break;
    message.add_in_hand(attempt);
    if (held.slot.has_value()) message.add_begun(attempt);
    if (held.is_uploading) message.add_uploading(attempt);
  }
  if (std::exchange(is_pending_due_, false) || all) AddPending(message);
  for (const uint64_t attempt : std::exchange(left_slots_, {})) {
    if (!all && jobs_.contains(attempt)) message.add_uploading(attempt);
  }
}

void HeldJobs::AddPending(v1::FromWorker& message) {
  v1::Pending& pending = *message.mutable_pending();
  for (const uint64_t attempt : lanes_.pending()) pending.add_attempts(attempt);
  pending.set_is_held(IsHeldUp());
  for (const auto& [attempt, held] : jobs_) {
    if (pending.is_held() && held.slot.has_value()) pending.add_begun(attempt);
  }
  has_told_pending_ = !lanes_.pending().empty() || pending.is_held();
}

}  // namespace galley::worker
