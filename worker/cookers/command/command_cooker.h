// Command: an external program as a cooker. docs/cookers.md describes settings, placeholders and the folder in which it runs.
//
// A failure of the program is a verdict (INVALID_ARGUMENT) when all that it read is known beforehand. With {depfile} or {result} it is not: a
// program that failed has not said what it read, and a kept verdict would outlive the mending of an include. Then the code is
// FAILED_PRECONDITION, which is never kept. Killed for time: DEADLINE_EXCEEDED; by SIGKILL that is not ours: UNAVAILABLE; for a file too large:
// RESOURCE_EXHAUSTED; by another signal: INTERNAL.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateCommandCooker();

}  // namespace galley::worker
