#include "worker/session/session_shell.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/memory_limit.h"
#include "common/base/mutex.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/session/blob_cache.h"
#include "worker/session/byte_fetcher.h"
#include "worker/session/certificate_keeper.h"
#include "worker/session/director_bytes.h"
#include "worker/session/director_stream.h"
#include "worker/session/disk_room.h"
#include "worker/session/enroll.h"
#include "worker/session/event_sink.h"
#include "worker/session/executor_slot.h"
#include "worker/session/last_slot.h"
#include "worker/session/runs_as.h"
#include "worker/session/segment_pool.h"
#include "worker/session/session_core.h"
#include "worker/session/store_asker.h"
#include "worker/session/upload_gate.h"

namespace galley::worker {
namespace {

constexpr absl::Duration kTickPeriod = absl::Seconds(1);
// The time between samples while there are jobs.
constexpr absl::Duration kMemoryPeriod = absl::Milliseconds(500);
// The period of messages to the director: news within it travel together. The first message after a
// pause goes at once, and so does one for which a person waits.
constexpr absl::Duration kSendPeriod = absl::Milliseconds(5);
constexpr absl::Duration kSegmentWaitMax = absl::Seconds(60);
constexpr absl::Duration kAloneTold = absl::Seconds(5);  // time without a director
constexpr absl::Duration kGoodbyePatience = absl::Seconds(2);
constexpr absl::Duration kRenewPatience = absl::Seconds(5);  // the session may end meanwhile

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

uint64_t NewSession() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// The path of the lock beside the scratch folders of this director's workers; `folder` is one of
// them.
std::string LastSlotFile(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return JoinPath(folder.substr(0, folder.rfind('/')), "memory.lock");
}

// A worker's id as the name of a folder.
std::string FolderName(std::string_view worker_id) {
  std::string name;
  for (const char c : worker_id) name += IsAlphanumericOr(c, "-_") ? c : '_';
  return name;
}

// Waits for SIGTERM, which every thread of the process blocks, or for the end of our standard
// input; in a worker that a person started, also for SIGINT.
class TerminationWatch {
 public:
  TerminationWatch(EventSink* events, bool is_by_hand, bool is_until_input_ends) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    if (is_by_hand) sigaddset(&signals_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    if (!is_by_hand) ::signal(SIGINT, SIG_IGN);  // the director decides
    thread_ = std::thread([this, events] {
      int signal = 0;
      ::sigwait(&signals_, &signal);
      events->Take(TerminateAsked{});
    });
    if (is_until_input_ends) input_ = std::thread([this, events] { WatchInput(events); });
  }
  ~TerminationWatch() {
    ::pthread_kill(thread_.native_handle(),
                   SIGTERM);  // only wakes the thread; the session has ended
    thread_.join();
    is_over_ = true;
    if (input_.joinable()) input_.join();
  }

 private:
  static constexpr int kInputPollMs = 200;

  void WatchInput(EventSink* events) const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char ignored[512];
    while (!is_over_) {
      if (::poll(&input, 1, kInputPollMs) <= 0) continue;
      const ssize_t count = ::read(STDIN_FILENO, ignored, sizeof(ignored));
      if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) continue;
      LogInfo("the input ended: whoever started this worker is gone");
      return events->Take(TerminateAsked{});
    }
  }

  sigset_t signals_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_, input_;
};

class Shell final : public EventSink {
 public:
  explicit Shell(const SessionConfig& config)
      : config_(config),
        machine_(HostName()),
        core_({.worker_id = config.worker_id,
               .token = config.token,
               .machine = machine_,
               .runs_as = RunsAs(),
               .cookers_json = config.cookers_json,
               .walls_missing = config.walls_missing,
               .slots = config.slots,
               .pid = ::getpid(),
               .session = NewSession(),
               .is_without_files = config.is_without_files,
               .offer = config.offer,
               .first_contact_max = config.first_contact_max,
               .reconnect_max = config.reconnect_max}),
        segments_(
            kSegmentWaitMax, [this](const std::string& unusable) { Starve(unusable); },
            [this](const Digest& digest) { return asker_.Where(digest); }) {}

  int Run() {
    const TerminationWatch watch(
        this, config_.is_by_hand,
        config_.is_until_input_ends);  // comes first, so that later threads block SIGTERM, too
    SampleMemory();                    // for Hello
    if (config_.is_without_files) {
      if (const absl::Status opened = OpenRemote(); !opened.ok()) {
        LogError("{}", MessageOf(opened));
        return kExitUnfit;
      }
    }
    for (uint32_t lane = 0; lane < LanesFor(config_.slots); ++lane) {
      slots_.push_back(std::make_unique<ExecutorSlot>(ExecutorSlot::Options{
          .teller = {.slot = lane, .worker_id = config_.worker_id, .machine = machine_},
          .program = config_.program,
          .sink = remote_ != nullptr ? static_cast<BlobSink*>(&remote_->sink) : &segments_,
          .fetcher = remote_ != nullptr ? &remote_->fetcher : nullptr,
          .events = remote_ != nullptr ? static_cast<EventSink*>(&remote_->gate) : this,
          .is_spare = lane >= config_.slots}));
    }
    stream_ = std::make_unique<DirectorStream>(config_.director, config_.tls,
                                               config_.is_without_files, this);
    if (config_.renews_tls) KeepCertificate();
    while (!HasEnded()) {
      if (IsSampleDue()) SampleMemory();
      Outgoing outgoing = WaitForMessages();
      for (v1::FromWorker& message : outgoing.messages) {
        message.set_sent_us(absl::ToUnixMicros(clock_.Now()));
        stream_->Send(outgoing.stream, message);
      }
    }
    const ExitSession exit = *exit_;
    if (exit.code == kExitUnfit) {
      LogError("session ends: {}", exit.reason);
    } else {
      LogInfo("session ends: {}", exit.reason);
    }
    keeper_.reset();
    segments_.Close();
    if (remote_ != nullptr) {
      const ByteFetcher::Counts fetched = remote_->fetcher.counts();
      LogInfo("fetched_bytes={} table_bytes={} not_shared_files={}", fetched.bytes,
              fetched.table_bytes, fetched.not_shared);
      remote_->Close();
    }
    if (exit.said_goodbye) stream_->Finish(kGoodbyePatience);
    slots_.clear();  // nobody answers slots any more
    remote_.reset();
    stream_.reset();
    base::MutexLock lock(mutex_);
    if (!folders_.scratch.empty()) RemoveAll(folders_.scratch).IgnoreError();
    return exit.code;
  }

  void Take(SessionEvent event, uint64_t stream) override {
    std::vector<uint64_t> taken_back;
    if (const auto* received = std::get_if<Received>(&event)) {
      for (const auto* taken : {&received->message.cancel(), &received->message.retract()})
        taken_back.insert(taken_back.end(), taken->begin(), taken->end());
    }
    const auto* given = std::get_if<Received>(&event);
    if (given != nullptr && !given->message.start().empty()) LookAtDisks();
    base::MutexLock lock(mutex_);
    if (exit_.has_value()) return;
    if (std::holds_alternative<Connected>(event)) present_stream_ = stream;
    std::vector<SessionEffect> effects;
    core_.Step(clock_.Monotonic(), std::move(event), effects);
    Execute(effects);
    // Done after the effects: now the core has nothing more fetched for these attempts.
    if (remote_ != nullptr && !taken_back.empty()) remote_->fetcher.DropAhead(taken_back);
    if (exit_.has_value() || NextSend() < wakes_at_) changed_.NotifyAll();
  }

 private:
  // The parts that only a session without the director's files has.
  struct Remote {
    Remote(const SessionConfig& config, BlobCache opened, EventSink& next,
           UploadGate::EndJob end_job)
        : cache(std::move(opened)),
          director(ConnectDirectorBytes(config.director, config.tls, CallerOf(config))),
          sink(cache),
          fetcher(*director, cache),
          gate(*director, cache, next, std::move(end_job)) {}
    void Close() {
      director->Cancel();
      gate.Close();
      fetcher.Close();
    }
    static v1::Caller CallerOf(const SessionConfig& config) {
      v1::Caller caller;
      caller.set_worker_id(config.worker_id);
      caller.set_token(config.token);
      return caller;
    }

    BlobCache cache;
    std::unique_ptr<DirectorBytes> director;
    CacheSink sink;
    ByteFetcher fetcher;
    UploadGate gate;
  };

  absl::Status OpenRemote() {
    ASSIGN_OR_RETURN(BlobCache cache,
                     BlobCache::Open(config_.cache_directory, config_.cache_bytes_max));
    RETURN_IF_ERROR(CreateDirectories(config_.scratch_directory));
    if (!config_.shared_path.empty() && !StatFile(config_.shared_path, true).ok())
      LogWarning("there is nothing at the shared path {}: all comes from the director",
                 config_.shared_path);
    ASSIGN_OR_RETURN(const std::string scratch,
                     MakeTemporaryDirectory(config_.scratch_directory, "galley-worker-"));
    {
      base::MutexLock lock(mutex_);
      folders_ = {.scratch = scratch, .disks = {scratch, config_.cache_directory}};
    }
    // Slots get attempts only after all slots are there.
    remote_ =
        std::make_unique<Remote>(config_, std::move(cache), *this,
                                 [this](uint32_t slot, uint64_t attempt, const std::string& error) {
                                   slots_[slot]->Fail(attempt, error);
                                 });
    remote_->fetcher.SetShared(config_.shared_path);
    return absl::OkStatus();
  }

  void KeepCertificate() {
    const EnrollOptions options{.director = config_.director,
                                .worker_id = config_.worker_id,
                                .token = config_.token,
                                .authority = config_.tls.ca,
                                .wait_max = kRenewPatience};
    keeper_ = std::make_unique<CertificateKeeper>(
        config_.tls,
        CertificateKeeper::Deps{
            .clock = &clock_,
            .renew = [options](const auto& present) { return Renew(options, present); },
            .take =
                [this](const wire::ClientTls& next) {
                  stream_->UseTls(next);
                  if (remote_ != nullptr) remote_->director->UseTls(next);
                }});
    keeper_->Start();
  }

  // The folders of the director that welcomed the session last.
  struct Folders {
    std::string scratch;
    std::string last_slot_file;
    std::string tables;              // of a session without files
    std::vector<std::string> disks;  // to which jobs write
  };

  struct Outgoing {
    uint64_t stream = 0;  // the stream for which the messages were made
    std::vector<v1::FromWorker> messages;
  };

  bool HasEnded() {
    base::MutexLock lock(mutex_);
    return exit_.has_value();
  }

  bool IsSampleDue() {
    base::MutexLock lock(mutex_);
    return clock_.Monotonic() >= next_sample_;
  }

  // Reads files, so it takes no lock meanwhile. Called by the session's own thread.
  void SampleMemory() {
    const MemoryRoom room = memory_.Sample();
    uint64_t largest = 0;
    for (const auto& slot : slots_) largest = std::max(largest, slot->memory_bytes());
    bool wants_last_slot = false;
    std::string lock_file;
    {
      base::MutexLock lock(mutex_);
      wants_last_slot = core_.WantsLastSlot();
      lock_file = folders_.last_slot_file;
      next_sample_ =
          clock_.Monotonic() + (core_.in_hand() > 0 ? kMemoryPeriod : absl::Duration(kTickPeriod));
    }
    if (!wants_last_slot) last_slot_.Release();
    LookAtDisks();
    Take(MemorySampled{.room = room,
                       .executor_bytes = largest,
                       .holds_last_slot = wants_last_slot && last_slot_.Take(lock_file)},
         0);
  }

  // Samples the disks before the core begins jobs, and with each sample of the memory. Asks the
  // kernel, so it takes no lock meanwhile.
  void LookAtDisks() {
    std::vector<std::string> disks;
    {
      base::MutexLock lock(mutex_);
      disks = folders_.disks;
    }
    Take(DiskSampled{LackOfRoom(disks)}, 0);
  }

  absl::Time NextSend() const GALLEY_REQUIRES(mutex_) {
    const absl::Time next = core_.NextFlush();
    return core_.IsAwaited() ? next : std::max(next_send_, next);
  }

  // Sleeps until messages are due. The messages of one call go to one stream.
  Outgoing WaitForMessages() {
    base::MutexLock lock(mutex_);
    while (!exit_.has_value()) {
      const absl::Time now = clock_.Monotonic();
      wakes_at_ = std::min({next_tick_, next_sample_, NextSend()});
      if (now >= wakes_at_) break;
      changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(wakes_at_ - now));
    }
    const absl::Time now = clock_.Monotonic();
    std::vector<SessionEffect> effects;
    TakeLog(now, effects);
    if (now >= next_tick_ && !exit_.has_value()) {
      core_.Step(now, Tick{MemoryBytes()}, effects);
      next_tick_ = now + kTickPeriod;
      TellIfAlone();
    }
    if (!exit_.has_value() && now >= core_.NextFlush()) core_.Flush(effects);
    if (!effects.empty()) next_send_ = now + kSendPeriod;
    Execute(effects);
    return {.stream = present_stream_, .messages = std::exchange(outbox_, {})};
  }

  void TakeLog(absl::Time now, std::vector<SessionEffect>& effects) GALLEY_REQUIRES(mutex_) {
    if (config_.log == nullptr || exit_.has_value()) return;
    for (v1::LogLine& line : config_.log->Take()) core_.Step(now, Logged{std::move(line)}, effects);
  }

  // Warns of an address at which nobody answers, once for each time without a director.
  void TellIfAlone() GALLEY_REQUIRES(mutex_) {
    const bool is_long = core_.AloneFor() >= kAloneTold;
    if (is_long && !has_told_alone_)
      LogWarning(
          "no director answers at {}: is it running there, and does [farm] listen name this "
          "address? The worker goes on trying for a while",
          config_.director);
    has_told_alone_ = is_long;
  }

  void Execute(std::vector<SessionEffect>& effects) GALLEY_REQUIRES(mutex_) {
    for (SessionEffect& effect : effects)
      std::visit([this](auto& what) GALLEY_REQUIRES(mutex_) { Do(what); }, effect);
  }

  void Do(ConfigureSlots& effect) GALLEY_REQUIRES(mutex_) {
    const v1::Welcome& welcome = effect.welcome;
    v1::ExecutorSetup setup;
    if (remote_ != nullptr) {
      SetUpWithoutFiles(welcome.term());
      setup.set_cache_directory(remote_->cache.directory());
      setup.set_shared_path(config_.shared_path);
      setup.add_read_only(folders_.scratch);
    } else {
      asker_.SetStore(welcome.store_directory());
      segments_.SetStore(welcome.store_directory(), welcome.term());
      folders_.scratch = JoinPath(welcome.scratch_directory(), FolderName(config_.worker_id));
      folders_.last_slot_file = LastSlotFile(welcome.scratch_directory());
      // The scratch folder is made with the first job.
      folders_.disks = {welcome.store_directory(), welcome.scratch_directory()};
      setup.set_store_directory(welcome.store_directory());
    }
    setup.set_project_root(welcome.project_root());
    setup.set_walls(welcome.walls());
    if (remote_ == nullptr) *setup.mutable_read_only() = welcome.read_only();
    *setup.mutable_environment() = welcome.environment();
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      setup.set_scratch_directory(JoinPath(folders_.scratch, fmt::format("{}", slot)));
      slots_[slot]->Configure(setup, effect.collection);
    }
  }
  // Another director names its tables anew, and may have another store.
  void SetUpWithoutFiles(uint32_t term) GALLEY_REQUIRES(mutex_) {
    const std::string tables = JoinPath(folders_.scratch, fmt::format("tables-{}", term));
    if (folders_.tables != tables && !folders_.tables.empty())
      RemoveAll(folders_.tables).IgnoreError();
    folders_.tables = tables;
    if (const absl::Status made = CreateDirectories(tables); !made.ok())
      LogWarning("{}", MessageOf(made));  // each job will say so
    remote_->fetcher.SetTables(tables);
    folders_.last_slot_file = JoinPath(config_.scratch_directory, "galley-memory.lock");
  }
  void Do(FetchAhead& effect) {
    if (remote_ != nullptr) remote_->fetcher.FetchAhead(effect.jobs);
  }
  void Do(StartJob& effect) { slots_[effect.slot]->Start(std::move(effect.job)); }
  void Do(StopJob& effect) { slots_[effect.slot]->Stop(effect.attempt); }
  void Do(LeaveOut& effect) { slots_[effect.slot]->LeaveOut(std::move(effect.part)); }
  void Do(GiveSegments& effect) { segments_.Give(effect.segments); }
  void Do(SendMessage& effect) GALLEY_REQUIRES(mutex_) {
    outbox_.push_back(std::move(effect.message));
  }
  void Do(HangUp& effect) GALLEY_REQUIRES(mutex_) {
    LogWarning("director stream: {}", effect.reason);
    stream_->HangUp(present_stream_);
  }
  void Do(ExitSession& effect) { exit_ = effect; }

  void Starve(const std::string& unusable) {
    if (!unusable.empty()) return Take(SegmentUnusable{unusable}, 0);
    LogWarning("no segment is left to write to: waiting for the director");
  }

  uint64_t MemoryBytes() const {
    uint64_t sum = ResidentBytes(::getpid());
    for (const auto& slot : slots_) sum += slot->memory_bytes();
    return sum;
  }

  const SessionConfig config_;
  const std::string machine_;
  SystemClock clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  SessionCore core_ GALLEY_GUARDED_BY(mutex_);
  uint64_t present_stream_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool has_told_alone_ GALLEY_GUARDED_BY(mutex_) = false;
  absl::Time next_tick_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time next_send_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  // The time when the session's thread wakes by itself.
  absl::Time wakes_at_ GALLEY_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  std::vector<v1::FromWorker> outbox_ GALLEY_GUARDED_BY(mutex_);
  absl::Time next_sample_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  Folders folders_ GALLEY_GUARDED_BY(mutex_);
  MemoryLimits memory_;  // used by the session's thread alone, like last_slot_
  LastSlot last_slot_;
  std::optional<ExitSession> exit_;  // written once, under the mutex
  StoreAsker asker_;
  SegmentPool segments_;
  std::unique_ptr<Remote> remote_;  // null: the session reads files in their places
  std::vector<std::unique_ptr<ExecutorSlot>> slots_;
  std::unique_ptr<DirectorStream> stream_;
  std::unique_ptr<CertificateKeeper> keeper_;  // null: the certificate stays
};

}  // namespace

void HoldTermination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int RunSession(const SessionConfig& config) { return Shell(config).Run(); }

}  // namespace galley::worker
