// Cluster: a shell for the real CookCore with fake time, workers, store and launcher, on one
// thread, all from one seed. Faults happen until the calm begins; then the cook must finish. A cook
// that is interrupted, or whose commit fails, is asked for again, so that every seed ends with a
// whole cook, whose root must be that of the fault-free cook.
//
// Which kinds of faults a seed has is drawn from it (swarm testing: Groce et al., ISSTA 2012): a
// mixture of all would hide those that need the absence of others. What a checker finds begins with
// "crash:", "safety:" or "liveness:".
#pragma once

#include <cstdint>
#include <string>

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
  std::string roots;     // every platform: each package and what its result is
  std::string selected;  // how each selected package ended
  std::string
      instigators;       // why packages are in the cook: what cooked packages refer to and generate
  uint64_t effects = 0;  // a hash of the effect stream
  uint64_t attempts_max = 0;
  uint64_t faults = 0;
  uint32_t restarts = 0, cancels = 0, failed_commits = 0, hangs = 0, stops = 0, conflicts = 0,
           forced = 0;
  std::string broken;  // what a checker found
  director::Counters counters;
};

Outcome RunCluster(const ClusterOptions& options);

}  // namespace galley::simulation
