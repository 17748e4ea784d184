// Worker: all that the core knows of one worker: its presence, jobs, abilities and health.
// Threads: none; owned by WorkerTable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "director/core/ids.h"
#include "director/core/jobs/assigned_jobs.h"
#include "director/core/jobs/breaker.h"
#include "director/core/jobs/pace.h"
#include "director/core/jobs/received_reports.h"

namespace galley::director {

// WorkerHealth: the evidence against a worker. Breakers holds the worker while its breaker says so.
struct WorkerHealth {
  Pace pace;            // of the worker's jobs
  double lateness = 0;  // by which factor a running job is late (WorkerTrust)
  Breaker breaker;
  std::string held_why;       // the last fault
  CookMask held_told = 0;     // the cooks that were told that it is held
  uint32_t violations = 0;    // of the protocol, by the present process
  bool has_violated = false;  // too many: no message of the process is taken
};

struct Worker {
  enum class Presence : uint8_t { kStarting, kAttached, kLost };
  Presence presence = Presence::kStarting;  // only WorkerTable changes it, and `jobs`
  bool was_attached = false;
  bool is_survivor = false;  // an earlier director started it
  bool has_worked = false;   // the process reported on some job
  bool is_suspect = false;
  bool is_draining = false;          // it gets no more jobs, and ends
  bool is_held = false;              // it gets no jobs for now (Breakers)
  uint64_t memory_bytes = 0;         // for all its jobs together; 0: unknown
  AssignedJobs jobs;                 // current attempts
  absl::btree_set<AttemptId> given;  // all its attempts that are not forgotten
  ReceivedReports reports;
  // Times are StepContext::awake. The last sign of life, or when the first may be expected.
  absl::Duration heard_at;
  absl::Duration busy_since;  // when it last got a job while it had none
  absl::Duration idle_since;  // when it attached, or last had no job left but spare ones
  absl::Duration lost_at;     // if kLost
  absl::Duration asked_at;    // when the core asked for it
  bool is_queued = false;     // it waits for a machine of the farm

  WorkerHealth health;

  uint64_t session = 0;           // its process
  uint32_t machine = 0;           // MachineTable::NumberOf
  std::vector<uint32_t> lacks;    // sorted: kinds of jobs whose cooker it lacks (Eligibility)
  std::vector<uint32_t> refuses;  // sorted: kinds of jobs that it refused
  record::WorkerOffer offer;
  std::vector<uint32_t> unmet;  // sorted: demands that it does not meet (Eligibility::Demand)

  uint32_t slots() const { return jobs.slots(); }
  // The worker has a new process.
  void BeginSession(uint64_t new_session, ReportId persisted);
};

}  // namespace galley::director
