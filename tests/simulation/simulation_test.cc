// The whole cluster, seed by seed. Without variables: seeds 1 to 2,000.
//
//   GALLEY_SIM_FIRST=42 GALLEY_SIM_SEEDS=1 build/tests/simulation_test     one seed again
//   GALLEY_SIM_TRACE=1 ...                                                 and all its decisions
//   scripts/test --sim 10000                                               many
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/simulation/cluster.h"

namespace galley::simulation {
namespace {

constexpr uint64_t kSeeds = 2'000;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string ReplayLine(uint64_t seed) {
  return "replay: GALLEY_SIM_FIRST=" + std::to_string(seed) +
         " GALLEY_SIM_SEEDS=1 build/tests/simulation_test";
}

// A CHECK or a fault of the core ends the process: the seed must be known then.
volatile uint64_t present_seed = 0;
void OnCrash(int signal) {
  std::fprintf(stderr, "crash: seed %llu; %s\n", static_cast<unsigned long long>(present_seed),
               ReplayLine(present_seed).c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class SimulationTest : public ::testing::Test {
 protected:
  void RunSeed(uint64_t seed) {
    present_seed = seed;
    const bool is_told = std::getenv("GALLEY_SIM_TRACE") != nullptr;
    const Outcome calm = RunCluster({.seed = seed, .is_told = is_told});
    const Outcome outcome = RunCluster({.seed = seed, .has_faults = true, .is_told = is_told});
    std::string wrong = WhatIsWrong(calm, outcome);
    if (wrong.empty() && seed % 100 == 0 &&
        RunCluster({.seed = seed, .has_faults = true}).trace != outcome.trace)
      wrong = "safety: two runs of one seed differ";
    if (!wrong.empty()) {
      ++violations_;
      ADD_FAILURE() << "seed " << seed << ": " << wrong << "\n" << ReplayLine(seed);
    }
    for (size_t i = 0; i < kFaultCount; ++i) {
      runs_[i] += outcome.faults[i] > 0;
      times_[i] += outcome.faults[i];
    }
    terms_ += outcome.terms;
    conflicts_ += outcome.conflicts;
    cooked_ += outcome.counters.results_cooked;
    cached_ += outcome.counters.results_cached;
    up_to_date_ += outcome.counters.results_up_to_date;
    resumed_ += outcome.resumed;
    split_ += outcome.split;
  }

  void PrintTable(uint64_t seeds) const {
    std::printf("%-36s %10s %12s\n", "fault", "seeds", "times");
    for (size_t i = 0; i < kFaultCount; ++i) {
      std::printf("%-36s %10llu %12llu\n", std::string(FaultName(static_cast<Fault>(i))).c_str(),
                  static_cast<unsigned long long>(runs_[i]),
                  static_cast<unsigned long long>(times_[i]));
    }
    std::printf(
        "%llu directors; results in the last cooks: %llu cooked, %llu cached, %llu up to date; "
        "%llu jobs of earlier directors went on, %llu jobs were split\n",
        static_cast<unsigned long long>(terms_), static_cast<unsigned long long>(cooked_),
        static_cast<unsigned long long>(cached_), static_cast<unsigned long long>(up_to_date_),
        static_cast<unsigned long long>(resumed_), static_cast<unsigned long long>(split_));
    std::printf("%llu seeds, %llu violations\n", static_cast<unsigned long long>(seeds),
                static_cast<unsigned long long>(violations_));
  }

  uint64_t violations_ = 0, terms_ = 0, conflicts_ = 0, cooked_ = 0, cached_ = 0, up_to_date_ = 0,
           resumed_ = 0, split_ = 0;
  FaultCounts runs_{}, times_{};
};

TEST_F(SimulationTest, EverySeedEndsWithTheRootsOfItsFaultFreeCook) {
  const uint64_t first = FromEnvironment("GALLEY_SIM_FIRST", 1);
  const uint64_t count = FromEnvironment("GALLEY_SIM_SEEDS", kSeeds);
  for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGTRAP}) std::signal(signal, OnCrash);
  for (uint64_t seed = first; seed < first + count && violations_ < 10; ++seed) RunSeed(seed);
  PrintTable(count);
  if (count < 1'000) return;
  EXPECT_GT(resumed_, count / 100);
  EXPECT_GT(split_, count / 10);
  // The storm is a storm: each class fires in enough seeds.
  for (size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_GT(runs_[i], count / 50) << FaultName(fault);
  }
}

// The first director ends at each of its writes, torn or whole; in a second pass the next one ends
// in its recovery. What was durable is not cooked again, and the roots are the same.
TEST_F(SimulationTest, ADirectorThatEndsAtAnyWriteIsResumed) {
  constexpr uint64_t kWritesMin = 100, kWritesMax = 200;
  uint64_t seed = 1;
  Outcome calm = RunCluster({.seed = seed});
  while (calm.writes < kWritesMin || calm.writes > kWritesMax) calm = RunCluster({.seed = ++seed});
  ASSERT_EQ(calm.broken, "");
  present_seed = seed;
  const auto run = [&](ClusterOptions options) {
    options.seed = seed;
    const Outcome outcome = RunCluster(options);
    EXPECT_EQ(WhatIsWrong(calm, outcome), "")
        << "seed " << seed << ", write " << options.crash_at_write << ", then "
        << options.crash_again_at_write << (options.cuts_power ? ", power cut" : "");
    EXPECT_GE(outcome.terms, 2u) << options.crash_at_write;
  };
  for (uint64_t n = 1; n <= calm.writes; ++n) {
    run({.crash_at_write = n});
    run({.crash_at_write = n, .cuts_power = true});
    run({.crash_at_write = n, .crash_again_at_write = 1 + n % 5, .cuts_power = n % 2 == 0});
  }
  std::printf("seed %llu: %llu writes\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(calm.writes));
}

// Seeds that were wrong once. What they draw changes with the simulation; they cost little.
//   3990, 7614  a worker that outlived its director kept the older one's snapshot, by its number
//   951, 5146   a root of a platform that was removed was looked for; deaths of executors of which
//   nobody was told 7279        the loop was told of a commit before what had been done ahead of it
//   115         platforms changed; the next look-up took the answer to the one before, of other
//   numbers
//   24          a name that was exchanged kept the reason for which it had been selected
//   5448        what a survivor told again and was not where it said was cooked, though it was kept
//   9814        references were not judged for a platform that was added while roots were built
TEST_F(SimulationTest, SeedsThatWereWrongOnceAreRight) {
  for (const uint64_t seed : {3990, 7614, 7279, 951, 5146, 115, 24, 5448, 9814}) RunSeed(seed);
}

}  // namespace
}  // namespace galley::simulation
