// StartFailures: how often in a row workers failed to start, or were lost before any worker worked.
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
  // The worker did part of a job: clears the counts if it is the first time of its process. Later
  // work says nothing of workers that cannot start, or are lost at once.
  void NoteWorks(Worker& worker) {
    if (!std::exchange(worker.has_worked, true)) Clear();
  }
  // Called when a cook begins, or a worker first works.
  void Clear() { spawns = launches = unfit = losses = 0; }

  uint32_t spawns = 0;
  uint32_t launches = 0;
  // Launch failures in a row whose cause would fail any other worker, too.
  uint32_t unfit = 0;
  // When a launch failure was last counted.
  absl::Duration launch_failed_at = -absl::InfiniteDuration();
  uint32_t losses = 0;  // workers lost in a row, without work in between
};

}  // namespace galley::director
