// How many workers are asked for on other machines, and when they go.
#include <string>
#include <vector>

#include "director/core/core_harness.h"
#include "director/core/workers.h"
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
