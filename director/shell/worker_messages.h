// What a worker's message says besides reports, as events of the core. The simulation reads and
// writes them by the same code.
#pragma once

#include <vector>

#include "director/core/events.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// REQUIRES: a hello.
WorkerAttached AttachedOf(WorkerId worker, const v1::FromWorker& message);
WorkerPending PendingOf(WorkerId worker, const v1::FromWorker& message);

// And what a worker is told to leave out.
void FillPart(const Desire::Part& part, v1::JobPart& proto);

}  // namespace galley::director
