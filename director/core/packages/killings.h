// Killings: finds packages that kill executors or workers, from the deaths of executors by a
// SIGKILL that Galley did not send, and from lost workers, each with the package that ran there.
//
// A machine with too little memory kills any job; a package that kills its executor does so on any
// machine. The *streak* of a machine is its latest deaths in a row that belong to one package. A
// package is to blame when it has a streak on two machines, or a streak of three on one machine
// where other jobs succeeded meanwhile or no other jobs could run. Workers are lost for many other
// reasons, so losses need longer streaks.
//
// A package is a *suspect*, until it is over, when its executor died, or when two workers were lost
// on which it ran. At most one suspect runs on a machine at a time (suspects.h). So each package
// that kills makes its own streaks, and large packages that only together need too much memory
// succeed one after the other.
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
  static constexpr uint32_t kDeathsMax = 3;    // deaths of executors on one machine
  static constexpr uint32_t kMachinesMax = 2;  // machines on which executors died
  static constexpr uint32_t kLossesMax = 10;   // with lost workers: deaths on one machine, machines
  static constexpr uint32_t kLossesToSuspect = 2;
  // A suspect with so many deaths in a row no longer keeps other suspects from the machine: the
  // success of another suspect would say more.
  static constexpr uint32_t kTurnMax = 5;

  enum class What : uint8_t { kExecutor, kWorker };
  using Machine = uint32_t;  // MachineTable::NumberOf

  void AddDeath(PackageId package, Machine machine, What what, absl::Duration now);
  // A job of the package made a result on the machine.
  void NoteDone(PackageId package, Machine machine, absl::Duration now);

  struct Place {
    Machine machine = 0;
    uint32_t deaths = 0;
    bool others_succeeded = false;  // since the first of these deaths
    bool operator==(const Place&) const = default;
  };
  // The machines with a streak of the package; nullopt: not enough to blame the package.
  // `has_others`: jobs of packages that are no suspects run, or could run.
  std::optional<std::vector<Place>> Judge(PackageId package, bool has_others) const;

  bool IsSuspect(PackageId package) const { return suspects_.contains(package); }
  const absl::btree_set<PackageId>& suspects() const { return suspects_; }  // some may be over
  // The suspect whose turn it is to run on the machine; invalid: none.
  PackageId TurnAt(Machine machine) const;
  // The package's deaths do not count any more.
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
