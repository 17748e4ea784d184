// How work is spread over workers: by expected time, and moved when one has nothing to do.
#include <set>
#include <string>
#include <vector>

#include "director/core/core_harness.h"
#include "director/core/costs.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr const char* kTown = "A ~ 100000\nB ~ 100000\nC ~ 100000\nD ~ 100000\nE ~ 100000\n";

// Worker 0 has all jobs of kTown, worker 1 attaches after it.
CoreHarness AllInOneHand(const std::string& town = kTown) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell(town, options);
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"A", "B", "C", "D", "E"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  return shell;
}

TEST(BalanceTest, AWorkerThatHasNothingToDoTakesFromTheEndOfTheLongestQueue) {
  CoreHarness shell = AllInOneHand();
  ASSERT_EQ(shell.TakeLog(),
            "spawn 0\nspawn 1\nstart E 0\nstart D 0\nstart C 0\nstart B 0\nstart A 0\n");
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_EQ(shell.TakeLog(), "retract A\nretract B\nstart A 1\nstart B 1\n");
  EXPECT_EQ(shell.core().counters().jobs_retracted, 2u);
  shell.Finish();
  EXPECT_TRUE(shell.Says("root A B C D E\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 5u);
}

TEST(BalanceTest, WhatHadBegunGoesOnAndTheFirstResultCounts) {
  CoreHarness shell = AllInOneHand();
  const HarnessJob before = shell.JobOf("A");
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  ASSERT_NE(shell.JobOf("A").worker, before.worker);
  shell.TakeLog();
  shell.Saved(before);
  EXPECT_TRUE(shell.Says("retract A\n"));  // the second maker need not begin
  shell.Finish();
  EXPECT_EQ(shell.core().counters().results_cooked, 5u);
  EXPECT_EQ(shell.core().counters().jobs_retried, 0u);
}

TEST(BalanceTest, AJobThatIsLoadedIsNotTaken) {
  CoreHarness shell = AllInOneHand();
  shell.Loaded("A");
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_NE(shell.JobOf("B").worker, shell.JobOf("A").worker);
  EXPECT_FALSE(shell.Says("retract A"));
}

// One with a free slot and long jobs in the others comes first, and must not keep work from the
// next.
TEST(BalanceTest, EveryIdleWorkerGetsWork) {
  CookOptions options;
  options.workers = 3;
  CoreHarness shell("L1 ~ 60000000\nL2 ~ 60000000\nA ~ 900000\nB ~ 900000\nC ~ 900000\n", options);
  shell.hold_workers = shell.hold_look_ups = true;
  shell.Request({"L1", "L2", "A", "B", "C"});
  const auto miss = [&](bool is_long) {
    LookedUp answer;
    for (const LookUp::Item& item : shell.look_ups) {
      if ((shell.core().NameOf(item.package).size() == 2) == is_long)
        answer.items.push_back({item.package, 0, item.generation, LookedUp::Miss{}});
    }
    shell.Send(answer);
  };
  miss(true);
  shell.Send(WorkerAttached{shell.spawned[0], 3, {}});
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  miss(false);
  shell.Send(WorkerAttached{shell.spawned[2], 1, {}});
  const std::string log = shell.TakeLog();
  EXPECT_NE(log.find("start B 0\n"), std::string::npos) << log;  // into the slot beside L1 and L2
  EXPECT_NE(log.find("retract A\nstart A 2\n"), std::string::npos) << log;
}

TEST(BalanceTest, WhatHoldsAResourceStaysWhereItIs) {
  CookOptions options;
  options.workers = 2;
  options.resources = {{"gpu", 9}};
  CoreHarness shell("A @gpu\nB @gpu\nC @gpu\nD @gpu\nE @gpu\n", options);
  shell.hold_workers = true;
  shell.Request({"A", "B", "C", "D", "E"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_EQ(shell.core().counters().jobs_retracted, 0u);
}

TEST(BalanceTest, TheLongestJobBeginsFirst) {
  CookOptions options;
  options.workers = 1;
  CoreHarness shell("A ~ 100\nB ~ 90000\nC ~ 9000000\nD ~ 200\n", options);
  shell.slots = 1;
  shell.Request({"A", "B", "C", "D"});
  EXPECT_TRUE(shell.Says("spawn 0\nstart C 0\nstart B 0\n")) << shell.TakeLog();
}

TEST(BalanceTest, WhatTheLastCookTookComesBeforeAGuess) {
  CookOptions options;
  options.workers = 1;
  CoreHarness shell("A ~ 90000\nB ~ 100\n", options);
  shell.slots = 1;
  shell.hold_look_ups = true;
  shell.Request({"A", "B"});
  LookedUp answer;
  for (const LookUp::Item& item : shell.look_ups) {
    const bool is_b = item.package == shell.Id("B");
    answer.items.push_back(
        {item.package, 0, item.generation,
         LookedUp::Miss{absl::ZeroDuration(), is_b ? absl::Seconds(9) : absl::Milliseconds(1)}});
  }
  shell.Send(answer);
  EXPECT_TRUE(shell.Says("start B 0\nstart A 0\n")) << shell.TakeLog();
}

// The busiest has nothing that may be moved: what waits at the next one is.
TEST(BalanceTest, TheNextBusiestGivesWhenTheBusiestCannot) {
  CookOptions options;
  options.workers = 3;
  options.resources = {{"gpu", 9}};
  CoreHarness shell("G1 @gpu\nG2 @gpu\nG3 @gpu\nA ~ 900000\nB ~ 900000\nC ~ 900000\n", options);
  shell.hold_workers = shell.hold_look_ups = true;
  shell.Request({"G1", "G2", "G3", "A", "B", "C"});
  const auto miss = [&](bool is_gpu) {
    LookedUp answer;
    for (const LookUp::Item& item : shell.look_ups) {
      if (shell.core().NameOf(item.package).starts_with("G") == is_gpu) {
        const absl::Duration last = is_gpu ? absl::Milliseconds(990) : absl::Milliseconds(600);
        answer.items.push_back(
            {item.package, 0, item.generation, LookedUp::Miss{absl::ZeroDuration(), last}});
      }
    }
    shell.Send(answer);
  };
  miss(true);
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  miss(false);
  for (const char* name : {"G1", "G2", "G3"}) ASSERT_TRUE(shell.HasOpenJob(name));
  shell.TakeLog();
  shell.Send(WorkerAttached{shell.spawned[2], 1, {}});
  const std::string log = shell.TakeLog();
  EXPECT_EQ(log.find("retract G"), std::string::npos) << log;
  EXPECT_NE(log.find(" 2\n"), std::string::npos) << log;
}

// Two packages that took 60 of a worker's 100 bytes in the last cook.
TEST(BalanceTest, AWorkerTakesNoMoreJobsAtATimeThanItsMemoryAllows) {
  for (const uint64_t memory_bytes : {0u, 100u, 120u}) {
    CookOptions options;
    options.workers = 1;
    CoreHarness shell("A\nB\n", options);
    shell.hold_workers = shell.hold_look_ups = true;
    shell.Request({"A", "B"});
    LookedUp answer;
    for (const LookUp::Item& item : shell.look_ups) {
      answer.items.push_back(
          {item.package, 0, item.generation, LookedUp::Miss{.last_memory_bytes = 60}});
    }
    shell.Send(answer);
    shell.Send(WorkerAttached{shell.spawned[0], 2, {}, memory_bytes});
    EXPECT_EQ(shell.HasOpenJob("A") + shell.HasOpenJob("B"), memory_bytes == 100 ? 1 : 2);
    shell.Send(WorkerAlive{shell.spawned[0]});
    EXPECT_EQ(shell.HasOpenJob("A") + shell.HasOpenJob("B"), memory_bytes == 100 ? 1 : 2);
    shell.Send(WorkerAlive{shell.spawned[0], 120});  // its control group was given more
    EXPECT_EQ(shell.HasOpenJob("A") + shell.HasOpenJob("B"), 2);
    shell.Finish();
    EXPECT_TRUE(shell.Says("ended\n"));
  }
}

TEST(BalanceTest, StripedDealsPackagesOutByTheirNames) {
  const std::string project = "A ~ 9000\nB ~ 1\nC ~ 1\nD ~ 1\nE ~ 1\nF ~ 1\n";
  const std::vector<std::string> names = {"A", "B", "C", "D", "E", "F"};
  const auto workers_of = [&](const std::vector<std::string>& order) {
    CookOptions options;
    options.workers = 3;
    options.policy = PlacementPolicy::kStriped;
    CoreHarness shell(project + "First\n", options);
    shell.slots = 9;
    shell.hold_look_ups = true;
    std::vector<std::string> all = order;
    all.insert(all.begin(), "First");
    shell.Request(all);
    for (const std::string& name : all) {  // with the first come the workers
      for (const LookUp::Item& item : shell.look_ups) {
        if (item.package == shell.Id(name))
          shell.Send(LookedUp{{{item.package, 0, item.generation, LookedUp::Miss{}}}});
      }
    }
    std::vector<uint32_t> workers;
    for (const std::string& name : names) workers.push_back(shell.JobOf(name).worker.value());
    return workers;
  };
  const std::vector<uint32_t> workers = workers_of(names);
  EXPECT_EQ(workers_of({"F", "D", "B", "A", "C", "E"}), workers);
  EXPECT_GT(std::set<uint32_t>(workers.begin(), workers.end()).size(), 1u);
}

TEST(CostsTest, TheHighestRatioOfMemoryIsGuessedByAndSinks) {
  Costs costs;
  const CostTraits traits = costs.TraitsOf("texture", 16 << 20);
  EXPECT_EQ(costs.GuessMemory(traits), 0u);
  costs.MeasuredMemory(traits, 64 << 20);
  EXPECT_EQ(costs.GuessMemory(traits), 64u << 20);
  costs.MeasuredMemory(traits, 32 << 20);
  EXPECT_LT(costs.GuessMemory(traits), 64u << 20);
  EXPECT_GT(costs.GuessMemory(traits), 63u << 20);
  EXPECT_EQ(costs.GuessMemory(costs.TraitsOf("texture", 48 << 20)) / 2, costs.GuessMemory(traits));
}

TEST(CostsTest, TheCookersOwnMeasureComesBeforeTheSizeAlone) {
  Costs costs;
  const CostTraits small = costs.TraitsOf("texture", 4096),
                   large = costs.TraitsOf("texture", 61'440);
  const CostTraits other = costs.TraitsOf("shader", 4096);
  EXPECT_EQ(costs.Guess(small), absl::Microseconds(8192));
  costs.Measured(small, absl::Milliseconds(100));
  EXPECT_EQ(costs.Guess(small), absl::Milliseconds(100));
  EXPECT_EQ(costs.Guess(large), absl::Milliseconds(800));
  EXPECT_EQ(costs.Guess(other), absl::Microseconds(8192));
}

}  // namespace
}  // namespace galley::director
