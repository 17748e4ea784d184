#include "director/shell/director_shell.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "common/base/status_macros.h"
#include "director/shell/forget_results.h"

namespace galley::director {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kIdleTick = absl::Milliseconds(500);  // while nobody cooks or asks
constexpr absl::Duration kFenceInterval = absl::Seconds(1);
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);

template <typename... T>
struct Overloaded : T... {
  using T::operator()...;
};
template <typename... T>
Overloaded(T...) -> Overloaded<T...>;

}  // namespace

DirectorShell::DirectorShell(ShellOptions options, WorldPtr world, store::Store& store,
                             Journal& journal, Trace& trace)
    : options_(std::move(options)),
      core_(options_.core, world->table),
      tables_({options_, store, journal, trace, clock_, core_, *this},
              [this] { return cooks_.worlds.Sources(); }),
      cooks_(
          {options_, store, journal, trace, clock_, core_, *this}, std::move(world), tables_,
          {.announce = [this](const World& present) { workers_.workers.Announce(present); },
           .quarantine =
               [this](const WorkerQuarantined& notice) {
                 return workers_.notices.Quarantine(notice);
               },
           .hold = [this](const WorkerHeld& notice) { return workers_.notices.Hold(notice); },
           .end_process =
               [this](const WorkerViolated& notice) { return workers_.notices.EndProcess(notice); },
           .warn_of_held =
               [this](ActiveCook& cook) {
                 for (const auto& [worker, text] : workers_.launches->held())
                   cook.Warn(record::WarningKind::kWorkerHeld, text);
               },
           .warn_of_programs = [this](ActiveCook& cook) { workers_.programs.WarnOfChanges(cook); },
           .forget_programs = [this] { workers_.programs.ForgetAll(); },
           .forget_uploads = [this] { workers_.bytes.ForgetUploads(); }},
          [this] {
            fence_checked_ = absl::InfinitePast();  // a check between two cooks ended no cook
            CheckFence();
          }),
      workers_({options_, store, journal, trace, clock_, core_, *this}, tables_, cooks_) {}

DirectorShell::~DirectorShell() { Stop(); }

absl::Status DirectorShell::Start() {
  RETURN_IF_ERROR(workers_.Start());
  loop_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

std::string DirectorShell::farm_address() const {
  return workers_.farm_door == nullptr ? "" : workers_.farm_door->address();
}

absl::Status DirectorShell::Forget(const std::vector<std::string>& packages) {
  std::promise<absl::Status> forgotten;
  std::future<absl::Status> told = forgotten.get_future();
  cooks_.tasks.Post([this, &packages, &forgotten] {
    const absl::Status status =
        ForgetResults(packages, cooks_.ground.store, cooks_.ground.journal, cooks_.limits.kept());
    const auto end = [&forgotten, status] { forgotten.set_value(status); };
    if (!status.ok()) return end();
    RunOnLoop([this, &packages] { HandleNow(PackagesCleared{packages}); }, end);
  });
  return told.get();
}

void DirectorShell::Stop() {
  if (!loop_.joinable()) return;
  cooks_.worlds.Cancel();
  tables_.reports.Cancel();
  PostTask([this] { is_stopping_ = true; });
  loop_.join();
  has_ended_ = true;
  cooks_.asks.End("the director ends, or its workers are replaced");
  cooks_.look_ups.Cancel();  // nobody wants the open answers any more
  workers_.bytes.Cancel();
  workers_.EndProcesses();
  cooks_.DrainTasks();
  while (cooks_.commits.TakeEnded()) {
  }
  std::vector<Message> too_late;
  {
    base::MutexLock lock(mutex_);
    accepting_ = false;
    too_late = std::exchange(inbox_, {});
  }
  WriteFigures();
  if (options_.figures != nullptr) options_.figures->EndShell();
  workers_.workers.Close();
  too_late.clear();  // tells threads that wait for an answer that none will come (Questions)
  workers_.CloseDoors();
}

// ------------------------------------------------------------------ the inbox

void DirectorShell::Post(Message message) {
  {
    base::MutexLock lock(mutex_);
    if (!accepting_) return;
    inbox_.push_back(std::move(message));
  }
  inbox_changed_.NotifyAll();
}

std::vector<DirectorShell::Message> DirectorShell::TakeInbox(absl::Duration wait) {
  base::MutexLock lock(mutex_);
  if (inbox_.empty() && wait > absl::ZeroDuration())
    inbox_changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(wait));
  return std::exchange(inbox_, {});
}

// ------------------------------------------------------------------ the loop

void DirectorShell::Loop() {
  while (!is_stopping_) {
    CheckFence();
    workers_.presence->LoseSilent();
    std::vector<Message> messages =
        TakeInbox(core_.has_agenda() ? absl::ZeroDuration() : LongestWait());
    for (Message& message : messages) {
      if (auto* event = std::get_if<Event>(&message)) {
        HandleNow(*event);
      } else {
        std::get<Task>(message)();
      }
    }
    if (messages.empty() || core_.has_agenda()) HandleNow(Tick{});
    cooks_.commits.BeginDue(core_.has_jobs());
    if (clock_.Monotonic() - looked_around_ >= kLookInterval) LookAround();
  }
  cooks_.commits.BeginAll();
}

void DirectorShell::LookAround() {
  looked_around_ = clock_.Monotonic();
  cooks_.cooks.TellProgress(workers_.launches->OnTheWay());
  workers_.bytes.EndUploadsUnless([this](AttemptId attempt) { return core_.Knows(attempt); });
  cooks_.memory.Look();
  cooks_.ForgetOverIfDue();
  WriteFigures();
}

void DirectorShell::WriteFigures() {
  if (options_.figures == nullptr) return;
  options_.figures->Write({.core = core_.figures(),
                           .bytes_stored = cooks_.commits.bytes_stored(),
                           .bytes_deduplicated = cooks_.commits.bytes_deduplicated()});
}

// Writes ask as well. But a director that was overtaken may have nothing to write, because no
// worker finds the director any more.
void DirectorShell::CheckFence() {
  const absl::Time now = clock_.Monotonic();
  if (!options_.may_write || now - fence_checked_ < kFenceInterval) return;
  fence_checked_ = now;
  if (const absl::Status status = options_.may_write(); !status.ok())
    HandleNow(DirectorUnfit{MessageOf(status)});
}

absl::Duration DirectorShell::LongestWait() {
  const bool is_running = cooks_.commits.is_running();
  const absl::Time next = cooks_.commits.NextBegin(core_.has_jobs());
  const bool is_idle = cooks_.active.empty() && cooks_.asks.empty();
  if (is_idle && !is_running && next == absl::InfiniteFuture()) return kIdleTick;
  return std::clamp(next - clock_.Monotonic(), absl::ZeroDuration(), kTick);
}

// A group of results that ends after the loop has ended is counted, and the core does not learn of
// that group.
void DirectorShell::HandleNow(const Event& event) {
  if (has_ended_) return;
  if (const auto* const lost = std::get_if<WorkerLost>(&event))
    workers_.programs.NoteLost(tables_.attached.NameOf(lost->worker));
  std::vector<Effect> effects;
  core_.Step(clock_.Monotonic(), event, effects);
  for (const Effect& effect : effects) CarryOut(effect);
}

void DirectorShell::CarryOut(const Effect& effect) {
  std::visit(Overloaded{[this](const Reply& one) { cooks_.questions.TakeReply(one); },
                        [this](const LookUp& one) {
                          cooks_.look_ups.Ask(workers_.streams.LookUpItemsOf(one));
                        },
                        [this](const Desire& one) { workers_.streams.TellWorker(one); },
                        [this](const Spawn& one) { workers_.launches->Start(one); },
                        [this](const director::Stop& one) { workers_.launches->End(one.worker); },
                        [this](const Persist& one) { cooks_.commits.Persist(one); },
                        [this](const Rescan& one) { cooks_.worlds.Rescan(one); },
                        [this](const BuildRoot& one) { cooks_.roots.Build(one); },
                        [this](const PublishRoot& one) { cooks_.roots.Publish(one); },
                        [this](const StageRoots& one) { cooks_.roots.Stage(one); },
                        [this](const LookForLost& one) { cooks_.roots.LookForLostBlobs(one); },
                        [this](const Notify& one) { cooks_.notices.Tell(one); }},
             effect);
}

}  // namespace galley::director
