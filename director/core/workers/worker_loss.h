// WorkerLoss: a worker is lost, or is to go: what it has in hand goes to others.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/handing_back.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/trust.h"
#include "director/core/workers/warmth.h"

namespace galley::director {

class WorkerLoss : JobPart {
 public:
  WorkerLoss(const JobGround& ground, Grants& grants, Warmth& warmth, Attempts& attempts,
             ResumedAttempts& resumed_attempts, Advancing& advancing, HeldResults& held_results,
             HandingBack& handing_back, Trust& trust)
      : JobPart(ground),
        grants_(grants),
        warmth_(warmth),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        advancing_(advancing),
        held_results_(held_results),
        handing_back_(handing_back),
        trust_(trust) {}

  // It is lost. What it had in hand is the caller's to end. `is_in_order`: it said goodbye.
  void Lose(WorkerId worker, bool is_in_order = false);
  // It broke the protocol: all that it has in hand goes to others, and it counts as lost.
  void LoseViolator(WorkerId worker);
  // It gets no more jobs, finishes what has begun there, and ends. REQUIRES: attached.
  void Drain(WorkerId worker);
  // It gets no more jobs, all that it has in hand goes to others, and it ends.
  void Dismiss(WorkerId worker);

 private:
  Grants& grants_;
  Warmth& warmth_;
  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  Advancing& advancing_;
  HeldResults& held_results_;
  HandingBack& handing_back_;
  Trust& trust_;
};

}  // namespace galley::director
