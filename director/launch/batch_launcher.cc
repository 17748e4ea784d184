#include "director/launch/batch_launcher.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/own_file.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "director/launch/worker_token.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kFirstLook = absl::Seconds(2);
// Looks that know nothing of a worker, after which the worker is gone.
constexpr int kLooksInVainMax = 2;
constexpr absl::Duration kLookWait = absl::Seconds(15);
constexpr const char* kTicketEnd = ".ticket";
constexpr std::string_view kUnfinishedEnd = ".new";  // WritePrivateFile
constexpr size_t kProjectInName = 24;
constexpr size_t kNonceInName = 8;
constexpr uint64_t kRecordMax = 4 << 10;

// Returns a name of [a-z0-9-], cut to the length that systems take for the name of a job.
std::string NameOfLaunch(const std::string& project) {
  std::string name = "galley-";
  for (const char c : project.substr(0, kProjectInName)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_capital = c >= 'A' && c <= 'Z';
    name += is_plain ? c : is_capital ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  return name + "-" + NewToken().substr(0, kNonceInName);
}

class BatchLauncher final : public Launcher {
 public:
  BatchLauncher(std::unique_ptr<BatchSystem> system, BatchOptions options,
                LaunchCallbacks callbacks)
      : system_(std::move(system)), options_(std::move(options)), callbacks_(std::move(callbacks)) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~BatchLauncher() override {
    StopAll(absl::ZeroDuration());
    {
      base::MutexLock lock(mutex_);
      is_ending_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }

  void Start(const WorkerStart& start) override {
    base::MutexLock lock(mutex_);
    asked_.push_back({start, clock_.Monotonic() + start.delay + kGather});
    changed_.NotifyAll();
  }

  // Launches of an earlier director are ended (EndLeftOver).
  void Adopt(const WorkerRecord& survivor, const std::string&) override {
    callbacks_.on_exit({.worker_id = survivor.worker_id, .reason = "it is of another director"});
  }

  void Stop(std::string_view worker_id, absl::Duration) override {
    base::MutexLock lock(mutex_);
    stops_.emplace(worker_id);
    changed_.NotifyAll();
  }

  void StopAll(absl::Duration) override {
    GALLEY_CHECK(std::this_thread::get_id() != thread_.get_id());
    stop_.Cancel();  // a launch that is being submitted is ended by its name
    base::MutexLock lock(mutex_);
    const uint64_t asked = ++stop_alls_;
    changed_.NotifyAll();
    while (stopped_alls_ < asked) done_.Wait(mutex_);
  }

 private:
  struct Asked {
    WorkerStart start;
    absl::Time due;
  };
  struct Worker {
    std::string id;
    bool is_gone = false;
    bool is_starting = false;
    int in_vain = 0;
    std::string waits_for;  // reason that was told last
  };
  struct Group {
    Launch launch;
    absl::Time since;             // since its submission
    std::vector<Worker> workers;  // by index
    // Reasons that were told why some workers will not start by themselves.
    std::set<std::string> told = {};
  };

  void Run() {
    EndLeftOver();
    while (true) {
      std::vector<WorkerStart> due;
      std::set<std::string, std::less<>> stops;
      uint64_t stop_all = 0;
      std::vector<std::string> unstarted;
      if (!Take(due, stops, unstarted, stop_all)) return;
      for (const std::string& worker : unstarted)
        NotStarted(worker, "stopped before it was started");
      if (stop_all != 0) {
        for (const WorkerStart& start : due) NotStarted(start.worker_id, "the director ends");
        due.clear();
      }
      if (!due.empty()) SubmitAll(due);
      if (!stops.empty()) StopSome(stops);
      if (stop_all == 0 && clock_.Monotonic() >= next_look_) LookAtAll();
      if (stop_all == 0) continue;
      EndAll();
      base::MutexLock lock(mutex_);
      stopped_alls_ = stop_all;
      done_.NotifyAll();
    }
  }

  // Waits until there is something to do. False: the launcher ends. `stop_all`: 0: nobody asked for
  // that.
  bool Take(std::vector<WorkerStart>& due, std::set<std::string, std::less<>>& stops,
            std::vector<std::string>& unstarted, uint64_t& stop_all) {
    base::MutexLock lock(mutex_);
    while (true) {
      const absl::Time now = clock_.Monotonic();
      stop_all = stop_alls_ > stopped_alls_ ? stop_alls_ : 0;
      absl::Time next = next_look_;
      std::erase_if(asked_, [&](Asked& asked) {
        if (asked.due <= now || stop_all != 0) {
          due.push_back(std::move(asked.start));
          return true;
        }
        next = std::min(next, asked.due);
        return false;
      });
      stops.swap(stops_);
      std::erase_if(asked_, [&](const Asked& asked) {
        if (!stops.contains(asked.start.worker_id)) return false;
        unstarted.push_back(asked.start.worker_id);
        return true;
      });
      if (!due.empty() || !stops.empty() || stop_all != 0 || now >= next_look_) return true;
      if (is_ending_) return false;
      if (next == absl::InfiniteFuture()) {
        changed_.Wait(mutex_);
      } else {
        changed_.WaitFor(mutex_,
                         absl::ToChronoMilliseconds(next - now) + std::chrono::milliseconds(1));
      }
    }
  }

  // UNAVAILABLE: as RunToEnd, or the command ended with an error.
  static absl::StatusOr<std::string> RunCommand(BatchSystem::Command command, Cancellation* stop,
                                                absl::Duration wait_max = kCommandMax) {
    if (command.argv.empty()) return std::string();
    ASSIGN_OR_RETURN(const ProgramOutput ended, RunAny(std::move(command), stop, wait_max));
    if (!ended.exit.ok()) return absl::UnavailableError(HowItEnded(ended));
    return ended.output;
  }

  static absl::StatusOr<ProgramOutput> RunAny(BatchSystem::Command command, Cancellation* stop,
                                              absl::Duration wait_max) {
    return RunToEnd({.argv = std::move(command.argv),
                     .environment = {"LC_ALL=C"},
                     .input = std::move(command.input),
                     .with_errors = true,
                     .takes_privileges = true,
                     .wait_max = wait_max,
                     .output_bytes_max = kOutputMax,
                     .stop = stop});
  }

  void SubmitAll(std::vector<WorkerStart>& due) {
    std::map<uint32_t, std::vector<std::string>> by_slots;
    for (const WorkerStart& start : due) by_slots[start.slots].push_back(start.worker_id);
    for (auto& [slots, ids] : by_slots) {
      for (size_t at = 0; at < ids.size(); at += system_->CountMax()) {
        const size_t end = std::min(ids.size(), at + system_->CountMax());
        Submit(
            {ids.begin() + static_cast<ptrdiff_t>(at), ids.begin() + static_cast<ptrdiff_t>(end)});
      }
    }
  }

  void Submit(std::vector<std::string> ids) {
    Group group{.launch = {.name = NameOfLaunch(options_.project),
                           .count = static_cast<uint32_t>(ids.size())}};
    for (const std::string& id : ids) group.workers.push_back({.id = id});
    Launch& launch = group.launch;
    launch.ticket_file = JoinPath(options_.folder, launch.name + kTicketEnd);
    const absl::Status submitted = SubmitNow(ids, launch);
    if (!submitted.ok()) {
      EndLaunch(launch, kCommandMax);
      const std::string reason = fmt::format("{}: {}", system_->kind(), MessageOf(submitted));
      for (const std::string& id : ids) NotStarted(id, reason);
      return;
    }
    LogInfo("launch={} id={} workers={}", launch.name, launch.id, launch.count);
    group.since = clock_.Monotonic();
    groups_.push_back(std::move(group));
    look_wait_ = kFirstLook;
    next_look_ = clock_.Monotonic() + look_wait_;
    for (const std::string& id : ids) Tell(id, LaunchState::kQueued, "");
  }

  void NotStarted(const std::string& id, const std::string& reason) const {
    callbacks_.on_exit({.worker_id = id, .reason = reason, .never_started = true});
  }

  absl::Status SubmitNow(const std::vector<std::string>& ids, Launch& launch) {
    ASSIGN_OR_RETURN(Ticket ticket, options_.ticket());
    ticket.token = NewToken();
    ticket.names = ids;
    launch.ticket = EncodeTicket(ticket);
    callbacks_.on_token(ids, ticket.token);
    RETURN_IF_ERROR(Write(launch));
    RETURN_IF_ERROR(system_->Prepare());
    ASSIGN_OR_RETURN(const std::string said, RunCommand(system_->Submit(launch), &stop_));
    ASSIGN_OR_RETURN(launch.id, system_->ReadId(launch, said));
    return WriteRecord(launch);
  }

  absl::Status Write(const Launch& launch) {
    RETURN_IF_ERROR(CreateDirectories(options_.folder));
    RETURN_IF_ERROR(WriteRecord(launch));
    return WritePrivateFile(launch.ticket_file, launch.ticket + "\n");
  }

  absl::Status WriteRecord(const Launch& launch) {
    return WritePrivateFile(JoinPath(options_.folder, launch.name),
                            fmt::format("{}\n{}\n", system_->kind(), launch.id));
  }

  void Tell(const std::string& id, LaunchState state, const std::string& where) const {
    if (callbacks_.on_state) callbacks_.on_state(id, state, where);
  }

  // A launch that is not ended here ends by itself without its director, or the next director ends
  // it.
  void EndLaunch(const Launch& launch, absl::Duration wait_max) {
    if (wait_max <= absl::ZeroDuration()) {
      LogWarning("launch={} is not ended: there was no time left for it", launch.name);
      return;
    }
    if (const auto ended = RunCommand(system_->End(launch, std::nullopt), nullptr,
                                      std::min(wait_max, kCommandMax));
        !ended.ok()) {
      LogWarning("launch={} may not have ended, the next director tries it again: {}", launch.name,
                 MessageOf(ended.status()));
      return Unlink(launch.ticket_file);
    }
    Forget(launch);
  }

  static void Unlink(const std::string& path) { ::unlink(path.c_str()); }
  void Forget(const Launch& launch) {
    Unlink(launch.ticket_file);
    Unlink(JoinPath(options_.folder, launch.name));
  }

  void StopSome(const std::set<std::string, std::less<>>& ids) {
    for (Group& group : groups_) {
      // Then DropOver ends the whole launch, with one command.
      const bool are_all = std::ranges::all_of(group.workers, [&](const Worker& worker) {
        return worker.is_gone || ids.contains(worker.id);
      });
      for (uint32_t index = 0; index < group.workers.size(); ++index) {
        Worker& worker = group.workers[index];
        if (worker.is_gone || !ids.contains(worker.id)) continue;
        if (!are_all) EndOne(group, index);
        SetGone(worker, "it was ended");
      }
    }
    DropOver();
  }

  void EndOne(const Group& group, uint32_t index) {
    const auto ended = RunCommand(system_->End(group.launch, index), &stop_);
    if (ended.ok()) return;
    LogWarning("worker={} may not have ended: {}", group.workers[index].id,
               MessageOf(ended.status()));
  }

  void EndAll() {
    const absl::Time deadline = clock_.Monotonic() + kEndMax;
    for (Group& group : std::exchange(groups_, {})) {
      EndLaunch(group.launch, deadline - clock_.Monotonic());
      for (Worker& worker : group.workers) SetGone(worker, "the director ends");
    }
    next_look_ = absl::InfiniteFuture();
  }

  void SetGone(Worker& worker, const std::string& reason, bool is_unfit = false) const {
    if (std::exchange(worker.is_gone, true)) return;
    callbacks_.on_exit({.worker_id = worker.id, .reason = reason, .is_unfit = is_unfit});
  }

  // Drops launches whose workers are all gone. If the director ends meanwhile, EndAll does that.
  void DropOver() {
    std::erase_if(groups_, [this](const Group& group) {
      const bool is_over =
          std::ranges::all_of(group.workers, [](const Worker& worker) { return worker.is_gone; });
      if (!is_over) return false;
      const auto cleaned = RunCommand(system_->Clean(group.launch), &stop_);
      if (cleaned.ok()) {
        Forget(group.launch);
      } else if (stop_.is_cancelled()) {
        return false;
      } else {
        LogWarning("launch={} is not cleaned away, the next director tries it again: {}",
                   group.launch.name, MessageOf(cleaned.status()));
        Unlink(group.launch.ticket_file);
      }
      return true;
    });
    if (groups_.empty()) next_look_ = absl::InfiniteFuture();
  }

  void LookAtAll() {
    std::vector<Launch> launches;
    for (const Group& group : groups_) launches.push_back(group.launch);
    if (system_->LooksAtAll()) {
      LookAt(launches);
    } else {
      // New requests do not wait for all launches; the rest is looked at the next time.
      std::rotate(
          launches.begin(),
          launches.begin() + static_cast<ptrdiff_t>(looked_ % std::max<size_t>(launches.size(), 1)),
          launches.end());
      for (const Launch& launch : launches) {
        LookAt({launch});
        ++looked_;
        if (HasNews()) break;
      }
    }
    DropOver();
    look_wait_ = std::min(look_wait_ * 2, kLookMax);
    next_look_ = groups_.empty() ? absl::InfiniteFuture() : clock_.Monotonic() + look_wait_;
  }

  bool HasNews() {
    base::MutexLock lock(mutex_);
    return !asked_.empty() || !stops_.empty() || stop_alls_ > stopped_alls_;
  }

  // The place where workers attach knows which workers attached, and does not believe this of them.
  void GiveUpUnseen(const Launch& launch) {
    for (Group& group : groups_) {
      if (group.launch.name != launch.name || clock_.Monotonic() - group.since < kUnseenMax)
        continue;
      for (Worker& worker : group.workers)
        SetGone(worker, fmt::format("it did not come within {} min, and [farm] status does not "
                                    "say what became of it",
                                    absl::ToInt64Minutes(kUnseenMax)));
    }
  }

  void LookAt(const std::vector<Launch>& launches) {
    if (launches.empty()) return;
    BatchSystem::Command command = system_->Look(launches);
    if (command.argv.empty()) return GiveUpUnseen(launches.front());
    const auto seen = [&]() -> absl::StatusOr<std::vector<TaskView>> {
      ASSIGN_OR_RETURN(const ProgramOutput ended, RunAny(std::move(command), &stop_, kLookWait));
      // A failing squeue says in its errors that it no longer knows a job.
      auto views = system_->ReadLook(launches, ended.exit,
                                     ended.exit.ok() ? ended.output : ended.output + ended.errors);
      if (!views.ok() && !ended.exit.ok()) return absl::UnavailableError(HowItEnded(ended));
      return views;
    }();
    if (!seen.ok()) {
      if (!stop_.is_cancelled())
        LogWarning("{}: the workers' states are not known: {}", system_->kind(),
                   MessageOf(seen.status()));
      return;
    }
    std::map<std::pair<std::string, uint32_t>, const TaskView*> views;
    for (const TaskView& view : *seen) views[{view.launch, view.index}] = &view;
    for (const Launch& launch : launches) {
      const auto group = std::ranges::find_if(
          groups_, [&](const Group& one) { return one.launch.name == launch.name; });
      for (uint32_t index = 0; group != groups_.end() && index < group->workers.size(); ++index) {
        const auto view = views.find({launch.name, index});
        Take(group->workers[index], view == views.end() ? nullptr : view->second);
        if (view != views.end()) TellIfHeld(*group, index, *view->second);
      }
    }
  }

  void TellIfHeld(Group& group, uint32_t index, const TaskView& view) const {
    if (view.state != TaskView::State::kQueued || view.advice.empty() || !callbacks_.on_held ||
        group.workers[index].is_gone || !group.told.insert(view.reason).second)
      return;
    const std::string why = view.reason.empty() ? "held" : view.reason;
    callbacks_.on_held(
        group.workers[index].id,
        fmt::format("{} worker{} of launch {} ({}) will not start by {}: {}. {}", system_->kind(),
                    group.workers.size() == 1 ? "" : "s", group.launch.name,
                    group.workers[index].id, group.workers.size() == 1 ? "itself" : "themselves",
                    why, view.advice));
  }

  void Take(Worker& worker, const TaskView* view) {
    if (worker.is_gone) return;
    if (view == nullptr) {
      if (++worker.in_vain >= kLooksInVainMax)
        SetGone(worker, fmt::format("{} does not know it any more", system_->kind()));
      return;
    }
    worker.in_vain = 0;
    switch (view->state) {
      case TaskView::State::kQueued:
        // Told again if the worker was requeued.
        if (std::exchange(worker.is_starting, false) || worker.waits_for != view->reason)
          Tell(worker.id, LaunchState::kQueued, view->reason);
        worker.waits_for = view->reason;
        return;
      case TaskView::State::kRunning:
        if (!std::exchange(worker.is_starting, true))
          Tell(worker.id, LaunchState::kStarting, view->where);
        return;
      case TaskView::State::kGone:
        return SetGone(worker, view->reason.empty() ? "it ended" : view->reason, view->is_unfit);
    }
  }

  static bool IsOld(const std::string& path) {
    const absl::StatusOr<FileStat> stat = StatFile(path, false);
    return stat.ok() && absl::Now() - absl::FromUnixNanos(stat->mtime_ns) > kRecordAgeMax;
  }

  // Ends launches that an earlier director did not end.
  void EndLeftOver() {
    const absl::Time deadline = clock_.Monotonic() + kEndMax;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error)) {
      const std::string path = entry.path().string();
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("galley-") || name.ends_with(kTicketEnd)) continue;
      if (name.ends_with(kUnfinishedEnd)) {
        Unlink(path);
        continue;
      }
      const auto record = ReadOwnFile(path, kRecordMax);
      const std::string text = record.ok() ? *record : "";
      const std::string kind = text.substr(0, text.find('\n'));
      Launch launch{.name = name, .ticket_file = path + kTicketEnd};
      if (kind.size() < text.size()) launch.id = text.substr(kind.size() + 1);
      while (!launch.id.empty() && launch.id.back() == '\n') launch.id.pop_back();
      if (kind == system_->kind()) {
        LogInfo("launch={} id={} of an earlier director is ended", name, launch.id);
        EndLaunch(launch, deadline - clock_.Monotonic());
        if (IsOld(path)) Forget(launch);
        continue;
      }
      LogWarning(
          "launch={} of an earlier director, by another launcher, is left alone: its workers end "
          "by themselves",
          name);
      Forget(launch);
    }
  }

  // Constant after construction.
  const std::unique_ptr<BatchSystem> system_;
  const BatchOptions options_;
  const LaunchCallbacks callbacks_;
  SystemClock clock_;
  Cancellation stop_;

  base::Mutex mutex_;
  base::CondVar changed_, done_;
  std::vector<Asked> asked_ GALLEY_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> stops_ GALLEY_GUARDED_BY(mutex_);
  uint64_t stop_alls_ GALLEY_GUARDED_BY(mutex_) = 0, stopped_alls_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;

  // Used only by the thread.
  std::vector<Group> groups_;
  size_t looked_ = 0;  // launches, when they are looked at one by one
  absl::Duration look_wait_ = kFirstLook;
  absl::Time next_look_ = absl::InfiniteFuture();

  std::thread thread_;
};

}  // namespace

std::unique_ptr<Launcher> CreateBatchLauncher(std::unique_ptr<BatchSystem> system,
                                              BatchOptions options, LaunchCallbacks callbacks) {
  return std::make_unique<BatchLauncher>(std::move(system), std::move(options),
                                         std::move(callbacks));
}

}  // namespace galley::director
