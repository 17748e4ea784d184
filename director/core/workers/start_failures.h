// StartFailures: how often in a row workers did not start, or were lost before they did anything.
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
  // The worker did something of a job. Each worker counts once: that one works for hours says
  // nothing of others that cannot begin, or that are lost as soon as they have begun.
  void NoteWorks(Worker& worker) {
    if (!std::exchange(worker.has_worked, true)) Clear();
  }
  // A cook begins.
  void Clear() { spawns = launches = unfit = losses = 0; }

  uint32_t spawns = 0;
  uint32_t launches = 0;
  uint32_t unfit = 0;  // those among the last failures that said so themselves, in a row
  absl::Duration launch_failed_at = -absl::InfiniteDuration();  // the last that was counted
  uint32_t losses = 0;  // of workers, with no report in between
};

}  // namespace galley::director
