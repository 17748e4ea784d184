// DirectorShell's side of the workers: attach, messages, silence. Callbacks of the stream threads.

#include <algorithm>
#include <set>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/segment_writer.h"
#include "director/core/worker_table.h"
#include "director/shell/director_shell.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {

// Adopts as many of the earlier director's workers as this cook has; the others, and those that
// cannot find us, are ended.
void DirectorShell::AdoptSurvivors() {
  std::set<std::string> expected;
  WorkersSurvived survived;
  for (const WorkerRecord& survivor : options_.survivors) {
    const WorkerId worker = workers_.IdOf(survivor.worker_id);
    survived.first_free = std::max(survived.first_free, worker.value() + 1);
    launches_->Adopt(survivor);
    if (survivor.director_address == service_->address() &&
        expected.size() < options_.core.workers) {
      expected.insert(survivor.worker_id);
      survived.workers.push_back(worker);
    } else {
      launches_->EndSurvivor(survivor.worker_id);
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

absl::StatusOr<v1::ToWorker> DirectorShell::OnAttach(const std::string& worker_id,
                                                     const v1::FromWorker& first) {
  {
    base::MutexLock lock(mutex_);
    if (!is_serving_) return absl::UnavailableError("not yet");  // it comes again
  }
  return admission_.Attach(worker_id, first, service_->ComesFrom(worker_id));
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
    attached.lacks = admission_.LackedBy(message.hello())
                         .value_or(std::vector<std::string>());  // Attach saw them
    attached.machine = worker_views_.MachineOf(worker_id);
    Post(Event(std::move(attached)));
    if (PoolOf(worker) == Pool::kLaunched)
      Post(Internal([this, worker_id] { launches_->HasCome(worker_id); }));
  } else if (message.has_pending()) {
    Post(Event(PendingOf(worker, message)));
  }
  if (!message.uploading().empty() && !message.has_hello()) Post(Event(UploadsOf(worker, message)));
  log_book_.Take(worker_id, message);
  if (message.memory_limit_bytes() > 0) {
    LogInfo("worker={} memory_bytes={}", worker_id, message.memory_limit_bytes());
    Post(Event(WorkerAlive{worker, message.memory_limit_bytes()}));
  }
  if (message.memory_bytes() > 0) worker_views_.UsesMemory(worker_id, message.memory_bytes());
  if (message.has_collections()) collections_.Take(worker_id, message.collections());
  if (!message.unfit().empty()) {
    log_book_.Note(worker_id, LogLevel::kError, fmt::format("cannot work: {}", message.unfit()));
    Post(Event(WorkerUnfit{worker, message.unfit()}));
  }
  if (message.goodbye() && !AttachedWorkers::IsLocal(worker_id)) {
    log_book_.Note(worker_id, LogLevel::kInfo, "says goodbye");
    ForgetWorker(worker_id);
    launches_->EndLaunched(worker_id);
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
      const bool is_refused = failed->fault == WorkerReport::Fault::kProtocol;
      if (is_refused)
        LogWarning("worker={} attempt={} refused: {}", worker_id, report.attempt, failed->error);
      log_book_.NoteFailed(
          worker_id, report.attempt,
          fmt::format("{}: {}", is_refused ? "its report is refused" : "the attempt failed",
                      failed->error));
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
  const bool is_of_disk =
      failed != nullptr && (failed->fault == WorkerReport::Fault::kInfrastructure ||
                            failed->fault == WorkerReport::Fault::kNoRoom);
  if (!is_of_disk) return;
  LookAtTheDisk();
  if (failed->executor_lost || failed->fault == WorkerReport::Fault::kNoRoom) return;
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
  const absl::Time now = clock_.Monotonic();
  if (!silence_.IsDue(now)) return;
  if (farm_door_ != nullptr) farm_door_->LookAtCertificates();
  service_->EndSilent(now);
  // (They spoke: it is this director that has no time for them.)
  for (const std::string& name : service_->NotHeardOut()) workers_.Heard(name, now);
  if (!silence_.HasListened(now)) return;
  for (const std::string& name : workers_.RemoveSilentSince(now - SilenceWatch::kSilentMax,
                                                            now - SilenceWatch::kMostSilentMax)) {
    log_book_.NoteLost(name, fmt::format("is lost: nothing was heard of it for {} or longer",
                                         absl::FormatDuration(SilenceWatch::kSilentMax)));
    ForgetWorker(name);
    service_->HangUp(name);
    launches_->EndLaunched(name);
    StepCore(WorkerLost{.worker = workers_.IdOf(name),
                        .reason = "its machine or its connection fell silent",
                        .is_infrastructure = true});
  }
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

void DirectorShell::TellHeld(CookSeat& seat) const {
  for (const auto& [worker, text] : launches_->held())
    seat.told.Add([text = text](ShellListener& one) {
      one.OnPassingWarning("", "", {record::WarningKind::kWorkerHeld, text});
    });
}

}  // namespace galley::director
