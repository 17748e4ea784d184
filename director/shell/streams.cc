#include "director/shell/streams.h"

#include <utility>

#include "director/shell/worker_messages.h"

namespace galley::director {

JobBuilder Streams::Builder() const {
  return JobBuilder({.core = &deps_.core,
                     .results = &deps_.results,
                     .reports = &deps_.reports,
                     .store = &deps_.store,
                     .journal = &deps_.journal,
                     .sources = deps_.sources(),
                     .reads = deps_.reads});
}

std::vector<LookUpItem> Streams::LookUpItemsOf(const LookUp& effect) const {
  const JobBuilder builder = Builder();
  std::vector<LookUpItem> items;
  items.reserve(effect.items.size());
  for (const LookUp::Item& item : effect.items) items.push_back(builder.ItemOf(item));
  return items;
}

void Streams::GiveJob(const JobBuilder& builder, const Desire::Start& start,
                      const std::string& worker, v1::ToWorker& message) {
  const bool has_files = deps_.has_files(worker);
  BuiltJob built = builder.Build(start, worker, has_files);
  if (built.record) deps_.notes.Give(*std::move(built.record));
  deps_.note_given({.start = start,
                    .worker = worker,
                    .info = *built.info,
                    .has_files = has_files,
                    .job = built.job});
  deps_.reports.Register(start.attempt, std::move(built.info));
  *message.add_start() = std::move(built.job);
}

void Streams::TellWorker(const Desire& effect) {
  v1::ToWorker message;
  const std::string worker = deps_.name_of(effect.worker);
  if (!effect.start.empty()) {
    const JobBuilder builder = Builder();
    for (const Desire::Start& start : effect.start) GiveJob(builder, start, worker, message);
  }
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  for (const Desire::Part& part : effect.retract_part) FillPart(part, *message.add_retract_part());
  for (const ReportId report : effect.persisted) message.add_persisted(report);
  message.set_resend_all(effect.resend_all);
  message.set_drain(effect.drain);
  message.set_start_another(effect.start_another);
  deps_.send(worker, std::move(message));
}

}  // namespace galley::director
