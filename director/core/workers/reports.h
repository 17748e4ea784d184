// Reports: what workers say of their attempts.
#pragma once

#include <cstdint>
#include <optional>

#include "director/core/jobs/accepting.h"
#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/explored.h"
#include "director/core/jobs/following.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/offers.h"
#include "director/core/workers/proofs.h"
#include "director/core/workers/start_failures.h"

namespace galley::director {

class Reports : JobPart {
 public:
  Reports(const JobGround& ground, StartFailures& start_failures, Attempts& attempts,
          ResumedAttempts& resumed_attempts, Following& following, Waits& waits,
          Advancing& advancing, PendingCommits& commits, Warnings& warnings, Claims& claims,
          WaitCycles& wait_cycles, Explored& explored, Acknowledgements& acknowledgements,
          HeldResults& held_results, Offers& offers, Accepting& accepting, Proofs& proofs,
          Breakers& breakers, Faults& faults, Culprits& culprits)
      : JobPart(ground),
        start_failures_(start_failures),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        following_(following),
        waits_(waits),
        advancing_(advancing),
        commits_(commits),
        warnings_(warnings),
        claims_(claims),
        wait_cycles_(wait_cycles),
        explored_(explored),
        acknowledgements_(acknowledgements),
        held_results_(held_results),
        offers_(offers),
        accepting_(accepting),
        proofs_(proofs),
        breakers_(breakers),
        faults_(faults),
        culprits_(culprits) {}

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

  StartFailures& start_failures_;
  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  Following& following_;
  Waits& waits_;
  Advancing& advancing_;
  PendingCommits& commits_;
  Warnings& warnings_;
  Claims& claims_;
  WaitCycles& wait_cycles_;
  Explored& explored_;
  Acknowledgements& acknowledgements_;
  HeldResults& held_results_;
  Offers& offers_;
  Accepting& accepting_;
  Proofs& proofs_;
  Breakers& breakers_;
  Faults& faults_;
  Culprits& culprits_;
};

}  // namespace galley::director
