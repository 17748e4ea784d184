// Proofs: a share of the jobs of workers on other machines is made again on a second machine. Until
// the second result is there, the first one is *held*: it is neither committed nor told, so that a
// worker that lies cannot poison the cache.
//
//   W1 on m1 says a            held: the package is to be cooked once more, anywhere but on m1
//   W2 on m2 says a            proven: a is committed, as made by W1
//   W2 on m2 says b            they differ: once more, anywhere but on m1 and m2
//   W3 on m3 says b            b is committed; W1 is *quarantined*: its jobs go to others, what it
//                              says from now on is not believed, and it gets no more
//   W3 on m3 says c            the package fails, uncached: its cooker is not deterministic, and
//                              nobody is blamed
//
// Workers of one machine count as one, so that two workers of one machine cannot blame a third. The
// director's own machine (Pool::kLocal) is believed: its results are not proven. It may make the
// second result, and also the third one where it made the second, since it then would have to
// contradict itself. If there is no other machine for some time (ProofOptions), the first result is
// committed unproven (Counters::results_unproven). If two results differ and there is no third
// machine, the package fails.
//
// The package's name and a seed that no worker knows decide which jobs are proven; the order of
// events has no influence. A chosen result that would only feed the cache, because it is late or of
// older files, is dropped.
//
// Packages with a held result are ordinary jobs. Eligibility asks HeldResults which workers may
// take them. When none of these workers has room, the packages are parked (HeldResults::QueueOf).
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

  // Takes a wanted result. False: it need not be proven, and the caller commits it. True: Proofs
  // handles the result; its report may be acknowledged already. REQUIRES: the attempt is one of the
  // worker's; its `remaining` is without the platform.
  struct Report {
    WorkerId worker;
    ReportId report = 0;
    AttemptId attempt = 0;
  };
  bool Take(PackageId package, PlatformIndex platform, const Report& report,
            const WorkerReport::Saved& saved);
  // True: no attached worker on another machine than the director's may take the package.
  bool NeedsHome(PackageId package) const;
  // True: an attached worker may take the first package of the parking queue. False: none may;
  // after ProofOptions' times the queue's packages are committed unproven, or fail. REQUIRES: the
  // queue is not empty.
  bool IsOffered(uint32_t queue);

  // Drops held results that are not wanted any more: their package is over, or its inputs changed.
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
