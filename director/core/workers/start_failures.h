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
  // The worker did a part of a job, which clears the counts. Only the first time counts for each
  // worker: later work says nothing of workers that cannot begin, or are lost at once.
  void NoteWorks(Worker& worker) {
    if (!std::exchange(worker.has_worked, true)) Clear();
  }
  // Called when a cook begins, or a worker first works.
  void Clear() { spawns = launches = unfit = losses = 0; }

  uint32_t spawns = 0;
  uint32_t launches = 0;
  // Launch failures in a row whose reason would fail any other worker, too.
  uint32_t unfit = 0;
  // When a launch failure was last counted.
  absl::Duration launch_failed_at = -absl::InfiniteDuration();
  uint32_t losses = 0;  // workers lost, with no work in between
};

}  // namespace galley::director
