// How many workers are asked for on other machines, and when they go.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr WorkerId kFirst(kLaunchedWorkers), kSecond(kLaunchedWorkers + 1);

CookOptions OnAFarm(FleetOptions fleet) {
  CookOptions options;
  options.workers = 0;
  options.fleet = fleet;
  return options;
}

WorkerAttached Attached(WorkerId worker, uint32_t slots = 1, std::vector<std::string> lacks = {}) {
  return {.worker = worker, .slots = slots, .in_hand = {}, .session = 1, .lacks = std::move(lacks)};
}

// `count` packages that take a second each.
std::string Seconds(int count) {
  std::string project;
  for (int i = 0; i < count; ++i) project += "P" + std::to_string(i) + " ~ 990000\n";
  return project;
}

std::vector<std::string> Names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("P" + std::to_string(i));
  return names;
}

class FleetTest : public testing::Test {
 protected:
  // The workers that were asked for so far.
  static size_t Asked(const CoreHarness& shell) { return shell.spawned.size(); }
};

TEST_F(FleetTest, AsManyComeAsTheWorkIsWorth) {
  CoreHarness shell(Seconds(100), OnAFarm({.max = 64, .start = absl::Seconds(1)}));
  shell.hold_workers = true;
  shell.Request(Names(100));
  EXPECT_EQ(Asked(shell), 10u) << "each has ten times its start to do";
  EXPECT_EQ(shell.spawned.front(), kFirst);
}

TEST_F(FleetTest, WhatDevicesAskForIsWorkLikeThatOfACook) {
  CoreHarness shell(Seconds(100), OnAFarm({.max = 64, .start = absl::Seconds(1)}));
  shell.hold_workers = true;
  for (int i = 0; i < 100; ++i) shell.Ask(static_cast<uint64_t>(i) + 1, "P" + std::to_string(i));
  EXPECT_EQ(Asked(shell), 10u) << "each has ten times its start to do";
}

// Nobody knows yet whether B must be cooked.
TEST_F(FleetTest, AnIdleOneStaysWhileADeviceWaits) {
  CoreHarness shell("A ~ 1000\nB ~ 1000\n", OnAFarm({.max = 2, .idle_max = absl::Seconds(5)}));
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(Attached(kFirst));
  shell.Send(Attached(kSecond));
  shell.Saved("A");
  shell.hold_look_ups = true;
  shell.Ask(1, "B");
  shell.Pass(absl::Seconds(10));
  EXPECT_EQ(CountOf("drain", shell.TakeLog()), 1u) << "one is enough";
  shell.Send(AskWithdrawn{1});
  shell.Pass(absl::Seconds(2));
  EXPECT_EQ(CountOf("drain", shell.TakeLog()), 1u) << "nobody waits any more";
}

TEST_F(FleetTest, NeverMoreThanTheMostNorThanThereAreJobs) {
  CoreHarness most(Seconds(100), OnAFarm({.max = 3, .start = absl::Seconds(1)}));
  most.hold_workers = true;
  most.Request(Names(100));
  EXPECT_EQ(Asked(most), 3u);
  CoreHarness jobs("A ~ 100000000\nB ~ 100000000\n", OnAFarm({.max = 64, .slots = 2}));
  jobs.hold_workers = true;
  jobs.Request({"A", "B"});
  EXPECT_EQ(Asked(jobs), 1u) << "it takes both";
}

TEST_F(FleetTest, LittleWorkIsDoneByOneAndTheLeastIsKept) {
  CoreHarness one(Seconds(3), OnAFarm({.max = 64}));
  one.hold_workers = true;
  one.Request(Names(3));
  EXPECT_EQ(Asked(one), 1u);
  CoreHarness least(Seconds(3), OnAFarm({.max = 64, .min = 2}));
  least.hold_workers = true;
  least.Request(Names(3));
  EXPECT_EQ(Asked(least), 2u);
}

TEST_F(FleetTest, OneThatHasNothingToDoEndsAfterAWhile) {
  CoreHarness shell("A ~ 1000000000\n",
                    OnAFarm({.max = 2, .min = 1, .idle_max = absl::Seconds(20)}));
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(Attached(kFirst));
  shell.Send(Attached(kSecond));
  shell.Pass(absl::Seconds(15));
  EXPECT_FALSE(shell.Says("drain")) << shell.TakeLog();
  shell.Pass(absl::Seconds(10));
  EXPECT_TRUE(shell.Says("drain")) << "A is with the other one";
  EXPECT_EQ(CountOf("drain", shell.TakeLog()), 1u);
  shell.Saved("A");
  shell.Pass(absl::Seconds(25));
  EXPECT_TRUE(shell.Says("drain 1073741824")) << shell.TakeLog();
}

// Big waits until it can be alone, and no worker can get it meanwhile.
TEST_F(FleetTest, OneForWhichSomethingWaitsIsNotSentAwayAndAskedForAgain) {
  CoreHarness shell("A ~ 1000000000\nBig ~ 1000000000\n",
                    OnAFarm({.max = 2, .idle_max = absl::Seconds(5)}));
  shell.hold_workers = true;
  shell.Request({"A", "Big"});
  shell.Send(Attached(kFirst));
  shell.Send(Attached(kSecond));
  for (int i = 0; i < 2; ++i) {
    shell.Report(
        shell.JobOf("Big"),
        WorkerReport::Failed{.fault = WorkerReport::Fault::kMemory, .error = "big", .outgrown = 0});
  }
  shell.TakeLog();
  for (int i = 0; i < 6; ++i) shell.Pass(absl::Seconds(6));
  const std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("start Big", log), 0u) << log;
  EXPECT_EQ(CountOf("drain", log), 0u) << log;
  EXPECT_EQ(CountOf("spawn", log), 0u) << log;
}

TEST_F(FleetTest, OneThatDrainsAndIsNeverHeardOfAgainHoldsNobodyUp) {
  CoreHarness shell("A ~ 1000000000\nB ~ 1000\n",
                    OnAFarm({.max = 1, .idle_max = absl::Seconds(5)}));
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(Attached(kFirst));
  shell.Saved("A");
  shell.Pass(absl::Seconds(10));
  ASSERT_TRUE(shell.Says("drain 1073741824\n")) << shell.TakeLog();
  shell.Request({"B"}, {.request = 2});
  EXPECT_EQ(Asked(shell), 2u) << "it takes no job";
  shell.Pass(absl::Seconds(70));
  EXPECT_TRUE(shell.Says("stop 1073741824\n")) << shell.TakeLog();
}

TEST_F(FleetTest, OneThatWaitsInAQueueIsNotGivenUp) {
  CoreHarness shell(Seconds(1), OnAFarm({.max = 2}));
  shell.hold_workers = true;
  shell.Request({"P0"});
  shell.Send(LauncherReported{.worker = kFirst, .state = LauncherReported::State::kQueued});
  shell.Pass(absl::Hours(1));
  EXPECT_EQ(Asked(shell), 1u);
  EXPECT_FALSE(shell.Says("ended")) << shell.TakeLog();
  shell.Send(LauncherReported{.worker = kFirst, .state = LauncherReported::State::kStarting});
  shell.Pass(absl::Seconds(180));
  EXPECT_TRUE(shell.Says("stop")) << "it runs, and does not come";
  EXPECT_EQ(Asked(shell), 2u);
}

TEST_F(FleetTest, OneBadSubmissionIsOneFailureAndFiveInARowEndTheCook) {
  CoreHarness shell(Seconds(100), OnAFarm({.max = 8, .min = 8}));
  shell.hold_workers = true;
  shell.Request(Names(100));
  for (int round = 1; round <= 5; ++round) {
    ASSERT_FALSE(shell.Says("ended")) << "round " << round;
    const std::deque<WorkerId> asked = std::exchange(shell.spawned, {});
    ASSERT_EQ(asked.size(), 8u) << "round " << round;
    shell.Pass(absl::Minutes(1));  // the pause before the next ones
    for (const WorkerId worker : asked)
      shell.Send(LauncherReported{.worker = worker, .error = "the queue is closed"});
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_TRUE(
      shell.Says("ended: no worker would start: 5 failures in a row, the last: the queue is "
                 "closed"))
      << shell.TakeLog();
}

TEST_F(FleetTest, WhileOneWaitsInAQueueFailuresOfOthersEndNothing) {
  CoreHarness shell(Seconds(100), OnAFarm({.max = 2, .min = 2}));
  shell.hold_workers = true;
  shell.Request(Names(100));
  shell.Send(LauncherReported{.worker = kFirst, .state = LauncherReported::State::kQueued});
  for (int round = 0; round < 10; ++round) {
    shell.Pass(absl::Minutes(1));
    shell.Send(LauncherReported{.worker = shell.spawned.back(), .error = "its node is broken"});
  }
  EXPECT_FALSE(shell.Says("ended")) << shell.TakeLog();
}

TEST_F(FleetTest, WhatOnlyHelpersCanCookBringsNobodyUpElsewhere) {
  std::string project = "A % sound\n";
  std::vector<SelectedPackage> tools;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "T" + std::to_string(i);
    project += name + " % tool ~ 5000000\n";
    tools.push_back({name, InstigatorCategory::kCommandLinePackage});
  }
  CoreHarness shell(project, OnAFarm({.max = 8, .helpers_max = 3}));
  shell.hold_workers = true;
  shell.Request({"A"});
  ASSERT_THAT(shell.spawned, testing::ElementsAre(kFirst));
  shell.Send(Attached(kFirst, 1, {"tool"}));
  shell.Send(PackagesDiscovered{tools});
  EXPECT_THAT(shell.spawned, testing::ElementsAre(kFirst, WorkerId(0), WorkerId(1), WorkerId(2)));
  for (const uint32_t i : {0u, 1u, 2u}) shell.Send(Attached(WorkerId(i)));
  for (int second = 0; second < 50; ++second) {
    shell.Pass(absl::Seconds(1));
    for (const WorkerId id : {kFirst, WorkerId(0), WorkerId(1), WorkerId(2)})
      shell.Send(WorkerAlive{id});
  }
  EXPECT_EQ(Asked(shell), 4u) << "neither more of them, nor any elsewhere: " << shell.TakeLog();
}

TEST_F(FleetTest, WhatTheFarmRefusesGoesToAHelperAndBringsNobodyUpElsewhere) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("T" + std::to_string(i));
    project += names.back() + " % tool bake ~ 5000000\n";
  }
  CoreHarness shell(project, OnAFarm({.max = 1, .helpers_max = 2}));
  shell.hold_workers = true;
  shell.Request(names);
  shell.Send(Attached(kFirst));
  const auto given = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return shell.HasOpenJob(name); });
  ASSERT_NE(given, names.end());
  shell.TakeJobs();
  shell.Failed(*given, WorkerReport::Fault::kOtherTool, "tool(/bin/sh): wanted 1, found 2");
  shell.Pass(absl::Seconds(1));
  EXPECT_THAT(shell.spawned, testing::ElementsAre(kFirst, WorkerId(0), WorkerId(1)));
  shell.Send(Attached(WorkerId(0)));
  shell.Send(Attached(WorkerId(1)));
  shell.Pass(absl::Seconds(1));
  for (const HarnessJob& job : shell.TakeJobs()) EXPECT_NE(job.worker, kFirst);
  shell.Finish();
  EXPECT_EQ(CountOf("done T", shell.TakeLog()), 40u);
}

TEST_F(FleetTest, ASecondWaveOfWhatTheFarmRefusesHasAllHelpersToo) {
  std::string project = "A % tool bake ~ 1000\nB % sound\n";
  std::vector<SelectedPackage> wave;
  for (int i = 0; i < 40; ++i) {
    wave.push_back({"T" + std::to_string(i), InstigatorCategory::kCommandLinePackage});
    project += wave.back().name + " % tool bake ~ 5000000\n";
  }
  CoreHarness shell(project, OnAFarm({.max = 1, .helpers_max = 4}));
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(Attached(kFirst));
  shell.Failed("A", WorkerReport::Fault::kOtherTool, "tool(/bin/sh): wanted 1, found 2");
  ASSERT_THAT(shell.spawned, testing::ElementsAre(kFirst, WorkerId(0)));
  shell.Send(Attached(WorkerId(0)));
  shell.Send(PackagesDiscovered{wave});
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(Asked(shell), 5u) << "that one helper has it is no reason to wait for it: "
                              << shell.TakeLog();
}

TEST_F(FleetTest, WhileAMachineOfTheFarmCanDoItNoHelperComes) {
  CoreHarness shell("A % tool bake ~ 1000\nB % tool bake ~ 1000\n",
                    OnAFarm({.max = 2, .min = 2, .helpers_max = 2}));
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  shell.Send(Attached(kFirst));
  shell.Send(Attached(kSecond));
  const WorkerId refuses = shell.JobOf("A").worker;
  shell.Failed("A", WorkerReport::Fault::kOtherTool, "tool(/bin/sh): wanted 1, found 2");
  shell.Pass(absl::Seconds(1));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_NE(shell.JobOf("A").worker, refuses);
  EXPECT_EQ(Asked(shell), 2u) << shell.TakeLog();
}

TEST_F(FleetTest, WhatTheFarmCannotCookGoesToAHelperOfThisMachine) {
  CoreHarness shell("A % tool\nB % sound\n", OnAFarm({.max = 1, .helpers_max = 2}));
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  shell.Send(Attached(kFirst, 2, {"tool"}));
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Pass(absl::Seconds(1));
  ASSERT_EQ(Asked(shell), 2u) << "the one of the farm, and the helper";
  EXPECT_EQ(shell.spawned.back(), WorkerId(0));
  shell.Send(Attached(WorkerId(0)));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, WorkerId(0));
  shell.Pass(absl::Seconds(40));
  EXPECT_FALSE(shell.Says("no worker can cook it")) << shell.TakeLog();
}

}  // namespace
}  // namespace galley::director
