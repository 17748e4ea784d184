#include "worker/session/session_core.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/wire/worker_protocol.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

// The limits of an executor: a job's default memory, or the executor's share of the machine's.
// Executors of spare lanes live only while a job is pending, and a little longer, so that all
// executors together keep at most half of their shares.
CollectionLimits ExecutorLimits(uint64_t memory_bytes_default, uint64_t limit_bytes,
                                uint32_t slots) {
  const uint64_t memory_bytes =
      memory_bytes_default == 0 ? kMemoryBytesDefault : memory_bytes_default;
  return LimitsFor(limit_bytes > 0 ? std::min(memory_bytes, limit_bytes / slots) : memory_bytes);
}

v1::Hello HelloOf(const SessionOptions& options) {
  v1::Hello hello;
  hello.set_protocol(wire::kWorkerProtocol);
  hello.set_token(options.token);
  hello.set_worker_id(options.worker_id);
  hello.set_machine(options.machine);
  hello.set_runs_as(options.runs_as);
  hello.set_slots(options.slots);
  hello.set_pid(options.pid);
  hello.set_session(options.session);
  hello.set_is_without_files(options.is_without_files);
  hello.set_cookers_json(options.cookers_json);
  hello.set_walls_missing(options.walls_missing);
  for (const std::string& label : options.offer.labels) hello.add_labels(label);
  for (const auto& [name, count] : options.offer.resources) {
    v1::Resource& resource = *hello.add_resources();
    resource.set_name(name);
    resource.set_count(count);
  }
  return hello;
}

void CountCollection(const CollectionStep& step, v1::Collections& counts) {
  switch (step.reason) {
    case CollectReason::kSoftLimit:
      return counts.set_soft_limit(counts.soft_limit() + 1);
    case CollectReason::kHardLimit:
      if (step.what == CollectionStep::What::kRestart)
        return counts.set_restarts(counts.restarts() + 1);
      return counts.set_hard_limit(counts.hard_limit() + 1);
    case CollectReason::kPackageCount:
      return counts.set_package_count(counts.package_count() + 1);
    case CollectReason::kIdle:
      return counts.set_idle(counts.idle() + 1);
  }
}

}  // namespace

SessionCore::SessionCore(SessionOptions options)
    : options_(std::move(options)), jobs_(options_.slots, options_.is_without_files, reports_) {}

void SessionCore::Step(absl::Time now, SessionEvent event, SessionEffects& effects) {
  now_ = now;
  if (has_ended_) return;
  if (!welcome_.has_value() && !alone_since_.has_value()) alone_since_ = now;
  std::visit([&](auto& what) { Apply(what, effects); }, event);
  if (!has_ended_ && !ending_.has_value()) {
    jobs_.FetchJobsAhead(effects);
    if (welcome_.has_value()) jobs_.BeginJobs(*welcome_, governor_, disk_lack_, effects);
    jobs_.FetchJobsAhead(effects);
  }
  if (!HasMessage()) {
    if (stream_.has_value()) stream_->news_since.reset();
  } else if (!stream_->news_since.has_value()) {
    stream_->news_since = now;
  }
}

void SessionCore::Apply(const Connected&, SessionEffects&) {
  stream_.emplace(Stream{});
  due_ = {};
  reports_.SendAllAgain();
}

void SessionCore::Apply(const Disconnected&, SessionEffects&) {
  stream_.reset();
  if (!alone_since_.has_value()) alone_since_ = now_;
}

void SessionCore::Apply(const Refused& event, SessionEffects& effects) {
  Exit(kExitUnfit, fmt::format("the director refused this worker: {}", event.reason), effects);
}

void SessionCore::Apply(Received& event, SessionEffects& effects) {
  v1::ToWorker& message = event.message;
  // A message may come twice.
  if (!stream_.has_value() || message.sequence() <= stream_->applied_sequence) return;
  if (message.sequence() != stream_->applied_sequence + 1) {
    return HangUpStream(fmt::format("message {} came after message {}", message.sequence(),
                                    stream_->applied_sequence),
                        effects);
  }
  const uint32_t term = welcome_.has_value() ? welcome_->term() : 0;
  if (message.has_welcome() && message.welcome().term() < term &&
      !IsSabotaged(Sabotage::kWelcomeStaleTerm)) {
    return HangUpStream(fmt::format("a director of term {} is stale: there was one of {}",
                                    message.welcome().term(), term),
                        effects);
  }
  stream_->applied_sequence = message.sequence();
  if (message.abort()) return Exit(kExitDone, "the director said abort", effects);
  TakeMessage(message, effects);
}

void SessionCore::TakeMessage(v1::ToWorker& message, SessionEffects& effects) {
  if (message.has_welcome()) {
    alone_since_.reset();
    welcome_ = message.welcome();
    is_draining_ = wants_another_ = false;
    jobs_.ForgetSnapshots();
    effects.emplace_back(ConfigureSlots{
        message.welcome(),
        ExecutorLimits(welcome_->memory_bytes_default(), governor_.limit_bytes(), options_.slots)});
  }
  if (message.segments_size() > 0) {
    effects.emplace_back(GiveSegments{{message.segments().begin(), message.segments().end()}});
  }
  if (message.has_snapshot()) jobs_.AddSnapshot(message.snapshot());
  for (const uint64_t report : message.persisted()) reports_.DropPersisted(report);
  for (v1::Job& job : *message.mutable_start()) jobs_.TakeJob(std::move(job));
  for (const uint64_t attempt : message.cancel()) jobs_.CancelJob(attempt, effects);
  for (const uint64_t attempt : message.retract()) jobs_.RetractJob(attempt);
  for (const v1::JobPart& part : message.retract_part()) jobs_.RetractPart(part, effects);
  if (message.drain()) is_draining_ = true;
  if (message.start_another()) wants_another_ = true;
  if (message.resend_all()) {
    reports_.SendAllAgain();
    due_.state = true;
  }
  jobs_.KeepNewestSnapshot();  // later jobs are of the newest
}

void SessionCore::HangUpStream(std::string reason, SessionEffects& effects) {
  effects.emplace_back(HangUp{std::move(reason)});
  Apply(Disconnected{}, effects);
}

void SessionCore::Exit(int code, std::string reason, SessionEffects& effects) {
  has_ended_ = true;
  effects.emplace_back(ExitSession{.code = code, .reason = std::move(reason)});
}

void SessionCore::Apply(const SlotFailed& event, SessionEffects&) {
  if (jobs_.PutJobsBack(event)) ending_ = Ending{kExitUnfit, event.error};
}

// A session that attaches again is given another segment.
void SessionCore::Apply(const SegmentUnusable& event, SessionEffects& effects) {
  Say(2, fmt::format("attaching again for another segment: {}", event.reason));
  if (stream_.has_value()) HangUpStream(event.reason, effects);
}

void SessionCore::Say(int level, std::string text) {
  v1::LogLine line;
  line.set_level(level);
  line.set_text(std::move(text));
  log_.Add(std::move(line));
}

void SessionCore::Apply(const SlotCollected& event, SessionEffects&) {
  CountCollection(event.step, collections_);
  due_.collections = true;
  const bool is_restart = event.step.what == CollectionStep::What::kRestart;
  Say(1, fmt::format("slot={} memory {} reason={} before_bytes={} after_bytes={}", event.slot,
                     is_restart ? "restart" : "collection", NameOf(event.step.reason),
                     event.before_bytes, event.after_bytes));
}

void SessionCore::Apply(const MemorySampled& event, SessionEffects&) {
  const bool has_turned = governor_.Sample(event.room, event.executor_bytes, event.holds_last_slot);
  due_.memory_limit |= governor_.TellLimit();
  if (!has_turned) return;
  if (governor_.is_short()) {
    collections_.set_pauses(collections_.pauses() + 1);
    due_.collections = true;
    Say(2, fmt::format("memory paused: {}", governor_.Describe()));
  } else {
    Say(1, fmt::format("memory goes on: {}", governor_.Describe()));
  }
}

// The reason stays the one that was told first.
void SessionCore::Apply(const DiskSampled& event, SessionEffects&) {
  if (event.lack.empty() == disk_lack_.empty()) return;
  disk_lack_ = event.lack;
  if (disk_lack_.empty()) {
    Say(1, "there is room on the disk again: jobs begin");
  } else {
    Say(2, fmt::format("no job begins: {}", disk_lack_));
  }
}

void SessionCore::Apply(const TerminateAsked&, SessionEffects&) {
  jobs_.DropJobs();
  if (!ending_.has_value()) ending_ = Ending{kExitDrained, "asked to terminate"};
}

void SessionCore::Apply(const Tick& event, SessionEffects& effects) {
  memory_bytes_ = event.memory_bytes;
  due_.sign_of_life = true;
  log_bytes_left_ = kLogBytesInTick;
  jobs_.Tick();
  const absl::Duration alone_max =
      welcome_.has_value() ? options_.reconnect_max : options_.first_contact_max;
  if (AloneFor() > alone_max) {
    Exit(kExitUnfit, fmt::format("no director for {} s", absl::ToInt64Seconds(alone_max)), effects);
  }
}

v1::FromWorker SessionCore::NextMessage() {
  v1::FromWorker message;
  message.set_sequence(++stream_->sent_sequence);
  message.set_acknowledged(stream_->applied_sequence);
  const bool is_first = message.sequence() == 1;
  if (is_first) {
    v1::Hello& hello = *message.mutable_hello();
    hello = HelloOf(options_);
    hello.set_memory_bytes(governor_.limit_bytes());
    hello.set_persisted(reports_.persisted());
  } else if (due_.memory_limit) {
    message.set_memory_limit_bytes(governor_.limit_bytes());
  }
  // The director of a stream's first message may be another, or may have missed some collections.
  if (is_first || due_.collections) *message.mutable_collections() = collections_;
  jobs_.AddNews(due_.state, message);
  due_ = {.state = false};
  reports_.AddUnsent(message);
  while (!reports_.HasUnsent() && !log_.empty() && log_bytes_left_ > 0) {
    v1::LogLine& line = *message.add_log();
    line = log_.Take();
    log_bytes_left_ -= std::min(log_bytes_left_, LogRing::BytesOf(line));
  }
  message.set_check(jobs_.CheckSum());
  message.set_memory_bytes(memory_bytes_);
  return message;
}

// Whether there is news that does not wait.
bool SessionCore::IsPressed() const {
  return due_.state || due_.sign_of_life || due_.memory_limit || jobs_.HasPendingNews() ||
         reports_.haste() != ReportOutbox::Haste::kNone;
}

bool SessionCore::HasMessage() const {
  return stream_.has_value() &&
         (IsPressed() || due_.collections || jobs_.HasSlotNews() || reports_.HasUnsent());
}

absl::Time SessionCore::NextFlush() const {
  if (has_ended_) return absl::InfiniteFuture();
  if (IsDrained() || MayEnd()) return absl::InfinitePast();
  if (!stream_.has_value() || !stream_->news_since.has_value()) return absl::InfiniteFuture();
  if (IsPressed()) return absl::InfinitePast();
  const absl::Duration wait = std::min(kNewsWaitMax, jobs_.queued() / (4 * options_.slots));
  return *stream_->news_since + (reports_.HasUnsent() ? wait : std::max(wait, kUploadingWait));
}

void SessionCore::Flush(SessionEffects& effects) {
  if (has_ended_) return;
  if (stream_.has_value()) stream_->news_since.reset();
  while (HasMessage()) effects.emplace_back(SendMessage{NextMessage()});
  if (IsDrained() && !ending_.has_value())
    ending_ = Ending{wants_another_ ? kExitDrained : kExitDone, "drained"};
  if (!MayEnd()) return;
  const bool says_goodbye = stream_.has_value();
  if (says_goodbye) {
    log_bytes_left_ = LogRing::kBytesMax;  // its last words
    v1::FromWorker message = NextMessage();
    message.set_goodbye(true);
    if (ending_->code == kExitUnfit) message.set_unfit(ending_->reason);
    effects.emplace_back(SendMessage{std::move(message)});
  }
  has_ended_ = true;
  effects.emplace_back(
      ExitSession{.code = ending_->code, .reason = ending_->reason, .said_goodbye = says_goodbye});
}

}  // namespace galley::worker
