// BadMachines: a cook by a farm (farm_model.h) some of whose machines are bad, from a seed. A
// machine may have a full disk, lie, or be slow. Measures how long the cook takes, compared with
// the good machines alone.
//
// The jobs have log-normal costs (median 1 s, sigma 1), which the last cook's records tell within
// 20 % or, in every other seed, nobody knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace galley::simulation {

enum class MachineKind : uint8_t { kGood, kFull, kLiar, kSlow };

// Lie: how a worker lies.
enum class Lie : uint8_t {
  kNonsense,  // its results do not parse
  kNoBytes,   // its results name absent bytes
  kWrong,     // its results are wrong; every result is proven
};

struct BadFarm {
  uint64_t seed = 1;
  std::vector<MachineKind> machines;
  Lie lie = Lie::kNonsense;
  double slowness = 20;
  size_t jobs_per_slot = 40;  // counted for five machines
  // The time in which full disks are full.
  absl::Duration full_from, full_until = absl::InfiniteDuration();
};

struct BadFarmOutcome {
  bool has_ended = false;
  std::string error;  // the error of exit code 3
  absl::Duration took;
  bool is_right = true;               // each root has what it should have
  size_t failed = 0;                  // failed packages
  std::vector<std::string> told;      // what is told of workers: "held m0", "ended m3", ...
  std::vector<uint64_t> jobs_failed;  // failed by the worker's full disk
};

BadFarmOutcome CookOn(const BadFarm& farm);

}  // namespace galley::simulation
