// Reports: handles the workers' reports on their attempts.
#pragma once

#include <cstdint>
#include <optional>

#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/discovered_references.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/result_acceptance.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/jobs/wait_evaluation.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/proofs.h"

namespace galley::director {

class Reports : JobPart {
 public:
  struct Deps {
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    EqualWorkFollowers& equal_work_followers;
    Waits& waits;
    PackageProgress& package_progress;
    PendingCommits& commits;
    Warnings& warnings;
    Claims& claims;
    WaitCycles& wait_cycles;
    WaitEvaluation& wait_evaluation;
    DiscoveredReferences& discovered_references;
    Acknowledgements& acknowledgements;
    HeldResults& held_results;
    Eligibility& eligibility;
    ResultAcceptance& result_acceptance;
    Proofs& proofs;
    Breakers& breakers;
    Faults& faults;
    Culprits& culprits;
    Fleet& fleet;
  };
  Reports(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void OnWorkerReported(const WorkerReported& event);

 private:
  // Answer: when a report is acknowledged. kOfProofs: Proofs acknowledges it.
  enum class Answer : uint8_t { kNow, kWhenDurable, kOfProofs };

  void OnReport(WorkerId worker, const WorkerReport& report);
  void CountBytes(Attempt& attempt, const WorkerReport& report);
  void OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded);
  Answer OnSaved(WorkerId worker, ReportId report, AttemptId id, const WorkerReport::Saved& saved);
  // nullopt: as in PendingCommits::Commit.
  Answer FeedCache(PackageId package, std::optional<PlatformIndex> platform,
                   const ResultAcceptance::Source& source, const WorkerReport::Saved& saved);
  void DropResult(PackageId package, PlatformIndex platform, const Attempt& attempt,
                  const WorkerReport::Saved& saved);
  void OnFailed(AttemptId id, const WorkerReport::Failed& failed);
  PackageId SuspectOf(PackageId package) const;
  void JudgeWorker(const Attempt& attempt, const WorkerReport::Failed& failed);
  void OnNeeds(AttemptId id, const WorkerReport::Needs& needs);
  void OnStale(AttemptId id, const WorkerReport::Stale& stale);
  void OnEnded(AttemptId id);

  const Deps deps_;
};

}  // namespace galley::director
