#include "worker/session/executor_slot.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/executor/job_messages.h"
#include "worker/executor/opened_notes.h"
#include "worker/session/job_targets.h"

namespace galley::worker {
namespace {

constexpr absl::Duration kExitWait = absl::Seconds(2);  // for a process whose socket closed
// A look takes 5 us, a small job 30.
constexpr absl::Duration kResidentPeriod = absl::Milliseconds(5);
constexpr size_t kAheadBytesMax = 32 << 10;  // a sixth of the least socket buffer
constexpr int kReadsToBlame = 64;
constexpr int64_t kIdleMillisecondsMax = 60'000;
constexpr size_t kStartErrorBytesMax = 500;  // what the loader says of a missing library

std::string EncodeJob(const v1::ExecutorJob& job) {
  v1::ToExecutor message;
  *message.mutable_job() = job;
  return message.SerializeAsString();
}

}  // namespace

ExecutorSlot::ExecutorSlot(Options options)
    : options_(std::move(options)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      received_(options_.sink),
      thread_([this] { Run(); }) {}

ExecutorSlot::~ExecutorSlot() {
  {
    base::MutexLock lock(mutex_);
    is_ending_ = true;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof(one));
  thread_.join();
}

void ExecutorSlot::Push(Order order) {
  {
    base::MutexLock lock(mutex_);
    orders_.push_back(std::move(order));
    if (orders_.size() > 1) return;  // it was woken, and takes all that is there
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof(one));
}

void ExecutorSlot::Configure(v1::ExecutorSetup setup, const CollectionLimits& collection) {
  Push(SetupOrder{std::move(setup), collection});
}
void ExecutorSlot::Start(v1::ExecutorJob job) { Push(std::move(job)); }
void ExecutorSlot::Stop(uint64_t attempt) { Push(StopOrder{attempt}); }
void ExecutorSlot::Fail(uint64_t attempt, std::string error) {
  Push(FailOrder{attempt, std::move(error)});
}
void ExecutorSlot::LeaveOut(v1::JobPart part) { Push(std::move(part)); }

void ExecutorSlot::Emit(SessionEvent event) { options_.events->Take(std::move(event)); }

void ExecutorSlot::Say(int level, std::string text, bool is_output) {
  v1::LogLine line;
  line.set_attempt(attempt());
  line.set_level(level);
  line.set_text(EscapeControl(text));
  line.set_time_us(absl::ToUnixMicros(clock_.Now()));
  line.set_is_output(is_output);
  Emit(Logged{std::move(line)});
}

// The job that runs is about to end: tells its last line, which nothing ends, and how many more
// than are sent it printed.
void ExecutorSlot::EndOutput() {
  if (!is_running()) return;
  Held& front = jobs_.front();
  const bool is_its_own = sent_ == 1;  // else it may be that of the next, which runs already
  if (is_its_own && !output_.rest().empty() && front.lines++ < kLogLinesMax)
    Say(2, output_.TakeRest(), true);
  if (front.lines > kLogLinesMax)
    Say(2, fmt::format("{} more lines of output were left out", front.lines - kLogLinesMax), true);
}

void ExecutorSlot::NoteFetched(absl::Time since) {
  const absl::Time now = clock_.Now();
  if (transfers_.size() >= kTransfersMax) {
    v1::Transfer& last = transfers_.back();
    last.set_duration_us(absl::ToUnixMicros(now) - last.started_us());
    return;
  }
  v1::Transfer& transfer = transfers_.emplace_back();
  transfer.set_started_us(absl::ToUnixMicros(since));
  transfer.set_duration_us(absl::ToInt64Microseconds(now - since));
  transfer.set_slot(options_.teller.slot);
}

void ExecutorSlot::Run() {
  while (TakeOrders()) Turn();
  Discard();
  if (setup_.has_value()) RemoveAll(setup_->scratch_directory()).IgnoreError();
}

bool ExecutorSlot::TakeOrders() {
  while (true) {
    std::deque<Order> orders;
    {
      base::MutexLock lock(mutex_);
      if (is_ending_) return false;
      orders.swap(orders_);
    }
    if (orders.empty()) return true;
    for (Order& order : orders) std::visit([this](auto& what) { Apply(std::move(what)); }, order);
    SendDue();
  }
}

void ExecutorSlot::Apply(SetupOrder order) {
  setup_ = std::move(order.setup);
  collection_.set_limits(order.collection);
  is_set_up_ = false;
  if (is_running()) return;  // the present job goes on with what it has
  if (options_.is_spare && !process_.running()) return;
  if (const absl::Status status = EnsureExecutor(); !status.ok())
    LogWarning("executor: {}", MessageOf(status));
}

void ExecutorSlot::Apply(v1::ExecutorJob job) {
  jobs_.push_back({.job = std::move(job)});  // SendDue follows, for all that came together
}

// The collection that is due before the next job, since memory that an earlier one left in the heap
// must not count against it. `job_bytes` 0: there is no next job.
CollectionStep ExecutorSlot::DueBefore(uint64_t job_bytes) {
  if (!process_.running() || !is_ready_) return {};
  const CollectionStep step = collection_.Next(clock_.Monotonic(), Resident(), job_bytes);
  if (step.what == CollectionStep::What::kNothing || is_running()) return step;
  resident_bytes_.reset();  // it was seen when its job ended: it may have freed that since
  memory_bytes_.store(Resident(), std::memory_order_relaxed);
  return collection_.Next(clock_.Monotonic(), Resident(), job_bytes);
}

// An executor without a job is looked at once, and again before something is done about it; one
// that runs jobs of less than a millisecond not for each of them.
uint64_t ExecutorSlot::Resident() {
  const absl::Time now = clock_.Monotonic();
  const bool is_old = is_running() && now - resident_seen_ >= kResidentPeriod;
  if (is_old || !resident_bytes_.has_value()) {
    resident_bytes_ = ResidentBytes(process_.pid());
    resident_seen_ = now;
  }
  return *resident_bytes_;
}

// REQUIRES: no job runs. True: the executor was asked, and the next job waits for its answer.
bool ExecutorSlot::Collect(CollectionStep step) {
  if (step.what == CollectionStep::What::kNothing) return false;
  asked_ = {.step = step, .before_bytes = Resident(), .deadline = clock_.Monotonic() + kCollectMax};
  if (step.what != CollectionStep::What::kRestart) {
    v1::ToExecutor message;
    message.mutable_collect()->set_full(step.what == CollectionStep::What::kFull);
    if (SendToExecutor(message).ok()) return true;
    asked_->step.what = CollectionStep::What::kRestart;
  }
  EndCollection(0);
  Discard();
  if (options_.is_spare) return false;
  // The next executor starts at once, so that the next job finds it warm.
  if (const absl::Status status = EnsureExecutor(); !status.ok())
    LogWarning("executor: {}", MessageOf(status));
  return false;
}

void ExecutorSlot::EndSpare() {
  if (options_.is_spare && process_.running() && jobs_.empty() &&
      clock_.Monotonic() >= idle_since_ + kSpareIdle)
    Discard();
}

void ExecutorSlot::CollectIdle() {
  EndSpare();
  if (is_running() || asked_.has_value()) return;
  if (const absl::Time idle_at = collection_.IdleAt(); clock_.Monotonic() >= idle_at)
    idle_seen_ = idle_at;
  Collect(DueBefore(0));
}

void ExecutorSlot::EndCollection(uint64_t after_bytes) {
  const Asked asked = *std::exchange(asked_, std::nullopt);
  if (asked.step.what != CollectionStep::What::kRestart)
    collection_.Collected(asked.step.what, after_bytes);
  if (collection_.TellFloor()) {
    Say(2, fmt::format("slot={} memory limit is small: an executor holds {} bytes after its first "
                       "jobs, and is collected above {}; it is replaced only for a quarter more "
                       "than that",
                       options_.teller.slot, collection_.floor_bytes(),
                       collection_.limits().hard_bytes));
  }
  Emit(SlotCollected{.slot = options_.teller.slot,
                     .step = asked.step,
                     .before_bytes = asked.before_bytes,
                     .after_bytes = after_bytes});
}

void ExecutorSlot::SendDue() {
  while (!is_running() && !jobs_.empty() && !asked_.has_value()) {
    Held& held = jobs_.front();
    if (held.job.job().runs_alone() && process_.running()) Discard();
    if (Collect(DueBefore(held.job.job().memory_bytes()))) return;
    held.was_ahead = false;
    absl::Status status = SendJob(held);
    if (absl::IsUnavailable(status)) {  // it died while idle: that is nobody's fault
      Discard();
      status = SendJob(held);
    }
    if (!status.ok()) return GiveBack(Annotate(status, "no executor could be started"));
    ++sent_;
    BeginFront();
  }
  SendAhead();
}

// The jobs that lie in the socket until the one that runs has ended, in one write.
void ExecutorSlot::SendAhead() {
  if (!is_running() || asked_.has_value() || sent_ == jobs_.size()) return;
  if (!is_set_up_ && !EnsureExecutor().ok()) return;  // the setup goes before the jobs after it
  std::vector<std::string> messages;
  size_t count = 0, bytes = 0;
  for (size_t i = 1; i < sent_; ++i) bytes += jobs_[i].message_bytes;
  for (; sent_ + count < jobs_.size(); ++count) {
    Held& held = jobs_[sent_ + count];
    if (held.job.job().runs_alone()) break;
    if (DueBefore(held.job.job().memory_bytes()).what != CollectionStep::What::kNothing) break;
    std::string message = EncodeJob(held.job);
    // An executor that cooks does not read: what is ahead must lie in the socket, or we would wait
    // for each other.
    if (bytes + message.size() > kAheadBytesMax) break;
    bytes += message.size();
    held.was_ahead = true;
    held.message_bytes = message.size();
    messages.push_back(std::move(message));
  }
  if (messages.empty()) return;
  const absl::Status status = SendMessages(messages);
  if (absl::IsUnavailable(status)) return;  // its end is about to be read
  if (!status.ok()) return GiveBack(Annotate(status, "jobs could not be handed on"));
  sent_ += count;
}

absl::Status ExecutorSlot::SendJob(Held& held) {
  RETURN_IF_ERROR(EnsureExecutor());
  const std::string message = EncodeJob(held.job);
  held.message_bytes = message.size();
  return SendMessages({&message, 1});
}

// Forgets the programs of an earlier job.
void ExecutorSlot::ForgetPrograms() {
  programs_bytes_ = 0;
  programs_seen_ = absl::InfinitePast();
  pending_.Begin();
}

void ExecutorSlot::BeginFront() {
  ForgetPrograms();
  Held& front = jobs_.front();
  time_.Begin(clock_.Monotonic(), absl::Microseconds(front.job.job().timeout_us()));
  killed_at_ = absl::InfiniteFuture();
  if (front.is_stopped) Lose(KilledFor::kCancel, "");
}

// There is no executor, by no job's fault: all jobs go back as they were.
void ExecutorSlot::GiveBack(const absl::Status& status) {
  Discard();
  SlotFailed failed{.slot = options_.teller.slot, .attempts = {}, .error = MessageOf(status)};
  for (const Held& held : jobs_) failed.attempts.push_back(held.job.job().attempt());
  jobs_.clear();
  Emit(failed);
}

void ExecutorSlot::Apply(const StopOrder& stop) {
  if (attempt() == stop.attempt) return Lose(KilledFor::kCancel, "");
  for (Held& held : jobs_) held.is_stopped |= held.job.job().attempt() == stop.attempt;
}

void ExecutorSlot::Apply(const FailOrder& fail) {
  if (attempt() == fail.attempt) Lose(KilledFor::kStore, fail.error);
}

// An executor that has the job already is told; so is the next one, should this one be replaced.
void ExecutorSlot::Apply(const v1::JobPart& part) {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].job.job().attempt() != part.attempt()) continue;
    StrikeTargets(part, *jobs_[i].job.mutable_job());
    if (i >= sent_) return;
    v1::ToExecutor message;
    *message.mutable_leave_out() = part;
    SendToExecutor(message).IgnoreError();  // it has ended: that is about to be read
  }
}

absl::Status ExecutorSlot::StartExecutor() {
  ASSIGN_OR_RETURN(process_, ExecutorProcess::Start(options_.program, setup_->scratch_directory()));
  received_.Clear();
  is_set_up_ = false;
  ++executors_;
  waits_since_.reset();
  collection_.Started();
  oom_kills_ = memory_limits_.OomKills();
  return absl::OkStatus();
}

absl::Status ExecutorSlot::EnsureExecutor() {
  if (!setup_.has_value()) return absl::FailedPreconditionError("the director did not say Welcome");
  if (!process_.running()) {
    if (absl::Status status = StartExecutor(); !status.ok()) {
      Discard();
      return status;
    }
  }
  if (is_set_up_) return absl::OkStatus();
  v1::ToExecutor message;
  *message.mutable_setup() = *setup_;
  RETURN_IF_ERROR(SendToExecutor(message));
  is_set_up_ = true;
  return absl::OkStatus();
}

absl::Status ExecutorSlot::SendToExecutor(const v1::ToExecutor& message) {
  const std::string bytes = message.SerializeAsString();
  return SendMessages({&bytes, 1});
}

absl::Status ExecutorSlot::SendMessages(std::span<const std::string> messages) {
  if (!is_running()) resident_bytes_.reset();
  return process_.Send(messages);
}

void ExecutorSlot::Turn() {
  pollfd events[3] = {
      {wakeup_.get(), POLLIN, 0}, {process_.socket(), POLLIN, 0}, {process_.log(), POLLIN, 0}};
  ::poll(events, 3, PollMilliseconds());
  if (events[0].revents != 0) {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t drained = ::read(wakeup_.get(), &count, sizeof(count));
  }
  if (events[2].revents != 0) ReadLog();
  if (events[1].revents != 0) ReadSocket();
  if (process_.running()) CheckLimits();
  CollectIdle();
}

// -1: until something comes.
int ExecutorSlot::PollMilliseconds() {
  if (!process_.running()) return -1;
  if (is_running() || asked_.has_value())
    return static_cast<int>(absl::ToInt64Milliseconds(kPollPeriod));
  absl::Time idle_at = collection_.IdleAt();
  if (options_.is_spare) {
    idle_at = idle_since_ + kSpareIdle;
  } else if (idle_at == absl::InfiniteFuture() || idle_at == idle_seen_) {
    return -1;
  }
  const absl::Duration wait = absl::Ceil(idle_at - clock_.Monotonic(), absl::Milliseconds(1));
  return static_cast<int>(
      std::clamp<int64_t>(absl::ToInt64Milliseconds(wait), 0, kIdleMillisecondsMax));
}

void ExecutorSlot::ReadLog() {
  process_.ReadLog([this](std::string_view bytes) {
    output_.Add(bytes, [this](const std::string& line) {
      if (!is_running() || jobs_.front().lines++ < kLogLinesMax) Say(2, line, true);
    });
  });
}

bool ExecutorSlot::ReadSocket() {
  switch (process_.Receive()) {
    case ExecutorProcess::Received::kInterrupted:
      return true;
    case ExecutorProcess::Received::kNothing:
      return false;
    case ExecutorProcess::Received::kEnd:
      Lose(KilledFor::kNothing, "");
      return false;
    case ExecutorProcess::Received::kBytes:
      break;
  }
  while (process_.running()) {
    absl::StatusOr<std::optional<Frame>> frame = process_.NextFrame();
    if (!frame.ok()) {
      Lose(KilledFor::kProtocol, MessageOf(frame.status()));
      return false;
    }
    if (!frame->has_value()) return true;
    TakeFrame(**std::move(frame));
  }
  return false;
}

void ExecutorSlot::TakeReady(const Frame& frame) {
  v1::FromExecutor message;
  is_ready_ = frame.kind == FrameKind::kMessage && message.ParseFromString(frame.bytes) &&
              message.has_ready();
  if (!is_ready_) Lose(KilledFor::kProtocol, "its first word is not that it is ready");
}

void ExecutorSlot::TakeCollected(const Frame& frame) {
  v1::FromExecutor message;
  if (frame.kind != FrameKind::kMessage || !message.ParseFromString(frame.bytes) ||
      !message.has_collected()) {
    return Lose(KilledFor::kProtocol, "its answer to a collection is none");
  }
  EndCollection(Resident());
  memory_seen_ = absl::InfinitePast();
  SendDue();
}

// (Between the pieces of an output, too.)
void ExecutorSlot::FetchFor(const v1::ExecutorWant& want) {
  if (options_.fetcher == nullptr || waits_since_.has_value())
    return Lose(KilledFor::kProtocol, "it asked for bytes when it should not");
  waits_since_ = clock_.Monotonic();
  waits_since_wall_ = clock_.Now();
  options_.fetcher->Want(attempt(), want, [this, executor = executors_](v1::ExecutorBytes bytes) {
    Push(BytesOrder{executor, std::move(bytes)});
  });
}

void ExecutorSlot::Apply(const BytesOrder& order) {
  if (order.executor != executors_ || !waits_since_.has_value()) return;
  time_.LeaveOut(clock_.Monotonic() - *waits_since_);  // waiting for bytes is not the job's time
  waits_since_.reset();
  NoteFetched(waits_since_wall_);
  v1::ToExecutor message;
  *message.mutable_bytes() = order.bytes;
  SendToExecutor(message).IgnoreError();  // it has ended: that is about to be read
}

void ExecutorSlot::TakeFrame(Frame frame) {
  if (!is_running()) resident_bytes_.reset();
  if (!is_ready_) return TakeReady(frame);
  if (asked_.has_value()) return TakeCollected(frame);
  if (!is_running()) return Lose(KilledFor::kProtocol, "it spoke without a job");
  if (pending_.Spoke()) TellPending(false);
  if (frame.kind != FrameKind::kMessage) {
    const absl::Time before = clock_.Monotonic();
    const absl::Status taken = received_.Take(frame);
    time_.LeaveOut(clock_.Monotonic() - before);  // waiting for a segment is not the job's time
    if (!taken.ok()) Lose(KilledFor::kStore, MessageOf(taken));
    return;
  }
  v1::FromExecutor message;
  if (!message.ParseFromString(frame.bytes))
    return Lose(KilledFor::kProtocol, "a message does not parse");
  if (message.has_want()) return FetchFor(message.want());
  absl::StatusOr<std::vector<v1::Report>> reports =
      ReportsOf(message, received_.TakeAll(), options_.teller);
  if (!reports.ok()) return Lose(KilledFor::kProtocol, MessageOf(reports.status()));
  const uint64_t told = attempt();
  const bool is_end = !message.has_loaded() && !message.has_saved();
  const std::string before = is_end ? output_.TakeTail() : "";
  if (is_end) ReadLog();
  if (is_end) EndOutput();
  for (v1::Transfer& transfer : transfers_) *reports->front().add_transfers() = std::move(transfer);
  transfers_.clear();
  if (is_end && message.has_failed()) {  // what the cooker logged, then what the process printed
    v1::Failed& failed = *reports->front().mutable_failed();
    failed.set_log_tail(TailOfLog(failed.log_tail() + before + output_.tail()));
    failed.clear_opened();
    if (HasOutgrown(failed)) {
      if (auto opened = ReadOpenedNotes(process_.notes(), told))
        *failed.mutable_opened() = *std::move(opened);
    }
    Say(2, fmt::format("slot={} package={} attempt failed: {}", options_.teller.slot,
                       jobs_.front().job.job().package(), failed.error()));
  }
  if (is_end && message.has_stale()) {
    Say(2, fmt::format(
               "slot={} package={} attempt given up: {} is no longer what the snapshot says",
               options_.teller.slot, jobs_.front().job.job().package(), message.stale().path()));
  }
  if (is_end) {
    jobs_.pop_front();
    --sent_;
    idle_since_ = clock_.Monotonic();
    collection_.JobEnded(idle_since_);
    if (!is_running()) output_.Clear();  // else it may be of the next, which runs already
  }
  for (v1::Report& report : *reports) {
    Emit(SlotReported{.slot = options_.teller.slot, .attempt = told, .report = std::move(report)});
  }
  if (is_end && is_running()) BeginFront();
  if (is_end && !is_running()) {  // what it left counts now
    memory_seen_ = absl::InfinitePast();
    resident_bytes_.reset();
  }
  if (is_end) SendDue();
}

// Whether a job that failed in order has outgrown its limit by what it needs itself.
bool ExecutorSlot::HasOutgrown(const v1::Failed& failed) const {
  return failed.cause() == v1::Failed::TIMEOUT ? time_.up() == TimeUp::kProcessor
                                               : failed.cause() == v1::Failed::MEMORY;
}

// False: the job's time is up, and the executor is lost. One that started programs may end them and
// keep what they said.
bool ExecutorSlot::CheckTime(absl::Time now) {
  if (!is_running() || waits_since_.has_value() || !time_.IsDue(now)) return true;
  if (time_.Look(now, ProcessorUseOf(process_.pid())) == TimeUp::kNo) return true;
  if (!jobs_.front().job.starts_programs() || now > killed_at_) {
    Blame(KilledFor::kTimeout);
    return false;
  }
  if (killed_at_ != absl::InfiniteFuture()) return true;
  killed_at_ = now + kEndGrace;
  TellTimeIsUp(process_.notes(), attempt());
  return true;
}

void ExecutorSlot::CheckLimits() {
  const absl::Time now = clock_.Monotonic();
  if (!CheckTime(now)) return;
  if (asked_.has_value() && now > asked_->deadline)
    return Lose(KilledFor::kProtocol, "it does not answer a collection");
  if (now - memory_seen_ < kPollPeriod) return;
  memory_seen_ = now;
  if (!is_running() || !jobs_.front().job.starts_programs()) {
    programs_bytes_ = 0;
  } else if (now - programs_seen_ >= kProgramsPeriod) {
    programs_bytes_ = ResidentBytesBelow(process_.pid());
    programs_seen_ = now;
    WatchPrograms(now);
  }
  resident_bytes_.reset();  // it may be what the job before had
  const uint64_t memory_bytes = Resident() + programs_bytes_;
  memory_bytes_.store(memory_bytes, std::memory_order_relaxed);
  if (!is_running() || memory_bytes <= jobs_.front().job.job().memory_bytes()) return;
  if (!jobs_.front().was_ahead) return Blame(KilledFor::kMemory);
  // It may be what an earlier job left: this one begins again in an executor of its own.
  if (pending_.Spoke()) TellPending(false);
  Discard();
  SendDue();
}

// The looks at memory and time go on as ever while the job is pending: a program that goes on may
// outgrow its memory before it is seen to work.
void ExecutorSlot::WatchPrograms(absl::Time now) {
  const bool has_programs = programs_bytes_ > 0;  // one that has ended holds nothing
  if (has_programs ? !pending_.IsDue(now) : !pending_.is_pending()) return;
  if (pending_.Look(now, has_programs ? ProcessorUseOf(process_.pid()) : ProcessorUse()))
    TellPending(pending_.is_pending());
}

void ExecutorSlot::TellPending(bool is_pending) {
  Emit(SlotPending{.slot = options_.teller.slot, .attempt = attempt(), .is_pending = is_pending});
}

// Blames the job that runs according to what was read, unless it turns out to have ended.
void ExecutorSlot::Blame(KilledFor why) {
  const uint64_t blamed = attempt();
  for (int i = 0; i < kReadsToBlame && attempt() == blamed && ReadSocket(); ++i) {
  }
  if (process_.running() && attempt() == blamed) Lose(why, "");
}

// Ends the executor if it has not ended, and says so when it ran a job.
void ExecutorSlot::Lose(KilledFor killed_for, std::string detail) {
  Death death{.exit = {},
              .killed_for = killed_for,
              .memory_bytes_max = 0,
              .timeout = {},
              .time_up = time_.up(),
              .detail = std::move(detail)};
  if (killed_for == KilledFor::kNothing) {
    if (const std::optional<ExitStatus> exit = process_.WaitFor(kExitWait)) {
      death.exit = *exit;
      // The group's killer takes whom it likes: only who was seen near a limit of its own is
      // blamed.
      const bool was_large = is_running() && 2 * memory_bytes_.load(std::memory_order_relaxed) >=
                                                 jobs_.front().job.job().memory_bytes();
      death.was_out_of_memory =
          was_large && exit->signal == SIGKILL && memory_limits_.OomKills() > oom_kills_;
    } else {
      death.killed_for = KilledFor::kProtocol;
      death.detail = "it closed its socket and did not end";
    }
  }
  if (process_.running()) death.exit = process_.Kill();
  ReadLog();
  if (!is_ready_ && is_running() && killed_for == KilledFor::kNothing) {
    return GiveBack(absl::UnavailableError(fmt::format(
        "no executor could be started: it ended ({}) before it was ready: {}",
        death.exit.ToString(), EscapeControl(output_.tail().substr(0, kStartErrorBytesMax)))));
  }
  if (!is_running()) {
    LogWarning("slot={} idle executor ended: {}", options_.teller.slot, Judge(death).error);
    Discard();
    return SendDue();  // a job may have waited for a collection
  }
  EndOutput();
  death.memory_bytes_max = jobs_.front().job.job().memory_bytes();
  death.timeout = absl::Microseconds(jobs_.front().job.job().timeout_us());
  const DeathVerdict verdict = Judge(death);
  const uint64_t lost = attempt();
  output_.AddToTail(verdict.error + "\n");  // a failure has a log even if nothing was printed
  if (killed_for != KilledFor::kCancel) {
    Say(2, fmt::format("slot={} package={} executor lost: {}", options_.teller.slot,
                       jobs_.front().job.job().package(), verdict.error));
  }
  // Its end may have to wait for uploads (UploadQueue), and the next job begins now.
  if (pending_.Spoke()) TellPending(false);
  jobs_.pop_front();
  const FileDescriptor notes = process_.TakeNotes();
  Discard();
  // The next executor starts at once, so that the next job finds it warm.
  if (const absl::Status status = options_.is_spare ? absl::OkStatus() : EnsureExecutor();
      !status.ok())
    LogWarning("executor: {}", MessageOf(status));
  Emit(SlotLost{.slot = options_.teller.slot,
                .attempt = lost,
                .cause = verdict.cause,
                .error = verdict.error,
                .log_tail = output_.TakeTail(),
                .opened = galley::worker::HasOutgrown(death) ? ReadOpenedNotes(notes.get(), lost)
                                                             : std::nullopt,
                .is_loaded = WasLoaded(notes.get(), lost),
                .was_killed = verdict.was_killed});
  SendDue();
}

void ExecutorSlot::Discard() {
  process_.End();
  received_.Clear();
  is_set_up_ = false;
  sent_ = 0;
  is_ready_ = false;
  asked_.reset();
  waits_since_.reset();
  transfers_.clear();
  resident_bytes_.reset();
  ForgetPrograms();
  memory_bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace galley::worker
