#include "worker/session/session_shell.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "fmt/format.h"
#include "worker/session/director_stream.h"
#include "worker/session/event_queue.h"
#include "worker/session/executor_slot.h"
#include "worker/session/segment_pool.h"
#include "worker/session/session_core.h"

namespace galley::worker {
namespace {

constexpr absl::Duration kTickPeriod = absl::Seconds(1);
// Of messages to the director: what is to be told within it travels together. The first after a
// pause goes at once.
constexpr absl::Duration kSendPeriod = absl::Milliseconds(5);
constexpr absl::Duration kSegmentWaitMax = absl::Seconds(60);
constexpr absl::Duration kGoodbyePatience = absl::Seconds(2);

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

// A worker's id as the name of a folder.
std::string FolderName(std::string_view worker_id) {
  std::string name;
  for (const char c : worker_id) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_';
    name += is_plain ? c : '_';
  }
  return name;
}

// Waits for SIGTERM, which every thread of the process blocks.
class TerminationWatch {
 public:
  explicit TerminationWatch(EventQueue* events) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    ::signal(SIGINT, SIG_IGN);  // the director decides
    ::signal(SIGPIPE, SIG_IGN);
    thread_ = std::thread([this, events] {
      int signal = 0;
      ::sigwait(&signals_, &signal);
      events->Push({.event = TerminateAsked{}, .stream = 0});
    });
  }
  ~TerminationWatch() {
    ::pthread_kill(thread_.native_handle(),
                   SIGTERM);  // only to wake it; dropped by the closed queue
    thread_.join();
  }

 private:
  sigset_t signals_{};
  std::thread thread_;
};

class Shell {
 public:
  explicit Shell(const SessionConfig& config)
      : config_(config),
        machine_(HostName()),
        core_({.worker_id = config.worker_id,
               .token = config.token,
               .machine = machine_,
               .cookers_json = config.cookers_json,
               .slots = config.slots,
               .pid = ::getpid(),
               .reconnect_max = config.reconnect_max}),
        segments_(kSegmentWaitMax,
                  [this] { Say("no segment is left to write to: waiting for the director"); }) {}

  int Run() {
    const TerminationWatch watch(&events_);  // first: the threads that follow block SIGTERM too
    for (uint32_t slot = 0; slot < config_.slots; ++slot) {
      slots_.push_back(std::make_unique<ExecutorSlot>(ExecutorSlot::Options{
          .teller = {.slot = slot, .worker_id = config_.worker_id, .machine = machine_},
          .program = config_.program,
          .segments = &segments_,
          .events = &events_}));
    }
    stream_ = std::make_unique<DirectorStream>(config_.director, &events_);
    absl::Time next_tick = clock_.Monotonic();
    absl::Time next_send = next_tick;
    while (!exit_.has_value()) {
      std::vector<SessionEffect> effects;
      const absl::Time wake = core_.HasNews() ? std::min(next_send, next_tick) : next_tick;
      const absl::Duration wait = std::max(wake - clock_.Monotonic(), absl::ZeroDuration());
      for (const EventQueue::Entry& entry : events_.TakeAll(absl::ToChronoNanoseconds(wait)))
        Step(entry, effects);
      const absl::Time now = clock_.Monotonic();
      if (now >= next_tick) {
        core_.Step(now, Tick{MemoryBytes()}, effects);
        next_tick = now + kTickPeriod;
      }
      if (now >= next_send && core_.HasNews()) {
        core_.Flush(effects);
        next_send = now + kSendPeriod;
      }
      for (SessionEffect& effect : effects) std::visit([this](auto& what) { Do(what); }, effect);
    }
    LogInfo("session ends: {}", exit_->reason);
    segments_.Close();
    if (exit_->code == 0) stream_->Finish(kGoodbyePatience);
    events_.Close();
    slots_.clear();
    stream_.reset();
    if (!scratch_.empty()) RemoveAll(scratch_).IgnoreError();
    return exit_->code;
  }

 private:
  // A stream's effects must go out before the next stream's events are applied; both carry its
  // number.
  void Step(const EventQueue::Entry& entry, std::vector<SessionEffect>& effects) {
    if (std::holds_alternative<Connected>(entry.event)) {
      for (SessionEffect& effect : effects) std::visit([this](auto& what) { Do(what); }, effect);
      effects.clear();
      present_stream_ = entry.stream;
    }
    core_.Step(clock_.Monotonic(), entry.event, effects);
  }

  void Do(ConfigureSlots& effect) {
    const v1::Welcome& welcome = effect.welcome;
    segments_.SetStore(welcome.store_directory());
    scratch_ = JoinPath(welcome.scratch_directory(), FolderName(config_.worker_id));
    v1::ExecutorSetup setup;
    setup.set_store_directory(welcome.store_directory());
    *setup.mutable_platforms() = welcome.platforms();
    setup.set_project_root(welcome.project_root());
    *setup.mutable_environment() = welcome.environment();
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      setup.set_scratch_directory(JoinPath(scratch_, fmt::format("{}", slot)));
      slots_[slot]->Configure(setup);
    }
  }
  void Do(StartJob& effect) { slots_[effect.slot]->Start(std::move(effect.job)); }
  void Do(StopJob& effect) { slots_[effect.slot]->Stop(effect.attempt); }
  void Do(GiveSegments& effect) { segments_.Give(effect.segments); }
  void Do(SendMessage& effect) { stream_->Send(present_stream_, effect.message); }
  void Do(ExitSession& effect) { exit_ = effect; }

  void Say(std::string text) {
    LogWarning("{}", text);
    v1::LogLine line;
    line.set_level(2);
    line.set_text(std::move(text));
    events_.Push({.event = Logged{std::move(line)}, .stream = 0});
  }

  uint64_t MemoryBytes() const {
    uint64_t sum = ResidentBytes(::getpid());
    for (const auto& slot : slots_) sum += slot->memory_bytes();
    return sum;
  }

  const SessionConfig config_;
  const std::string machine_;
  SystemClock clock_;
  SessionCore core_;
  EventQueue events_;
  SegmentPool segments_;
  std::vector<std::unique_ptr<ExecutorSlot>> slots_;
  std::unique_ptr<DirectorStream> stream_;
  uint64_t present_stream_ = 0;
  std::string scratch_;
  std::optional<ExitSession> exit_;
};

}  // namespace

int RunSession(const SessionConfig& config) { return Shell(config).Run(); }

}  // namespace galley::worker
