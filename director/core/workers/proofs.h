// Proofs: a share of the jobs of workers on other machines is done again, on another machine than
// the first. Until the second result is there, the first result is *held*: it is neither committed
// nor seen by anybody, so that a worker which lies poisons no cache with it.
//
//   W1 on m1 says a            held: the package is to be cooked once more, anywhere but on m1
//   W2 on m2 says a            proven: a is committed, as made by W1
//   W2 on m2 says b            they differ: once more, anywhere but on m1 and m2
//   W3 on m3 says b            b is committed; W1 is *quarantined*: its jobs go to others, what it
//                              says from now on is not believed, and it gets no more
//   W3 on m3 says c            the package fails, uncached: its cooker is not deterministic, and
//                              nobody is blamed
//
// Workers of one machine count as one worker, so that no worker is blamed by two workers of its
// machine. The director's own machine (Pool::kLocal) is believed: its results are not proven. Its
// result counts as the second result, and as the third result even where it was the second, since
// the machine would have to contradict itself. Where no other machine is there for a while
// (CookOptions::proofs), the first result is committed as it is, and counted
// (Counters::results_unproven); where two results differ and there is no third, the package fails.
//
// The packages' names and a seed that no worker knows decide which jobs are proven, and not the
// order of anything. A chosen result that only feeds the cache (it came late, or is of older files)
// is dropped.
//
// Packages with a held result are ordinary jobs. Eligibility asks HeldResults which workers may
// take them. When no worker has room such packages are parked (Lifecycle::Park), in one queue for
// each set of machines that matters.
//
// Cost: O(1) where nothing is held; Sweep O(held).
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/result_acceptance.h"
#include "director/core/jobs/worker_table.h"
#include "director/core/packages/waits.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/worker_loss.h"

namespace galley::director {

class Proofs : JobPart {
 public:
  struct Deps {
    MachineTable& machines;
    Attempts& attempts;
    Waits& waits;
    PackageProgress& package_progress;
    PendingCommits& commits;
    Acknowledgements& acknowledgements;
    HeldResults& held_results;
    Eligibility& eligibility;
    ResultAcceptance& result_acceptance;
    WorkerLoss& worker_loss;
  };
  Proofs(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // Takes a result that is wanted now. False: the result need not be proven, and the caller commits
  // it. True: Proofs sees to the result; the report may be acknowledged by now. REQUIRES: the
  // attempt was given to the worker; its `remaining` is without the platform.
  struct Report {
    WorkerId worker;
    ReportId report = 0;
    AttemptId attempt = 0;
  };
  bool Take(PackageId package, PlatformIndex platform, const Report& report,
            const WorkerReport::Saved& saved);
  // True: no attached worker of a machine other than the director's may take the package.
  bool NeedsHome(PackageId package) const;
  // True: an attached worker may take the first package in the queue. Otherwise the parked packages
  // are settled, if no worker came for long enough. REQUIRES: the queue is parked.
  bool IsOffered(uint32_t queue);

  // A step begins: held results that are not wanted any more go (their package is over, or has
  // other files).
  void Sweep();

 private:
  using Candidate = HeldResults::Candidate;
  using Key = HeldResults::Key;
  using Held = HeldResults::Held;

  static bool Agree(const Candidate& a, const Candidate& b);
  bool IsStillWanted(const Key& key, const Candidate& candidate) const;
  void Compare(const Key& key, const Report& by);
  void Settle(const Key& key, size_t chosen, const Report& by);
  void Differ(const Key& key);
  void FailUndecided(const Key& key);
  void CommitUnproven(const Key& key);
  void Quarantine(const Candidate& odd, const Key& key, const Held& held);
  void SettleParked(PackageId package);
  bool HasMachineFor(PackageId package) const;
  bool CanHaveHome() const;
  std::string MachinesOf(const Held& held) const;

  absl::btree_map<uint32_t, absl::Duration> waiting_since_;  // by queue; StepContext::awake

  const Deps deps_;
};

}  // namespace galley::director
