#include "director/shell/workers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/segment_writer.h"
#include "director/core/jobs/worker_table.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<v1::ToWorker> Workers::Attach(const std::string& worker,
                                             const v1::FromWorker& first) {
  if (!is_open_) return absl::UnavailableError("not yet");  // the worker comes again
  return deps_.admission.Attach(worker, first, deps_.peer_of(worker));
}

void Workers::Announce(const World& world) {
  v1::ToWorker message;
  *message.mutable_snapshot() =
      SnapshotMessage(world.number, world.table_file, world.project->platforms);
  for (const std::string& worker : deps_.attached.Names()) deps_.send(worker, message);
}

void Workers::HearMessage(const std::string& worker, const v1::FromWorker& message,
                          absl::FunctionRef<bool()> is_present) {
  deps_.attached.Heard(worker, deps_.clock.Monotonic());
  const MessageRoom::Entered entered = room_.Enter(worker, message.ByteSizeLong());
  if (!entered.is_open) return;
  if (is_present()) TakeMessage(worker, message);
  if (entered.must_leave())
    deps_.inbox.PostTask([this, worker, entered] { room_.Leave(worker, entered); });
}

void Workers::TakeMessage(const std::string& worker, const v1::FromWorker& message) {
  const WorkerId id = deps_.attached.IdOf(worker);
  HearClock(worker, message);
  if (message.has_hello()) {
    TakeHello(id, worker, message);
  } else if (message.has_pending()) {
    deps_.inbox.PostEvent(PendingOf(id, message));
  }
  if (!message.uploading().empty() && !message.has_hello())
    deps_.inbox.PostEvent(UploadsOf(id, message));
  deps_.log_book.Take(worker, message);
  TakeFigures(worker, message);
  if (!message.unfit().empty()) {
    deps_.log_book.Note(worker, LogLevel::kError, fmt::format("cannot work: {}", message.unfit()));
    deps_.inbox.PostEvent(WorkerUnfit{id, message.unfit()});
  }
  if (message.goodbye() && !AttachedWorkers::IsLocal(worker)) {
    deps_.log_book.Note(worker, LogLevel::kInfo, "says goodbye");
    deps_.on_goodbye(worker);
    return deps_.inbox.PostEvent(
        WorkerLost{.worker = id, .reason = "it said goodbye", .is_in_order = true});
  }
  if (message.reports().empty()) return deps_.inbox.PostEvent(WorkerAlive{id});
  ReadReports(id, worker, message);
}

void Workers::TakeHello(WorkerId id, const std::string& worker, const v1::FromWorker& message) {
  WorkerAttached attached = AttachedOf(id, message);
  attached.lacks = deps_.admission.LackedBy(message.hello())
                       .value_or(std::vector<std::string>());  // Attach saw the cookers
  attached.machine = deps_.views.MachineOf(worker);
  deps_.inbox.PostEvent(std::move(attached));
  if (PoolOf(id) == Pool::kLaunched)
    deps_.inbox.PostTask([this, worker] { deps_.on_launched_attached(worker); });
}

// A worker of this machine uses the director's clock.
void Workers::HearClock(const std::string& worker, const v1::FromWorker& message) {
  if (message.sent_us() == 0 || AttachedWorkers::IsLocal(worker)) return;
  deps_.clocks.Heard(worker, absl::FromUnixMicros(message.sent_us()), deps_.clock.Now());
}

void Workers::TakeFigures(const std::string& worker, const v1::FromWorker& message) {
  if (message.memory_limit_bytes() > 0) {
    LogInfo("worker={} memory_bytes={}", worker, message.memory_limit_bytes());
    deps_.inbox.PostEvent(WorkerAlive{deps_.attached.IdOf(worker), message.memory_limit_bytes()});
  }
  if (message.memory_bytes() > 0) deps_.views.UsesMemory(worker, message.memory_bytes());
  if (message.has_collections()) deps_.collections.Take(worker, message.collections());
}

// ------------------------------------------------------------------ reports

void Workers::ReadReports(WorkerId id, const std::string& worker, const v1::FromWorker& message) {
  const uint64_t world_number = deps_.worlds.Get()->number;
  WorkerReported reported{.worker = id};
  for (const v1::Report& report : message.reports())
    reported.reports.push_back(deps_.reports.Read(worker, report));
  NoteFailedAttempts(worker, reported);
  for (const WorkerReport& report : reported.reports) {
    deps_.bytes.NoteReport(worker, report, deps_.results);
    deps_.repair.LookAtReport(report);
  }
  GiveSegmentIfLow(worker, message);
  deps_.inbox.PostTask([this, reported = std::move(reported), world_number]() mutable {
    TakeReports(std::move(reported), world_number);
  });
}

// Loop thread. `world_number`: the world in which the reports were judged. In a later world the
// reports are judged again.
void Workers::TakeReports(WorkerReported reported, uint64_t world_number) {
  deps_.notes.NoteOver(reported);
  for (const WorkerReport& report : reported.reports) {
    if (!std::holds_alternative<WorkerReport::Ended>(report.what)) continue;
    deps_.views.Ended(deps_.attached.NameOf(reported.worker), report.attempt, deps_.clock.Now());
    deps_.programs.NoteEnded(report.attempt);
  }
  const bool is_other_world = deps_.worlds.Get()->number != world_number;
  for (WorkerReport& report : reported.reports) {
    auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
    if (saved == nullptr || !is_other_world) continue;
    const StoredResultPtr stored = deps_.results.Get(saved->result->id);
    if (stored != nullptr)
      saved->is_current = saved->is_current && deps_.worlds.HoldsQuickly(*stored);
  }
  deps_.inbox.HandleNow(std::move(reported));
}

// Notes the failures for whoever asks what became of a package.
void Workers::NoteFailedAttempts(const std::string& worker, const WorkerReported& reported) {
  for (const WorkerReport& report : reported.reports) {
    if (const auto* failed = std::get_if<WorkerReport::Failed>(&report.what)) {
      const bool is_refused = failed->fault == WorkerReport::Fault::kProtocol;
      if (is_refused)
        LogWarning("worker={} attempt={} refused: {}", worker, report.attempt, failed->error);
      deps_.log_book.NoteFailed(
          worker, report.attempt,
          fmt::format("{}: {}", is_refused ? "its report is refused" : "the attempt failed",
                      failed->error));
    } else if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
               saved != nullptr && saved->result->is_verdict) {
      const StoredResultPtr stored = deps_.results.Get(saved->result->id);
      if (stored == nullptr) continue;
      deps_.log_book.NoteFailed(
          worker, report.attempt,
          fmt::format("failed for {}: {}", stored->platform_name, stored->result.error));
    }
  }
}

// Gives a worker its next segment when the present segment is half full, so that the worker never
// waits.
void Workers::GiveSegmentIfLow(const std::string& worker, const v1::FromWorker& message) {
  const std::optional<uint64_t> current = deps_.attached.SegmentOf(worker);
  if (!current.has_value()) return;
  uint64_t used = 0;
  for (const v1::Report& report : message.reports()) {
    const auto& blobs = report.has_saved() ? report.saved().blobs() : report.loaded().blobs();
    for (const v1::BlobWritten& blob : blobs) {
      if (blob.segment() == current) used = std::max(used, blob.offset());
    }
  }
  if (used < store::SegmentWriter::kSegmentBytesMax / 2) return;
  const auto segment = deps_.store.AllocateSegment();
  if (!segment.ok()) {
    LogError("worker={} gets no further segment: {}", worker, MessageOf(segment.status()));
    return;
  }
  deps_.attached.SetSegment(worker, *segment);
  v1::ToWorker out;
  out.add_segments(*segment);
  deps_.send(worker, std::move(out));
}

}  // namespace galley::director
