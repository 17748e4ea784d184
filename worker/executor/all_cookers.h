// AllCookers: every cooker of this program, sorted by name. Only galley-worker links them all.
#pragma once

#include "worker/executor/run_job.h"

namespace galley::worker {

Cookers AllCookers();

}  // namespace galley::worker
