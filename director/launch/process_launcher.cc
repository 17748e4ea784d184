// ProcessLauncher: one thread starts the children, waits on their pidfds and on an eventfd for
// requests, and calls on_exit. This process adopts orphans: when a worker is killed, the programs
// that its executors started become children of this process, which kills them.

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/own_file.h"
#include "common/base/process_handle.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "director/launch/process_launcher.h"

namespace galley::director {
namespace {

constexpr uint64_t kLogMax = 64 << 20;
// How often children without a pidfd are looked at, when no descriptors are left.
constexpr absl::Duration kPollWithoutHandle = absl::Milliseconds(100);
class ProcessLauncher final : public Launcher {
 public:
  ProcessLauncher(std::unique_ptr<WorkerSpawner> spawner, LaunchCallbacks callbacks)
      : spawner_(std::move(spawner)),
        callbacks_(std::move(callbacks)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    GALLEY_CHECK(wake_.valid());
    AdoptOrphans();
    // Signals are for the program's own threads; children get an empty mask from ChildProcess.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~ProcessLauncher() override {
    StopAll(absl::ZeroDuration());
    {
      base::MutexLock lock(mutex_);
      is_ending_ = true;
    }
    Wake();
    thread_.join();
  }

  void Start(const WorkerStart& start) override {
    Post(Request{.kind = Request::Kind::kStart, .start = start, .received = clock_.Monotonic()});
  }

  void Adopt(const WorkerRecord& survivor, const std::string& folder) override {
    Post(Request{.kind = Request::Kind::kAdopt,
                 .start = {.worker_id = survivor.worker_id, .record_folder = folder},
                 .survivor = survivor,
                 .received = clock_.Monotonic()});
  }

  void Stop(std::string_view worker_id, absl::Duration grace) override {
    Post(Request{.kind = Request::Kind::kStop,
                 .worker_id = std::string(worker_id),
                 .grace = grace,
                 .received = clock_.Monotonic()});
  }

  void StopAll(absl::Duration grace) override {
    GALLEY_CHECK(std::this_thread::get_id() != thread_.get_id());
    bool is_done = false;
    Post(Request{.kind = Request::Kind::kStopAll,
                 .grace = grace,
                 .received = clock_.Monotonic(),
                 .is_done = &is_done});
    base::MutexLock lock(mutex_);
    while (!is_done) done_.Wait(mutex_);
  }

 private:
  struct Request {
    enum class Kind { kStart, kAdopt, kStop, kStopAll };
    Kind kind = Kind::kStart;
    WorkerStart start;
    WorkerRecord survivor;
    std::string worker_id;
    absl::Duration grace;
    absl::Time received;
    bool* is_done = nullptr;  // kStopAll: set under mutex_
  };

  // Worker: a worker that waits for its delay (no process yet) or runs. An adopted worker is no
  // child of ours: only its handle reaches it, and its children do not fall to us.
  struct Worker {
    bool running() const { return process.running() || is_adopted; }
    void Kill(int signal) {
      process.Kill(signal);
      if (!is_adopted) return;
      if (signal == SIGKILL) return handle.KillTree();
      handle.Signal(signal);
    }

    WorkerStart start;
    uint64_t serial = 0;
    absl::Time due;  // when the worker starts
    ChildProcess process;
    bool is_stopping = false;
    bool is_adopted = false;
    ProcessHandle handle;  // invalid: the system gave none
    std::optional<absl::Time> kill_at;
  };

  struct Waiter {
    uint64_t serial_last = 0;  // waits for the workers up to this one
    bool* is_done = nullptr;
  };

  void Wake() {
    const uint64_t one = 1;
    // EAGAIN means that the counter is full, so the thread wakes anyway.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  void Post(Request request) {
    {
      base::MutexLock lock(mutex_);
      requests_.push_back(std::move(request));
    }
    Wake();
  }

  void Run() {
    while (TakeRequests()) {
      StartDue();
      KillOverdue();
      ReapEnded();
      AnswerWaiters();
      WaitForSomething();
    }
  }

  // Returns false when the launcher ends.
  bool TakeRequests() {
    std::vector<Request> requests;
    bool is_ending = false;
    {
      base::MutexLock lock(mutex_);
      requests.swap(requests_);
      is_ending = is_ending_;
    }
    for (Request& request : requests) Apply(std::move(request));
    return !is_ending || !workers_.empty();
  }

  void Apply(Request request) {
    switch (request.kind) {
      case Request::Kind::kStart:
        Add(std::move(request));
        return;
      case Request::Kind::kAdopt:
        AddAdopted(std::move(request));
        return;
      case Request::Kind::kStop:
        StopMatching(request, [&](const Worker& worker) {
          return worker.start.worker_id == request.worker_id;
        });
        return;
      case Request::Kind::kStopAll:
        StopMatching(request, [](const Worker&) { return true; });
        waiters_.push_back(Waiter{.serial_last = serial_last_, .is_done = request.is_done});
        return;
    }
  }

  void Add(Request request) {
    const bool is_known = std::ranges::any_of(workers_, [&](const Worker& worker) {
      return worker.start.worker_id == request.start.worker_id;
    });
    if (is_known)
      return ReportNeverStarted(request.start.worker_id, "a worker of this id runs already");
    Worker worker;
    worker.due = request.received + request.start.delay;
    worker.start = std::move(request.start);
    worker.serial = ++serial_last_;
    workers_.push_back(std::move(worker));
  }

  void AddAdopted(Request request) {
    Worker worker;
    worker.handle = ProcessHandle::Open(request.survivor.pid);
    // The handle's process has this pid, unless it has ended by now. Its start tells whether it is
    // the survivor.
    worker.is_adopted =
        worker.handle.valid() && StartOf(request.survivor.pid) == request.survivor.started;
    worker.start = std::move(request.start);
    worker.serial = ++serial_last_;
    if (!worker.is_adopted) return ReportAdoptedGone(worker.start);
    workers_.push_back(std::move(worker));
  }

  void ReportAdoptedGone(const WorkerStart& start) {
    RemoveWorkerRecord(start.record_folder, start.worker_id);
    callbacks_.on_exit(WorkerExit{.worker_id = start.worker_id, .reason = "it ended"});
  }

  template <typename Matches>
  void StopMatching(const Request& request, const Matches& matches) {
    std::vector<std::string> cancelled;
    std::erase_if(workers_, [&](const Worker& worker) {
      if (worker.running() || !matches(worker)) return false;
      cancelled.push_back(worker.start.worker_id);
      return true;
    });
    for (Worker& worker : workers_) {
      if (!matches(worker)) continue;
      worker.is_stopping = true;
      worker.Kill(SIGTERM);
      const absl::Time kill_at = request.received + request.grace;
      worker.kill_at = worker.kill_at ? std::min(*worker.kill_at, kill_at) : kill_at;
    }
    for (const std::string& id : cancelled) ReportNeverStarted(id, "stopped before it was started");
  }

  bool IsDue(const Worker& worker, absl::Time now) const {
    return !worker.running() && worker.due <= now && spawner_->NextStart(now) <= now;
  }

  void StartDue() {
    const absl::Time now = clock_.Monotonic();
    std::vector<std::pair<std::string, std::string>> failed;  // id, reason
    std::erase_if(workers_, [&](Worker& worker) {
      if (!IsDue(worker, now)) return false;
      absl::StatusOr<ChildProcess> process = spawner_->Start(worker.start, callbacks_);
      if (!process.ok()) {
        failed.emplace_back(worker.start.worker_id, MessageOf(process.status()));
        return true;
      }
      worker.process = std::move(process).value();
      worker.handle = ProcessHandle::Open(worker.process.pid());
      LogDebug("worker={} started pid={}", worker.start.worker_id, worker.process.pid());
      Record(worker);
      return false;
    });
    for (auto& [id, reason] : failed) ReportNeverStarted(id, std::move(reason));
  }

  // Without its record the worker cannot be taken over, and ends soon after us.
  static void Record(const Worker& worker) {
    if (worker.start.record_folder.empty()) return;
    const absl::Status written = WriteWorkerRecord(
        worker.start.record_folder, {.worker_id = worker.start.worker_id,
                                     .pid = worker.process.pid(),
                                     .director_address = worker.start.director_address,
                                     .token = worker.start.token});
    if (!written.ok()) LogWarning("worker={} {}", worker.start.worker_id, MessageOf(written));
  }

  void KillOverdue() {
    const absl::Time now = clock_.Monotonic();
    for (Worker& worker : workers_) {
      if (!worker.kill_at || *worker.kill_at > now) continue;
      worker.Kill(SIGKILL);
      worker.kill_at.reset();
    }
  }

  void ReapEnded() {
    std::vector<WorkerExit> exits;
    std::vector<WorkerStart> gone;
    std::erase_if(workers_, [&](Worker& worker) {
      if (worker.is_adopted) {
        if (!worker.handle.HasEnded()) return false;
        gone.push_back(worker.start);
        return true;
      }
      const std::optional<ExitStatus> status = worker.process.Poll();
      if (!status || GoesOn(worker, *status)) return false;
      if (!worker.start.record_folder.empty())
        RemoveWorkerRecord(worker.start.record_folder, worker.start.worker_id);
      exits.push_back(WorkerExit{.worker_id = worker.start.worker_id,
                                 .reason = spawner_->ReasonOf(worker.start, *status),
                                 .signal = status->signal,
                                 .is_unfit = status->code == kExitUnfit});
      return true;
    });
    if (!exits.empty()) KillOrphans();  // kills what a killed worker left
    for (WorkerExit& exit : exits) callbacks_.on_exit(std::move(exit));
    for (const WorkerStart& start : gone) ReportAdoptedGone(start);
  }

  // From now on another child is the worker's child.
  bool GoesOn(Worker& worker, const ExitStatus& status) {
    if (worker.is_stopping) return false;
    std::optional<ChildProcess> next = spawner_->GoOn(worker.start, status, callbacks_);
    if (!next.has_value()) return false;
    worker.process = *std::move(next);
    worker.handle = ProcessHandle::Open(worker.process.pid());
    LogDebug("worker={} goes on pid={}", worker.start.worker_id, worker.process.pid());
    Record(worker);
    return true;
  }

  void AnswerWaiters() {
    uint64_t oldest = UINT64_MAX;
    for (const Worker& worker : workers_) oldest = std::min(oldest, worker.serial);
    base::MutexLock lock(mutex_);
    std::erase_if(waiters_, [&](const Waiter& waiter) {
      if (oldest <= waiter.serial_last) return false;
      *waiter.is_done = true;
      return true;
    });
    done_.NotifyAll();
  }

  void WaitForSomething() {
    std::vector<pollfd> events{{wake_.get(), POLLIN, 0}};
    absl::Time next = absl::InfiniteFuture();
    const absl::Time now = clock_.Monotonic();
    for (const Worker& worker : workers_) {
      if (!worker.running()) next = std::min(next, std::max(worker.due, spawner_->NextStart(now)));
      if (worker.kill_at) next = std::min(next, *worker.kill_at);
      if (worker.handle.valid()) {
        events.push_back({worker.handle.descriptor(), POLLIN, 0});
      } else if (worker.process.running()) {
        next = std::min(next, now + kPollWithoutHandle);
      }
    }
    ::poll(events.data(), events.size(), PollTimeout(next - now));
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &count, sizeof(count));
  }

  // Returns milliseconds, rounded up so that the deadline has passed on waking; -1: for ever.
  static int PollTimeout(absl::Duration wait) {
    if (wait == absl::InfiniteDuration()) return -1;
    return static_cast<int>(std::clamp<int64_t>(
        absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1))), 0, 1 << 30));
  }

  void ReportNeverStarted(const std::string& id, std::string reason) {
    callbacks_.on_exit(
        WorkerExit{.worker_id = id, .reason = std::move(reason), .never_started = true});
  }

  // Constant after construction.
  const std::unique_ptr<WorkerSpawner> spawner_;  // only the thread calls its functions
  const LaunchCallbacks callbacks_;
  const FileDescriptor wake_;
  SystemClock clock_;

  base::Mutex mutex_;
  base::CondVar done_;
  std::vector<Request> requests_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;

  // Used only by the thread.
  std::vector<Worker> workers_;
  std::vector<Waiter> waiters_;
  uint64_t serial_last_ = 0;

  std::thread thread_;
};

}  // namespace

absl::StatusOr<FileDescriptor> OpenWorkerLog(const std::string& path) {
  if (path.empty()) return FileDescriptor();
  if (const size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    RETURN_IF_ERROR(CreateDirectories(path.substr(0, slash)));
  }
  RETURN_IF_ERROR(EnsureWritableFile(path));
  FileDescriptor log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.valid()) return ErrnoStatus(errno, "open", path);
  return log;
}

uint64_t LogSize(const std::string& path) {
  const auto stat = StatFile(path, /*follow_links=*/true);
  return stat.ok() ? stat->size_bytes : 0;
}

std::string SaidSince(const std::string& path, uint64_t from) {
  const auto text = ReadFile(path, kLogMax);
  return text.ok() && text->size() > from ? EndOf(text->substr(from)) : "";
}

std::unique_ptr<Launcher> CreateProcessLauncher(std::unique_ptr<WorkerSpawner> spawner,
                                                LaunchCallbacks callbacks) {
  return std::make_unique<ProcessLauncher>(std::move(spawner), std::move(callbacks));
}

}  // namespace galley::director
