// A few hundred seeds of the whole cluster. More: GALLEY_SIM_SEEDS=10000 GALLEY_SIM_FIRST=1 simulation_test
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/simulation/cluster.h"

namespace galley::simulation {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(SimulationTest, EverySeedEndsWithTheRootOfItsFaultFreeCook) {
  const uint64_t first = FromEnvironment("GALLEY_SIM_FIRST", 1);
  const uint64_t count = FromEnvironment("GALLEY_SIM_SEEDS", 300);
  uint64_t faults = 0, cooked = 0, failed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("replay: GALLEY_SIM_FIRST=" + std::to_string(seed) + " GALLEY_SIM_SEEDS=1 build/tests/simulation_test");
    const Outcome calm = RunCluster({.seed = seed});
    const ClusterOptions stormy{.seed = seed, .has_faults = true, .has_cache = seed % 2 == 0, .workers = 1 + static_cast<uint32_t>(seed % 4)};
    const Outcome outcome = RunCluster(stormy);
    ASSERT_EQ(calm.broken, "");
    ASSERT_EQ(outcome.broken, "");
    ASSERT_EQ(outcome.infrastructure_error, "");
    ASSERT_EQ(outcome.roots, calm.roots);
    ASSERT_LE(outcome.attempts_max, 150u);
    ASSERT_EQ(RunCluster(stormy).effects, outcome.effects) << "two runs of one seed differ";
    faults += outcome.faults;
    cooked += outcome.counters.results_cooked;
    failed += outcome.counters.results_failed;
  }
  // The storm is a storm.
  if (count >= 100) {
    EXPECT_GT(faults, count);
    EXPECT_GT(cooked, count);
    EXPECT_GT(failed, 0u);
  }
}

}  // namespace
}  // namespace galley::simulation
