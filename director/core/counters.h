// Counters: what one cook has done so far, in numbers.
// Threads: none; a value.
#pragma once

#include <cstdint>

namespace galley::director {

struct Counters {
  uint64_t in_cook = 0, loaded = 0, up_to_date = 0, failed = 0, skipped = 0;  // packages
  // Results count pairs (package, platform).
  uint64_t results_cooked = 0, results_cached = 0, results_up_to_date = 0, results_failed = 0;
  uint64_t results_wanted = 0;
  uint64_t workers_started = 0, workers_lost = 0, executors_lost = 0, jobs_retried = 0,
           jobs_retracted = 0, jobs_resumed = 0, jobs_pending = 0;  // jobs_pending: became pending
  uint64_t backups_started = 0, backups_won = 0;
  uint64_t jobs_split = 0;       // platforms of running jobs that went to an idle worker
  uint64_t results_dropped = 0;  // results that came a second time, or too late
  uint64_t workers_attached = 0;
  // proven: another machine confirmed the result. unproven: there was no other machine. failed: the
  // results differed.
  uint64_t results_proven = 0, results_unproven = 0, proofs_failed = 0;
  // Bytes that all attempts moved, also retried and late attempts; each report counts once.
  uint64_t bytes_read = 0, bytes_warm = 0, bytes_saved = 0;
};

}  // namespace galley::director
