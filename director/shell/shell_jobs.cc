// DirectorShell's orders: look-ups, worker processes, their jobs, and the reports of these.

#include "common/base/log.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_sources.h"
#include "director/shell/quick_sources.h"
#include "director/shell/worker_messages.h"

namespace galley::director {

// `world_number`: the world in which the reports were judged. A later one judges again.
void DirectorShell::TakeReports(WorkerReported reported, uint64_t world_number) {
  commits_.notes().NoteOver(reported);
  for (const WorkerReport& report : reported.reports) {
    if (!std::holds_alternative<WorkerReport::Ended>(report.what)) continue;
    worker_views_.Ended(workers_.NameOf(reported.worker), report.attempt, clock_.Now());
    program_runs_.End(report.attempt, clock_.Now());
  }
  const SourcesPtr sources = Present();
  for (WorkerReport& report : reported.reports) {
    auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
    if (saved == nullptr) continue;
    const StoredResultPtr stored = results_.Get(saved->result->id);
    if (sources->number() != world_number && stored != nullptr) {
      saved->is_current = saved->is_current && FilesHoldQuickly(sources, *stored, stopping_);
    }
  }
  StepCore(std::move(reported));
}

JobBuilder DirectorShell::Builder() {
  return JobBuilder({.core = core_.get(),
                     .results = &results_,
                     .reports = &reports_,
                     .store = &store_,
                     .journal = &journal_,
                     .sources = Present(),
                     .reads = &stored_reads_});
}

void DirectorShell::Do(const LookUp& effect) {
  const JobBuilder builder = Builder();
  std::vector<LookUpItem> items;
  for (const LookUp::Item& item : effect.items) items.push_back(builder.ItemOf(item));
  look_ups_.Ask(std::move(items));
}

void DirectorShell::Do(const Desire& effect) {
  v1::ToWorker message;
  const JobBuilder builder = Builder();
  const std::string name = workers_.NameOf(effect.worker);
  const bool has_files = workers_.HasFiles(name);
  for (const Desire::Start& start : effect.start) {
    BuiltJob built = builder.Build(start, name, has_files);
    *message.add_start() = std::move(built.job);
    if (built.record) commits_.notes().Give(*std::move(built.record));
    NoteProgram(start.attempt, *built.info);
    reports_.Register(start.attempt, std::move(built.info));
    if (!has_files) worker_bytes_.NoteGiven(name, start.attempt);
    worker_views_.Given(name, start.attempt,
                        {.package = core_->NameOf(start.package), .given = clock_.Now()});
  }
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  for (const Desire::Part& part : effect.retract_part) FillPart(part, *message.add_retract_part());
  for (const ReportId report : effect.persisted) message.add_persisted(report);
  message.set_resend_all(effect.resend_all);
  message.set_drain(effect.drain);
  message.set_start_another(effect.start_another);
  service_->Send(name, std::move(message));
}

void DirectorShell::Drain(const std::vector<std::string>& workers) {
  DrainAsked asked;
  for (const std::string& worker : workers) {
    log_book_.Note(worker, LogLevel::kInfo, "is drained");
    worker_views_.Draining(worker);
    asked.workers.push_back(workers_.IdOf(worker));
  }
  Post(Event(std::move(asked)));
}

void DirectorShell::Do(const Spawn& effect) { launches_->Start(effect); }

void DirectorShell::Do(const director::Stop& effect) { launches_->End(effect.worker); }

}  // namespace galley::director
