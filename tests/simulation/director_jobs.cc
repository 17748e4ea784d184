// SimDirector's orders: jobs, processes, what the journal learns of them.

#include "common/wire/convert.h"
#include "director/shell/worker_messages.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

void SimDirector::AddBlob(const Digest& digest, v1::Job& job) {
  std::optional<store::BlobLocation> location = store_.LocationOf(digest);
  if (const auto said = locations_.find(digest); !location && said != locations_.end())
    location = said->second;
  if (!location) return;
  told_.insert(digest);
  v1::BlobWritten* blob = job.add_blobs();
  wire::ToProto(digest, blob->mutable_digest());
  blob->set_segment(location->segment);
  blob->set_offset(location->offset);
}

void SimDirector::RecordProgress() {
  JournalProgress progress = notes_.Take(!pending_commit_.empty(), deps_.schedule.now());
  if (progress.empty()) return;
  PostTask(5, [this, progress = std::move(progress)] { (void)journal_.RecordProgress(progress); });
}

void SimDirector::FillJob(const std::string& worker, const Desire::Start& start,
                          v1::ToWorker& message) {
  BeginCook();
  own_faults_->Give(start.attempt, core_->NameOf(start.package), worker);
  Given given{
      .package = start.package, .name = core_->NameOf(start.package), .platforms = start.platforms};
  v1::Job& job = *message.add_start();
  job.set_attempt(start.attempt);
  job.set_package(given.name);
  job.set_snapshot(snapshot_->number);
  job.set_expected_us(absl::ToInt64Microseconds(start.expected));
  job.set_is_awaited(start.is_awaited);
  job.set_expected_memory_bytes(start.memory_bytes);
  job.set_urgency(static_cast<uint32_t>(start.urgency));
  const Inputs inputs = InputsOf(start.package, start.cooked);
  given.generated_source = inputs.generated_source;
  given.cooked = inputs.cooked;
  if (inputs.generated_source) {
    wire::ToProto(*inputs.generated_source, job.mutable_generated_source());
    AddBlob(*inputs.generated_source, job);
  }
  given.platform_names = snapshot_->platforms;
  for (PlatformIndex p = 0; p < platform_count(); ++p) {
    if (!(start.platforms & MaskOf(p))) continue;
    v1::Target* target = job.add_targets();
    target->set_platform(p);
    if (deps_.faults.Has(Fault::kProgramWaited))
      target->set_recipe(World::TargetRecipe(job.package()));
  }
  for (const auto& [of, digest] : inputs.cooked) {
    v1::CookedInput* input = job.add_cooked();
    input->set_package(of.first);
    input->set_platform(of.second);
    v1::CookedOutput* output = input->add_outputs();
    output->set_suffix(".out");
    wire::ToProto(digest, output->mutable_digest());
    AddBlob(digest, job);
  }
  AttemptRecord record{.attempt = start.attempt,
                       .worker = worker,
                       .package = given.name,
                       .targets = {},
                       .generated_source = given.generated_source};
  for (PlatformIndex p = 0; p < platform_count(); ++p) {
    if (start.platforms & MaskOf(p))
      record.targets.push_back({.platform = p, .name = snapshot_->platforms[p]});
  }
  notes_.Give(std::move(record));
  given_[start.attempt] = std::move(given);
}

void SimDirector::Do(const Desire& effect) {
  deps_.checks.Trace("desire", effect.worker.value(), effect.persisted.size(), effect.cancel.size(),
                     effect.retract.size());
  v1::ToWorker message;
  for (const Desire::Start& start : effect.start) {
    deps_.checks.Trace("start " + core_->NameOf(start.package), start.attempt, start.platforms,
                       start.cooked.size());
    FillJob(NameOf(effect.worker), start, message);
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
    if (!is_safe) continue;
    deps_.checks.promised.insert(stored->action_key);
  }
  message.set_resend_all(effect.resend_all);
  message.set_drain(effect.drain);
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
