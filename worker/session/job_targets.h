// Job targets: the targets of a job, each a platform and a recipe.
#pragma once

#include "galley/v1/worker.pb.h"

namespace galley::worker {

// Removes the platforms of the part from the targets of the job.
void StrikeTargets(const v1::JobPart& part, v1::Job& job);

// Whether a target of the job is cooked by external programs.
bool StartsPrograms(const v1::Job& job);

}  // namespace galley::worker
