// SeveralCooks: several cooks in one cluster, from a seed: random selections, platforms, classes,
// options, filters, cancels, edits, lost workers, broken streams, deleted files of the store, and
// directors that die, at random times. In some seeds clients ask for single packages as well
// (asking_stage.h), and in some, devices have sessions (devices_stage.h). When a cook comes to an
// end by itself, its roots, failures and warnings must be those of the same cook alone, in the
// project as it was when its roots were built. Classes get their share (class_bounds.h), no result
// is refused that nobody else has, and nothing is left behind when all cooks, asks and sessions
// have ended.
// Cluster, SimDirector and SimWorker check themselves as well, but for what they check of one cook.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/devices_stage.h"

namespace galley::simulation {

struct SeveralCooksOptions {
  uint64_t seed = 0;
  bool is_told = false;  // prints everything that happens
};

struct SeveralCooksOutcome {
  std::string wrong;      // empty: nothing is wrong
  uint64_t compared = 0;  // cooks whose ends were compared
  uint64_t cooks = 0;     // that were asked for
  CooksStage::Counts counts;
  AskingStage::AskCounts asks;
  DevicesStage::DeviceCounts devices;
  uint64_t trace = 0;
  uint64_t decisions = 0;  // DecisionDigest
};

SeveralCooksOutcome RunSeveralCooks(const SeveralCooksOptions& options);

}  // namespace galley::simulation
