// HeldResults: results of workers on other machines that wait to be confirmed by a second result,
// and the quarantined workers (proofs.h).
//
// A package with a held result is an ordinary job that some workers may not take. When no other
// worker has room, the package is parked (Lifecycle::Park). Each machine of a first result has two
// parking queues: while there is one result, and when two results differ.
// Cost: O(1) where nothing is held.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/worker_table.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class HeldResults : PackagePart {
 public:
  // Parking queues have numbers above all kinds of jobs.
  static constexpr uint32_t kFirstQueue = 1u << 31;
  // Added to kFirstQueue: the package's results so far differ.
  static constexpr uint32_t kThirdQueue = 1u << 30;
  static bool IsQueue(uint32_t parked) { return parked >= kFirstQueue; }
  static constexpr size_t kUnprovenNamed = 100'000;  // of one worker, in WorkerQuarantined

  struct Candidate {
    WorkerId worker;
    ReportId report = 0;  // 0: the worker has another process now
    AttemptId attempt = 0;
    uint32_t machine = kHomeMachine;
    uint64_t content = 0;  // of the package at the hand-over
    WorkerReport::Saved saved;
  };
  using Key = std::pair<PackageId, PlatformIndex>;
  using Held = std::vector<Candidate>;  // of different machines, except for kHomeMachine

  HeldResults(const PackageGround& ground, Acknowledgements& acknowledgements)
      : PackagePart(ground), acknowledgements_(acknowledgements) {}

  // True: the worker's result for the package must be proven.
  bool IsChosen(WorkerId worker, PackageId package) const;
  absl::btree_map<Key, Held>& all() { return held_; }
  bool empty() const { return held_.empty(); }
  // visit(PackageId) for each package of which a result is held, or was committed unproven.
  template <typename Visit>
  void ForEachPackage(Visit visit) const {
    for (const auto& [key, held] : held_) visit(key.first);
    for (const auto& [worker, packages] : unproven_) {
      for (const PackageId package : packages) visit(package);
    }
  }
  // True: a result of the package is held.
  bool IsHeld(PackageId package) const;
  // The platforms of the package that the worker may not make again.
  PlatformMask NotFor(const Worker& worker, PackageId package) const;
  // True: the worker may make some platform that is to be cooked or, if there is none, all that are
  // in hand.
  bool MayCook(const Worker& worker, PackageId package) const;
  // The queue in which the package is parked. REQUIRES: IsHeld.
  uint32_t QueueOf(PackageId package) const;
  // Removes and returns the held results of the platform.
  Held Erase(Key key);  // by value: `key` may lie in what is removed
  // Acknowledges the reports: no cook needs them again.
  void Release(const Candidate& candidate);
  void Release(const Held& held);
  // Drops the held results of the worker.
  void ForgetHeldOf(WorkerId worker);
  // Drops all held results: platforms have new numbers.
  void DropAll();
  // The worker has a new process (PendingCommits::ForgetReportsOf).
  void ForgetReportsOf(WorkerId worker);

  // A result of the worker was committed unproven.
  void NoteUnproven(WorkerId worker, PackageId package);
  std::vector<PackageId> TakeUnproven(WorkerId worker) {
    auto taken = unproven_.extract(worker);
    return taken.empty() ? std::vector<PackageId>() : std::move(taken.mapped());
  }
  // No cook runs: forgets who made unproven results.
  void ForgetUnproven() { unproven_.clear(); }

  // The worker is not believed any more. False: it was quarantined before.
  bool Quarantine(WorkerId worker) { return quarantined_.insert(worker).second; }
  bool IsQuarantined(WorkerId worker) const { return quarantined_.contains(worker); }
  uint32_t quarantined(Pool pool) const;
  // From its next WorkerAttached on, the worker is treated like others.
  void Readmit(WorkerId worker) { quarantined_.erase(worker); }

 private:
  absl::btree_map<Key, Held> held_;
  absl::btree_set<WorkerId> quarantined_;
  absl::btree_map<WorkerId, std::vector<PackageId>> unproven_;

  Acknowledgements& acknowledgements_;
};

}  // namespace galley::director
