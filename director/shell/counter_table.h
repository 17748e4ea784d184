// CounterTable: the table of a cook's counters, from which the wire (CookCounters of
// director.proto) and the summary are filled. A new counter needs a row here, a wire field, and a
// member of Counters.
#pragma once

#include <cstdint>

#include "director/core/cook_core.h"

namespace galley::director {

struct CounterRow {
  const char* name;  // name of the wire field
  uint64_t Counters::*value;
  const char* group = nullptr;  // group in the summary; null: not in the summary
  const char* key = nullptr;    // key in the group
};

inline constexpr CounterRow kCounterTable[] = {
    {"in_cook", &Counters::in_cook, "packages", "in_cook"},
    {"loaded", &Counters::loaded, "packages", "loaded"},
    {"up_to_date", &Counters::up_to_date, "packages", "up_to_date"},
    {"failed", &Counters::failed, "packages", "failed"},
    {"skipped", &Counters::skipped, "packages", "skipped"},
    {"results_cooked", &Counters::results_cooked, "results", "cooked"},
    {"results_cached", &Counters::results_cached, "results", "cached"},
    {"results_up_to_date", &Counters::results_up_to_date, "results", "up_to_date"},
    {"results_failed", &Counters::results_failed, "results", "failed"},
    {"results_wanted", &Counters::results_wanted},
    {"workers_started", &Counters::workers_started, "workers", "started"},
    {"workers_lost", &Counters::workers_lost, "workers", "lost"},
    {"executors_lost", &Counters::executors_lost, "workers", "executors_lost"},
    {"jobs_retried", &Counters::jobs_retried, "workers", "jobs_retried"},
    {"jobs_retracted", &Counters::jobs_retracted},
    {"jobs_resumed", &Counters::jobs_resumed},
    {"jobs_pending", &Counters::jobs_pending, "workers", "jobs_pending"},
    {"backups_started", &Counters::backups_started},
    {"backups_won", &Counters::backups_won},
    {"jobs_split", &Counters::jobs_split, "workers", "jobs_split"},
    {"results_dropped", &Counters::results_dropped},
    {"workers_attached", &Counters::workers_attached},
    {"results_proven", &Counters::results_proven, "proofs", "proven"},
    {"results_unproven", &Counters::results_unproven, "proofs", "not_proven"},
    {"proofs_failed", &Counters::proofs_failed, "proofs", "failed"},
    {"bytes_read", &Counters::bytes_read, "bytes", "read"},
    {"bytes_warm", &Counters::bytes_warm, "bytes", "warm"},
    {"bytes_saved", &Counters::bytes_saved, "bytes", "saved"},
};

}  // namespace galley::director
