// SimDirector's orders: jobs, processes, and what the journal learns of them.

#include <optional>

#include "common/wire/convert.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

// The worker's machine has everything that the package asks for.
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

void SimDirector::NoteGiven(const Streams::Given& given) {
  BeginCook();
  const std::string& name = given.info.name;
  const AttemptId attempt = given.start.attempt;
  CheckPlace(given.worker, name);
  const std::optional<CatalogEntry> entry = snapshot_->catalog()->Find(name);
  const bool is_placed = entry.has_value() && (!entry->labels.empty() || !entry->resources.empty());
  // If other workers are held, there may be no other worker to try the package on.
  own_faults_->Give(attempt, name, given.worker,
                    is_placed || options_.proofs.share > 0 || core_->held_workers() > 0);
  for (const v1::BlobWritten& blob : given.job.blobs())
    told_.insert(*wire::FromProto(blob.digest()));
  if (deps_.faults.Has(Fault::kProgramWaited)) {
    for (v1::Target& target : *given.job.mutable_targets())
      target.set_recipe(deps_.world.TargetRecipe(name));
  }
  given_.insert(attempt);
}

void SimDirector::Do(const Desire& effect) {
  deps_.checks.Trace("desire", effect.worker.value(), effect.persisted.size(), effect.cancel.size(),
                     effect.retract.size());
  if (effect.drain) draining_.insert(NameOf(effect.worker));
  for (const Desire::Start& start : effect.start) {
    deps_.checks.Trace("start " + core_->NameOf(start.package), start.attempt, start.platforms,
                       start.cooked.size());
  }
  for (const auto* list : {&effect.cancel, &effect.retract}) {
    for (const AttemptId attempt : *list) own_faults_->TakeBack(attempt);
  }
  const std::string worker = NameOf(effect.worker);
  for (const ReportId report : effect.persisted) {
    const auto result = reported_.find({worker, report});
    if (result == reported_.end() || !accepted_.contains(result->second)) continue;
    const StoredResultPtr stored = results_.Get(result->second);
    const bool is_safe = store_.IsSafe(stored->action_key);
    // Somebody may delete the result's record between the commit and the acknowledgement.
    if (!is_safe && !deps_.checks.voided.contains(stored->action_key))
      deps_.checks.Break("safety: acknowledged before it is durable: " + stored->package);
    // An overtaken director does not know what was forgotten since.
    if (is_safe && !is_overtaken_) deps_.checks.promised.insert(stored->action_key);
  }
  own_->streams.TellWorker(effect);
}

void SimDirector::Do(const Spawn& effect) {
  BeginCook();
  deps_.checks.Trace("spawn", effect.worker.value());
  // While other workers are expected, a fault at a worker that came by itself counts once.
  for (const auto& [worker, stream] : streams_) {
    if (PoolOf(WorkerOf(worker)) == Pool::kForeign) own_faults_->MayCountLess();
  }
  callbacks_.spawn(effect);
}

void SimDirector::Do(const director::Stop& effect) {
  deps_.checks.Trace("stop", effect.worker.value());
  own_faults_->Lose(NameOf(effect.worker));
  callbacks_.stop(effect.worker);
}

}  // namespace galley::simulation
