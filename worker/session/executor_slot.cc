#include "worker/session/executor_slot.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/executor/job_messages.h"
#include "worker/executor/opened_notes.h"

namespace galley::worker {
namespace {

// The lines that are sent for a job. A failure keeps the end of the whole output.
constexpr size_t kLogLinesMax = 100;
constexpr size_t kTransfersMax = 16;  // told in a report; the last one covers the rest
constexpr absl::Duration kPollPeriod = absl::Milliseconds(100);  // also between looks at the memory
constexpr absl::Duration kSpareIdle = absl::Seconds(5);
constexpr absl::Duration kCollectMax = absl::Seconds(10);  // an executor that takes longer hangs
constexpr absl::Duration kExitWait = absl::Seconds(2);     // for a process whose socket closed
// The period of looks at memory: a look takes 5 us, a small job 30.
constexpr absl::Duration kResidentPeriod = absl::Milliseconds(5);
constexpr size_t kAheadBytesMax = 32 << 10;  // a sixth of the least socket buffer
constexpr int kReadsToBlame = 64;
constexpr int64_t kIdleMillisecondsMax = 60'000;
constexpr size_t kStartErrorBytesMax = 500;  // of the loader's words about a missing library

std::string EncodeJob(SlotJob& held) {
  v1::ToExecutor message;
  *message.mutable_job() = held.message;
  std::string bytes = message.SerializeAsString();
  held.message_bytes = bytes.size();
  return bytes;
}

}  // namespace

ExecutorSlot::ExecutorSlot(Options options)
    : options_(std::move(options)), received_(options_.sink), thread_([this] { Run(); }) {}

ExecutorSlot::~ExecutorSlot() {
  orders_.Close();
  thread_.join();
}

void ExecutorSlot::Configure(v1::ExecutorSetup setup, const CollectionLimits& collection) {
  orders_.Post([this, setup = std::move(setup), collection]() mutable {
    setup_ = std::move(setup);
    collection_.set_limits(collection);
    executor_.is_set_up = false;
    if (!jobs_.is_running()) WarmUp();  // the present job goes on with its setup
  });
}

void ExecutorSlot::Start(v1::ExecutorJob job) {
  orders_.Post([this, job = std::move(job)]() mutable {
    jobs_.AddJob(std::move(job));  // SendDue follows, for all orders of the batch
  });
}

void ExecutorSlot::Stop(uint64_t attempt) {
  orders_.Post([this, attempt] {
    if (jobs_.attempt() == attempt) return Lose(KilledFor::kCancel, "");
    jobs_.StopJob(attempt);
  });
}

void ExecutorSlot::Fail(uint64_t attempt, std::string error) {
  orders_.Post([this, attempt, error = std::move(error)] {
    if (jobs_.attempt() == attempt) Lose(KilledFor::kStore, error);
  });
}

// Tells an executor that has the job already; a next executor learns it from the struck targets.
void ExecutorSlot::LeaveOut(v1::JobPart part) {
  orders_.Post([this, part = std::move(part)] {
    if (!jobs_.StrikePart(part)) return;
    v1::ToExecutor message;
    *message.mutable_leave_out() = part;
    SendToExecutor(message).IgnoreError();  // an error: the executor's end is about to be read
  });
}

void ExecutorSlot::Say(int level, std::string text, bool is_output) {
  v1::LogLine line;
  line.set_attempt(jobs_.attempt());
  line.set_level(level);
  line.set_text(EscapeControl(text));
  line.set_time_us(absl::ToUnixMicros(clock_.Now()));
  line.set_is_output(is_output);
  options_.events->Take(Logged{std::move(line)});
}

// The running job is about to end: reports its last line, which has no line end, and the number of
// lines that it printed beyond the limit.
void ExecutorSlot::EndOutput() {
  if (!jobs_.is_running()) return;
  SlotJob& front = jobs_.front();
  // If the next job runs already, the line may be its own.
  const bool is_its_own = jobs_.sent() == 1;
  if (is_its_own && !output_.rest().empty() && front.lines++ < kLogLinesMax)
    Say(2, output_.TakeRest(), true);
  if (front.lines > kLogLinesMax)
    Say(2, fmt::format("{} more lines of output were left out", front.lines - kLogLinesMax), true);
}

void ExecutorSlot::Run() {
  std::deque<OrderInbox::Order> orders;
  while (orders_.TakeOrders(orders)) {
    for (const OrderInbox::Order& order : orders) order();
    if (orders.empty()) {
      Turn();
    } else {
      SendDue();
    }
  }
  Discard();
  if (setup_.has_value()) RemoveAll(setup_->scratch_directory()).IgnoreError();
}

// The collection that is due before the next job, because memory that an earlier job left in the
// heap must not count against it. `job_bytes` 0: there is no next job.
CollectionStep ExecutorSlot::DueBefore(uint64_t job_bytes) {
  if (!process_.running() || !executor_.is_ready) return {};
  const CollectionStep step = collection_.Next(clock_.Monotonic(), Resident(), job_bytes);
  if (step.what == CollectionStep::What::kNothing || jobs_.is_running()) return step;
  executor_.resident_bytes.reset();  // as of the job's end; memory may have been freed since
  memory_bytes_.store(Resident(), std::memory_order_relaxed);
  return collection_.Next(clock_.Monotonic(), Resident(), job_bytes);
}

// The resident bytes. An idle executor is looked at once, and again before a step is taken. An
// executor with jobs of less than a millisecond is not looked at for each of them.
uint64_t ExecutorSlot::Resident() {
  const absl::Time now = clock_.Monotonic();
  const bool is_old = jobs_.is_running() && now - executor_.resident_seen >= kResidentPeriod;
  if (is_old || !executor_.resident_bytes.has_value()) {
    executor_.resident_bytes = ResidentBytes(process_.pid());
    executor_.resident_seen = now;
  }
  return *executor_.resident_bytes;
}

// REQUIRES: no job runs. True: the executor was asked, and the next job waits for its answer.
bool ExecutorSlot::Collect(CollectionStep step) {
  if (step.what == CollectionStep::What::kNothing) return false;
  executor_.asked = {
      .step = step, .before_bytes = Resident(), .deadline = clock_.Monotonic() + kCollectMax};
  if (step.what != CollectionStep::What::kRestart) {
    v1::ToExecutor message;
    message.mutable_collect()->set_full(step.what == CollectionStep::What::kFull);
    if (SendToExecutor(message).ok()) return true;
    executor_.asked->step.what = CollectionStep::What::kRestart;
  }
  EndCollection(0);
  Discard();
  WarmUp();
  return false;
}

void ExecutorSlot::CollectIdle() {
  if (options_.is_spare && process_.running() && jobs_.empty() &&
      clock_.Monotonic() >= idle_since_ + kSpareIdle)
    Discard();
  if (jobs_.is_running() || executor_.asked.has_value()) return;
  if (const absl::Time idle_at = collection_.IdleAt(); clock_.Monotonic() >= idle_at)
    idle_seen_ = idle_at;
  Collect(DueBefore(0));
}

void ExecutorSlot::EndCollection(uint64_t after_bytes) {
  const CollectionRequest asked = *std::exchange(executor_.asked, std::nullopt);
  if (asked.step.what != CollectionStep::What::kRestart)
    collection_.Collected(asked.step.what, after_bytes);
  if (collection_.TellFloor()) {
    Say(2, fmt::format("slot={} memory limit is small: an executor holds {} bytes after its first "
                       "jobs, and is collected above {}; it is replaced only for a quarter more "
                       "than that",
                       options_.teller.slot, collection_.floor_bytes(),
                       collection_.limits().hard_bytes));
  }
  options_.events->Take(SlotCollected{.slot = options_.teller.slot,
                                      .step = asked.step,
                                      .before_bytes = asked.before_bytes,
                                      .after_bytes = after_bytes});
}

void ExecutorSlot::SendDue() {
  while (!jobs_.is_running() && !jobs_.empty() && !executor_.asked.has_value()) {
    SlotJob& held = jobs_.front();
    if (held.job().runs_alone() && process_.running()) Discard();
    if (Collect(DueBefore(held.job().memory_bytes()))) return;
    held.was_ahead = false;
    absl::Status status = SendJob(held);
    if (absl::IsUnavailable(status)) {  // it died while idle, which is nobody's fault
      Discard();
      status = SendJob(held);
    }
    if (!status.ok()) return GiveBack(Annotate(status, "no executor could be started"));
    jobs_.NoteSent(1);
    BeginJob();
  }
  SendAhead();
}

// Sends jobs that lie in the socket until the running job has ended, in a single write.
void ExecutorSlot::SendAhead() {
  if (!jobs_.is_running() || executor_.asked.has_value() || jobs_.sent() == jobs_.size()) return;
  // The setup goes before later jobs.
  if (!executor_.is_set_up && !EnsureExecutor().ok()) return;
  std::vector<std::string> messages;
  size_t bytes = 0;
  for (size_t i = 1; i < jobs_.sent(); ++i) bytes += jobs_[i].message_bytes;
  for (size_t i = jobs_.sent(); i < jobs_.size(); ++i) {
    SlotJob& held = jobs_[i];
    if (held.job().runs_alone()) break;
    if (DueBefore(held.job().memory_bytes()).what != CollectionStep::What::kNothing) break;
    std::string message = EncodeJob(held);
    // An executor that cooks does not read: jobs sent ahead must fit in the socket, or executor and
    // slot would wait for each other.
    bytes += message.size();
    if (bytes > kAheadBytesMax) break;
    held.was_ahead = true;
    messages.push_back(std::move(message));
  }
  if (messages.empty()) return;
  const absl::Status status = process_.Send(messages);
  if (absl::IsUnavailable(status)) return;  // the executor's end is about to be read
  if (!status.ok()) return GiveBack(Annotate(status, "jobs could not be handed on"));
  jobs_.NoteSent(messages.size());
}

// REQUIRES: no job runs.
absl::Status ExecutorSlot::SendJob(SlotJob& held) {
  RETURN_IF_ERROR(EnsureExecutor());
  executor_.resident_bytes.reset();
  const std::string message = EncodeJob(held);
  return process_.Send({&message, 1});
}

void ExecutorSlot::BeginJob() {
  const SlotJob& front = jobs_.front();
  watch_ = JobWatch(clock_.Monotonic(), absl::Microseconds(front.job().timeout_us()),
                    front.message.starts_programs());
  if (front.is_stopped) Lose(KilledFor::kCancel, "");
}

// There is no executor, through no job's fault: all jobs go back unchanged.
void ExecutorSlot::GiveBack(const absl::Status& status) {
  Discard();
  options_.events->Take(SlotFailed{
      .slot = options_.teller.slot, .attempts = jobs_.TakeAttempts(), .error = MessageOf(status)});
}

absl::Status ExecutorSlot::EnsureExecutor() {
  if (!setup_.has_value()) return absl::FailedPreconditionError("the director did not say Welcome");
  if (!process_.running()) {
    ASSIGN_OR_RETURN(process_,
                     ExecutorProcess::Start(options_.program, setup_->scratch_directory()));
    executor_ = {.number = ++executors_, .oom_kills = memory_limits_.OomKills()};
    collection_.Started();
  }
  if (executor_.is_set_up) return absl::OkStatus();
  v1::ToExecutor message;
  *message.mutable_setup() = *setup_;
  RETURN_IF_ERROR(SendToExecutor(message));
  executor_.is_set_up = true;
  return absl::OkStatus();
}

// Starts the next executor at once, so that the next job finds it warm.
void ExecutorSlot::WarmUp() {
  if (options_.is_spare) return;
  if (const absl::Status status = EnsureExecutor(); !status.ok())
    LogWarning("executor: {}", MessageOf(status));
}

absl::Status ExecutorSlot::SendToExecutor(const v1::ToExecutor& message) {
  const std::string bytes = message.SerializeAsString();
  if (!jobs_.is_running()) executor_.resident_bytes.reset();
  return process_.Send({&bytes, 1});
}

void ExecutorSlot::Turn() {
  pollfd events[3] = {{orders_.descriptor(), POLLIN, 0},
                      {process_.socket(), POLLIN, 0},
                      {process_.log(), POLLIN, 0}};
  ::poll(events, 3, PollMilliseconds());
  if (events[0].revents != 0) orders_.Drain();
  if (events[2].revents != 0) ReadLog();
  if (events[1].revents != 0) ReadSocket();
  if (process_.running()) CheckLimits();
  CollectIdle();
}

// -1: wait until something comes.
int ExecutorSlot::PollMilliseconds() {
  if (!process_.running()) return -1;
  if (jobs_.is_running() || executor_.asked.has_value())
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
      if (!jobs_.is_running() || jobs_.front().lines++ < kLogLinesMax) Say(2, line, true);
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

void ExecutorSlot::TakeFrame(Frame frame) {
  if (!jobs_.is_running()) executor_.resident_bytes.reset();
  v1::FromExecutor message;
  const bool is_message = frame.kind == FrameKind::kMessage;
  const bool parses = is_message && message.ParseFromString(frame.bytes);
  if (!executor_.is_ready) {
    executor_.is_ready = parses && message.has_ready();
    if (!executor_.is_ready) Lose(KilledFor::kProtocol, "its first word is not that it is ready");
    return;
  }
  if (executor_.asked.has_value()) {
    if (!parses || !message.has_collected())
      return Lose(KilledFor::kProtocol, "its answer to a collection is none");
    EndCollection(Resident());
    memory_seen_ = absl::InfinitePast();
    return SendDue();
  }
  if (!jobs_.is_running()) return Lose(KilledFor::kProtocol, "it spoke without a job");
  if (watch_.EndWait()) TellPending();
  if (!is_message) {
    const absl::Time before = clock_.Monotonic();
    const absl::Status taken = received_.Take(frame);
    watch_.LeaveOut(clock_.Monotonic() - before);  // waiting for a segment is not the job's time
    if (!taken.ok()) Lose(KilledFor::kStore, MessageOf(taken));
    return;
  }
  if (!parses) return Lose(KilledFor::kProtocol, "a message does not parse");
  if (message.has_want()) return FetchBytes(message.want());
  TakeReports(message);
}

// An executor may ask for bytes at any time in a job, also between the pieces of an output.
void ExecutorSlot::FetchBytes(const v1::ExecutorWant& want) {
  if (options_.fetcher == nullptr || executor_.waits.has_value())
    return Lose(KilledFor::kProtocol, "it asked for bytes when it should not");
  executor_.waits = {.since = clock_.Monotonic(), .since_wall = clock_.Now()};
  options_.fetcher->Want(jobs_.attempt(), want,
                         [this, executor = executor_.number](v1::ExecutorBytes bytes) {
                           orders_.Post([this, executor, bytes = std::move(bytes)] {
                             if (executor == executor_.number) GiveBytes(bytes);
                           });
                         });
}

void ExecutorSlot::GiveBytes(const v1::ExecutorBytes& bytes) {
  if (!executor_.waits.has_value()) return;
  const ByteWait waited = *std::exchange(executor_.waits, std::nullopt);
  watch_.LeaveOut(clock_.Monotonic() - waited.since);  // waiting for bytes is not the job's time
  std::vector<v1::Transfer>& transfers = executor_.transfers;
  if (transfers.size() < kTransfersMax) {
    v1::Transfer& transfer = transfers.emplace_back();
    transfer.set_started_us(absl::ToUnixMicros(waited.since_wall));
    transfer.set_slot(options_.teller.slot);
  }
  transfers.back().set_duration_us(absl::ToUnixMicros(clock_.Now()) -
                                   transfers.back().started_us());
  v1::ToExecutor message;
  *message.mutable_bytes() = bytes;
  SendToExecutor(message).IgnoreError();  // an error: the executor's end is about to be read
}

void ExecutorSlot::TakeReports(const v1::FromExecutor& message) {
  absl::StatusOr<std::vector<v1::Report>> reports =
      ReportsOf(message, received_.TakeAll(), options_.teller);
  if (!reports.ok()) return Lose(KilledFor::kProtocol, MessageOf(reports.status()));
  const uint64_t told = jobs_.attempt();
  for (v1::Transfer& transfer : std::exchange(executor_.transfers, {}))
    *reports->front().add_transfers() = std::move(transfer);
  const bool is_end = !message.has_loaded() && !message.has_saved();
  if (is_end) EndJob(message, reports->front());
  for (v1::Report& report : *reports) {
    options_.events->Take(
        SlotReported{.slot = options_.teller.slot, .attempt = told, .report = std::move(report)});
  }
  if (!is_end) return;
  if (jobs_.is_running()) {
    BeginJob();
  } else {  // from now on the job's leftovers count
    memory_seen_ = absl::InfinitePast();
    executor_.resident_bytes.reset();
  }
  SendDue();
}

// `report`: the last report of the running job, which gets the job's output.
void ExecutorSlot::EndJob(const v1::FromExecutor& message, v1::Report& report) {
  const std::string before = output_.TakeTail();
  ReadLog();
  EndOutput();
  if (message.has_failed()) {  // the cooker's log, then the output of the process
    v1::Failed& failed = *report.mutable_failed();
    failed.set_log_tail(TailOfLog(failed.log_tail() + before + output_.tail()));
    failed.clear_opened();
    // A job that failed in order may have outgrown a limit by its own needs.
    const bool has_outgrown = failed.cause() == v1::Failed::TIMEOUT
                                  ? watch_.time_up() == TimeUp::kProcessor
                                  : failed.cause() == v1::Failed::MEMORY;
    if (auto opened =
            has_outgrown ? ReadOpenedNotes(process_.notes(), jobs_.attempt()) : std::nullopt)
      *failed.mutable_opened() = *std::move(opened);
    Say(2, fmt::format("slot={} package={} attempt failed: {}", options_.teller.slot,
                       jobs_.front().job().package(), failed.error()));
  }
  if (message.has_stale()) {
    Say(2,
        fmt::format("slot={} package={} attempt given up: {} is no longer what the snapshot says",
                    options_.teller.slot, jobs_.front().job().package(), message.stale().path()));
  }
  jobs_.EndJob();
  idle_since_ = clock_.Monotonic();
  collection_.JobEnded(idle_since_);
  // If the next job runs already, the output may be its own.
  if (!jobs_.is_running()) output_.Clear();
}

void ExecutorSlot::CheckLimits() {
  const absl::Time now = clock_.Monotonic();
  if (jobs_.is_running() && !executor_.waits.has_value()) {
    const JobWatch::TimeLook look = watch_.LookAtTime(now, process_.pid());
    if (look == JobWatch::TimeLook::kOver) return Blame(KilledFor::kTimeout);
    if (look == JobWatch::TimeLook::kUp) TellTimeIsUp(process_.notes(), jobs_.attempt());
  }
  if (executor_.asked.has_value() && now > executor_.asked->deadline)
    return Lose(KilledFor::kProtocol, "it does not answer a collection");
  if (now - memory_seen_ < kPollPeriod) return;
  memory_seen_ = now;
  if (jobs_.is_running() && watch_.LookAtPrograms(now, process_.pid())) TellPending();
  executor_.resident_bytes.reset();  // it may hold a value of the job before
  const uint64_t memory_bytes = Resident() + (jobs_.is_running() ? watch_.programs_bytes() : 0);
  memory_bytes_.store(memory_bytes, std::memory_order_relaxed);
  if (!jobs_.is_running() || memory_bytes <= jobs_.front().job().memory_bytes()) return;
  if (!jobs_.front().was_ahead) return Blame(KilledFor::kMemory);
  // The memory may be left over from an earlier job: this job begins again in a fresh executor.
  if (watch_.EndWait()) TellPending();
  Discard();
  SendDue();
}

void ExecutorSlot::TellPending() {
  options_.events->Take(SlotPending{
      .slot = options_.teller.slot, .attempt = jobs_.attempt(), .is_pending = watch_.is_pending()});
}

// Reads the socket, and blames the running job unless it turns out to have ended.
void ExecutorSlot::Blame(KilledFor why) {
  const uint64_t blamed = jobs_.attempt();
  for (int i = 0; i < kReadsToBlame && jobs_.attempt() == blamed && ReadSocket(); ++i) {
  }
  if (process_.running() && jobs_.attempt() == blamed) Lose(why, "");
}

// Ends the executor if it has not ended, and emits SlotLost if it ran a job.
void ExecutorSlot::Lose(KilledFor killed_for, std::string detail) {
  Death death{.exit = {},
              .killed_for = killed_for,
              .memory_bytes_max = 0,
              .timeout = {},
              .time_up = watch_.time_up(),
              .detail = std::move(detail)};
  if (killed_for == KilledFor::kNothing) {
    if (const std::optional<ExitStatus> exit = process_.WaitFor(kExitWait)) {
      death.exit = *exit;
      // The group's killer may take any process: a job is blamed only if its executor was seen near
      // a limit of its own.
      const bool was_large =
          jobs_.is_running() &&
          2 * memory_bytes_.load(std::memory_order_relaxed) >= jobs_.front().job().memory_bytes();
      death.was_out_of_memory =
          was_large && exit->signal == SIGKILL && memory_limits_.OomKills() > executor_.oom_kills;
    } else {
      death.killed_for = KilledFor::kProtocol;
      death.detail = "it closed its socket and did not end";
    }
  }
  if (process_.running()) death.exit = process_.Kill();
  ReadLog();
  if (!executor_.is_ready && jobs_.is_running() && killed_for == KilledFor::kNothing) {
    return GiveBack(UnavailableError(
        "no executor could be started: it ended ({}) before it was ready: {}",
        death.exit.ToString(), EscapeControl(output_.tail().substr(0, kStartErrorBytesMax))));
  }
  if (!jobs_.is_running()) {
    LogWarning("slot={} idle executor ended: {}", options_.teller.slot, Judge(death).error);
    Discard();
    return SendDue();  // a job may have waited for a collection
  }
  EndOutput();
  death.memory_bytes_max = jobs_.front().job().memory_bytes();
  death.timeout = absl::Microseconds(jobs_.front().job().timeout_us());
  const DeathVerdict verdict = Judge(death);
  const uint64_t lost = jobs_.attempt();
  // A failure has a log even if nothing was printed.
  output_.AddToTail(verdict.error + "\n");
  if (killed_for != KilledFor::kCancel) {
    Say(2, fmt::format("slot={} package={} executor lost: {}", options_.teller.slot,
                       jobs_.front().job().package(), verdict.error));
  }
  // The job's end may have to wait for uploads (UploadQueue), but the next job begins now.
  if (watch_.EndWait()) TellPending();
  jobs_.EndJob();
  const FileDescriptor notes = process_.TakeNotes();
  Discard();
  WarmUp();
  options_.events->Take(SlotLost{.slot = options_.teller.slot,
                                 .attempt = lost,
                                 .cause = verdict.cause,
                                 .error = verdict.error,
                                 .log_tail = output_.TakeTail(),
                                 .opened = galley::worker::HasOutgrown(death)
                                               ? ReadOpenedNotes(notes.get(), lost)
                                               : std::nullopt,
                                 .is_loaded = WasLoaded(notes.get(), lost),
                                 .was_killed = verdict.was_killed});
  SendDue();
}

void ExecutorSlot::Discard() {
  process_.End();
  executor_ = {};
  jobs_.NoteNoneSent();
  received_.Clear();
  watch_ = {};
  memory_bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace galley::worker
