#include "worker/session/session_core.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/record/programs.h"
#include "common/record/recipe.h"
#include "common/wire/worker_protocol.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

// Limits of the jobs in an executor's hands, the running one among them: their expected time, and
// their number. They cannot be retracted.
constexpr int64_t kAheadUsMax = 20'000;
constexpr size_t kAheadJobsMax = 64;
constexpr int kStartFailuresMax = 3;
// The most jobs that do not fit beside a pending one and are overtaken.
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

bool StartsPrograms(const v1::Job& job) {
  return std::any_of(job.targets().begin(), job.targets().end(), [](const v1::Target& target) {
    const auto recipe = record::DecodeRecipe(target.recipe());
    return recipe.ok() && recipe->cooker == record::kProgramCooker;
  });
}

v1::Failed FailedWith(v1::Failed::Cause cause, std::string error) {
  v1::Failed failed;
  failed.set_cause(cause);
  failed.set_error(std::move(error));
  return failed;
}

}  // namespace

SessionCore::SessionCore(SessionOptions options)
    : options_(std::move(options)), lanes_(LanesFor(options_.slots)) {}

void SessionCore::Step(absl::Time now, SessionEvent event, std::vector<SessionEffect>& effects) {
  now_ = now;
  if (has_ended_) return;
  if (!welcome_.has_value() && !alone_since_.has_value()) alone_since_ = now;
  std::visit([&](auto& what) { Apply(what, effects); }, event);
  if (!has_ended_ && !is_ending_) {
    FetchSome(effects);
    StartJobs(effects);
    FetchSome(effects);
  }
  if (!HasNews()) {
    news_since_.reset();
  } else if (!news_since_.has_value()) {
    news_since_ = now;
  }
}

void SessionCore::Apply(const Connected&, std::vector<SessionEffect>&) {
  is_connected_ = true;  // to somebody, or to nobody: a welcome tells
  sent_sequence_ = 0;
  applied_sequence_ = 0;
  sent_report_ = 0;
  hello_due_ = true;
  in_hand_due_ = true;
}

void SessionCore::Apply(const Disconnected&, std::vector<SessionEffect>&) {
  is_connected_ = false;
  if (!alone_since_.has_value()) alone_since_ = now_;
}

void SessionCore::Apply(const Refused& event, std::vector<SessionEffect>& effects) {
  is_connected_ = false;
  has_ended_ = true;
  effects.emplace_back(
      ExitSession{.code = kExitUnfit,
                  .reason = fmt::format("the director refused this worker: {}", event.reason)});
}

void SessionCore::Apply(Received& event, std::vector<SessionEffect>& effects) {
  v1::ToWorker& message = event.message;
  if (!is_connected_ || message.sequence() <= applied_sequence_) return;  // doubled
  if (message.sequence() != applied_sequence_ + 1) {
    effects.emplace_back(HangUp{
        fmt::format("message {} came after message {}", message.sequence(), applied_sequence_)});
    return Apply(Disconnected{}, effects);
  }
  if (message.has_welcome() && message.welcome().term() < term_ &&
      !IsSabotaged(Sabotage::kWelcomeStaleTerm)) {
    effects.emplace_back(HangUp{fmt::format("a director of term {} is stale: there was one of {}",
                                            message.welcome().term(), term_)});
    return Apply(Disconnected{}, effects);
  }
  applied_sequence_ = message.sequence();
  if (message.abort()) {
    has_ended_ = true;
    effects.emplace_back(ExitSession{.code = kExitDone, .reason = "the director said abort"});
    return;
  }
  if (message.has_welcome()) {
    alone_since_.reset();
    welcome_ = message.welcome();
    term_ = welcome_->term();
    is_draining_ = wants_another_ = false;
    snapshots_.clear();  // another director numbers its own anew
    effects.emplace_back(ConfigureSlots{message.welcome(), ExecutorLimits()});
  }
  if (message.segments_size() > 0) {
    effects.emplace_back(GiveSegments{{message.segments().begin(), message.segments().end()}});
  }
  if (message.has_snapshot())
    snapshots_[message.snapshot().number()] =
        std::make_shared<const v1::Snapshot>(message.snapshot());
  for (const uint64_t report : message.persisted()) {
    const auto at = reports_.find(report);
    if (at == reports_.end()) continue;
    if (at->second.has_ended()) ended_.erase(at->second.attempt());
    reports_.erase(at);
  }
  for (v1::Job& job : *message.mutable_start()) TakeJob(std::move(job));
  for (const uint64_t attempt : message.cancel()) Cancel(attempt, effects);
  for (const uint64_t attempt : message.retract()) Retract(attempt);
  for (const v1::JobPart& part : message.retract_part()) RetractPart(part, effects);
  if (message.drain()) is_draining_ = true;
  if (message.start_another()) wants_another_ = true;
  if (message.resend_all()) {
    sent_report_ = 0;
    in_hand_due_ = true;
  }
  // Newer jobs are of the newest.
  while (snapshots_.size() > 1) snapshots_.erase(snapshots_.begin());
}

// The limits of an executor: a job's default, or its share of what there is. (Executors of spare
// lanes live only while a job is pending, and a little longer: what all keep is at most half of
// their shares.)
CollectionLimits SessionCore::ExecutorLimits() const {
  uint64_t memory_bytes = welcome_->memory_bytes_default();
  if (memory_bytes == 0) memory_bytes = kMemoryBytesDefault;
  if (governor_.limit_bytes() > 0)
    memory_bytes = std::min(memory_bytes, governor_.limit_bytes() / options_.slots);
  return LimitsFor(memory_bytes);
}

void SessionCore::TakeJob(v1::Job given) {
  const uint64_t attempt = given.attempt();
  if (attempts_.contains(attempt) || ended_.contains(attempt)) return;  // sent again
  Attempt& taken = attempts_[attempt];
  taken.job = std::move(given);
  const v1::Job& job = taken.job;
  taken.starts_programs = StartsPrograms(job);
  const auto snapshot = snapshots_.find(job.snapshot());
  if (snapshot != snapshots_.end()) taken.snapshot = snapshot->second;
  for (const v1::Target& target : job.targets()) taken.platforms_left.insert(target.platform());
  if (attempts_.size() > kJobsMax) {
    ReportFailed(attempt, FailedWith(v1::Failed::INFRASTRUCTURE,
                                     fmt::format("more than {} jobs in hand", kJobsMax)));
    End(attempt);
    return;
  }
  // Behind all that are as urgent. What was sent ahead to an executor has begun.
  const auto is_as_urgent = [&](uint64_t other) {
    return attempts_.at(other).job.urgency() >= job.urgency();
  };
  PutInQueue(std::find_if(queue_.rbegin(), queue_.rend(), is_as_urgent).base(), attempt);
}

void SessionCore::PutInQueue(std::deque<uint64_t>::const_iterator before, uint64_t attempt) {
  queue_.insert(before, attempt);
  const Attempt& put = attempts_.at(attempt);
  queued_us_ += ExpectedUs(attempt);
  if (put.is_ahead) {
    ++ahead_;
    ahead_us_ += ExpectedUs(attempt);
  } else if (options_.is_without_files) {
    not_ahead_.emplace(~put.job.urgency(), attempt);
  }
}

bool SessionCore::TakeFromQueue(uint64_t attempt) {
  const auto at = std::find(queue_.begin(), queue_.end(), attempt);
  if (at == queue_.end()) return false;
  queue_.erase(at);
  const Attempt& taken = attempts_.at(attempt);
  queued_us_ -= ExpectedUs(attempt);
  if (taken.is_ahead) {
    --ahead_;
    ahead_us_ -= ExpectedUs(attempt);
  } else {
    not_ahead_.erase({~taken.job.urgency(), attempt});
  }
  return true;
}

// False: it runs, or is not in hand.
bool SessionCore::Retract(uint64_t attempt) {
  const auto at = attempts_.find(attempt);
  if (at == attempts_.end() || !TakeFromQueue(attempt)) return false;
  is_pressed_ = true;  // another worker may wait for it
  End(attempt);
  return true;
}

// A platform that is begun by now is reported all the same.
void SessionCore::RetractPart(const v1::JobPart& part, std::vector<SessionEffect>& effects) {
  const auto at = attempts_.find(part.attempt());
  if (at == attempts_.end()) return;
  Attempt& attempt = at->second;
  for (const uint32_t platform : part.platforms()) attempt.platforms_left.erase(platform);
  StrikeTargets(part, attempt.job);
  if (attempt.slot.has_value()) {
    effects.emplace_back(LeaveOut{.slot = *attempt.slot, .part = part});
  } else if (attempt.job.targets().empty()) {
    Retract(part.attempt());
  }
}

void SessionCore::Cancel(uint64_t attempt, std::vector<SessionEffect>& effects) {
  const auto at = attempts_.find(attempt);
  if (at == attempts_.end()) return;
  if (Retract(attempt)) return;
  if (std::exchange(at->second.is_cancelled, true)) return;
  effects.emplace_back(StopJob{.slot = *at->second.slot, .attempt = attempt});
}

void SessionCore::Apply(SlotReported& event, std::vector<SessionEffect>&) {
  const auto at = attempts_.find(event.attempt);
  if (at == attempts_.end() || at->second.slot != event.slot) return;
  start_failures_ = 0;
  Attempt& attempt = at->second;
  v1::Report& report = event.report;
  if (report.has_saved()) attempt.platforms_left.erase(report.saved().platform());
  if (!EndsJob(report)) {
    if (report.has_failed()) {
      for (const uint32_t platform : report.failed().platforms())
        attempt.platforms_left.erase(platform);
    }
    AddReport(event.attempt, std::move(report));
    return;
  }
  std::erase(lanes_[event.slot], event.attempt);
  if (report.has_failed()) {
    ReportFailed(event.attempt, report.failed(), report.bytes());
  } else if (!report.has_ended()) {
    AddReport(event.attempt, std::move(report));
  } else if (!attempt.platforms_left.empty() && !attempt.is_cancelled) {
    ReportFailed(
        event.attempt,
        FailedWith(v1::Failed::CAUSE_UNKNOWN, "the executor ended the job before all was done"),
        report.bytes());
  }
  End(event.attempt);
}

void SessionCore::Apply(const SlotLost& event, std::vector<SessionEffect>&) {
  const auto at = attempts_.find(event.attempt);
  if (at == attempts_.end() || at->second.slot != event.slot) return;
  std::erase(lanes_[event.slot], event.attempt);
  start_failures_ = 0;  // it had started
  if (!at->second.is_cancelled) {
    v1::Failed failed = FailedWith(event.cause, event.error);
    failed.set_log_tail(event.log_tail);
    failed.set_executor_lost(true);
    failed.set_is_loaded(event.is_loaded);
    failed.set_killed(event.was_killed);
    if (event.opened.has_value()) *failed.mutable_opened() = *event.opened;
    ReportFailed(event.attempt, std::move(failed));
  }
  End(event.attempt);
}

void SessionCore::Apply(const SlotFailed& event, std::vector<SessionEffect>&) {
  for (auto attempt = event.attempts.rbegin(); attempt != event.attempts.rend(); ++attempt) {
    const auto at = attempts_.find(*attempt);
    if (at == attempts_.end() || at->second.slot != event.slot) continue;
    std::erase(lanes_[event.slot], *attempt);
    at->second.slot.reset();
    GoesOn(*attempt);
    if (at->second.is_cancelled) {
      End(*attempt);
    } else {
      PutInQueue(queue_.begin(), *attempt);
    }
  }
  waits_to_start_ = true;
  if (++start_failures_ < kStartFailuresMax || IsRunning()) return;
  unfit_ = event.error;
  is_ending_ = true;
  end_reason_ = event.error;
}

// What it reported ends the attempt, as ever.
void SessionCore::Apply(const SlotFreed& event, std::vector<SessionEffect>&) {
  const auto at = attempts_.find(event.attempt);
  if (at == attempts_.end() || at->second.slot != event.slot) return;
  std::erase(lanes_[event.slot], event.attempt);
  start_failures_ = 0;  // it had started
  if (!std::exchange(at->second.is_uploading, true)) left_slots_.push_back(event.attempt);
  GoesOn(event.attempt);
}

void SessionCore::Apply(const SlotPending& event, std::vector<SessionEffect>&) {
  const auto at = attempts_.find(event.attempt);
  if (at == attempts_.end() || at->second.slot != event.slot) return;
  if (!event.is_pending) return GoesOn(event.attempt);
  if (std::find(waiting_.begin(), waiting_.end(), event.attempt) != waiting_.end()) return;
  waiting_.push_back(event.attempt);
  pending_due_ = true;
}

void SessionCore::GoesOn(uint64_t attempt) {
  if (std::erase(waiting_, attempt) > 0) pending_due_ = true;
}

void SessionCore::Apply(const Logged& event, std::vector<SessionEffect>&) { log_.Add(event.line); }

// Each attach is given a segment of its own.
void SessionCore::Apply(const SegmentUnusable& event, std::vector<SessionEffect>& effects) {
  Say(2, fmt::format("attaching again for another segment: {}", event.reason));
  if (!is_connected_) return;
  effects.emplace_back(HangUp{event.reason});
  Apply(Disconnected{}, effects);
}

void SessionCore::Say(int level, std::string text) {
  v1::LogLine line;
  line.set_level(level);
  line.set_text(std::move(text));
  log_.Add(std::move(line));
}

void SessionCore::Apply(const SlotCollected& event, std::vector<SessionEffect>&) {
  const bool is_restart = event.step.what == CollectionStep::What::kRestart;
  switch (event.step.reason) {
    case CollectReason::kSoftLimit:
      collections_.set_soft_limit(collections_.soft_limit() + 1);
      break;
    case CollectReason::kHardLimit:
      if (is_restart) {
        collections_.set_restarts(collections_.restarts() + 1);
      } else {
        collections_.set_hard_limit(collections_.hard_limit() + 1);
      }
      break;
    case CollectReason::kPackageCount:
      collections_.set_package_count(collections_.package_count() + 1);
      break;
    case CollectReason::kIdle:
      collections_.set_idle(collections_.idle() + 1);
      break;
  }
  collections_due_ = true;
  Say(1, fmt::format("slot={} memory {} reason={} before_bytes={} after_bytes={}", event.slot,
                     is_restart ? "restart" : "collection", NameOf(event.step.reason),
                     event.before_bytes, event.after_bytes));
}

void SessionCore::Apply(const MemorySampled& event, std::vector<SessionEffect>&) {
  holds_last_slot_ = event.holds_last_slot;
  const bool has_turned = governor_.Sample(event.room, event.executor_bytes);
  limit_due_ |= governor_.TellLimit();
  if (!has_turned) return;
  if (governor_.is_short()) {
    collections_.set_pauses(collections_.pauses() + 1);
    collections_due_ = true;
    Say(2, fmt::format("memory paused: {}", governor_.Describe()));
  } else {
    Say(1, fmt::format("memory goes on: {}", governor_.Describe()));
  }
}

void SessionCore::Apply(const DiskSampled& event, std::vector<SessionEffect>&) {
  if (event.lack.empty() != disk_lack_.empty())
    Say(event.lack.empty() ? 1 : 2, event.lack.empty()
                                        ? "there is room on the disk again: jobs begin"
                                        : fmt::format("no job begins: {}", event.lack));
  disk_lack_ = event.lack;
}

// A job that began would fail, and might have taken hours before.
void SessionCore::GiveBackForRoom() {
  while (!queue_.empty()) {
    const uint64_t attempt = queue_.front();
    TakeFromQueue(attempt);
    ReportFailed(attempt, FailedWith(v1::Failed::NO_ROOM, disk_lack_));
    End(attempt);
  }
}

bool SessionCore::IsRunning() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const auto& attempts) { return !attempts.empty(); });
}

bool SessionCore::IsPending(uint64_t attempt) const {
  const auto at = std::find(waiting_.begin(), waiting_.end(), attempt);
  return at != waiting_.end() && at - waiting_.begin() < static_cast<ptrdiff_t>(options_.slots);
}

bool SessionCore::HoldsSlot(uint32_t lane) const {
  return !lanes_[lane].empty() && !IsPending(lanes_[lane].front());
}

uint32_t SessionCore::SlotsHeld() const {
  uint32_t held = 0;
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) held += HoldsSlot(lane);
  return held;
}

// Jobs wait, and no slot is what they wait for.
bool SessionCore::IsHeldUp() const { return !queue_.empty() && SlotsHeld() < options_.slots; }

// The executors whose jobs are young; a job that was sent ahead to one takes no memory beside what
// runs there.
uint64_t SessionCore::YoungJobs() const {
  return static_cast<uint64_t>(std::count_if(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
    return !lane.empty() && governor_.IsYoung(attempts_.at(lane.front()).began);
  }));
}

// No job may begin; what runs goes on.
bool SessionCore::IsPaused() const {
  // With one slot there is nothing to be reserved for: the next job follows the present one, unless
  // that is pending.
  const bool is_beside = options_.slots > 1 || !waiting_.empty();
  if (is_beside && !governor_.HasRoomBeside(YoungJobs())) return true;
  return governor_.is_short() && (IsRunning() || !holds_last_slot_);
}

void SessionCore::Apply(const TerminateAsked&, std::vector<SessionEffect>&) {
  DropAll();
  is_ending_ = is_terminated_ = true;
  end_reason_ = "asked to terminate";
}

void SessionCore::Apply(const Tick& event, std::vector<SessionEffect>& effects) {
  memory_bytes_ = event.memory_bytes;
  message_due_ = true;  // a sign of life
  log_bytes_left_ = kLogBytesInTick;
  // The words of a stream whose place another took may have come last. Hold-ups of jobs come and
  // go: they are told when they last.
  pending_due_ |= !waiting_.empty() || IsHeldUp() || has_told_pending_;
  waits_to_start_ = false;
  const absl::Duration alone_max =
      welcome_.has_value() ? options_.reconnect_max : options_.first_contact_max;
  if (alone_since_.has_value() && now_ - *alone_since_ > alone_max) {
    has_ended_ = true;
    effects.emplace_back(ExitSession{
        .code = kExitUnfit,
        .reason = fmt::format("no director for {} s", absl::ToInt64Seconds(alone_max))});
  }
}

void SessionCore::DropAll() {
  queue_.clear();
  queued_us_ = ahead_us_ = 0;
  ahead_ = 0;
  not_ahead_.clear();
  while (!attempts_.empty()) End(attempts_.begin()->first);
}

bool SessionCore::IsAheadBelow(absl::Duration limit) const {
  return ahead_ < options_.slots || absl::Microseconds(ahead_us_) < limit * options_.slots;
}

void SessionCore::FetchSome(std::vector<SessionEffect>& effects) {
  if (not_ahead_.empty()) return;
  FetchAhead ahead;
  const auto fetch = [&](uint64_t attempt) {
    Attempt& next = attempts_.at(attempt);
    not_ahead_.erase({~next.job.urgency(), attempt});
    next.is_ahead = true;
    ++ahead_;
    ahead_us_ += ExpectedUs(attempt);
    AddAhead(next.job, ahead);
  };
  // What begins next, though others are ahead already that it has overtaken.
  for (size_t i = 0; i < std::min<size_t>(options_.slots, queue_.size()); ++i) {
    if (!attempts_.at(queue_[i]).is_ahead) fetch(queue_[i]);
  }
  if (IsAheadBelow(kFetchAheadMax / 2)) {
    while (!not_ahead_.empty() && IsAheadBelow(kFetchAheadMax)) fetch(not_ahead_.begin()->second);
  }
  if (!ahead.jobs.empty()) effects.emplace_back(std::move(ahead));
}

void SessionCore::AddAhead(const v1::Job& job, FetchAhead& ahead) {
  v1::Job& read = *ahead.jobs.Add();
  read.set_attempt(job.attempt());
  read.set_package(job.package());
  if (job.has_source()) *read.mutable_source() = job.source();
  if (job.has_generated_source()) *read.mutable_generated_source() = job.generated_source();
  *read.mutable_likely_reads() = job.likely_reads();
}

void SessionCore::StartJobs(std::vector<SessionEffect>& effects) {
  if (!welcome_.has_value() || waits_to_start_ || is_ending_) return;
  if (!disk_lack_.empty()) return GiveBackForRoom();
  size_t overtaken = 0;
  while (overtaken < std::min(queue_.size(), kOvertakenMax) && reports_.size() < kReportsKeptMax &&
         !IsPaused()) {
    const uint64_t attempt = queue_[overtaken];
    const std::optional<uint32_t> lane = LaneFor(attempt);
    if (!lane.has_value()) return;
    if (!FitsBesidePending(*lane, attempt)) {
      ++overtaken;
      continue;
    }
    TakeFromQueue(attempt);
    StartOn(*lane, attempt, effects);
  }
}

// The memory that the director expects the job to take; 0: unknown.
uint64_t SessionCore::MemoryOf(uint64_t attempt) const {
  return std::min(attempts_.at(attempt).job.expected_memory_bytes(), governor_.limit_bytes());
}

// The director gives what fits beside as many as there are slots; it cannot know what will be
// pending. What was sent ahead to an executor follows what runs there.
bool SessionCore::FitsBesidePending(uint32_t lane, uint64_t attempt) const {
  const uint64_t limit_bytes = governor_.limit_bytes();
  if (waiting_.empty() || limit_bytes == 0 || MemoryOf(attempt) == 0) return true;
  uint64_t sum = 0;
  for (uint32_t other = 0; other < lanes_.size(); ++other) {
    uint64_t most = other == lane ? MemoryOf(attempt) : 0;
    for (const uint64_t one : lanes_[other]) most = std::max(most, MemoryOf(one));
    sum += most;
  }
  return sum <= limit_bytes;
}

// The lowest free lane while a slot is free. A session with one slot sends short jobs ahead; with
// more, a job would wait behind a long one while another slot is free.
std::optional<uint32_t> SessionCore::LaneFor(uint64_t attempt) const {
  const uint32_t held = SlotsHeld();
  for (uint32_t lane = 0; held < options_.slots && lane < lanes_.size(); ++lane) {
    if (lanes_[lane].empty()) return lane;
  }
  if (options_.slots > 1 || held != 1) return std::nullopt;
  uint32_t running = 0;
  while (!HoldsSlot(running)) ++running;
  const std::deque<uint64_t>& ahead = lanes_[running];
  if (ahead.size() >= kAheadJobsMax || attempts_.at(ahead.back()).starts_programs)
    return std::nullopt;
  int64_t sum_us = ExpectedUs(attempt);
  for (const uint64_t one : ahead) sum_us += ExpectedUs(one);
  return sum_us <= kAheadUsMax ? std::optional<uint32_t>(running) : std::nullopt;
}

// A job of unknown length may be long.
int64_t SessionCore::ExpectedUs(uint64_t attempt) const {
  const int64_t expected_us = attempts_.at(attempt).job.expected_us();
  return expected_us > 0 ? expected_us : kAheadUsMax;
}

void SessionCore::StartOn(uint32_t slot, uint64_t attempt, std::vector<SessionEffect>& effects) {
  Attempt& begun = attempts_.at(attempt);
  if (begun.snapshot == nullptr) {
    ReportFailed(attempt, FailedWith(v1::Failed::INFRASTRUCTURE,
                                     fmt::format("the director did not send snapshot {}",
                                                 begun.job.snapshot())));
    End(attempt);
    return;
  }
  // (It overtook those that begin soon.)
  if (options_.is_without_files && !std::exchange(begun.is_ahead, true)) {
    FetchAhead ahead;
    AddAhead(begun.job, ahead);
    effects.emplace_back(std::move(ahead));
  }
  begun.slot = slot;
  pending_due_ |= has_told_pending_;
  begun.began = governor_.samples();
  lanes_[slot].push_back(attempt);
  StartJob start{.slot = slot, .job = {}};
  *start.job.mutable_job() = begun.job;
  start.job.set_snapshot_file(begun.snapshot->table_file());
  *start.job.mutable_platforms() = begun.snapshot->platforms();
  start.job.set_starts_programs(begun.starts_programs);
  v1::Job& job = *start.job.mutable_job();
  if (job.memory_bytes() == 0) job.set_memory_bytes(welcome_->memory_bytes_default());
  if (job.memory_bytes() == 0) job.set_memory_bytes(kMemoryBytesDefault);
  if (job.timeout_us() <= 0) job.set_timeout_us(welcome_->timeout_us_default());
  if (job.timeout_us() <= 0) job.set_timeout_us(absl::ToInt64Microseconds(kTimeoutDefault));
  effects.emplace_back(std::move(start));
}

// Names the platforms that are left.
void SessionCore::ReportFailed(uint64_t attempt, v1::Failed failed, const v1::JobBytes& bytes) {
  std::set<uint32_t>& left = attempts_.at(attempt).platforms_left;
  failed.clear_platforms();
  for (const uint32_t platform : left) failed.add_platforms(platform);
  left.clear();
  v1::Report report;
  *report.mutable_failed() = std::move(failed);
  if (bytes.ByteSizeLong() > 0) *report.mutable_bytes() = bytes;
  AddReport(attempt, std::move(report));
}

void SessionCore::End(uint64_t attempt) {
  v1::Report report;
  report.mutable_ended();
  AddReport(attempt, std::move(report));
  ended_.insert(attempt);
  attempts_.erase(attempt);
  GoesOn(attempt);
}

void SessionCore::AddReport(uint64_t attempt, v1::Report report) {
  is_pressed_ |= IsPressing(attempt, report);
  report.set_report(next_report_);
  report.set_attempt(attempt);
  reports_[next_report_++] = std::move(report);
}

uint64_t SessionCore::Check() const {
  uint64_t sum = 0;
  for (const auto& [attempt, held] : attempts_) sum += attempt;
  return sum;
}

v1::FromWorker SessionCore::NextMessage() {
  v1::FromWorker message;
  message.set_sequence(++sent_sequence_);
  message.set_acknowledged(applied_sequence_);
  if (std::exchange(hello_due_, false)) {
    v1::Hello& hello = *message.mutable_hello();
    hello.set_protocol(wire::kWorkerProtocol);
    hello.set_token(options_.token);
    hello.set_worker_id(options_.worker_id);
    hello.set_machine(options_.machine);
    hello.set_runs_as(options_.runs_as);
    hello.set_slots(options_.slots);
    hello.set_pid(options_.pid);
    hello.set_session(options_.session);
    hello.set_is_without_files(options_.is_without_files);
    hello.set_cookers_json(options_.cookers_json);
    hello.set_walls_missing(options_.walls_missing);
    for (const std::string& label : options_.offer.labels) hello.add_labels(label);
    for (const auto& [name, count] : options_.offer.resources) {
      v1::Resource& resource = *hello.add_resources();
      resource.set_name(name);
      resource.set_count(count);
    }
    hello.set_memory_bytes(governor_.limit_bytes());
    hello.set_persisted((reports_.empty() ? next_report_ : reports_.begin()->first) - 1);
    limit_due_ = false;
    collections_due_ = true;  // the director may be another, or have missed some
  }
  if (std::exchange(limit_due_, false)) message.set_memory_limit_bytes(governor_.limit_bytes());
  if (std::exchange(collections_due_, false)) *message.mutable_collections() = collections_;
  const bool tells_all = std::exchange(in_hand_due_, false);
  if (tells_all) {
    pending_due_ = true;
    for (const auto& [attempt, held] : attempts_) {
      message.add_in_hand(attempt);
      if (held.slot.has_value()) message.add_begun(attempt);
    }
  }
  if (std::exchange(pending_due_, false)) AddPending(message);
  AddUploading(tells_all, message);
  size_t bytes = 0;
  for (auto at = reports_.upper_bound(sent_report_); at != reports_.end(); ++at) {
    const size_t size = at->second.ByteSizeLong();
    if (message.reports_size() > 0 &&
        (bytes + size > kReportBytesInMessageMax ||
         static_cast<size_t>(message.reports_size()) >= kReportsInMessageMax)) {
      break;
    }
    bytes += size;
    *message.add_reports() = at->second;
    sent_report_ = at->first;
  }
  if (!HasReports()) AddLog(message);
  message.set_check(Check());
  message.set_memory_bytes(memory_bytes_);
  message_due_ = false;
  return message;
}

void SessionCore::AddUploading(bool all, v1::FromWorker& message) {
  for (const uint64_t attempt : std::exchange(left_slots_, {})) {
    if (!all && attempts_.contains(attempt)) message.add_uploading(attempt);
  }
  for (auto at = attempts_.begin(); all && at != attempts_.end(); ++at) {
    if (at->second.is_uploading) message.add_uploading(at->first);
  }
}

void SessionCore::AddLog(v1::FromWorker& message) {
  while (!log_.empty() && log_bytes_left_ > 0) {
    v1::LogLine& line = *message.add_log();
    line = log_.Take();
    log_bytes_left_ -= std::min(log_bytes_left_, LogRing::BytesOf(line));
  }
}

void SessionCore::AddPending(v1::FromWorker& message) {
  v1::Pending& pending = *message.mutable_pending();
  const size_t count = std::min<size_t>(waiting_.size(), options_.slots);
  for (size_t i = 0; i < count; ++i) pending.add_attempts(waiting_[i]);
  pending.set_is_held(IsHeldUp());
  if (pending.is_held()) {
    for (const auto& [attempt, held] : attempts_) {
      if (held.slot.has_value()) pending.add_begun(attempt);
    }
  }
  has_told_pending_ = count > 0 || pending.is_held();
}

bool SessionCore::HasMessage() const {
  return is_connected_ &&
         (hello_due_ || in_hand_due_ || message_due_ || limit_due_ || collections_due_ ||
          pending_due_ || !left_slots_.empty() || HasReports());
}

bool SessionCore::IsDrained() const {
  return is_draining_ && attempts_.empty() && reports_.empty();
}

// An unfit session says so first, or nobody would know why it went.
bool SessionCore::MayEnd() const { return is_ending_ && (is_connected_ || unfit_.empty()); }

bool SessionCore::HasNews() const {
  return !has_ended_ && (HasMessage() || IsDrained() || MayEnd());
}

absl::Time SessionCore::NextFlush() const {
  if (!news_since_.has_value()) return absl::InfiniteFuture();
  const bool is_due = hello_due_ || in_hand_due_ || message_due_ || limit_due_ || pending_due_ ||
                      is_pressed_ || IsDrained() || MayEnd();
  return is_due ? absl::InfinitePast() : *news_since_ + NewsWait();
}

absl::Duration SessionCore::NewsWait() const {
  const absl::Duration wait =
      std::min(kNewsWaitMax, absl::Microseconds(queued_us_) / (4 * options_.slots));
  return HasReports() ? wait : std::max(wait, kUploadingWait);
}

// Whether the director has something to do upon this report that does not wait: others need the
// result, or it names packages that are to be cooked, too.
bool SessionCore::IsPressing(uint64_t attempt, const v1::Report& report) const {
  if (report.has_failed() || report.has_needs() || report.has_stale()) return true;
  const Attempt& of = attempts_.at(attempt);
  return of.job.is_awaited() || of.is_cancelled || report.loaded().names_packages();
}

void SessionCore::Flush(std::vector<SessionEffect>& effects) {
  news_since_.reset();
  is_pressed_ = false;
  if (has_ended_) return;
  while (HasMessage()) effects.emplace_back(SendMessage{NextMessage()});
  if (IsDrained()) {
    is_ending_ = true;
    end_reason_ = "drained";
  }
  if (!MayEnd()) return;
  if (is_connected_) {
    log_bytes_left_ = LogRing::kBytesMax;  // its last words
    v1::FromWorker message = NextMessage();
    message.set_goodbye(true);
    message.set_unfit(unfit_);
    effects.emplace_back(SendMessage{std::move(message)});
  }
  has_ended_ = true;
  const bool is_to_be_replaced = is_terminated_ || wants_another_;
  effects.emplace_back(ExitSession{.code = !unfit_.empty()     ? kExitUnfit
                                           : is_to_be_replaced ? kExitDrained
                                                               : kExitDone,
                                   .reason = end_reason_,
                                   .said_goodbye = is_connected_});
}

void StrikeTargets(const v1::JobPart& part, v1::Job& job) {
  auto& targets = *job.mutable_targets();
  const auto is_struck = [&](const v1::Target& target) {
    return std::find(part.platforms().begin(), part.platforms().end(), target.platform()) !=
           part.platforms().end();
  };
  targets.erase(std::remove_if(targets.begin(), targets.end(), is_struck), targets.end());
}

}  // namespace galley::worker
