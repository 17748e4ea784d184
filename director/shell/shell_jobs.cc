// DirectorShell's orders: worker processes, their jobs, and the reports of these.

#include <random>

#include "common/base/hex.h"
#include "common/base/log.h"
#include "director/shell/director_shell.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {

// `world_number`: the world in which the reports were judged. A later one judges again.
void DirectorShell::TakeReports(WorkerReported reported, uint64_t world_number) {
  notes_.NoteOver(reported);
  const SourcesPtr sources = Present();
  for (WorkerReport& report : reported.reports) {
    auto* saved = std::get_if<WorkerReport::Saved>(&report.what);
    if (saved == nullptr) continue;
    const StoredResultPtr stored = results_.Get(saved->result->id);
    if (sources->number() != world_number && stored != nullptr) {
      saved->is_current = saved->is_current && FilesStillHold(*sources, *stored);
    }
  }
  StepCore(std::move(reported));
}

void DirectorShell::AddBlob(const Digest& digest, v1::Job& job) {
  std::optional<store::BlobLocation> location = reports_.LocationOf(digest);
  if (!location) {
    const auto found = store_.Locate(std::span(&digest, 1));
    if (found.ok() && (*found)[0]) location = (*found)[0];
  }
  if (!location)
    return;  // the worker says that it cannot read it, and its producer is cooked again
  v1::BlobWritten* blob = job.add_blobs();
  blob->mutable_digest()->set_hash(digest.hex());
  blob->mutable_digest()->set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
  blob->set_segment(location->segment);
  blob->set_offset(location->offset);
}

void DirectorShell::FillJob(WorkerId worker, const Desire::Start& start, v1::ToWorker& message) {
  const WorldPtr world = world_.Get();
  auto info = std::make_shared<AttemptInfo>();
  info->package = start.package;
  info->name = core_->NameOf(start.package);
  info->platforms = start.platforms;
  info->numbering = Present()->platforms();
  info->recipes = RecipesOf(start.package);
  info->cooked = CookedOf(start.cooked);
  v1::Job& job = *message.add_start();
  job.set_attempt(start.attempt);
  job.set_package(info->name);
  job.set_snapshot(world->number);
  job.set_expected_us(absl::ToInt64Microseconds(start.expected));
  job.set_expected_memory_bytes(start.memory_bytes);
  job.set_urgency(static_cast<uint32_t>(start.urgency));
  job.set_is_awaited(start.is_awaited);
  job.set_runs_alone(start.runs_alone);
  if (const record::Generated* generated = core_->GeneratedOf(start.package)) {
    info->generated_source = generated->source;
    job.mutable_generated_source()->set_hash(generated->source.hex());
    job.mutable_generated_source()->set_size_bytes(
        static_cast<int64_t>(generated->source.size_bytes()));
    AddBlob(generated->source, job);
  }
  if (info->recipes != nullptr) {
    for (PlatformIndex platform = 0; platform < info->recipes->size(); ++platform) {
      if ((start.platforms & MaskOf(platform)) == 0) continue;
      const project::ResolvedRecipe& recipe = (*info->recipes)[platform];
      v1::Target* target = job.add_targets();
      target->set_platform(platform);
      target->set_recipe(record::EncodeRecipe(recipe.recipe));
      job.set_memory_bytes(recipe.needs.memory_bytes);
      job.set_timeout_us(absl::ToInt64Microseconds(recipe.needs.timeout));
    }
  }
  for (PlatformIndex platform = 0; platform < info->cooked.size(); ++platform) {
    for (const auto& [name, outputs] : info->cooked[platform]) {
      v1::CookedInput* input = job.add_cooked();
      input->set_package(name);
      input->set_platform(platform);
      for (const record::Output& output : outputs) {
        v1::CookedOutput* out = input->add_outputs();
        out->set_suffix(output.suffix);
        out->mutable_digest()->set_hash(output.digest.hex());
        out->mutable_digest()->set_size_bytes(static_cast<int64_t>(output.digest.size_bytes()));
        AddBlob(output.digest, job);
      }
    }
  }
  NoteGiven(worker, start, *info);
  reports_.Register(start.attempt, std::move(info));
}

void DirectorShell::Do(const Desire& effect) {
  v1::ToWorker message;
  for (const Desire::Start& start : effect.start) FillJob(effect.worker, start, message);
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  for (const Desire::Part& part : effect.retract_part) FillPart(part, *message.add_retract_part());
  for (const ReportId report : effect.persisted) message.add_persisted(report);
  message.set_resend_all(effect.resend_all);
  message.set_drain(effect.drain);
  service_->Send(WorkerName(effect.worker), std::move(message));
}

void DirectorShell::Do(const Spawn& effect) {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", random());
  const std::string name = WorkerName(effect.worker);
  service_->Expect(name, token);
  LogInfo("worker={} starting delay={}", name, absl::FormatDuration(effect.delay));
  launcher_->Start({.worker_id = name,
                    .director_address = service_->address(),
                    .token = token,
                    .slots = options_.slots,
                    .delay = effect.delay,
                    .log_file = JoinPath(options_.state_directory, "logs/" + name + ".log"),
                    .record_folder = JoinPath(options_.state_directory, kWorkersFolder)});
}

void DirectorShell::Do(const Stop& effect) {
  LogWarning("worker={} is ended: nothing was heard of it for too long", WorkerName(effect.worker));
  launcher_->Stop(WorkerName(effect.worker), absl::ZeroDuration());
}

}  // namespace galley::director
