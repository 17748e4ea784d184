#include "director/shell/worker_admission.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/record/programs.h"
#include "common/wire/worker_protocol.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {

WorkerAdmission::WorkerAdmission(Options options, Deps deps)
    : options_(std::move(options)), deps_(std::move(deps)), quarantine_(options_.state_directory) {}

absl::StatusOr<std::vector<std::string>> WorkerAdmission::LackedBy(const v1::Hello& hello) const {
  ASSIGN_OR_RETURN(std::vector<std::string> lacks,
                   LacksOf(options_.cookers_json, hello.cookers_json()));
  if (hello.is_without_files() && !options_.has_far_programs &&
      std::ranges::find(lacks, record::kProgramCooker) == lacks.end())
    lacks.emplace_back(record::kProgramCooker);
  return lacks;
}

// A worker that this machine started has the same cookers; a worker of another machine gets no
// packages of cookers that it lacks.
absl::Status WorkerAdmission::CheckCookers(const std::string& worker_id,
                                           const v1::Hello& hello) const {
  RETURN_IF_ERROR(CheckHello(worker_id, hello));
  const auto offer = OfferOf(hello);
  if (!offer.ok())
    return FailedPreconditionError("the worker's labels and resources: {}",
                                   MessageOf(offer.status()));
  if (AttachedWorkers::IsLocal(worker_id)) {
    // A survivor has the offer of its time: if [farm] changed since, another worker takes its
    // place.
    if (*offer != options_.local_offer)
      return absl::FailedPreconditionError(
          "the worker's labels and resources are not those that [farm] names now");
    if (hello.cookers_json() == options_.cookers_json) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "the worker's cookers are not those of this cook (another build of galley-worker?); start "
        "the cook again");
  }
  if (!deps_.workers.MayTake(worker_id))
    return FailedPreconditionError(
        "{} workers of different names have attached to this director: start it again, or give "
        "workers names that stay",
        AttachedWorkers::kForeignMax);
  if (!hello.is_without_files())
    return absl::FailedPreconditionError(
        "only workers that the director started read its files: expected --without-files");
  if (options_.is_identity_binary)
    return absl::FailedPreconditionError(
        "[cook] identity = \"binary\": only workers that the director starts on its own machine "
        "have its binary for sure");
  const auto lacks = LackedBy(hello);
  if (!lacks.ok())
    return FailedPreconditionError("the worker's description of its cookers: {}",
                                   MessageOf(lacks.status()));
  if (!lacks->empty())
    LogWarning(
        "worker={} lacks the cookers {}, or has others than this director: it gets no jobs "
        "of these",
        worker_id, fmt::join(*lacks, ", "));
  return absl::OkStatus();
}

// A worker that this director or an earlier one quarantined is refused until somebody lifts the
// quarantine (`galley readmit`).
absl::Status WorkerAdmission::CheckQuarantine(const std::string& worker_id,
                                              const std::string& machine) {
  const std::optional<WorkerStatus> before = deps_.views.Quarantined(worker_id);
  const absl::StatusOr<std::string> known = quarantine_.WhyOf(
      worker_id, before.has_value() ? before->machine : machine, deps_.workers.IsOurs(worker_id));
  // The worker comes again.
  if (!known.ok()) return absl::UnavailableError(MessageOf(known.status()));
  const std::string& why = *known;
  if (!why.empty())
    return FailedPreconditionError(
        "{}: it gets no more jobs of this project, until its director's user says "
        "`galley readmit {}`",
        why, worker_id);
  if (!before.has_value()) return absl::OkStatus();
  LogInfo("worker={} may work again: its quarantine was lifted", worker_id);
  deps_.views.Readmit(worker_id);
  deps_.tell_core(WorkerReadmitted{deps_.workers.IdOf(worker_id)});
  return absl::OkStatus();
}

// Names that launchers give are used again.
void WorkerAdmission::ShowQuarantined() {
  const auto all = quarantine_.All();
  if (!all.ok()) return LogError("{}", MessageOf(all.status()));
  for (const QuarantinedWorker& one : *all) {
    if (!deps_.workers.IsOurs(one.worker)) deps_.views.Quarantine(one.worker, one.why, one.machine);
  }
}

absl::Status WorkerAdmission::MayRenew(const std::string& worker_id) const {
  if (const auto quarantined = deps_.views.Quarantined(worker_id))
    return FailedPreconditionError("{} is quarantined: {}", worker_id, quarantined->note);
  if (deps_.views.IsDraining(worker_id))
    return FailedPreconditionError("{} is drained: it ends when it has nothing in hand", worker_id);
  return absl::OkStatus();
}

void WorkerAdmission::Quarantine(const QuarantinedWorker& quarantined) {
  // Written before the worker may attach again.
  absl::Status kept = options_.may_write ? options_.may_write() : absl::OkStatus();
  if (kept.ok()) {
    kept = quarantine_.Add(quarantined);
  } else {
    quarantine_.AddHere(quarantined);
  }
  if (!kept.ok())
    LogError("worker={} is quarantined by this director only: {}", quarantined.worker,
             MessageOf(kept));
  deps_.views.Quarantine(quarantined.worker, quarantined.why);
}

void WorkerAdmission::EndProcess(const std::string& worker_id, uint64_t session,
                                 const std::string& why) {
  base::MutexLock lock(mutex_);
  ended_[worker_id] = {.session = session, .why = why};
}

absl::Status WorkerAdmission::CheckProcess(const std::string& worker_id, uint64_t session) {
  base::MutexLock lock(mutex_);
  const auto found = ended_.find(worker_id);
  if (found == ended_.end()) return absl::OkStatus();
  if (found->second.session == session) return absl::FailedPreconditionError(found->second.why);
  ended_.erase(found);
  return absl::OkStatus();
}

absl::Status WorkerAdmission::FillWelcome(const v1::Hello& hello, const World& world,
                                          v1::Welcome& welcome) const {
  welcome.set_protocol(wire::kWorkerProtocol);
  welcome.set_term(options_.term);
  // A message can have no other names, and nobody can ask for another name.
  for (const auto& [name, value] : world.environment) {
    if (IsUtf8(name)) (*welcome.mutable_environment())[name] = value;
  }
  welcome.set_memory_bytes_default(options_.memory_bytes_default);
  welcome.set_timeout_us_default(absl::ToInt64Microseconds(options_.timeout_default));
  if (!hello.is_without_files()) {
    ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store.Info());
    welcome.set_store_directory(info.directory);
    // The folder has the name of the worker's process: a worker keeps its folder when the director
    // changes, and workers of an overtaken director may still run.
    welcome.set_scratch_directory(
        JoinPath(options_.state_directory, fmt::format("{}/{}", kScratchFolder, hello.pid())));
  }
  welcome.set_project_root(world.project->root);
  welcome.set_walls(std::string(project::NameOf(world.project->cook.walls)));
  if (!hello.is_without_files()) {
    welcome.add_read_only(options_.state_directory);
    welcome.add_read_only(world.project->output_directory);
  }
  return absl::OkStatus();
}

absl::Status WorkerAdmission::CheckWalls(const v1::Hello& hello, const World& world) {
  if (world.project->cook.walls != project::Walls::kRequire || hello.walls_missing().empty())
    return absl::OkStatus();
  return FailedPreconditionError(
      "[cook] walls = \"require\", and on this machine programs could change the "
      "project: {}",
      hello.walls_missing());
}

absl::StatusOr<v1::ToWorker> WorkerAdmission::Attach(const std::string& worker_id,
                                                     const v1::FromWorker& first,
                                                     const std::string& comes_from) {
  const v1::Hello& hello = first.hello();
  RETURN_IF_ERROR(CheckCookers(worker_id, hello));
  RETURN_IF_ERROR(CheckWalls(hello, *deps_.world.Get()));
  const std::string machine = machines_.Find(hello.machine(), comes_from);
  RETURN_IF_ERROR(CheckQuarantine(worker_id, machine));
  RETURN_IF_ERROR(CheckProcess(worker_id, hello.session()));
  v1::ToWorker message;
  const bool has_files = !hello.is_without_files();
  std::optional<uint64_t> segment;
  if (has_files) {
    ASSIGN_OR_RETURN(segment, deps_.store.AllocateSegment());
    message.add_segments(*segment);
  }
  // The worker is attached before the snapshot is read, so that a later snapshot is sent to it as
  // well.
  deps_.workers.Attach(worker_id, segment, deps_.clock.Monotonic());
  deps_.workers.SetWallsMissing(worker_id, hello.walls_missing());
  const WorldPtr world = deps_.world.Get();
  RETURN_IF_ERROR(FillWelcome(hello, *world, *message.mutable_welcome()));
  *message.mutable_snapshot() =
      SnapshotMessage(world->number, world->table_file, world->project->platforms);
  deps_.views.Attached({.name = worker_id,
                        .process = static_cast<uint32_t>(hello.pid()),
                        .slots = hello.slots(),
                        .jobs = static_cast<uint32_t>(first.in_hand_size()),
                        .machine = machine,
                        .launcher = deps_.workers.LauncherOf(worker_id),
                        .runs_as = EscapeInvalidUtf8(hello.runs_as().substr(0, 300)),
                        .offer = OfferOf(hello).value_or(record::WorkerOffer()),
                        .last_job = deps_.clock.Now()});
  deps_.log_book.Note(
      worker_id, LogLevel::kInfo,
      fmt::format("attached machine={} slots={} pid={} memory_bytes={} has_files={}", machine,
                  hello.slots(), hello.pid(), hello.memory_bytes(), has_files));
  return message;
}

}  // namespace galley::director
