// SimDirector's orders: jobs, processes, what the journal learns of them.

#include <optional>

#include "common/wire/convert.h"
#include "director/shell/job_builder.h"
#include "director/shell/worker_messages.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

void SimDirector::RecordProgress() {
  JournalProgress progress = notes_.Take(!pending_commit_.empty(), deps_.schedule.now());
  if (progress.empty()) return;
  PostTask(5, [this, progress = std::move(progress)] { (void)journal_.RecordProgress(progress); });
}

// Its machine has all that the package asks for.
void SimDirector::CheckPlace(const std::string& worker, const std::string& package) {
  const std::optional<CatalogEntry> entry = snapshot_->catalog()->Find(package);
  if (!entry.has_value()) return;
  const record::WorkerOffer& offer = offers_[worker];
  const auto tapes = [](const record::ResourceCounts& of) {
    const auto found = of.find("tape");
    return found == of.end() ? 0 : found->second;
  };
  if (!offer.HasLabels(entry->labels) || tapes(offer.resources) < tapes(entry->resources))
    deps_.checks.Break("safety: " + worker + " is given " + package + ", which asks for " +
                       record::OfferText(entry->labels, entry->resources) + ", and has " +
                       record::OfferText(offer.labels, offer.resources));
}

void SimDirector::Give(const std::string& worker, const Desire::Start& start,
                       v1::ToWorker& message) {
  BeginCook();
  const std::string& name = core_->NameOf(start.package);
  CheckPlace(worker, name);
  const std::optional<CatalogEntry> entry = snapshot_->catalog()->Find(name);
  const bool is_placed = entry.has_value() && (!entry->labels.empty() || !entry->resources.empty());
  // (Others that are held are none where it could be tried.)
  own_faults_->Give(start.attempt, name, worker,
                    is_placed || options_.proofs.share > 0 || core_->held_workers() > 0);
  BuiltJob built = Builder().Build(start, worker, /*has_files=*/!remote_.contains(worker));
  for (const v1::BlobWritten& blob : built.job.blobs())
    told_.insert(*wire::FromProto(blob.digest()));
  if (deps_.faults.Has(Fault::kProgramWaited)) {
    for (v1::Target& target : *built.job.mutable_targets())
      target.set_recipe(World::TargetRecipe(name));
  }
  *message.add_start() = std::move(built.job);
  if (built.record) notes_.Give(*std::move(built.record));
  reports_.Register(start.attempt, std::move(built.info));
  given_.insert(start.attempt);
}

void SimDirector::Do(const Desire& effect) {
  deps_.checks.Trace("desire", effect.worker.value(), effect.persisted.size(), effect.cancel.size(),
                     effect.retract.size());
  if (effect.drain) draining_.insert(NameOf(effect.worker));
  v1::ToWorker message;
  for (const Desire::Start& start : effect.start) {
    deps_.checks.Trace("start " + core_->NameOf(start.package), start.attempt, start.platforms,
                       start.cooked.size());
    Give(NameOf(effect.worker), start, message);
  }
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  for (const Desire::Part& part : effect.retract_part) FillPart(part, *message.add_retract_part());
  for (const auto* list : {&effect.cancel, &effect.retract}) {
    for (const AttemptId attempt : *list) own_faults_->TakeBack(attempt);
  }
  const std::string worker = NameOf(effect.worker);
  for (const ReportId report : effect.persisted) {
    message.add_persisted(report);
    const auto result = reported_.find({worker, report});
    if (result == reported_.end() || !accepted_.contains(result->second)) continue;
    const StoredResultPtr stored = results_.Get(result->second);
    const bool is_safe = store_.IsSafe(stored->action_key);
    // (Somebody may delete its record between the commit and the acknowledgement.)
    if (!is_safe && !deps_.checks.voided.contains(stored->action_key))
      deps_.checks.Break("safety: acknowledged before it is durable: " + stored->package);
    // (One that was overtaken does not know what was forgotten since.)
    if (is_safe && !is_overtaken_) deps_.checks.promised.insert(stored->action_key);
  }
  message.set_resend_all(effect.resend_all);
  message.set_drain(effect.drain);
  message.set_start_another(effect.start_another);
  Send(worker, std::move(message));
}

void SimDirector::Do(const Spawn& effect) {
  BeginCook();
  deps_.checks.Trace("spawn", effect.worker.value());
  callbacks_.spawn(effect);
}

void SimDirector::Do(const director::Stop& effect) {
  deps_.checks.Trace("stop", effect.worker.value());
  own_faults_->Lose(NameOf(effect.worker));
  callbacks_.stop(effect.worker);
}

}  // namespace galley::simulation
