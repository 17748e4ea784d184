// Cluster: a shell for the real CookCore with fake time, workers, store and launcher, on one thread, all from one seed. Faults (lost and slow
// workers, lost, doubled, late and reordered reports, failing launches) happen until the calm begins; then the cook must finish.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "director/core/cook_core.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

struct ClusterOptions {
  uint64_t seed = 1;
  bool has_faults = false;
  bool has_cache = false;  // some results are cached before
  uint32_t workers = 2;
};

struct Outcome {
  bool has_ended = false;
  std::string infrastructure_error;
  std::string roots;    // every platform: each package and what its result is
  uint64_t effects = 0; // a hash of the effect stream
  uint64_t attempts_max = 0;
  uint64_t faults = 0;
  std::string broken;   // what a checker found
  director::Counters counters;
};

Outcome RunCluster(const ClusterOptions& options);

}  // namespace galley::simulation
