// Cluster: directors, workers, launcher, network and disk of a project, on one thread, all from one
// seed. Faults happen until the calm begins; then the cook must end. A cook that is interrupted, or
// ends for the machine's sake, is asked for again, so that every seed ends with a whole cook, whose
// roots must be those of the fault-free cook with one worker.
//
// The text of a violation begins with "crash:", "safety:" or "liveness:".
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "director/core/cook_core.h"
#include "tests/simulation/faults.h"

namespace galley::simulation {

struct ClusterOptions {
  uint64_t seed = 1;
  bool has_faults = false;
  uint64_t crash_at_write = 0;        // not 0: the first director ends at this write
  uint64_t crash_again_at_write = 0;  // not 0: the second director ends, counted from its start
  bool cuts_power = false;            // a crash is the machine's
  bool is_told = false;               // every decision is printed
  // Not zero, without faults: all workers are on a farm, and an upload takes so much longer.
  absl::Duration upload;
  bool hides_uploads = false;  // workers do not say which jobs have left their slots
};

struct Outcome {
  bool has_ended = false;
  std::string roots;        // for every platform: each package and its output
  std::string selected;     // how each selected package ended
  std::string instigators;  // why packages are in the cook
  uint64_t trace = 0;       // a hash of everything that happened
  uint64_t decisions = 0;   // DecisionDigest
  uint64_t attempts_max = 0;
  uint64_t writes = 0;  // of directors
  FaultCounts faults{};
  uint64_t recovery_writes = 0;  // of the second director, before its first cook
  absl::Duration calm;           // from the begin of the calm to the end; zero: it had ended before
  uint32_t terms = 0;
  uint64_t resumed = 0;      // jobs of earlier directors that went on
  uint64_t split = 0;        // jobs whose platforms were shared out
  uint64_t found_equal = 0;  // results that another package's cook gave in the same director's life
  std::string broken;        // a checker's violation
  director::Counters counters;
};

Outcome RunCluster(const ClusterOptions& options);
// Compares with the outcome of the fault-free cook. Empty: all is well.
std::string WhatIsWrong(const Outcome& calm, const Outcome& outcome);

}  // namespace galley::simulation
