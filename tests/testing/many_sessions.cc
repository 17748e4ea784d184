#include "tests/testing/many_sessions.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tests/testing/job_runner.h"
#include "tests/testing/timed_tasks.h"
#include "worker/session/director_bytes.h"
#include "worker/session/director_stream.h"
#include "worker/session/job_targets.h"
#include "worker/session/session_core.h"
#include "worker/session/upload_gate.h"

namespace galley::testing {
namespace {

using worker::SessionCore;

// The constants of session_shell.cc.
constexpr absl::Duration kTickPeriod = absl::Seconds(1);
constexpr absl::Duration kSendPeriod = absl::Milliseconds(5);
constexpr absl::Duration kGoodbyePatience = absl::Seconds(2);

constexpr uint64_t kCacheBytesMax = 1ull << 30;
constexpr uint64_t kResidentBytes = 1 << 20;  // reported by each session

uint64_t DrawSession() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

std::string CookersJson() {
  std::vector<record::CookerDescription> descriptions;
  for (const auto& cooker : worker::AllCookers()) descriptions.push_back(cooker->description());
  return record::EncodeDescriptions(descriptions);
}

// Common: shared by the sessions of a process. Its threads end before the objects that they use.
struct Common {
  Common(const ManySessionsOptions& of, worker::BlobCache opened)
      : options(of),
        cookers_json(CookersJson()),
        cache(std::move(opened)),
        sink(cache),
        runner(of.directory, sink) {}

  const ManySessionsOptions options;
  const std::string cookers_json;
  SystemClock clock;
  const absl::Time began = clock.Monotonic();
  worker::BlobCache cache;
  worker::CacheSink sink;
  JobRunner runner;                   // used by the jobs' thread
  std::atomic<uint32_t> attached{0};  // sessions that were attached at least once
  std::atomic<uint32_t> ended{0};
  TimedTasks timers, jobs;
};

class Session final : public worker::EventSink {
 public:
  Session(Common& common, std::string worker_id)
      : common_(common),
        worker_id_(std::move(worker_id)),
        core_({.worker_id = worker_id_,
               .token = common.options.token,
               .machine = "many-sessions",
               .cookers_json = common.cookers_json,
               .slots = common.options.slots,
               .pid = ::getpid(),
               .session = DrawSession(),
               .is_without_files = true,
               .first_contact_max = absl::InfiniteDuration(),
               .reconnect_max = absl::InfiniteDuration()}),
        busy_until_(worker::LanesFor(common.options.slots), absl::InfinitePast()),
        bytes_(worker::ConnectDirectorBytes(common.options.director, common.options.tls, Caller())),
        gate_(*bytes_, common.cache, *this,
              [this](uint32_t slot, uint64_t attempt, const std::string& error) {
                Lose(slot, attempt, v1::Failed::INFRASTRUCTURE, error);
              }) {}
  ~Session() override { Close(); }

  void Begin() {
    const base::MutexLock lock(mutex_);
    std::vector<worker::SessionEffect> none;
    core_.Step(common_.clock.Monotonic(), worker::MemorySampled{}, none);
    stream_ = std::make_unique<worker::DirectorStream>(common_.options.director,
                                                       common_.options.tls, true, this);
    Schedule();
  }

  // Called after all threads of Common have ended.
  void Close() {
    bytes_->Cancel();
    gate_.Close();
    if (stream_ == nullptr) return;
    if (exit_.has_value() && exit_->said_goodbye) stream_->Finish(kGoodbyePatience);
    stream_.reset();
  }

  void Take(worker::SessionEvent event, uint64_t stream) override {
    const base::MutexLock lock(mutex_);
    if (exit_.has_value()) return;
    if (std::holds_alternative<worker::Connected>(event)) present_stream_ = stream;
    if (const auto* received = std::get_if<worker::Received>(&event)) Note(received->message);
    std::vector<worker::SessionEffect> effects;
    core_.Step(common_.clock.Monotonic(), std::move(event), effects);
    Execute(effects);
    if (NextSend() < wakes_at_) Schedule();
  }

  nlohmann::json figures() {
    const base::MutexLock lock(mutex_);
    return {{"attached_s", absl::ToDoubleSeconds(attached_after_)},
            {"welcomes", welcomes_},
            {"jobs", jobs_},
            {"gap_s", absl::ToDoubleSeconds(gap_)},
            {"in_hand", core_.in_hand()}};
  }
  bool was_refused() {
    const base::MutexLock lock(mutex_);
    return exit_.has_value() && exit_->code == worker::kExitUnfit;
  }

 private:
  struct Held {
    uint32_t slot = 0;
    v1::ExecutorJob job;
  };

  v1::Caller Caller() const {
    v1::Caller caller;
    caller.set_worker_id(worker_id_);
    caller.set_token(common_.options.token);
    return caller;
  }

  void Note(const v1::ToWorker& message) GALLEY_REQUIRES(mutex_) {
    const absl::Time now = common_.clock.Monotonic();
    if (message.has_welcome()) {
      if (welcomes_++ == 0) {
        attached_after_ = now - common_.began;
        ++common_.attached;
      }
    } else {
      gap_ = std::max(gap_, now - heard_);
    }
    heard_ = now;
  }

  absl::Time NextSend() const GALLEY_REQUIRES(mutex_) {
    return std::min(next_tick_, std::max(next_send_, core_.NextFlush()));
  }
  void Schedule() GALLEY_REQUIRES(mutex_) {
    wakes_at_ = NextSend();
    common_.timers.At(wakes_at_, [this, number = ++wake_] { Wake(number); });
  }

  // Runs on the timers' thread. `number`: does nothing if a later wake-up has replaced this one.
  void Wake(uint64_t number) {
    uint64_t stream = 0;
    std::vector<v1::FromWorker> messages;
    {
      const base::MutexLock lock(mutex_);
      if (has_ended_ || number != wake_) return;
      const absl::Time now = common_.clock.Monotonic();
      std::vector<worker::SessionEffect> effects;
      if (now >= next_tick_) {
        core_.Step(now, worker::Tick{.memory_bytes = kResidentBytes}, effects);
        next_tick_ = now + kTickPeriod;
      }
      if (now >= core_.NextFlush()) core_.Flush(effects);
      if (!effects.empty()) next_send_ = now + kSendPeriod;
      Execute(effects);
      stream = present_stream_;
      messages = std::exchange(outbox_, {});
      has_ended_ = exit_.has_value();
      if (!has_ended_) Schedule();
    }
    for (const v1::FromWorker& message : messages) stream_->Send(stream, message);
    const base::MutexLock lock(mutex_);
    if (has_ended_) ++common_.ended;
  }

  void Execute(std::vector<worker::SessionEffect>& effects) GALLEY_REQUIRES(mutex_) {
    for (worker::SessionEffect& effect : effects)
      std::visit([this](auto& what) GALLEY_REQUIRES(mutex_) { Do(what); }, effect);
  }
  void Do(worker::ConfigureSlots& effect) GALLEY_REQUIRES(mutex_) {
    welcome_ = std::make_shared<const v1::Welcome>(std::move(effect.welcome));
  }
  // Runs the jobs of a lane one after the other, as an executor would.
  void Do(worker::FetchAhead&) {}
  void Do(worker::StartJob& effect) GALLEY_REQUIRES(mutex_) {
    const uint64_t attempt = effect.job.job().attempt();
    absl::Time& until = busy_until_[effect.slot];
    until = std::max(until, common_.clock.Monotonic()) + common_.options.sleep;
    held_[attempt] = {.slot = effect.slot, .job = std::move(effect.job)};
    common_.jobs.At(until, [this, attempt] { RunJob(attempt); });
  }
  void Do(worker::StopJob& effect) {
    common_.timers.At(absl::InfinitePast(), [this, stop = effect] {
      Lose(stop.slot, stop.attempt, v1::Failed::CAUSE_UNKNOWN, "it was stopped");
    });
  }
  void Do(worker::LeaveOut& effect) GALLEY_REQUIRES(mutex_) {
    const auto held = held_.find(effect.part.attempt());
    if (held != held_.end()) worker::StrikeTargets(effect.part, *held->second.job.mutable_job());
  }
  void Do(worker::GiveSegments&) {}
  void Do(worker::SendMessage& effect) GALLEY_REQUIRES(mutex_) {
    outbox_.push_back(std::move(effect.message));
  }
  void Do(worker::HangUp& effect) GALLEY_REQUIRES(mutex_) {
    LogWarning("worker={} director stream: {}", worker_id_, effect.reason);
    stream_->HangUp(present_stream_);
  }
  void Do(worker::ExitSession& effect) GALLEY_REQUIRES(mutex_) {
    LogInfo("worker={} session ends: {}", worker_id_, effect.reason);
    exit_ = effect;
    next_tick_ = absl::InfinitePast();
  }

  // Runs on the jobs' thread.
  void RunJob(uint64_t attempt) {
    Held held;
    std::shared_ptr<const v1::Welcome> welcome;
    {
      const base::MutexLock lock(mutex_);
      const auto found = held_.find(attempt);
      if (found == held_.end()) return;
      held = std::move(found->second);
      held_.erase(found);
      welcome = welcome_;
      ++jobs_;
    }
    const worker::Teller teller{
        .slot = held.slot, .worker_id = worker_id_, .machine = "many-sessions"};
    for (v1::Report& report : common_.runner.Run(held.job, *welcome, teller, common_.options.sleep))
      gate_.Take(
          worker::SlotReported{.slot = held.slot, .attempt = attempt, .report = std::move(report)});
  }

  // Acts as if the job's executor was killed, if the session still has the job.
  void Lose(uint32_t slot, uint64_t attempt, v1::Failed::Cause cause, const std::string& error) {
    {
      const base::MutexLock lock(mutex_);
      if (held_.erase(attempt) == 0) return;
    }
    gate_.Take(worker::SlotLost{.slot = slot, .attempt = attempt, .cause = cause, .error = error});
  }

  Common& common_;
  const std::string worker_id_;
  base::Mutex mutex_;
  SessionCore core_ GALLEY_GUARDED_BY(mutex_);
  std::shared_ptr<const v1::Welcome> welcome_ GALLEY_GUARDED_BY(mutex_);
  std::vector<absl::Time> busy_until_ GALLEY_GUARDED_BY(mutex_);  // by lane
  std::map<uint64_t, Held> held_ GALLEY_GUARDED_BY(mutex_);  // by attempt; jobs that have not begun
  uint64_t present_stream_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::vector<v1::FromWorker> outbox_ GALLEY_GUARDED_BY(mutex_);
  absl::Time next_tick_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time next_send_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time wakes_at_ GALLEY_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  uint64_t wake_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::optional<worker::ExitSession> exit_;  // written once, under the mutex
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;

  absl::Time heard_ GALLEY_GUARDED_BY(mutex_);
  absl::Duration attached_after_ GALLEY_GUARDED_BY(mutex_);
  absl::Duration gap_ GALLEY_GUARDED_BY(mutex_);  // the longest between two messages of a stream
  uint64_t welcomes_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t jobs_ GALLEY_GUARDED_BY(mutex_) = 0;

  std::unique_ptr<worker::DirectorBytes> bytes_;
  worker::UploadGate gate_;
  std::unique_ptr<worker::DirectorStream> stream_;
};

// True: the process is asked to end.
bool AwaitSignal(const sigset_t& signals, absl::Duration wait) {
  const timespec time = absl::ToTimespec(wait);
  return ::sigtimedwait(&signals, nullptr, &time) > 0;
}

}  // namespace

uint32_t RunManySessions(const ManySessionsOptions& options) {
  constexpr absl::Duration kLook = absl::Milliseconds(20);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // later threads block them, too
  ::signal(SIGPIPE, SIG_IGN);
  absl::StatusOr<worker::BlobCache> cache =
      worker::BlobCache::Open(JoinPath(options.directory, "cache"), kCacheBytesMax);
  if (!cache.ok()) {
    LogError("{}", MessageOf(cache.status()));
    return options.sessions;
  }
  Common common(options, *std::move(cache));
  std::vector<std::unique_ptr<Session>> sessions;
  for (uint32_t i = 1; i <= options.sessions; ++i)
    sessions.push_back(std::make_unique<Session>(common, fmt::format("{}-{}", options.prefix, i)));
  for (const auto& session : sessions) session->Begin();
  bool has_told = false;
  while (common.ended < options.sessions) {
    if (!has_told && common.attached == options.sessions) {
      has_told = true;
      std::printf("attached %.3f\n",
                  absl::ToDoubleSeconds(common.clock.Monotonic() - common.began));
      std::fflush(stdout);
    }
    if (!AwaitSignal(signals, kLook)) continue;
    for (const auto& session : sessions) session->Take(worker::TerminateAsked{}, 0);
  }
  common.jobs.End();
  common.timers.End();
  nlohmann::json lines = nlohmann::json::array();
  uint32_t refused = 0;
  for (const auto& session : sessions) {
    lines.push_back(session->figures());
    refused += session->was_refused();
  }
  std::printf("%s\n", lines.dump().c_str());
  std::fflush(stdout);
  sessions.clear();
  return refused;
}

}  // namespace galley::testing
