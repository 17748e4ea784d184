// Costs: what the cook of a package of which no earlier cook is known is expected to take.
//
// Guessed from what this cook has measured of the same cooker, in proportion to the source's size
// plus a fixed part (a ratio estimate: sums only), and before anything was measured from the size
// alone. What runs for longer than that counts as well: else the jobs that end first, which are the
// short ones, would speak for all.
//
// Cost: Guess O(1), without allocation.
// Threads: none; owned by the core.
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
  // The number 0 is that of packages without a cooker.
  Costs() { TraitsOf("", 0); }
  CostTraits TraitsOf(std::string_view cooker, uint64_t source_bytes);
  // The cooker's name. REQUIRES: TraitsOf gave its number. O(cookers).
  std::string NameOf(uint32_t cooker) const;
  absl::Duration Guess(const CostTraits& traits) const;
  // A whole attempt took so long.
  void Measured(const CostTraits& traits, absl::Duration time);
  // What runs now has taken so long in all: cleared, then told for each.
  void ClearRunning();
  void AddRunning(const CostTraits& traits, absl::Duration ran);
  // The peak of a job's memory; 0: nothing was measured of this cooker.
  uint64_t GuessMemory(const CostTraits& traits) const;
  void MeasuredMemory(const CostTraits& traits, uint64_t bytes);

 private:
  struct Sums {
    absl::Duration time, running;
    double weight = 0, running_weight = 0;
    double memory_ratio = 0;  // the highest of peak to weight; sinks slowly
  };

  absl::flat_hash_map<std::string, uint32_t> cookers_;
  std::vector<Sums> measured_;  // by cooker
};

}  // namespace galley::director
