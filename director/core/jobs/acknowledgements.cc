#include "director/core/jobs/acknowledgements.h"

namespace galley::director {

void Acknowledgements::Acknowledge(WorkerId id, ReportId report) {
  Worker* worker = workers_.Find(id);
  if (worker == nullptr) return;
  worker->reports.unacknowledged.erase(report);
  ForgetEnded(*worker);
  // A lost worker sends the report again if it ever comes back, and is answered then.
  if (worker->presence == Worker::Presence::kAttached)
    effects_.DesireFor(id).persisted.push_back(report);
}

void Acknowledgements::NoteEnded(WorkerId id, ReportId report, AttemptId attempt) {
  workers_.Find(id)->reports.ended.emplace(report, attempt);
}

void Acknowledgements::ForgetEnded(Worker& worker) {
  while (!worker.reports.ended.empty() &&
         worker.reports.IsSettled(worker.reports.ended.begin()->first)) {
    const AttemptId ended = worker.reports.ended.begin()->second;
    worker.reports.ended.erase(worker.reports.ended.begin());
    if (attempts_.Find(ended) != nullptr) resumed_attempts_.ForgetAttempt(ended);
  }
}

}  // namespace galley::director
