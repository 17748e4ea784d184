// How work is spread over workers: by expected time, and moved when a worker is idle.
#include <set>
#include <string>
#include <vector>

#include "director/core/packages/costs.h"
#include "director/core/scenarios/core_harness.h"
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

// A worker with one free slot and long jobs in the others comes first, and must not keep work from
// the next worker.
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

// Workers attach when the test says so, and each package comes when its look-up is answered.
class MovingTest : public testing::Test {
 protected:
  MovingTest() : shell_(Project(), {.workers = 3}) {
    shell_.hold_workers = shell_.hold_look_ups = true;
    std::vector<std::string> names;
    for (const char* name : kNames) names.emplace_back(name);
    shell_.Request(names);
  }
  static std::string Project() {
    std::string text;
    for (const char* name : kNames) text += std::string(name) + "\n";
    return text;
  }
  void Attach(uint32_t worker, uint32_t slots = 1, uint64_t memory_bytes = 0) {
    shell_.Send(
        WorkerAttached{.worker = WorkerId(worker), .slots = slots, .memory_bytes = memory_bytes});
  }
  void Come(const std::string& name, const LookedUp::Miss& miss) {
    for (const LookUp::Item& item : shell_.look_ups) {
      if (item.package == shell_.Id(name))
        shell_.Send(LookedUp{{{item.package, 0, item.generation, miss}}});
    }
  }
  void Come(const std::string& name, int ms) { Come(name, {.last_save = absl::Milliseconds(ms)}); }
  // Seconds in which these workers speak.
  void Pass(int seconds, const std::vector<uint32_t>& speaking) {
    for (int i = 0; i < seconds; ++i) {
      shell_.Pass(absl::Seconds(1));
      for (const uint32_t worker : speaking) shell_.Send(WorkerAlive{WorkerId(worker)});
    }
  }
  static constexpr const char* kNames[] = {"A", "B", "C",    "D",    "E",   "F",
                                           "G", "H", "/f/1", "/f/2", "/f/3"};
  CoreHarness shell_;
};

TEST_F(MovingTest, WhatIsDoneInAMomentIsNotMoved) {
  Attach(0);
  Come("A", 2);
  Come("B", 2);
  shell_.TakeLog();
  Attach(1);
  EXPECT_EQ(shell_.TakeLog(), "");
}

// The job is about to begin there, and its inputs lie there.
TEST(BalanceTest, WhatBeginsSoonOnAnotherMachineStaysThere) {
  for (const int ms : {10, 40}) {
    CoreHarness shell("A\nB\n", {.workers = 0});
    shell.hold_workers = shell.hold_look_ups = true;
    shell.Request({"A", "B"});
    shell.Send(WorkerAttached{.worker = WorkerId(kForeignWorkers), .slots = 1});
    for (const LookUp::Item& item : shell.look_ups)
      shell.Send(LookedUp{{{item.package, 0, item.generation,
                            LookedUp::Miss{.last_save = absl::Milliseconds(ms)}}}});
    shell.TakeLog();
    shell.Send(WorkerAttached{.worker = WorkerId(kForeignWorkers + 1), .slots = 1});
    EXPECT_EQ(shell.core().counters().jobs_retracted, ms == 10 ? 0u : 1u);
  }
}

// The running job takes longer than expected: so the job behind it waits, in the executor.
TEST(BalanceTest, WhatIsInAnExecutorsHandsOnAnotherMachineStaysThere) {
  for (const uint32_t slots : {1, 2}) {
    CoreHarness shell("A\nB\nC\n", {.workers = 0});
    shell.hold_workers = shell.hold_look_ups = true;
    shell.Request({"A", "B", "C"});
    shell.Send(WorkerAttached{.worker = WorkerId(kForeignWorkers), .slots = slots});
    for (const LookUp::Item& item : shell.look_ups)
      shell.Send(LookedUp{{{item.package, 0, item.generation,
                            LookedUp::Miss{.last_save = absl::Milliseconds(6)}}}});
    shell.Pass(absl::Seconds(1));
    shell.TakeLog();
    shell.Send(WorkerAttached{.worker = WorkerId(kForeignWorkers + 1), .slots = 1});
    EXPECT_EQ(shell.core().counters().jobs_retracted, slots == 1 ? 0u : 1u);
  }
}

TEST_F(MovingTest, UnlessItIsBlocking) {
  shell_.Send(PackagesDiscovered{{{"B", InstigatorCategory::kCookOnTheFly}}});
  Attach(0);
  Come("A", 2);
  Come("B", 2);
  ASSERT_EQ(shell_.JobOf("B").worker, WorkerId(0));
  shell_.TakeLog();
  Attach(1);
  EXPECT_EQ(shell_.TakeLog(), "retract B\nstart B 1\n");
}

TEST_F(MovingTest, JobsThatTakeNoTimeAreSpreadToo) {
  Attach(0, 8);
  Attach(1, 8);
  for (const char* name : {"A", "B"}) Come(name, {.last_save = absl::Nanoseconds(1)});
  EXPECT_NE(shell_.JobOf("A").worker, shell_.JobOf("B").worker);
}

TEST_F(MovingTest, AWorkerOfThreeSlotsTakesThreeQuartersFromOneOfOne) {
  Attach(0);
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) Come(name, 100);
  Attach(1, 3);
  EXPECT_EQ(shell_.core().counters().jobs_retracted, 6u);
}

TEST_F(MovingTest, WhatIsWarmIsMovedWhereItIsAsWarm) {
  const auto of = [](int ms) {
    return LookedUp::Miss{.last_load = absl::Milliseconds(ms) * 0.9,
                          .last_save = absl::Milliseconds(ms) * 0.1};
  };
  Attach(1);
  Come("/f/1", of(300));
  Attach(0);
  Come("/f/2", of(50));
  Come("/f/3", of(100));
  ASSERT_EQ(shell_.JobOf("/f/2").worker, WorkerId(0));
  ASSERT_EQ(shell_.JobOf("/f/3").worker, WorkerId(0));
  shell_.Saved("/f/1");
  EXPECT_EQ(shell_.JobOf("/f/3").worker, WorkerId(1)) << "it would wait for 50 ms to save 90";
}

TEST_F(MovingTest, NothingIsMovedWhereItsMemoryIsShort) {
  const LookedUp::Miss large = {.last_save = absl::Milliseconds(100), .last_memory_bytes = 60};
  Attach(1, 2, 100);
  Come("A", large);
  Attach(0);
  Come("B", large);
  ASSERT_EQ(shell_.JobOf("B").worker, WorkerId(0));
  Come("C", large);
  EXPECT_EQ(shell_.JobOf("C").worker, WorkerId(0));
  EXPECT_EQ(shell_.core().counters().jobs_retracted, 0u);
  shell_.Saved("A");
  EXPECT_EQ(shell_.JobOf("C").worker, WorkerId(1));
}

TEST_F(MovingTest, NothingIsPlacedOnOrMovedToOneThatIsSilent) {
  Attach(0);
  Attach(1);
  Pass(5, {0});
  Come("A", 100);
  Come("B", 100);
  EXPECT_EQ(shell_.JobOf("A").worker, WorkerId(0));
  EXPECT_EQ(shell_.JobOf("B").worker, WorkerId(0));
  shell_.TakeLog();
  shell_.Send(WorkerAlive{WorkerId(1)});
  EXPECT_EQ(shell_.TakeLog(), "retract B\nstart B 1\n");
}

TEST_F(MovingTest, OfOneThatIsSilentAllThatWaitsIsMoved) {
  Attach(0);
  for (const char* name : {"A", "B", "C", "D"}) Come(name, 100);
  Pass(5, {});
  Attach(1);
  EXPECT_EQ(shell_.core().counters().jobs_retracted, 3u) << "more than makes both equal";
}

// The worker of A says that A has not begun after all.
TEST_F(MovingTest, WhatHasABackupIsNotMoved) {
  Attach(0);
  Come("A", 100);
  Attach(1);
  Pass(4, {0, 1});
  ASSERT_TRUE(shell_.Says("start A 1\n")) << "the backup";
  Attach(2);
  shell_.TakeLog();
  shell_.Send(WorkerPending{.worker = WorkerId(0), .attempts = {}, .is_held = true, .begun = {}});
  EXPECT_EQ(shell_.TakeLog(), "");
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
  costs.AddMeasurement(small, absl::Milliseconds(100));
  EXPECT_EQ(costs.Guess(small), absl::Milliseconds(100));
  EXPECT_EQ(costs.Guess(large), absl::Milliseconds(800));
  EXPECT_EQ(costs.Guess(other), absl::Microseconds(8192));
}

}  // namespace
}  // namespace galley::director
