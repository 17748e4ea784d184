// StartFailures: how often in a row workers failed to start, or were lost before they did any work.
// Threads: none; a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "director/core/jobs/worker_table.h"

namespace galley::director {

struct StartFailures {
  uint32_t Of(Pool pool) const {
    return std::max(pool == Pool::kLaunched ? launches : spawns, losses);
  }
  // The worker did something of a job. Each worker counts once: a worker that works for hours says
  // nothing of other workers that cannot begin, or that are lost as soon as they have begun.
  void NoteWorks(Worker& worker) {
    if (!std::exchange(worker.has_worked, true)) Clear();
  }
  // Starts to count anew, when a cook begins or a worker works.
  void Clear() { spawns = launches = unfit = losses = 0; }

  uint32_t spawns = 0;
  uint32_t launches = 0;
  // How many of the last failures in a row said that another worker would fare the same.
  uint32_t unfit = 0;
  // The last launch failure that was counted.
  absl::Duration launch_failed_at = -absl::InfiniteDuration();
  uint32_t losses = 0;  // of workers, with no report in between
};

}  // namespace galley::director
