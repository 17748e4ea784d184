// Dispatching: a step hands over all jobs that may be handed over now.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/workers/aloneness.h"
#include "director/core/workers/balancing.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/handing_over.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/large_jobs.h"
#include "director/core/workers/parking.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/splitting.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/trust.h"

namespace galley::director {

class Dispatching : JobPart {
 public:
  Dispatching(const JobGround& ground, Attempts& attempts, ResumedAttempts& resumed_attempts,
              Aloneness& aloneness, Reservations& reservations, Trust& trust, Placing& placing,
              Parking& parking, JobQueue& job_queue, HandingOver& handing_over,
              Balancing& balancing, Faults& faults, Culprits& culprits, Fleet& fleet,
              Survivors& survivors, LargeJobs& large_jobs, Stragglers& stragglers,
              Splitting& splitting)
      : JobPart(ground),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        aloneness_(aloneness),
        reservations_(reservations),
        trust_(trust),
        placing_(placing),
        parking_(parking),
        job_queue_(job_queue),
        handing_over_(handing_over),
        balancing_(balancing),
        faults_(faults),
        culprits_(culprits),
        fleet_(fleet),
        survivors_(survivors),
        large_jobs_(large_jobs),
        stragglers_(stragglers),
        splitting_(splitting) {}

  void HandOverAll();

 private:
  void Overtake();

  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  Aloneness& aloneness_;
  Reservations& reservations_;
  Trust& trust_;
  Placing& placing_;
  Parking& parking_;
  JobQueue& job_queue_;
  HandingOver& handing_over_;
  Balancing& balancing_;
  Faults& faults_;
  Culprits& culprits_;
  Fleet& fleet_;
  Survivors& survivors_;
  LargeJobs& large_jobs_;
  Stragglers& stragglers_;
  Splitting& splitting_;
};

}  // namespace galley::director
