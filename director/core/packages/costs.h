// Costs: guesses the time and memory of a package's job when no earlier cook of the package is
// known.
//
// The guess is a ratio estimate from the measured jobs of the same cooker: proportional to the
// source's size plus a fixed part. Before a job of the cooker was measured, each byte counts as 1
// us, also of the fixed part. Running jobs that take longer than guessed count as well: otherwise
// the short jobs, which end first, would stand for all jobs.
//
// Cost: Guess O(1), without allocation.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace galley::director {

// The traits of a package by which its cost is guessed.
struct CostTraits {
  uint32_t cooker = 0;        // made by Costs::TraitsOf
  uint32_t source_bytes = 0;  // saturated
};

class Costs {
 public:
  // Number 0 is the cooker of packages without a cooker.
  Costs() { TraitsOf("", 0); }
  CostTraits TraitsOf(std::string_view cooker, uint64_t source_bytes);
  // The cooker's name. REQUIRES: TraitsOf gave its number. O(cookers).
  std::string NameOf(uint32_t cooker) const;
  absl::Duration Guess(const CostTraits& traits) const;
  // A whole attempt took `time`.
  void AddMeasurement(const CostTraits& traits, absl::Duration time);
  // Updates how long the running jobs have run: ClearRunning, then AddRunning for each running job.
  void ClearRunning();
  void AddRunning(const CostTraits& traits, absl::Duration ran);
  // The guessed peak of a job's memory in bytes; 0: no job of this cooker was measured.
  uint64_t GuessMemory(const CostTraits& traits) const;
  void MeasuredMemory(const CostTraits& traits, uint64_t bytes);

 private:
  struct Sums {
    absl::Duration time, running;
    double weight = 0, running_weight = 0;
    double memory_ratio = 0;  // the highest ratio of peak to weight; decays slowly
  };

  absl::flat_hash_map<std::string, uint32_t> cookers_;
  std::vector<Sums> measured_;  // by cooker
};

}  // namespace galley::director
