// Jobs that take more memory than there is room for now.
#include <string>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr WorkerId kFirstWorker(0);

// A worker with 100 bytes of memory. Miss tells the memory that a package took in the last cook.
class LargeJobsTest : public testing::Test {
 protected:
  explicit LargeJobsTest(CookOptions options = {.window_jobs_max = 2}, const std::string& more = "")
      : shell_(Project() + more, options) {
    shell_.hold_workers = shell_.hold_look_ups = true;
    std::vector<std::string> names = {"Large", "Other"};
    for (int i = 0; i < 60; ++i) names.push_back(Small(i));
    shell_.Request(names);
  }
  static std::string Small(int i) { return "S" + std::to_string(i); }
  static std::string Project() {
    std::string text = "Large\nOther\n";
    for (int i = 0; i < 60; ++i) text += Small(i) + "\n";
    return text;
  }
  // Jobs of 40 ms and more are long; the longest goes first.
  void Miss(const std::string& name, uint64_t memory_bytes,
            absl::Duration cost = absl::Milliseconds(1)) {
    for (const LookUp::Item& item : shell_.look_ups) {
      if (item.package == shell_.Id(name))
        shell_.Send(
            LookedUp{{{item.package, 0, item.generation,
                       LookedUp::Miss{.last_save = cost, .last_memory_bytes = memory_bytes}}}});
    }
  }
  void Attach(uint32_t slots) {
    shell_.Send(WorkerAttached{.worker = kFirstWorker, .slots = slots, .memory_bytes = 100});
  }
  // Saves one of the small jobs that are in hand.
  void SaveSmall() {
    for (int i = 59; i >= 0; --i) {
      if (!shell_.HasOpenJob(Small(i))) continue;
      shell_.Saved(Small(i));
      return;
    }
  }
  // Saves one of the small jobs that this worker has.
  void SaveSmallOf(WorkerId worker) {
    for (int i = 59; i >= 0; --i) {
      if (!shell_.HasOpenJob(Small(i)) || shell_.JobOf(Small(i)).worker != worker) continue;
      shell_.Saved(Small(i));
      return;
    }
  }
  // Large is overtaken until its worker is kept for it; then one small job is in hand.
  void KeepAWorker() {
    for (int i = 0; i < 60; ++i) Miss(Small(i), 30);
    Attach(2);
    Miss("Large", 80, absl::Seconds(1));
    int done = 0;
    do {
      shell_.Pass(absl::Seconds(1));
      shell_.TakeLog();
      SaveSmall();
    } while (++done < 40 && shell_.Says("start"));
    EXPECT_LT(done, 40) << "none is kept";
  }
  CoreHarness shell_;
};

TEST_F(LargeJobsTest, BesideAPendingJobASmallOneOvertakesOneThatIsTooLarge) {
  Miss("Other", 60);
  Attach(1);
  shell_.Send(WorkerPending{kFirstWorker, {shell_.JobOf("Other").start.attempt}});
  shell_.TakeLog();
  Miss("Large", 60, absl::Seconds(1));
  Miss("S0", 30);
  EXPECT_EQ(shell_.TakeLog(), "start S0 0\n");
  shell_.Saved("Other");
  EXPECT_EQ(shell_.TakeLog(), "start Large 0\ndone Other\n");
}

TEST_F(LargeJobsTest, SmallOnesDoNotOvertakeItForEver) {
  for (int i = 0; i < 60; ++i) Miss(Small(i), 30);
  Attach(2);
  Miss("Large", 80, absl::Seconds(1));
  // In each second the older of two small jobs ends, so that one small job is always there.
  int done = 0;
  for (; done < 40 && !shell_.HasOpenJob("Large"); ++done) {
    shell_.Pass(absl::Seconds(1));
    for (int i = 59; i >= 0; --i) {
      if (!shell_.HasOpenJob(Small(i))) continue;
      shell_.Saved(Small(i));
      break;
    }
  }
  EXPECT_TRUE(shell_.HasOpenJob("Large"));
  EXPECT_GE(done, 5) << "it was overtaken for a while";
  EXPECT_LE(done, 10);
  shell_.TakeLog();
  shell_.Saved("Large");
  EXPECT_TRUE(shell_.Says("start S")) << "the worker is everybody's again: " << shell_.TakeLog();
}

TEST_F(LargeJobsTest, WhatAWorkerIsKeptForGoesThereBeforeAllOthers) {
  KeepAWorker();
  Miss("Other", 30, absl::Seconds(10));  // the longest of all
  EXPECT_FALSE(shell_.HasOpenJob("Other"));
  SaveSmall();
  EXPECT_TRUE(shell_.HasOpenJob("Large"));
  EXPECT_FALSE(shell_.HasOpenJob("Other"));
}

TEST_F(LargeJobsTest, AJobGoesWhereItFitsThoughAnotherWorkerIsAsFree) {
  const WorkerId larger(kForeignWorkers);
  shell_.Send(WorkerAttached{.worker = kFirstWorker, .slots = 1, .memory_bytes = 50});
  shell_.Send(WorkerAttached{.worker = larger, .slots = 1, .memory_bytes = 100});
  Miss("Large", 80);
  EXPECT_EQ(shell_.JobOf("Large").worker, larger);
}

// A device waits for it.
TEST_F(LargeJobsTest, WhatIsBlockingWaitsForNoMemory) {
  Miss("Other", 60);
  Attach(2);
  ASSERT_TRUE(shell_.HasOpenJob("Other"));
  shell_.Send(PackagesDiscovered{{{"Large", InstigatorCategory::kCookOnTheFly}}});
  Miss("Large", 60);
  EXPECT_TRUE(shell_.HasOpenJob("Large"));
}

TEST_F(LargeJobsTest, ButItRatherGoesWhereItFits) {
  const WorkerId second(kForeignWorkers);
  Miss("Other", 60, absl::Seconds(1));
  Attach(2);
  shell_.Send(WorkerAttached{.worker = second, .slots = 1, .memory_bytes = 100});
  Miss("S0", 90, absl::Seconds(1));
  ASSERT_EQ(shell_.JobOf("Other").worker, kFirstWorker);
  ASSERT_EQ(shell_.JobOf("S0").worker, second);
  shell_.Send(PackagesDiscovered{{{"Large", InstigatorCategory::kCookOnTheFly}}});
  Miss("Large", 60);
  EXPECT_EQ(shell_.JobOf("Large").worker, second) << "though a slot is free beside Other";
}

TEST_F(LargeJobsTest, AWorkerIsToldWhatAJobMayTake) {
  Miss("Other", 60);
  Attach(1);
  EXPECT_EQ(shell_.JobOf("Other").start.memory_bytes, 60u);
}

// The pending job that Large would wait for may wait for hours.
TEST_F(LargeJobsTest, NoWorkerIsKeptWhosePendingJobLeavesNoRoom) {
  Miss("Other", 60);
  Attach(1);
  shell_.Send(WorkerPending{kFirstWorker, {shell_.JobOf("Other").start.attempt}});
  Miss("Large", 60, absl::Seconds(1));
  for (int i = 0; i < 20; ++i) {
    Miss(Small(i), 30);
    shell_.Pass(absl::Seconds(1));
    ASSERT_TRUE(shell_.HasOpenJob(Small(i)));
    shell_.Saved(Small(i));
  }
  EXPECT_FALSE(shell_.HasOpenJob("Large"));
}

TEST_F(LargeJobsTest, AWorkerThatIsKeptAndLostIsKeptNoLonger) {
  KeepAWorker();
  shell_.Send(WorkerLost{kFirstWorker, "killed", true});
  EXPECT_FALSE(shell_.HasOpenJob("Large"));
  shell_.Pass(absl::Seconds(1));
  const WorkerId second = shell_.spawned.back();
  shell_.Send(WorkerAttached{.worker = second, .slots = 2, .memory_bytes = 100});
  ASSERT_TRUE(shell_.HasOpenJob("Large")) << "the longest goes first";
  EXPECT_EQ(shell_.JobOf("Large").worker, second);
}

class DemandingLargeJobTest : public LargeJobsTest {
 protected:
  DemandingLargeJobTest() : LargeJobsTest({.window_jobs_max = 2}, Demands()) {}
  static std::string Demands() {
    std::string text = "Large @on win\n";
    for (int i = 0; i < 60; ++i) text += Small(i) + " % small\n";
    return text;
  }
};

// The second worker has always room, and can do none of these jobs: it lacks what each of them
// wants.
TEST_F(DemandingLargeJobTest, OnesThatDemandNothingDoNotOvertakeItForEver) {
  const WorkerId other(kForeignWorkers);
  shell_.Send(WorkerAttached{.worker = other, .slots = 1, .memory_bytes = 100, .lacks = {"small"}});
  shell_.Send(WorkerAttached{.worker = kFirstWorker,
                             .slots = 2,
                             .memory_bytes = 100,
                             .offer = {.labels = {"win"}, .resources = {}}});
  for (int i = 0; i < 60; ++i) Miss(Small(i), 30);
  Miss("Large", 80, absl::Seconds(1));
  int done = 0;
  for (; done < 40 && !shell_.HasOpenJob("Large"); ++done) {
    shell_.Pass(absl::Seconds(1));
    for (const WorkerId worker : {kFirstWorker, other}) shell_.Send(WorkerAlive{worker});
    SaveSmall();
  }
  ASSERT_TRUE(shell_.HasOpenJob("Large"));
  EXPECT_EQ(shell_.JobOf("Large").worker, kFirstWorker);
  EXPECT_GE(done, 5) << "it was overtaken for a while";
  EXPECT_LE(done, 10);
  shell_.TakeLog();
  shell_.Saved("Large");
  EXPECT_TRUE(shell_.Says("start S")) << "the worker is everybody's again: " << shell_.TakeLog();
}

class TwoLargeJobsTest : public LargeJobsTest {
 protected:
  // The second worker never ends a job: otherwise its waiting jobs would go to others.
  TwoLargeJobsTest()
      : LargeJobsTest(
            {.workers = 2, .window_jobs_max = 3, .straggler_min = absl::InfiniteDuration()}) {}
};

TEST_F(TwoLargeJobsTest, NothingIsMovedToAWorkerThatIsKept) {
  const WorkerId second(1);
  for (int i = 0; i < 60; ++i) Miss(Small(i), 30, absl::Milliseconds(20));
  Attach(2);
  shell_.Send(WorkerAttached{.worker = second, .slots = 2, .memory_bytes = 100});
  Miss("Large", 80, absl::Seconds(1));
  int done = 0;
  do {
    shell_.Pass(absl::Seconds(1));
    for (const WorkerId worker : {kFirstWorker, second}) shell_.Send(WorkerAlive{worker});
    shell_.TakeLog();
    SaveSmallOf(kFirstWorker);
  } while (++done < 40 && shell_.Says("start"));
  ASSERT_LT(done, 40) << "none is kept";
  shell_.TakeLog();
  SaveSmallOf(kFirstWorker);
  const std::string log = shell_.TakeLog();
  EXPECT_EQ(log.find("retract"), std::string::npos) << log;
  ASSERT_FALSE(shell_.HasOpenJob("Large")) << "one small job is left there";
  SaveSmallOf(kFirstWorker);
  ASSERT_TRUE(shell_.HasOpenJob("Large"));
  EXPECT_EQ(shell_.JobOf("Large").worker, kFirstWorker);
}

TEST_F(LargeJobsTest, OfAHundredTooLargeTheFirstFewAreLookedAtInAStep) {
  Miss("Other", 60);
  Attach(1);
  shell_.Send(WorkerPending{kFirstWorker, {shell_.JobOf("Other").start.attempt}});
  for (int i = 0; i < 20; ++i) Miss(Small(i), 60, absl::Seconds(1));
  shell_.TakeLog();
  Miss("Large", 30);
  EXPECT_EQ(shell_.TakeLog(), "") << "behind twenty that are longer";
  shell_.Saved("Other");
  EXPECT_NE(shell_.TakeLog(), "done Other\n");
}

}  // namespace
}  // namespace galley::director
