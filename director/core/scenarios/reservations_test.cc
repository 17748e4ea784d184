// A job that wants several units of a resource has its turn, though others want fewer.
#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

WorkerAttached On(WorkerId worker, const std::string& machine, record::ResourceCounts resources) {
  return {.worker = worker,
          .slots = 8,
          .in_hand = {},
          .session = 1,
          .machine = machine,
          .offer = {.labels = {}, .resources = std::move(resources)}};
}

// A stream of jobs that want one, of which two are always in hand, each for a second; they come
// with this urgency. Returns how many were done before Large was handed over.
int Stream(CoreHarness& shell, InstigatorCategory why, int jobs_max,
           const std::vector<WorkerId>& workers) {
  int next = 0;
  std::vector<std::string> in_hand;
  const auto add = [&] {
    in_hand.push_back("S" + std::to_string(next++));
    shell.Send(PackagesDiscovered{{{in_hand.back(), why}}});
  };
  add();
  add();
  shell.Send(PackagesDiscovered{{{"Large", InstigatorCategory::kHardDependency}}});
  while (next < jobs_max) {
    if (shell.HasOpenJob("Large")) return next;
    shell.Pass(absl::Milliseconds(500));
    for (const WorkerId worker : workers) shell.Send(WorkerAlive{worker});
    add();  // before the other one ends
    const std::string first = in_hand.front();
    in_hand.erase(in_hand.begin());
    if (shell.HasOpenJob(first)) {
      shell.Saved(first);
    } else {
      in_hand.push_back(first);
    }
  }
  return next;
}

// Workers come by themselves.
CookOptions WithLicences(uint32_t count) {
  CookOptions options;
  options.workers = 0;
  options.resources = {{"licence", count}};
  return options;
}

std::string Project(const std::string& of) {
  std::string project = "Root\nLarge @on " + of + "=3\n";
  for (int i = 0; i < 200; ++i) project += "S" + std::to_string(i) + " @on " + of + "=1\n";
  return project;
}

TEST(ReservationsTest, OfTheFarmsResourcesItGetsItsShareInTime) {
  const CookOptions options = WithLicences(3);
  CoreHarness shell(Project("licence"), options);
  shell.Send(On(kFar, "m1", {}));
  shell.Request({"Root"});
  const int done = Stream(shell, InstigatorCategory::kHardDependency, 200, {kFar});
  EXPECT_LT(done, 40) << "it waited " << done << " jobs";
  EXPECT_GT(done, 5) << "others may go first for a while";
  shell.Finish();
}

TEST(ReservationsTest, OfAMachinesResourcesLikewise) {
  CookOptions options;
  options.workers = 0;
  CoreHarness shell(Project("gpu"), options);
  shell.Send(On(kFar, "m1", {{"gpu", 3}}));
  shell.Request({"Root"});
  EXPECT_LT(Stream(shell, InstigatorCategory::kHardDependency, 200, {kFar}), 40);
  shell.Finish();
}

TEST(ReservationsTest, WhereAnotherMachineHasTooLittleOfThemTheseGoOn) {
  CookOptions options;
  options.workers = 0;
  CoreHarness shell(Project("gpu"), options);
  shell.Send(On(kFar, "m1", {{"gpu", 3}}));
  shell.Send(On(kFarther, "m2", {{"gpu", 1}}));
  shell.Request({"Root"});
  EXPECT_LT(Stream(shell, InstigatorCategory::kHardDependency, 200, {kFar, kFarther}), 40);
  EXPECT_EQ(shell.JobOf("Large").worker, kFar);
  shell.Finish();
}

// In the line of those that want the same it comes before the one that has the reservation.
TEST(ReservationsTest, AnotherThatWantsTheSameDoesNotStopIt) {
  const CookOptions options = WithLicences(4);
  CoreHarness shell(
      "Root\nS0 @on licence=1\nS1 @on licence=1\nLarge @on licence=3\nEarly @on licence=3\n",
      options);
  shell.Send(On(kFar, "m1", {}));
  shell.Request({"Root"});
  constexpr auto kWhy = InstigatorCategory::kHardDependency;
  shell.Send(PackagesDiscovered{{{"S0", kWhy}, {"S1", kWhy}}});
  ASSERT_TRUE(shell.HasOpenJob("S0") && shell.HasOpenJob("S1"));
  shell.Send(PackagesDiscovered{{{"Large", kWhy}}});
  const auto pass = [&] {
    shell.Pass(absl::Milliseconds(500));
    shell.Send(WorkerAlive{kFar});
  };
  for (int i = 0; i < 20; ++i) pass();
  shell.Send(PackagesDiscovered{{{"Early", kWhy}}});
  for (int i = 0; i < 4; ++i) pass();
  shell.Saved("S0");
  shell.Saved("S1");
  for (int i = 0; i < 4; ++i) pass();
  EXPECT_TRUE(shell.HasOpenJob("Early") || shell.HasOpenJob("Large"));
  shell.Finish();
}

TEST(ReservationsTest, WhatIsMoreUrgentGoesFirstForLonger) {
  const CookOptions options = WithLicences(3);
  CoreHarness shell(Project("licence"), options);
  shell.Send(On(kFar, "m1", {}));
  shell.Request({"Root"});
  const int done = Stream(shell, InstigatorCategory::kCommandLinePackage, 200, {kFar});
  EXPECT_GT(done, 100);
  EXPECT_LT(done, 150);
  shell.Finish();
}

TEST(ReservationsTest, AReservationOfAJobThatIsGivenUpIsOver) {
  CookOptions options;
  options.workers = 0;
  CoreHarness shell("Large @on gpu=3\nA @on gpu=1\nB @on gpu=1\n", options);
  shell.Send(On(kFar, "m1", {{"gpu", 3}}));
  shell.Request({"A"});
  shell.Send(PackagesDiscovered{{{"Large", InstigatorCategory::kHardDependency}}});
  for (int i = 0; i < 10; ++i) {
    shell.Pass(absl::Seconds(1));
    shell.Send(WorkerAlive{kFar});
  }
  shell.Send(PackagesDiscovered{{{"B", InstigatorCategory::kHardDependency}}});
  EXPECT_FALSE(shell.HasOpenJob("B")) << "two are free, and reserved";
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{shell.project(), {"Large"}, {}});
  EXPECT_TRUE(shell.HasOpenJob("B"));
}

}  // namespace
}  // namespace galley::director
