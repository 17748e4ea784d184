// A few hundred seeds of the whole cluster. More: GALLEY_SIM_SEEDS=10000 GALLEY_SIM_FIRST=1
// simulation_test
#include <csignal>
#include <cstdio>
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

// A CHECK or a fault of the core ends the process: the seed must be known then.
volatile uint64_t present_seed = 0;
void OnCrash(int signal) {
  std::fprintf(
      stderr,
      "crash: replay: GALLEY_SIM_FIRST=%llu GALLEY_SIM_SEEDS=1 build/tests/simulation_test\n",
      static_cast<unsigned long long>(present_seed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

TEST(SimulationTest, EverySeedEndsWithTheRootOfItsFaultFreeCook) {
  const uint64_t first = FromEnvironment("GALLEY_SIM_FIRST", 1);
  const uint64_t count = FromEnvironment("GALLEY_SIM_SEEDS", 300);
  for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGTRAP}) std::signal(signal, OnCrash);
  Outcome sum;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("replay: GALLEY_SIM_FIRST=" + std::to_string(seed) +
                 " GALLEY_SIM_SEEDS=1 build/tests/simulation_test");
    present_seed = seed;
    const Outcome calm = RunCluster({.seed = seed});
    const ClusterOptions stormy{.seed = seed,
                                .has_faults = true,
                                .has_cache = seed % 2 == 0,
                                .workers = 1 + static_cast<uint32_t>(seed % 4)};
    const Outcome outcome = RunCluster(stormy);
    ASSERT_EQ(calm.broken, "");
    ASSERT_EQ(outcome.broken, "");
    ASSERT_EQ(outcome.roots, calm.roots) << "safety: the root is another than without faults";
    ASSERT_EQ(outcome.selected, calm.selected)
        << "safety: packages end otherwise than without faults";
    ASSERT_EQ(outcome.instigators, calm.instigators) << "safety: other reasons than without faults";
    ASSERT_LE(outcome.attempts_max, 150u) << "liveness: too many attempts";
    ASSERT_EQ(RunCluster(stormy).effects, outcome.effects) << "safety: two runs of one seed differ";
    sum.faults += outcome.faults;
    sum.restarts += outcome.restarts;
    sum.cancels += outcome.cancels;
    sum.failed_commits += outcome.failed_commits;
    sum.hangs += outcome.hangs;
    sum.stops += outcome.stops;
    sum.conflicts += outcome.conflicts;
    sum.forced += outcome.forced;
    sum.counters.results_cooked += outcome.counters.results_cooked;
    sum.counters.results_cached += outcome.counters.results_cached;
    sum.counters.results_failed += outcome.counters.results_failed;
    sum.counters.workers_lost += outcome.counters.workers_lost;
    sum.counters.backups_started += outcome.counters.backups_started;
    sum.counters.backups_won += outcome.counters.backups_won;
    sum.counters.results_dropped += outcome.counters.results_dropped;
  }
  if (count < 100) return;
  // The storm is a storm.
  EXPECT_GT(sum.faults, count);
  EXPECT_GT(sum.restarts, count / 10);
  EXPECT_GT(sum.cancels, count / 10);
  EXPECT_GT(sum.failed_commits, count / 30);
  EXPECT_GT(sum.hangs, count / 30);
  EXPECT_GT(sum.stops, 0u);
  EXPECT_GT(sum.conflicts, count / 30);
  EXPECT_GT(sum.forced, count / 20);
  EXPECT_GT(sum.counters.results_cooked, count);
  EXPECT_GT(sum.counters.results_cached, 0u);
  EXPECT_GT(sum.counters.results_failed, 0u);
  EXPECT_GT(sum.counters.workers_lost, 0u);
  EXPECT_GT(sum.counters.backups_started, count / 10);
  EXPECT_GT(sum.counters.backups_won, count / 30);
  EXPECT_GT(sum.counters.results_dropped, 0u);
}

}  // namespace
}  // namespace galley::simulation
