// Reports: what workers say of their attempts.
#pragma once

#include <cstdint>
#include <optional>

#include "director/core/accepting.h"
#include "director/core/attempt.h"
#include "director/core/part.h"

namespace galley::director {

class Reports : Part {
 public:
  explicit Reports(Core& core) : Part(core) {}

  void OnWorkerReported(const WorkerReported& event);

 private:
  // When a report is acknowledged. (What Proofs takes, Proofs sees to.)
  enum class Answer : uint8_t { kNow, kWhenDurable, kOfProofs };

  void OnReport(WorkerId worker, const WorkerReport& report);
  void CountBytes(Attempt& attempt, const WorkerReport& report);
  void OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded);
  Answer OnSaved(WorkerId worker, ReportId report, AttemptId id, const WorkerReport::Saved& saved);
  // No platform: as PendingCommits::Commit.
  Answer FeedCache(PackageId package, std::optional<PlatformIndex> platform,
                   const Accepting::Source& source, const WorkerReport::Saved& saved);
  void DropResult(PackageId package, PlatformIndex platform, const Attempt& attempt,
                  const WorkerReport::Saved& saved);
  void OnFailed(AttemptId id, const WorkerReport::Failed& failed);
  PackageId SuspectOf(PackageId package) const;
  void JudgeWorker(const Attempt& attempt, const WorkerReport::Failed& failed);
  void OnNeeds(AttemptId id, const WorkerReport::Needs& needs);
  void OnStale(AttemptId id, const WorkerReport::Stale& stale);
  void OnEnded(AttemptId id);
};

}  // namespace galley::director
