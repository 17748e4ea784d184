// CookOptions: the limits, times and numbers by which the core decides.
// Threads: none; a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/record/worker_offer.h"

namespace galley::director {

// FleetOptions: the workers that a launcher starts on other machines, as many as the work is worth
// (fleet.h).
struct FleetOptions {
  uint32_t max = 0;  // 0: there is no such launcher
  uint32_t min = 0;  // while there is work
  uint32_t slots = 1;
  // The usual time from asking for a worker until the worker has its first job.
  absl::Duration start = absl::Seconds(2);
  absl::Duration idle_max = absl::Seconds(60);  // after this time a worker that no job needs ends
  // The most workers of this machine for packages that launched workers cannot cook.
  uint32_t helpers_max = 0;
  // Cookers that launched workers lack: no launched worker is asked for because of such a cooker.
  std::vector<std::string> lacks;
  record::WorkerOffer offer = {};  // the offer of each launched worker
  // After this many failed launches in a row, while no worker is attached or waits in a queue, the
  // cooks end with exit 3.
  uint32_t failures_max = 5;
};

// ProofOptions: which jobs of workers on other machines are made again on another machine
// (proofs.h).
struct ProofOptions {
  double share = 0;   // of the jobs, 0 to 1; 0: none
  uint64_t seed = 0;  // that no worker knows
  // third_max: how long a result waits for a third machine, or for a second one where this machine
  // may have workers. second_max: for a second machine otherwise.
  absl::Duration second_max = absl::Seconds(5), third_max = absl::Seconds(30);
};

struct CookOptions {
  uint32_t platform_count = 1;
  uint32_t workers = 1;  // on this machine; kept running while there is work
  FleetOptions fleet;    // on other machines
  ProofOptions proofs;
  uint32_t term = 1;  // of this director
  uint32_t units_per_step = 4096;
  uint32_t look_ups_per_batch = 128;
  uint32_t rank_visits_max = 10'000;  // edges visited to place one reference (ranks.h)
  uint32_t own_fault_attempts_max = 3;
  absl::Duration alone_max = absl::Minutes(10);  // of a cook's attempts that run alone
  uint32_t infrastructure_attempts_max = 100;
  uint32_t needs_max = 256;              // restarts of one package for late cooked inputs
  uint32_t generators_max = 16;          // longest chain of packages that generated one another
  uint32_t stale_max = 3;                // changes of one file during a cook
  uint32_t lost_rounds_max = 3;          // how often a lost package is made again
  uint32_t lost_rounds_in_all_max = 16;  // how often the roots are built again
  uint32_t spawn_failures_max = 5;       // in a row, with no worker attached: exit 3
  // Launch failures in a row whose cause would fail any other worker, too: exit 3.
  uint32_t unfit_max = 2;
  // When so many workers in a row are lost before they did any work: exit 3. The larger of
  // losses_max and losses_of_each_max times the number of workers counts.
  uint32_t losses_max = 20, losses_of_each_max = 5;
  // A worker that holds jobs is lost after this silence; sessions speak once a second.
  absl::Duration silence_max = absl::Seconds(60);
  // From Spawn, its delay over, to the first WorkerAttached.
  absl::Duration start_max = absl::Seconds(120);
  absl::Duration survivor_max = absl::Seconds(10);  // from WorkersSurvived to its WorkerAttached
  // How long a lost worker may come back with results, and how long an attached worker may bring
  // results of attempts that it did not name when it attached.
  absl::Duration unheard_max = absl::Minutes(10);
  absl::Duration window = absl::Seconds(2);  // work in a worker's hands, in expected time
  uint32_t window_jobs_max = 1024;
  uint32_t blocking_jobs_max = 16;  // of Blocking jobs that wait at one worker, beyond its window
  absl::Duration unoffered_max = absl::Seconds(30);  // while no worker has a cooker (eligibility.h)
  absl::Duration suspect_after = absl::Seconds(3);   // of silence: other workers are preferred
  absl::Duration straggler_min = absl::Seconds(2);   // no job is a straggler before this time
  absl::Duration split_min = absl::Milliseconds(100);  // the least gain of a split
  record::ResourceCounts resources = {};               // of the whole farm
  record::WorkerOffer local_offer = {};                // the offer of the workers of this machine
  // How long a job that wants several resources is overtaken by jobs that want fewer, and how long
  // by more urgent jobs (reservations.h).
  absl::Duration overtaken_max = absl::Seconds(5), overtaken_by_urgent_max = absl::Minutes(1);
  uint32_t query_limit_max = 1024;  // entries of one Reply
  uint32_t cooks_max = 1;  // cooks that run at once, at most kCooksMax; others wait for their turn
};

}  // namespace galley::director
