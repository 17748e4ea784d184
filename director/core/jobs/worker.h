// Worker: one worker as the core knows it: whether the worker is there, its jobs in hand, its
// abilities and its health.
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

// WorkerHealth: the evidence against a worker. Breakers decide from the worker's breaker whether
// the worker is held.
struct WorkerHealth {
  Pace pace;            // of its jobs
  double lateness = 0;  // how many times too long a job runs there (WorkerTrust)
  Breaker breaker;
  std::string held_why;       // the last fault of its breaker
  CookMask held_told = 0;     // the cooks that know that the worker is held
  uint32_t violations = 0;    // violations of the protocol by the worker's process
  bool has_violated = false;  // too many violations: nothing more is taken of that process
};

struct Worker {
  enum class Presence : uint8_t { kStarting, kAttached, kLost };
  Presence presence = Presence::kStarting;  // changed by WorkerTable only, as is `jobs`
  bool was_attached = false;
  bool is_survivor = false;  // an earlier director started it
  bool has_worked = false;   // some report on a job came back
  bool is_suspect = false;
  bool is_draining = false;          // the worker gets no more jobs, and ends
  bool is_held = false;              // the worker gets no jobs for now (Breakers)
  uint64_t memory_bytes = 0;         // that its jobs may take together; 0: unknown
  AssignedJobs jobs;                 // current attempts
  absl::btree_set<AttemptId> given;  // attempts that are not forgotten
  ReceivedReports reports;
  // The core's waking time at the last sign of life, or when one may first be expected.
  absl::Duration heard_at;
  absl::Duration busy_since;  // when the worker was last given a job while it had none
  absl::Duration idle_since;  // when the worker attached, or its hand became empty last
  absl::Duration lost_at;     // while it is kLost
  absl::Duration asked_at;    // when the core asked for the worker
  bool is_queued = false;     // the worker waits for a machine

  WorkerHealth health;

  uint64_t session = 0;         // its process
  uint32_t machine = 0;         // MachineTable::NumberOf
  std::vector<uint32_t> lacks;  // sorted: kinds of jobs that the worker does not get (Eligibility)
  std::vector<uint32_t> refuses;  // kinds of jobs that the worker turned out not to be able to do
  record::WorkerOffer offer;
  std::vector<uint32_t> unmet;  // sorted: Eligibility::Demand

  uint32_t slots() const { return jobs.slots(); }
  // Another process took the worker's place.
  void BeginSession(uint64_t new_session, ReportId persisted);
};

}  // namespace galley::director
