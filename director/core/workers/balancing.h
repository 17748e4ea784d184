// Balancing: work is moved from the busiest worker to one that has nothing to do.
#pragma once

#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/handing_over.h"
#include "director/core/workers/kept_worker.h"
#include "director/core/workers/offers.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/trust.h"

namespace galley::director {

class Balancing : JobPart {
 public:
  Balancing(const JobGround& ground, Costs& costs, std::optional<KeptWorker>& kept_worker,
            Attempts& attempts, Advancing& advancing, Offers& offers, Trust& trust,
            Placing& placing, HandingOver& handing_over)
      : JobPart(ground),
        costs_(costs),
        kept_worker_(kept_worker),
        attempts_(attempts),
        advancing_(advancing),
        offers_(offers),
        trust_(trust),
        placing_(placing),
        handing_over_(handing_over) {}

  void Balance();
  // A package in hand became High, or more: its job is taken back from a worker's queue, and goes
  // before what waits there and is less urgent.
  void TakeForward(PackageId package);

 private:
  bool RetractFor(WorkerId idle, WorkerId busy);
  bool IsBetterOffAt(AttemptId attempt, WorkerId idle) const;

  Costs& costs_;
  std::optional<KeptWorker>& kept_worker_;
  Attempts& attempts_;
  Advancing& advancing_;
  Offers& offers_;
  Trust& trust_;
  Placing& placing_;
  HandingOver& handing_over_;
};

}  // namespace galley::director
