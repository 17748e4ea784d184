#include "director/shell/director_shell.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/give_back_memory.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/launch/worker_token.h"
#include "director/shell/project_sources.h"
#include "director/shell/quick_sources.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kIdleTick = absl::Milliseconds(500);  // while nobody cooks
constexpr absl::Duration kFenceInterval = absl::Seconds(1);
constexpr absl::Duration kProgressInterval = absl::Milliseconds(100);

LookUpRunner::Options LookUpOptionsOf(const ShellOptions& options) {
  LookUpRunner::Options look_up = options.look_up;
  look_up.memory_bytes_default = options.memory_bytes_default;
  return look_up;
}

}  // namespace

DirectorShell::DirectorShell(ShellOptions options, WorldPtr world, store::Store& store,
                             Journal& journal, Trace& trace)
    : options_(std::move(options)),
      world_(std::move(world)),
      store_(store),
      journal_(journal),
      trace_(trace),
      reports_({.sources = [this] { return Present(); },
                .store = &store_,
                .results = &results_,
                .trace = &trace_,
                .machine_of =
                    [this](const std::string& worker) { return worker_views_.MachineOf(worker); },
                .now = [this] { return clock_.Now(); },
                .to_our_clock =
                    [this](const std::string& worker, int64_t us) {
                      return absl::ToUnixMicros(
                          clocks_.ToOurs(worker, absl::FromUnixMicros(us), clock_.Now()));
                    }},
               options_.look_up.trust_domain,
               {options_.memory_bytes_default, options_.timeout_default}),
      worker_bytes_({.world = &world_,
                     .reports = &reports_,
                     .store = &store_,
                     .sources = [this] { return Present(); },
                     .state_directory = options_.state_directory}),
      log_book_({.reports = reports_, .views = worker_views_, .clocks = clocks_, .clock = clock_},
                {.folder = JoinPath(options_.state_directory, kWorkerLogsFolder),
                 .may_write = options_.may_write}),
      admission_({.state_directory = options_.state_directory,
                  .cookers_json = options_.cookers_json,
                  .is_identity_binary = options_.is_identity_binary,
                  .has_far_programs = options_.has_far_programs,
                  .local_offer = options_.core.local_offer,
                  .term = options_.core.term,
                  .memory_bytes_default = options_.memory_bytes_default,
                  .timeout_default = options_.timeout_default,
                  .may_write = options_.may_write},
                 {.world = world_,
                  .store = store_,
                  .clock = clock_,
                  .workers = workers_,
                  .views = worker_views_,
                  .log_book = log_book_,
                  .tell_core = [this](Event event) { Post(std::move(event)); }}),
      limits_(
          options_.state_directory,
          {.trust_domain = options_.look_up.trust_domain,
           .retry_failed = options_.look_up.retry_failed,
           .defaults = {options_.memory_bytes_default, options_.timeout_default},
           .machine = MachineIdentity() + " " + options_.worker_build},
          {.sources = [this] { return Present(); },
           .reports = reports_,
           .clock = clock_,
           .thread = commit_thread_,
           .may_write = options_.may_write,
           .has_room = options_.has_room,
           .warn = [this](const std::string& text) { Warn(record::WarningKind::kStore, text); }}),
      commits_({.store = store_,
                .journal = journal_,
                .results = results_,
                .trace = trace_,
                .clock = clock_,
                .thread = commit_thread_,
                .is_sent_back = options_.write_back != nullptr,
                .holds =
                    [this] {
                      const auto last =
                          std::make_shared<ProjectSources>(successors_.last(), tools_);
                      const auto sources = std::make_shared<QuickSources>(QuickSources::Options{
                          .sources = last, .stop = stopping_, .hashed_max = UINT64_MAX});
                      return [sources](const StoredResult& stored) {
                        return FilesStillHold(*sources, stored);
                      };
                    },
                .committed = [this](const std::vector<ResultId>& cooked) { AfterCommit(cooked); },
                .has_ended = [this] { Post(Internal([this] { TakeCommitted(); })); }}),
      successors_({.term = options_.core.term,
                   .state_directory = options_.state_directory,
                   .may_write = options_.may_write},
                  {.store = store_, .journal = journal_, .seats = seats_}, world_.Get()),
      memory_(options_.own_memory_bytes,
              {.used = options_.own_memory_used ? options_.own_memory_used
                                                : [] { return ResidentBytes(::getpid()); },
               .trim = GiveBackMemory,
               .set_short = HoldNoFreeMemory}),
      look_ups_(
          {.sources = [this] { return Present(); },
           .store = store_,
           .journal = journal_,
           .results = results_,
           .limits = limits_.answers(),
           .clock = clock_,
           .remote = options_.remote,
           .reads = options_.farm_listen.empty() ? nullptr : &stored_reads_,
           .alarm =
               [this](const std::string& text) { Warn(record::WarningKind::kRemoteStore, text); },
           .post = [this](Internal task) { Post(std::move(task)); },
           .answer = [this](LookedUp answer) { StepCore(std::move(answer)); }},
          LookUpOptionsOf(options_)) {}

DirectorShell::~DirectorShell() { Stop(); }

SourcesPtr DirectorShell::Present() {
  return std::make_shared<ProjectSources>(world_.Get(), tools_);
}

void DirectorShell::Post(Message message) {
  {
    base::MutexLock lock(mutex_);
    if (!accepting_) return;
    inbox_.push_back(std::move(message));
  }
  inbox_changed_.NotifyAll();
}

void DirectorShell::Warn(record::WarningKind kind, const std::string& text) {
  Post(Internal([this, warning = record::Warning{kind, text}] {
    seats_.Tell([warning](ShellListener& one) { one.OnPassingWarning("", "", warning); });
  }));
}

std::vector<DirectorShell::Message> DirectorShell::TakeInbox(absl::Duration wait) {
  base::MutexLock lock(mutex_);
  if (inbox_.empty() && wait > absl::ZeroDuration())
    inbox_changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(wait));
  return std::exchange(inbox_, {});
}

absl::Status DirectorShell::Start() {
  std::map<std::string, std::string> tokens;
  for (const WorkerRecord& survivor : options_.survivors)
    tokens.emplace(survivor.worker_id, survivor.token);
  WorkerService::Callbacks callbacks{
      .on_attach = [this](const std::string& id,
                          const v1::FromWorker& first) { return OnAttach(id, first); },
      .on_message = [this](const std::string& id, const v1::FromWorker& message,
                           auto is_present) { OnMessageInTurn(id, message, is_present); },
      .on_detach =
          [this](const std::string& id) {
            // The rest depends on the worker's process: the launcher reports its death; one
            // that lives attaches again.
            LogInfo("worker={} detached", id);
          },
      .on_question = [this](const v1::PackageQuestion& q) { return OnQuestion(q); },
      .on_fetch =
          [this](const std::string& id, const v1::FetchRequest& request, const auto& send) {
            return worker_bytes_.Fetch(id, request, [&](const v1::FetchPiece& piece) {
              if (options_.figures != nullptr) options_.figures->CountFetched(piece.bytes().size());
              return send(piece);
            });
          },
      .on_find_missing =
          [this](const v1::FindMissingRequest& request) {
            return worker_bytes_.FindMissing(request);
          },
      .on_upload =
          [this](const std::string& id, const auto& next) {
            return worker_bytes_.Upload(id, [&](v1::UploadPiece& piece) {
              if (!next(piece)) return false;
              if (options_.figures != nullptr)
                options_.figures->CountUploaded(piece.bytes().size());
              return true;
            });
          },
      .may_renew = [this](const std::string& id) { return admission_.MayRenew(id); }};
  if (options_.door != nullptr) {
    service_ = WorkerService::StartBehind(*options_.door, std::move(callbacks), tokens);
  } else {
    ASSIGN_OR_RETURN(service_,
                     WorkerService::Start(options_.socket_path, std::move(callbacks), tokens));
  }
  if (!options_.farm_listen.empty()) RETURN_IF_ERROR(OpenFarmDoor());
  core_ = std::make_unique<CookCore>(options_.core, world_.Get()->table);
  MakeLaunches();
  admission_.ShowQuarantined();
  AdoptSurvivors();
  {
    base::MutexLock lock(mutex_);
    is_serving_ = true;
  }
  loop_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

// The token is made once: workers go on with it when the director was away.
absl::Status DirectorShell::OpenFarmDoor() {
  const std::string token_file = JoinPath(options_.state_directory, kFarmTokenFile);
  ASSIGN_OR_RETURN(const std::string token, KeptToken(token_file));
  service_->ExpectForeign(token, [this](std::string_view id) { return workers_.IsOurs(id); });
  ASSIGN_OR_RETURN(farm_door_,
                   FarmDoor::Open({.address = options_.farm_listen,
                                   .tls = options_.farm_tls,
                                   .certificate_lifetime = options_.farm_certificate_lifetime},
                                  service_->calls()));
  LogInfo("farm address={} token_file={}", farm_door_->address(), token_file);
  return WriteFileAtomic(JoinPath(options_.state_directory, kFarmAddressFile),
                         farm_door_->address() + "\n");
}

void DirectorShell::MakeLaunches() {
  launches_ = std::make_unique<Launches>(
      Launches::Options{.worker_program = options_.worker_program,
                        .state_directory = options_.state_directory,
                        .slots = options_.slots,
                        .local_offer = options_.core.local_offer,
                        .farm_offer = options_.core.fleet.offer,
                        .farm = options_.farm_launch},
      Launches::Deps{.service = *service_,
                     .farm_door = farm_door_.get(),
                     .workers = workers_,
                     .views = worker_views_,
                     .log_book = log_book_,
                     .tell_core = [this](Event event) { Post(std::move(event)); },
                     .post = [this](Internal task) { Post(std::move(task)); },
                     .look_at_disk = [this] { LookAtTheDisk(); },
                     .forget = [this](const std::string& worker) { ForgetWorker(worker); },
                     .unstarted =
                         [this](const std::string& reason) {
                           seats_.ForEach([&](CookSeat& seat) {
                             ++seat.unstarted;
                             seat.unstarted_reason = reason;
                           });
                         },
                     .held =
                         [this](const std::string& text) {
                           seats_.Tell([text](ShellListener& one) {
                             one.OnPassingWarning("", "", {record::WarningKind::kWorkerHeld, text});
                           });
                         }});
}

void DirectorShell::Stop() {
  if (!loop_.joinable()) return;
  stopping_.Cancel();
  reports_.Cancel();
  Post(Internal([this] { is_stopping_ = true; }));
  loop_.join();
  look_ups_.Cancel();  // nobody wants its open answers any more
  worker_bytes_.Cancel();
  launches_->EndAll();
  commit_thread_.Drain();
  while (TakeCommitted()) {
  }
  std::vector<Message> too_late;
  {
    base::MutexLock lock(mutex_);
    accepting_ = false;
    too_late = std::exchange(inbox_, {});
  }
  WriteFigures();
  if (options_.figures != nullptr) options_.figures->EndShell();
  message_room_.Close();
  too_late.clear();  // threads that wait for an answer are told that there is none (Carried)
  service_->Stop();
  for (const WorkerStatus& worker : worker_views_.All()) worker_views_.Gone(worker.name);
  if (farm_door_ == nullptr) return;
  ::unlink(JoinPath(options_.state_directory, kFarmAddressFile).c_str());
  farm_door_.reset();
}

void DirectorShell::Loop() {
  while (!is_stopping_) {
    CheckFence();
    LoseTheSilent();
    const bool has_agenda = core_->has_agenda();
    std::vector<Message> messages = TakeInbox(has_agenda ? absl::ZeroDuration() : Patience());
    for (Message& message : messages) {
      if (auto* event = std::get_if<Event>(&message)) {
        StepCore(*event);
      } else {
        std::get<Internal>(message)();
      }
    }
    if (messages.empty() || core_->has_agenda()) StepCore(Tick{});
    StartCommit();
    const absl::Time now = clock_.Monotonic();
    if (now - last_progress_ >= kProgressInterval) {
      last_progress_ = now;
      TellProgress();
      worker_bytes_.EndUploadsUnless([this](AttemptId attempt) { return core_->Knows(attempt); });
      LookAtOwnMemory();
      WriteFigures();
    }
  }
  CommitPending();
}

void DirectorShell::WriteFigures() {
  if (options_.figures == nullptr) return;
  options_.figures->Write({.core = core_->figures(),
                           .bytes_stored = bytes_stored_,
                           .bytes_deduplicated = bytes_deduplicated_});
}

// Each write asks, too. But a director that was overtaken may never have anything to write: no
// worker finds it any more.
void DirectorShell::CheckFence() {
  const absl::Time now = clock_.Monotonic();
  if (!options_.may_write || now - fence_checked_ < kFenceInterval) return;
  fence_checked_ = now;
  if (const absl::Status status = options_.may_write(); !status.ok())
    StepCore(DirectorUnfit{MessageOf(status)});
}

// What no cook needs is forgotten when none runs; a cook that does not fit ends.
void DirectorShell::LookAtOwnMemory() {
  std::vector<MemoryGuard::Cook> cooks;
  seats_.ForEach([&](const CookSeat& seat) {
    // (One that publishes is about to give back what it has.)
    if (!seat.slot || seat.ended || core_->is_publishing(seat.number())) return;
    const CookRequested& request = seat.order.request;
    cooks.push_back({.number = seat.number(),
                     .urgency_class = request.of_class,
                     .packages = core_->counters(seat.number()).in_cook,
                     .asked = request.selected.size()});
  });
  switch (memory_.Look(clock_.Monotonic(), !cooks.empty())) {
    case MemoryGuard::Want::kNothing:
      return;
    case MemoryGuard::Want::kLetGo: {
      const size_t known = core_->package_count();
      StepCore(MemoryShort{});
      if (core_->package_count() == known) return;
      LogInfo("memory is short: what was known of {} packages is let go", known);
      // (The allocator keeps what is free by thread.)
      GiveBackMemory();
      commit_thread_.Post(GiveBackMemory);
      look_ups_.GiveBackMemory();
      return;
    }
    case MemoryGuard::Want::kEndACook: {
      const MemoryGuard::Cook& cook = MemoryGuard::Choose(cooks);
      const std::string reason = memory_.ReasonFor(cook, cooks);
      LogWarning("cook={} {}", cook.number, reason);
      return StepCore(CookUnfit{cook.number, reason});
    }
  }
}

// How long the loop may sleep.
absl::Duration DirectorShell::Patience() {
  if (seats_.empty() && !commits_.is_running() && !commits_.has_pending()) return kIdleTick;
  if (commits_.is_running() || !commits_.has_pending()) return kTick;
  return std::clamp(commits_.Next(core_->has_jobs()) - clock_.Monotonic(), absl::ZeroDuration(),
                    kTick);
}

void DirectorShell::StepCore(const Event& event) {
  if (const auto* const lost = std::get_if<WorkerLost>(&event))
    program_runs_.Lost(workers_.NameOf(lost->worker), clock_.Now());
  std::vector<Effect> effects;
  core_->Step(clock_.Monotonic(), event, effects);
  Execute(effects);
}

void DirectorShell::Execute(std::vector<Effect>& effects) {
  for (Effect& effect : effects) {
    std::visit([this](const auto& one) { Do(one); }, effect);
  }
}

void DirectorShell::Do(const Reply& effect) { reply_ = effect; }

std::string DirectorShell::PlatformName(PlatformIndex platform) const {
  return world_.Get()->project->platforms[platform].name;
}

}  // namespace galley::director
