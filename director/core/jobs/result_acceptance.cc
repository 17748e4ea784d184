#include "director/core/jobs/result_acceptance.h"

namespace galley::director {

void ResultAcceptance::Accept(const Source& source, const WorkerReport::Saved& saved) {
  const PackageId package_id = source.package;
  const PlatformIndex platform = source.platform;
  const AttemptId by = source.attempt;
  PackageData& package = packages_[package_id];
  const PlatformMask bit = MaskOf(platform);
  deps_.waits.MissInstead(package_id, platform);
  package.slots[platform].result = saved.result;
  graph_.lifecycle().SetPhase(package_id, platform, Phase::kCommitting,
                              saved.shared ? ResultSource::kCached : ResultSource::kCooked);
  const Attempt* attempt = deps_.attempts.Find(by);
  deps_.commits.Commit(package_id, platform, saved.result->id, source.worker, source.report,
                       attempt != nullptr && attempt->is_earlier);
  graph_.lifecycle().SetLoaded(package_id);
  if (!saved.result->is_verdict)
    deps_.discovered_references.SetExplored(package_id, platform, saved.result, true);
  deps_.warnings.NoteRead(package.cooks, package_id, saved.read);
  deps_.costs.MeasuredMemory(package.cost_traits, saved.memory_peak_bytes);
  // Other attempts need not make the result again.
  for (const AttemptId current : deps_.attempts.At(package_id)) {
    deps_.attempts.at(current).remaining &= ~bit;
    deps_.attempts.at(current).is_partial |= current != by;
  }
  if (attempt != nullptr && attempt->is_backup && attempt->remaining == 0)
    claimants_.Count(package_id, &Counters::backups_won);
  deps_.attempts.EndSpent(package_id, by);
}

}  // namespace galley::director
