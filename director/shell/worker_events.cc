// DirectorShell's side of the workers: attach, messages, deaths. Callbacks of the stream and
// launcher threads.

#include <algorithm>
#include <set>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/record/programs.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/worker_protocol.h"
#include "director/core/workers.h"
#include "director/shell/director_shell.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

// So long a worker of another machine may be silent; it speaks once a second.
constexpr absl::Duration kSilentMax = absl::Seconds(3);
constexpr absl::Duration kMostSilentMax = absl::Seconds(12);  // when most are silent at once

}  // namespace

// Adopts as many of the earlier director's workers as this cook has; the others, and those that
// cannot find us, are ended.
void DirectorShell::AdoptSurvivors() {
  const std::string folder = JoinPath(options_.state_directory, kWorkersFolder);
  std::set<std::string> expected;
  WorkersSurvived survived;
  for (const WorkerRecord& survivor : options_.survivors) {
    const WorkerId worker = workers_.IdOf(survivor.worker_id);
    survived.first_free = std::max(survived.first_free, worker.value() + 1);
    launcher_->Adopt(survivor, folder);
    if (survivor.director_address == service_->address() &&
        expected.size() < options_.core.workers) {
      expected.insert(survivor.worker_id);
      survived.workers.push_back(worker);
    } else {
      service_->Disconnect(survivor.worker_id);
      launcher_->Stop(survivor.worker_id, kStopGrace);
    }
  }
  const JobBuilder builder = Builder();
  for (const AttemptRecord& given : options_.given_before) {
    const std::shared_ptr<const AttemptInfo> info = builder.InfoOf(given);
    if (!expected.contains(given.worker) || info == nullptr) continue;
    survived.given.push_back({.attempt = given.attempt,
                              .worker = workers_.IdOf(given.worker),
                              .package = given.package,
                              .platforms = info->platforms,
                              .generated_source = given.generated_source});
  }
  StepCore(survived);
  for (const AttemptRecord& given : options_.given_before) {
    // Now the core knows its package.
    if (std::shared_ptr<const AttemptInfo> info = builder.InfoOf(given))
      reports_.Register(given.attempt, std::move(info));
  }
  if (options_.survivors.empty()) return;
  LogInfo("survivors={} expected={} attempts={}", options_.survivors.size(), expected.size(),
          survived.given.size());
}

// The cookers that the worker lacks, or is not given.
absl::StatusOr<std::vector<std::string>> DirectorShell::LackedBy(const v1::Hello& hello) const {
  ASSIGN_OR_RETURN(std::vector<std::string> lacks,
                   LacksOf(options_.cookers_json, hello.cookers_json()));
  if (hello.is_without_files() && !options_.has_far_programs &&
      std::find(lacks.begin(), lacks.end(), record::kProgramCooker) == lacks.end())
    lacks.emplace_back(record::kProgramCooker);
  return lacks;
}

// One that this machine started has the very same cookers; what another one lacks it is not given.
absl::Status DirectorShell::CheckCookers(const std::string& worker_id,
                                         const v1::Hello& hello) const {
  RETURN_IF_ERROR(CheckHello(worker_id, hello));
  const auto offer = OfferOf(hello);
  if (!offer.ok())
    return absl::FailedPreconditionError(
        fmt::format("the worker's labels and resources: {}", MessageOf(offer.status())));
  if (AttachedWorkers::IsLocal(worker_id)) {
    // (One that an earlier director started has what [farm] said then: another takes its place.)
    if (*offer != options_.core.local_offer)
      return absl::FailedPreconditionError(
          "the worker's labels and resources are not those that [farm] names now");
    if (hello.cookers_json() == options_.cookers_json) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "the worker's cookers are not those of this cook (another build of galley-worker?); start "
        "the cook again");
  }
  if (!workers_.MayTake(worker_id))
    return absl::FailedPreconditionError(fmt::format(
        "{} workers of different names have attached to this director: start it again, or give "
        "workers names that stay",
        AttachedWorkers::kForeignMax));
  if (!hello.is_without_files())
    return absl::FailedPreconditionError(
        "only workers that the director started read its files: expected --without-files");
  if (options_.is_identity_binary)
    return absl::FailedPreconditionError(
        "[cook] identity = \"binary\": only workers that the director starts on its own machine "
        "have its binary for sure");
  const auto lacks = LackedBy(hello);
  if (!lacks.ok())
    return absl::FailedPreconditionError(
        fmt::format("the worker's description of its cookers: {}", MessageOf(lacks.status())));
  if (!lacks->empty())
    LogWarning(
        "worker={} lacks the cookers {}, or has others than this director: it gets no jobs "
        "of these",
        worker_id, fmt::join(*lacks, ", "));
  return absl::OkStatus();
}

// One that was quarantined, by this director or one before, is refused until somebody lifts that
// (`galley readmit`).
absl::Status DirectorShell::CheckQuarantine(const std::string& worker_id,
                                            const std::string& machine) {
  const std::optional<WorkerView> before = worker_views_.Quarantined(worker_id);
  const absl::StatusOr<std::string> known = quarantine_.WhyOf(
      worker_id, before.has_value() ? before->machine : machine, workers_.IsOurs(worker_id));
  // (It comes again.)
  if (!known.ok()) return absl::UnavailableError(MessageOf(known.status()));
  const std::string& why = *known;
  if (!why.empty())
    return absl::FailedPreconditionError(
        fmt::format("{}: it gets no more jobs of this project, until its director's user says "
                    "`galley readmit {}`",
                    why, worker_id));
  if (!before.has_value()) return absl::OkStatus();
  LogInfo("worker={} may work again: its quarantine was lifted", worker_id);
  worker_views_.Readmit(worker_id);
  Post(Event(WorkerReadmitted{workers_.IdOf(worker_id)}));
  return absl::OkStatus();
}

// (Of those that launchers named, the names repeat.)
void DirectorShell::ShowQuarantined() {
  const auto all = quarantine_.All();
  if (!all.ok()) return LogError("{}", MessageOf(all.status()));
  for (const QuarantinedWorker& one : *all) {
    if (!workers_.IsOurs(one.worker)) worker_views_.Quarantine(one.worker, one.why, one.machine);
  }
}

absl::Status DirectorShell::MayRenew(const std::string& worker_id) const {
  if (const auto quarantined = worker_views_.Quarantined(worker_id))
    return absl::FailedPreconditionError(
        fmt::format("{} is quarantined: {}", worker_id, quarantined->note));
  if (worker_views_.IsDraining(worker_id))
    return absl::FailedPreconditionError(
        fmt::format("{} is drained: it ends when it has nothing in hand", worker_id));
  return absl::OkStatus();
}

absl::StatusOr<v1::ToWorker> DirectorShell::OnAttach(const std::string& worker_id,
                                                     const v1::FromWorker& first) {
  {
    base::MutexLock lock(mutex_);
    if (!is_serving_) return absl::UnavailableError("not yet");  // it comes again
  }
  RETURN_IF_ERROR(CheckCookers(worker_id, first.hello()));
  const std::string machine =
      machines_.Find(first.hello().machine(), service_->ComesFrom(worker_id));
  RETURN_IF_ERROR(CheckQuarantine(worker_id, machine));
  v1::ToWorker message;
  const bool has_files = !first.hello().is_without_files();
  std::optional<uint64_t> segment;
  if (has_files) {
    ASSIGN_OR_RETURN(segment, store_.AllocateSegment());
    message.add_segments(*segment);
  }
  // This comes before the snapshot is looked at: a later one is sent to this worker, too.
  workers_.Attach(worker_id, segment, clock_.Monotonic());
  const WorldPtr world = world_.Get();
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_protocol(wire::kWorkerProtocol);
  welcome.set_term(options_.core.term);
  // (A message has no other names, and nobody can ask for one.)
  for (const auto& [name, value] : world->environment) {
    if (IsUtf8(name)) (*welcome.mutable_environment())[name] = value;
  }
  welcome.set_memory_bytes_default(options_.memory_bytes_default);
  welcome.set_timeout_us_default(absl::ToInt64Microseconds(options_.timeout_default));
  if (has_files) {
    ASSIGN_OR_RETURN(const store::StoreInfo info, store_.Info());
    welcome.set_store_directory(info.directory);
    // The folder is named by the worker's process: a worker keeps it when the director changes, and
    // workers of a director that was overtaken may still run.
    welcome.set_scratch_directory(JoinPath(
        options_.state_directory, fmt::format("{}/{}", kScratchFolder, first.hello().pid())));
  }
  welcome.set_project_root(world->project->root);
  *message.mutable_snapshot() =
      SnapshotMessage(world->number, world->table_file, world->project->platforms);
  worker_views_.Attached({.name = worker_id,
                          .process = static_cast<uint32_t>(first.hello().pid()),
                          .slots = first.hello().slots(),
                          .jobs = static_cast<uint32_t>(first.in_hand_size()),
                          .machine = machine,
                          .launcher = LauncherOf(worker_id),
                          .offer = OfferOf(first.hello()).value_or(record::WorkerOffer()),
                          .last_job = clock_.Now()});
  log_book_.Note(worker_id, LogLevel::kInfo,
                 fmt::format("attached machine={} slots={} pid={} memory_bytes={} has_files={}",
                             machine, first.hello().slots(), first.hello().pid(),
                             first.hello().memory_bytes(), has_files));
  return message;
}

// For people.
std::string DirectorShell::LauncherOf(const std::string& worker_id) const {
  if (AttachedWorkers::IsLocal(worker_id)) return "local";
  return workers_.IsOurs(worker_id) ? options_.farm_launch.kind : kByHand;
}

// Waits while too much of what the worker said is still to be taken.
void DirectorShell::OnMessageInTurn(const std::string& worker_id, const v1::FromWorker& message,
                                    absl::FunctionRef<bool()> is_present) {
  workers_.Heard(worker_id, clock_.Monotonic());
  const MessageRoom::Entered entered = message_room_.Enter(worker_id, message.ByteSizeLong());
  if (!entered.is_open) return;
  if (is_present()) OnMessage(worker_id, message);
  if (entered.must_leave())
    Post(Internal([this, worker_id, entered] { message_room_.Leave(worker_id, entered); }));
}

void DirectorShell::OnMessage(const std::string& worker_id, const v1::FromWorker& message) {
  const WorkerId worker = workers_.IdOf(worker_id);
  HearClock(worker_id, message);
  if (message.has_hello()) {
    WorkerAttached attached = AttachedOf(worker, message);
    attached.lacks =
        LackedBy(message.hello()).value_or(std::vector<std::string>());  // CheckCookers saw them
    attached.machine = worker_views_.MachineOf(worker_id);
    Post(Event(std::move(attached)));
    if (PoolOf(worker) == Pool::kLaunched)
      Post(Internal([this, worker_id] {
        launching_.erase(worker_id);
        held_.erase(worker_id);
      }));
  } else if (message.has_pending()) {
    Post(Event(PendingOf(worker, message)));
  }
  log_book_.Take(worker_id, message);
  if (message.memory_limit_bytes() > 0) {
    LogInfo("worker={} memory_bytes={}", worker_id, message.memory_limit_bytes());
    Post(Event(WorkerAlive{worker, message.memory_limit_bytes()}));
  }
  if (message.memory_bytes() > 0) worker_views_.UsesMemory(worker_id, message.memory_bytes());
  if (message.has_collections()) {
    base::MutexLock lock(mutex_);
    collections_[worker_id] = message.collections();
  }
  if (!message.unfit().empty()) {
    log_book_.Note(worker_id, LogLevel::kError, fmt::format("cannot work: {}", message.unfit()));
    Post(Event(WorkerUnfit{worker, message.unfit()}));
  }
  if (message.goodbye() && !AttachedWorkers::IsLocal(worker_id)) {
    log_book_.Note(worker_id, LogLevel::kInfo, "says goodbye");
    ForgetWorker(worker_id);
    EndLaunched(worker_id);
    return Post(
        Event(WorkerLost{.worker = worker, .reason = "it said goodbye", .is_in_order = true}));
  }
  if (message.reports().empty()) return Post(Event(WorkerAlive{worker}));
  const uint64_t world_number = world_.Get()->number;
  WorkerReported reported{.worker = worker};
  for (const v1::Report& report : message.reports())
    reported.reports.push_back(reports_.Read(worker_id, report));
  NoteFailedAttempts(worker_id, reported);
  for (const WorkerReport& report : reported.reports) {
    worker_bytes_.NoteReport(worker_id, report, results_);
    LookAtInputs(report);
  }
  GiveSegmentIfLow(worker_id, message);
  Post(Internal([this, reported = std::move(reported), world_number]() mutable {
    TakeReports(std::move(reported), world_number);
  }));
}

// (A worker of this machine has its clock.)
void DirectorShell::HearClock(const std::string& worker_id, const v1::FromWorker& message) {
  if (message.sent_us() == 0 || AttachedWorkers::IsLocal(worker_id)) return;
  clocks_.Heard(worker_id, absl::FromUnixMicros(message.sent_us()), clock_.Now());
}

// For whoever asks what became of a package.
void DirectorShell::NoteFailedAttempts(const std::string& worker_id,
                                       const WorkerReported& reported) {
  for (const WorkerReport& report : reported.reports) {
    if (const auto* failed = std::get_if<WorkerReport::Failed>(&report.what)) {
      log_book_.NoteFailed(worker_id, report.attempt,
                           fmt::format("the attempt failed: {}", failed->error));
    } else if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
               saved != nullptr && saved->result->is_verdict) {
      const StoredResultPtr stored = results_.Get(saved->result->id);
      if (stored == nullptr) continue;
      log_book_.NoteFailed(
          worker_id, report.attempt,
          fmt::format("failed for {}: {}", stored->platform_name, stored->result.error));
    }
  }
}

// What is known of one that is gone.
void DirectorShell::ForgetWorker(const std::string& worker_id) {
  workers_.Remove(worker_id);
  worker_views_.Gone(worker_id);
  clocks_.Forget(worker_id);
}

// Blobs that an attempt could not read are made again, whatever else it failed for.
void DirectorShell::LookAtInputs(const WorkerReport& report) {
  const auto* failed = std::get_if<WorkerReport::Failed>(&report.what);
  if (failed == nullptr || failed->fault != WorkerReport::Fault::kInfrastructure) return;
  LookAtTheDisk();
  if (failed->executor_lost) return;
  std::vector<GivenBlob> blobs = reports_.GivenTo(report.attempt);
  if (blobs.empty()) return;
  commit_thread_.Post([this, blobs = std::move(blobs)] {
    const auto lies_at = [this](const Digest& digest, const store::BlobLocation& location) {
      const absl::StatusOr<store::StoreInfo> info = store_.Info();
      return !info.ok() ||
             !absl::IsDataLoss(store::ReadBlobAt(info->directory, digest, location).status());
    };
    auto found = DistrustUnreadable(store_, journal_, blobs, lies_at);
    // A package that reads such a blob would be tried a hundred times in vain.
    if (!found.ok())
      return Post(Event(DirectorUnfit{
          fmt::format("forgetting what cannot be read: {}", MessageOf(found.status()))}));
    if (found->packages.empty()) return;
    for (const std::string& package : found->packages)
      LogWarning("package={} its bytes in the store are wrong or gone: it is made again", package);
    Post(Internal([this, found = *std::move(found)]() mutable {
      seats_.ForEach([&](CookSeat& seat) {
        seat.lost_blobs.insert(found.blobs.begin(), found.blobs.end());
        seat.lost_packages.insert(found.packages.begin(), found.packages.end());
      });
      StepCore(PackagesCleared{std::move(found.packages)});
      StepCore(LossSeen{});  // one that was found is seldom the only one
    }));
  });
}

void DirectorShell::LookAtTheDisk() {
  if (!options_.has_room) return;
  if (const absl::Status room = options_.has_room(); !room.ok())
    Post(Event(DirectorUnfit{MessageOf(room)}));
}

// Those of whose end no launcher tells.
void DirectorShell::LoseTheSilent() {
  // (Not at each event of a farm.)
  const absl::Time now = clock_.Monotonic();
  if (now - silence_looked_at_ < kSilentMax / 30) return;
  // When this process did not run itself, what they said lies unread in its buffers.
  if (now - silence_looked_at_ > kSilentMax / 3) listens_since_ = now;
  silence_looked_at_ = now;
  if (farm_door_ != nullptr) farm_door_->LookAtCertificates();
  service_->EndSilent(now);
  // (They spoke: it is this director that has no time for them.)
  for (const std::string& name : service_->NotHeardOut()) workers_.Heard(name, now);
  if (now - listens_since_ < kSilentMax) return;
  for (const std::string& name :
       workers_.RemoveSilentSince(now - kSilentMax, now - kMostSilentMax)) {
    log_book_.NoteLost(name, fmt::format("is lost: nothing was heard of it for {} or longer",
                                         absl::FormatDuration(kSilentMax)));
    ForgetWorker(name);
    service_->HangUp(name);
    EndLaunched(name);
    StepCore(WorkerLost{.worker = workers_.IdOf(name),
                        .reason = "its machine or its connection fell silent",
                        .is_infrastructure = true});
  }
}

Collections DirectorShell::SumOfCollections() {
  Collections sum;
  base::MutexLock lock(mutex_);
  for (const auto& [worker, counts] : collections_) {
    sum.soft_limit += counts.soft_limit();
    sum.hard_limit += counts.hard_limit();
    sum.package_count += counts.package_count();
    sum.idle += counts.idle();
    sum.restarts += counts.restarts();
    sum.pauses += counts.pauses();
  }
  return sum;
}

// A worker gets its next segment when the present one is half full, so that it never waits for one.
void DirectorShell::GiveSegmentIfLow(const std::string& worker_id, const v1::FromWorker& message) {
  const std::optional<uint64_t> current = workers_.SegmentOf(worker_id);
  if (!current.has_value()) return;
  uint64_t used = 0;
  for (const v1::Report& report : message.reports()) {
    const auto& blobs = report.has_saved() ? report.saved().blobs() : report.loaded().blobs();
    for (const v1::BlobWritten& blob : blobs) {
      if (blob.segment() == current) used = std::max(used, blob.offset());
    }
  }
  if (used < store::SegmentWriter::kSegmentBytesMax / 2) return;
  const auto segment = store_.AllocateSegment();
  if (!segment.ok()) {
    LogError("worker={} gets no further segment: {}", worker_id, MessageOf(segment.status()));
    return;
  }
  workers_.SetSegment(worker_id, *segment);
  v1::ToWorker out;
  out.add_segments(*segment);
  service_->Send(worker_id, std::move(out));
}

// Another one takes its place: it is not to come back beside that one, as what a queue runs again.
void DirectorShell::EndLaunched(const std::string& worker_id) {
  if (PoolOf(workers_.IdOf(worker_id)) == Pool::kLaunched)
    farm_launcher_->Stop(worker_id, absl::ZeroDuration());
}

// The cooks go on with those that are there, and say at their end what was missing.
void DirectorShell::NoteUnstarted(const WorkerExit& exit) {
  if (launching_.erase(exit.worker_id) == 0) return;  // it came, and went
  seats_.ForEach([&](CookSeat& seat) {
    ++seat.unstarted;
    seat.unstarted_reason = exit.reason;
  });
}

// That one is attached shows better than any launcher knows whether it lives.
void DirectorShell::OnLaunchState(const std::string& worker_id, LaunchState state,
                                  const std::string& where) {
  const bool is_queued = state == LaunchState::kQueued;
  if (!is_queued)
    log_book_.Note(worker_id, LogLevel::kInfo, fmt::format("is starting machine={}", where));
  worker_views_.Launched(worker_id, is_queued ? "queued" : "starting", where,
                         LauncherOf(worker_id));
  if (is_queued && !where.empty())
    log_book_.Note(worker_id, LogLevel::kWarning, fmt::format("waits: {}", where));
  Post(Internal([this, worker_id] { held_.erase(worker_id); }));  // OnHeld comes after this
  Post(Event(LauncherReported{
      .worker = workers_.IdOf(worker_id),
      .state = is_queued ? LauncherReported::State::kQueued : LauncherReported::State::kStarting}));
}

// Cooks that begin later are told, too, as long as it holds.
void DirectorShell::OnHeld(const std::string& worker_id, const std::string& text) {
  log_book_.Note(worker_id, LogLevel::kWarning, text);
  Post(Internal([this, worker_id, text] {
    held_[worker_id] = text;
    seats_.Tell([text](ShellListener& one) { one.OnPassingWarning("", "", text); });
  }));
}

void DirectorShell::TellHeld(CookSeat& seat) const {
  for (const auto& [worker, text] : held_)
    seat.told.Add([text = text](ShellListener& one) { one.OnPassingWarning("", "", text); });
}

void DirectorShell::OnWorkerExit(const WorkerExit& exit) {
  if (!AttachedWorkers::IsLocal(exit.worker_id) && service_->IsAttached(exit.worker_id)) {
    LogDebug("worker={} is attached, though its launcher says: {}", exit.worker_id, exit.reason);
    return;
  }
  log_book_.NoteLost(exit.worker_id, fmt::format("ended: {}", exit.reason));
  LookAtTheDisk();
  service_->Disconnect(exit.worker_id);
  ForgetWorker(exit.worker_id);
  const WorkerId worker = workers_.IdOf(exit.worker_id);
  if (PoolOf(worker) == Pool::kLaunched) {
    Post(Internal([this, exit] {
      held_.erase(exit.worker_id);
      NoteUnstarted(exit);
    }));
  }
  if (exit.never_started) {
    Post(Event(LauncherReported{.worker = worker, .error = exit.reason}));
  } else {
    // A session parses no foreign bytes: its death is never a package's fault.
    Post(Event(WorkerLost{.worker = worker, .reason = exit.reason, .is_infrastructure = true}));
  }
}

}  // namespace galley::director
