#include "director/core/accepting.h"

#include "director/core/core.h"

namespace galley::director {

void Accepting::Accept(const Source& source, const WorkerReport::Saved& saved) {
  const PackageId package_id = source.package;
  const PlatformIndex platform = source.platform;
  const AttemptId by = source.attempt;
  PackageData& package = packages_[package_id];
  const PlatformMask bit = MaskOf(platform);
  core_.waits.MissInstead(package_id, platform);
  package.slots[platform].result = saved.result;
  lifecycle().SetPhase(package_id, platform, Phase::kCommitting,
                       saved.shared ? ResultSource::kCached : ResultSource::kCooked);
  const Attempt* attempt = core_.attempts.Find(by);
  core_.commits.Commit(package_id, platform, saved.result->id, source.worker, source.report,
                       attempt != nullptr && attempt->is_earlier);
  lifecycle().SetLoaded(package_id);
  if (!saved.result->is_verdict)
    core_.explored.SetExplored(package_id, platform, saved.result, true);
  core_.warnings.NoteRead(package.cooks, package_id, saved.read);
  core_.costs.MeasuredMemory(package.cost_traits, saved.memory_peak_bytes);
  // Another attempt need not make it again.
  for (const AttemptId current : core_.attempts.At(package_id)) {
    core_.attempts.at(current).remaining &= ~bit;
    core_.attempts.at(current).is_partial |= current != by;
  }
  if (attempt != nullptr && attempt->is_backup && attempt->remaining == 0)
    claimants_.Count(package_id, &Counters::backups_won);
  core_.attempts.EndSpent(package_id, by);
}

}  // namespace galley::director
