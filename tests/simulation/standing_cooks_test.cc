// Cooks of a difference, seed by seed. Without variables: seeds 1 to 2,000.
//
//   GALLEY_SIM_FIRST=42 GALLEY_SIM_SEEDS=1 build/tests/standing_cooks_test   one seed again
//   GALLEY_SIM_TRACE=1 ...                                                   and all its decisions
#include "tests/simulation/standing_cooks.h"
#include "gtest/gtest.h"
#include "tests/simulation/seeds.h"

namespace galley::simulation {
namespace {

TEST(StandingCooksTest, EachComesToWhatItComesToAlone) {
  const uint64_t seeds = FromEnvironment("GALLEY_SIM_SEEDS", 2'000);
  StandingCooksOutcome sum;
  const auto run = [](uint64_t seed, bool is_told) {
    return RunStandingCooks({.seed = seed, .is_told = is_told});
  };
  RunSeeds("standing_cooks_test", seeds, run, [&](const StandingCooksOutcome& outcome) {
    sum.cooks += outcome.cooks;
    sum.differences += outcome.differences;
    sum.widened += outcome.widened;
  });
  fmt::print("{} cooks, {} of a difference, {} that looked at all in the end\n", sum.cooks,
             sum.differences, sum.widened);
  if (seeds >= 1'000) {
    EXPECT_GT(sum.differences, sum.cooks / 6);
    EXPECT_GT(sum.widened, sum.cooks / 50);
  }
}

class StandingSabotageTest : public testing::TestWithParam<StandingSabotage> {};

TEST_P(StandingSabotageTest, IsCaughtWithinAThousandSeeds) {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    const std::string wrong = RunStandingCooks({.seed = seed, .sabotage = GetParam()}).wrong;
    if (wrong.find("than alone") != std::string::npos) return;
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
