// Worker: one worker as the core knows it: whether it is there, what it has in hand, what it can do
// and how well it does it.
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

// What speaks against a worker. Whether it is held follows from its breaker (Breakers).
struct WorkerHealth {
  Pace pace;            // of its jobs
  double lateness = 0;  // of what runs far too long there (WorkerTrust): how many times too long
  Breaker breaker;
  std::string held_why;       // the last fault of its breaker
  CookMask held_told = 0;     // the cooks that know that it is held
  uint32_t violations = 0;    // of the protocol, by its process
  bool has_violated = false;  // too many: nothing more is taken of that process
};

struct Worker {
  enum class Presence : uint8_t { kStarting, kAttached, kLost };
  Presence presence = Presence::kStarting;  // changed by WorkerTable only, as is `hand`
  bool was_attached = false;
  bool is_survivor = false;  // an earlier director started it
  bool has_worked = false;   // something of a job came back
  bool is_suspect = false;
  bool is_draining = false;          // it gets no more jobs, and ends
  bool is_held = false;              // it gets none for now (Breakers)
  uint64_t memory_bytes = 0;         // that its jobs may take together; 0: unknown
  AssignedJobs jobs;                 // current attempts
  absl::btree_set<AttemptId> given;  // that are not forgotten
  ReceivedReports reports;
  // The core's waking time at the last sign of life, or when one may first be expected.
  absl::Duration heard_at;
  absl::Duration busy_since;  // when it was last given a job while it had none
  absl::Duration idle_since;  // when it attached, or its hand became empty last
  absl::Duration lost_at;     // while it is kLost
  absl::Duration asked_at;    // of one that the core asked for
  bool is_queued = false;     // it waits for a machine

  WorkerHealth health;

  uint64_t session = 0;           // its process
  uint32_t machine = 0;           // MachineTable::NumberOf
  std::vector<uint32_t> lacks;    // sorted: kinds of jobs that it does not get (Eligibility),
  std::vector<uint32_t> refuses;  // and that it turned out that it cannot do
  record::WorkerOffer offer;
  std::vector<uint32_t> unmet;  // sorted: Eligibility::Demand

  uint32_t slots() const { return jobs.slots(); }
  // Another process took its place.
  void BeginSession(uint64_t new_session, ReportId persisted);
};

}  // namespace galley::director
