// Cooks of a difference, one after the other, from a seed: a project is edited between them, and
// while they run; packages come and go, a variable of the environment changes, narrower cooks run
// in between. Each cook by the book starts from what stands, and must come to what the same cook
// comes to alone, in a project of which nothing is known: roots, failures and warnings.
//
// The choice of packages and the members are the product's (ChoosePackages, Members), and so are
// the journal, roots and reasons of the cluster's director (cooks_stage.h). What is played is what
// the host does with them.
#pragma once

#include <cstdint>
#include <string>

namespace galley::simulation {

// StandingSabotage: what the product might do wrong, to test that the checks notice.
enum class StandingSabotage : uint8_t {
  kNone,
  kIndexEntryLeftOut,       // the journal does not know of some reader
  kMemberNotDropped,        // what went stays in the roots
  kEnvironmentNotCompared,  // the certificate lacks the environment
  kReferencersNotLookedAt,  // of what went
};

struct StandingCooksOptions {
  uint64_t seed = 0;
  bool is_told = false;
  StandingSabotage sabotage = StandingSabotage::kNone;
};

struct StandingCooksOutcome {
  std::string wrong;  // empty: nothing
  uint64_t cooks = 0, differences = 0, widened = 0;
  uint64_t trace = 0;
  uint64_t decisions = 0;  // DecisionDigest
};

StandingCooksOutcome RunStandingCooks(const StandingCooksOptions& options);

}  // namespace galley::simulation
