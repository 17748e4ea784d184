// CanWatchCalls: whether programs can be watched (CallWatch) on this machine.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"

namespace galley::worker {

// OK: they can. UNAVAILABLE and others: why not. The first call tries it with a process; later
// calls return the same.
absl::Status CanWatchCalls();

}  // namespace galley::worker
