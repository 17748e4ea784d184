// Several cooks in one core, from a seed: random selections, platforms, classes, options, cancels,
// edits and lost workers, at random times. When a cook comes to an end by itself, its roots,
// failures and warnings must be those of the same cook alone, in the project as it was when its
// roots were built.
//
// The shell around the core is played here: look-ups, workers, commits, roots. What the real ones
// add, crashes of the director among it, is the matter of Cluster (cluster.h).
#pragma once

#include <cstdint>
#include <string>

namespace galley::simulation {

struct SeveralCooksOptions {
  uint64_t seed = 0;
  bool is_told = false;  // prints all that happens
};

struct SeveralCooksOutcome {
  std::string wrong;      // empty: nothing
  uint64_t compared = 0;  // cooks whose ends were compared
  uint64_t cooks = 0;     // that were asked for
  uint64_t at_once = 0;   // the most that ran at once
  uint64_t shared = 0;    // results that more than one cook was told of
  uint64_t trace = 0;
};

SeveralCooksOutcome RunSeveralCooks(const SeveralCooksOptions& options);

}  // namespace galley::simulation
