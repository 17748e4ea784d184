// How work is spread over workers: by expected time, and moved when one has nothing to do.
#include <string>

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
  EXPECT_NE(log.find("start A 0\n"), std::string::npos) << log;  // into the slot beside L1 and L2
  EXPECT_NE(log.find("start B 2\n"), std::string::npos) << log;
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
