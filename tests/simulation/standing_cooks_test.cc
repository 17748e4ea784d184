// Cooks of a difference, seed by seed. Without variables: seeds 1 to 2,000.
//
//   GALLEY_SIM_FIRST=42 GALLEY_SIM_SEEDS=1 build/tests/standing_cooks_test   one seed again
//   GALLEY_SIM_TRACE=1 ...                                                   and all its decisions
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/simulation/decision_digest.h"
#include "tests/simulation/standing_cooks.h"

namespace galley::simulation {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(StandingCooksTest, EachComesToWhatItComesToAlone) {
  const uint64_t first = FromEnvironment("GALLEY_SIM_FIRST", 1);
  const uint64_t seeds = FromEnvironment("GALLEY_SIM_SEEDS", 2'000);
  const bool is_told = std::getenv("GALLEY_SIM_TRACE") != nullptr;
  StandingCooksOutcome sum;
  int violations = 0;
  for (uint64_t seed = first; seed < first + seeds && violations < 5; ++seed) {
    const StandingCooksOutcome outcome = RunStandingCooks({.seed = seed, .is_told = is_told});
    if (AreDecisionsShown())
      std::printf("decisions: seed %llu %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(outcome.decisions));
    std::string wrong = outcome.wrong;
    if (wrong.empty() && seed % 100 == 0 && RunStandingCooks({.seed = seed}).trace != outcome.trace)
      wrong = "safety: two runs of one seed differ";
    if (!wrong.empty()) {
      ++violations;
      ADD_FAILURE() << "seed " << seed << ": " << wrong << "\nreplay: GALLEY_SIM_FIRST=" << seed
                    << " GALLEY_SIM_SEEDS=1 build/tests/standing_cooks_test";
    }
    sum.cooks += outcome.cooks;
    sum.differences += outcome.differences;
    sum.widened += outcome.widened;
  }
  std::printf("%llu cooks, %llu of a difference, %llu that looked at all in the end\n",
              static_cast<unsigned long long>(sum.cooks),
              static_cast<unsigned long long>(sum.differences),
              static_cast<unsigned long long>(sum.widened));
  if (seeds >= 1'000) {
    EXPECT_GT(sum.differences, sum.cooks / 5);
    EXPECT_GT(sum.widened, sum.cooks / 50);
  }
}

class StandingSabotageTest : public testing::TestWithParam<StandingSabotage> {};

TEST_P(StandingSabotageTest, IsCaughtWithinAThousandSeeds) {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    if (!RunStandingCooks({.seed = seed, .sabotage = GetParam()}).wrong.empty()) return;
  }
  FAIL() << "nobody noticed";
}

INSTANTIATE_TEST_SUITE_P(All, StandingSabotageTest,
                         testing::Values(StandingSabotage::kIndexEntryLeftOut,
                                         StandingSabotage::kMemberNotDropped,
                                         StandingSabotage::kEnvironmentNotCompared,
                                         StandingSabotage::kReferencersNotLookedAt));

}  // namespace
}  // namespace galley::simulation
