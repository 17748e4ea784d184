// Reports: what workers say of their attempts.
#pragma once

#include "director/core/attempt.h"
#include "director/core/part.h"

namespace galley::director {

class Reports : Part {
 public:
  explicit Reports(Core& core) : Part(core) {}

  void OnWorkerReported(const WorkerReported& event);

 private:
  void OnReport(WorkerId worker, const WorkerReport& report);
  void CountBytes(Attempt& attempt, const WorkerReport& report);
  bool OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded);
  // True: acknowledge now.
  bool OnSaved(WorkerId worker, ReportId report, AttemptId id, const WorkerReport::Saved& saved);
  void DropResult(PackageId package, PlatformIndex platform, const Attempt& attempt,
                  const WorkerReport::Saved& saved);
  void OnFailed(AttemptId id, const WorkerReport::Failed& failed);
  void OnNeeds(AttemptId id, const WorkerReport::Needs& needs);
  void OnStale(AttemptId id, const WorkerReport::Stale& stale);
  void OnEnded(AttemptId id);
};

}  // namespace galley::director
