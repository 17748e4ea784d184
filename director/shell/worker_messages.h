// Worker messages: all that they say besides reports becomes events of the core. The simulation
// reads and writes them by the same code.
#pragma once

#include <vector>

#include "director/core/events.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// REQUIRES: a hello.
WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message);
WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message);

// Fills in the part of a job that a worker is told to leave out.
void FillPart(const Desire::Part& part, v1::JobPart& proto);

}  // namespace galley::director
