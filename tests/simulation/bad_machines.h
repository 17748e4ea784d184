// BadMachines: one cook by a farm some of whose machines are bad, from a seed: the real CookCore
// over simulated workers, on one thread, in simulated time. One has a full disk, one lies, one is
// slow. For how long the cook takes, compared with the good ones alone.
//
// The jobs: log-normal costs (median 1 s, sigma 1), which the last cook's records tell within 20 %
// or, in every other seed, nobody knows. A message takes 1 ms, a commit 20 ms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace galley::simulation {

enum class MachineKind : uint8_t { kGood, kFull, kLiar, kSlow };

// How a worker lies.
enum class Lie : uint8_t {
  kNonsense,  // its results do not parse
  kNoBytes,   // they name bytes that are not there
  kWrong,     // they are others than they should be: all is proven
};

struct BadFarm {
  uint64_t seed = 1;
  std::vector<MachineKind> machines;
  Lie lie = Lie::kNonsense;
  double slowness = 20;
  size_t jobs_per_slot = 40;  // of five machines
  // Full disks are full in this time only.
  absl::Duration full_from, full_until = absl::InfiniteDuration();
};

struct BadFarmOutcome {
  bool has_ended = false;
  std::string error;  // exit 3
  absl::Duration took;
  bool is_right = true;               // each root has what it should
  size_t failed = 0;                  // packages
  std::vector<std::string> told;      // of workers, by what is told: "held m0", "ended m3", ...
  std::vector<uint64_t> jobs;         // made by each worker
  std::vector<uint64_t> jobs_failed;  // by its full disk
};

BadFarmOutcome CookOn(const BadFarm& farm);

}  // namespace galley::simulation
