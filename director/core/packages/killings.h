// Killings: executors that died by a SIGKILL which Galley did not send, and lost workers, each with
// the package that ran there. Killings find the package that takes executors or workers along.
//
// A machine that has too little memory kills whoever runs there; a package that kills its executor
// does so wherever it runs. A *streak* of a machine is its last deaths in a row that are all of one
// package. A package with a streak on two machines is to blame. A package with a streak of three on
// one machine is to blame, too, where other jobs succeeded meanwhile, or where no other jobs could
// run. Workers are lost for many reasons (a node is taken back, a cable is pulled), so losses need
// longer streaks.
//
// A package whose executor died, or which was on two workers that were lost, is a *suspect* until
// the package is over. At most one suspect at a time runs on a machine (culprits.h): so several
// packages that kill make streaks of their own, and several large packages that have too little
// memory together succeed one after the other.
//
// Cost: O(log machines) for each change.
// Threads: none; owned by Blame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

class Killings {
 public:
  static constexpr uint32_t kDeathsMax = 3;    // of executors, on one machine
  static constexpr uint32_t kMachinesMax = 2;  // on which executors died
  static constexpr uint32_t kLossesMax = 10;   // with lost workers: deaths on one machine, machines
  static constexpr uint32_t kLossesToSuspect = 2;
  // A longer streak keeps no other suspect from the machine: the success of another suspect would
  // tell more.
  static constexpr uint32_t kTurnMax = 5;

  enum class What : uint8_t { kExecutor, kWorker };
  using Machine = uint32_t;  // MachineTable::NumberOf

  void AddDeath(PackageId package, Machine machine, What what, absl::Duration now);
  // A job of the package came to a result on the machine.
  void NoteDone(PackageId package, Machine machine, absl::Duration now);

  struct Place {
    Machine machine = 0;
    uint32_t deaths = 0;
    bool others_succeeded = false;  // since the first of these deaths
    bool operator==(const Place&) const = default;
  };
  // The machines where the last deaths are the package's, when those deaths are enough to blame the
  // package. `has_others`: jobs of other packages, no suspects, run or could run.
  std::optional<std::vector<Place>> Judge(PackageId package, bool has_others) const;

  bool IsSuspect(PackageId package) const { return suspects_.contains(package); }
  const absl::btree_set<PackageId>& suspects() const { return suspects_; }  // some may be over
  // The package whose turn it is to try again on the machine; invalid: no package's.
  PackageId TurnAt(Machine machine) const;
  // The package's deaths count no longer.
  void Forget(PackageId package);

 private:
  struct Streak {
    PackageId package;
    uint32_t executors = 0, workers = 0;  // deaths
    absl::Duration since;
    uint32_t deaths() const { return executors + workers; }
  };
  // The last two packages that succeeded on a machine.
  struct Done {
    PackageId last, before;
    absl::Duration last_at, before_at = -absl::InfiniteDuration();
  };

  bool OthersSucceeded(Machine machine, const Streak& streak) const;

  absl::btree_map<Machine, Streak> streaks_;
  absl::btree_map<Machine, Done> done_;
  absl::btree_map<PackageId, uint32_t> losses_;  // of workers
  absl::btree_set<PackageId> suspects_;
};

}  // namespace galley::director
