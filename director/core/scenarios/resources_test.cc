// Grants of resource classes: the director's, never a wait in a worker.
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Fault = WorkerReport::Fault;

TEST(ResourcesTest, WhatWaitsForAGrantIsInNoWorkersHandsAndOthersGoAhead) {
  CoreHarness shell("A @gpu\nB @gpu\nC\nD\n", {.resources = {{"gpu", 1}}});
  shell.slots = 8;
  shell.Request({"A", "B", "C", "D"});
  EXPECT_EQ(shell.HasOpenJob("A") + shell.HasOpenJob("B"), 1);
  EXPECT_TRUE(shell.HasOpenJob("C") && shell.HasOpenJob("D"));
  const std::string waits = shell.HasOpenJob("A") ? "B" : "A";
  const std::string holds = shell.HasOpenJob("A") ? "A" : "B";
  EXPECT_EQ(shell.StateOf(waits), "SaveStalled");
  EXPECT_EQ(shell.TellState(waits), "SaveStalled, waits for resources gpu=1, which others hold");
  shell.Saved(holds);
  EXPECT_TRUE(shell.HasOpenJob(waits)) << "with the end of the one comes the grant of the other";
}

TEST(ResourcesTest, TheMostUrgentIsGrantedFirst) {
  CoreHarness shell("A @gpu\nB @gpu\nC -> B\nD @gpu\n", {.resources = {{"gpu", 1}}});
  shell.Request({"A", "C"});
  shell.Saved("C");  // B joins with normal urgency, behind A
  ASSERT_EQ(shell.StateOf("B"), "SaveStalled");
  shell.Send(PackagesDiscovered{{{"D", InstigatorCategory::kCookOnTheFly}}});
  ASSERT_EQ(shell.StateOf("D"), "SaveStalled");
  shell.Saved("A");
  EXPECT_TRUE(shell.HasOpenJob("D"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
}

TEST(ResourcesTest, WhatNeedsNoGrantAndIsMoreUrgentGoesFirst) {
  CookOptions options;
  options.workers = 1;
  options.window_jobs_max = 2;
  options.resources = {{"gpu", 1}};
  CoreHarness shell("A @gpu\nB @gpu\nC -> B\nD\nE\n", options);
  shell.Request({"A", "C"});
  shell.Saved("C");  // B joins with normal urgency
  ASSERT_EQ(shell.StateOf("B"), "SaveStalled");
  for (const char* name : {"D", "E"})
    shell.Send(PackagesDiscovered{{{name, InstigatorCategory::kCommandLinePackage}}});
  ASSERT_TRUE(shell.HasOpenJob("D"));
  ASSERT_FALSE(shell.HasOpenJob("E")) << "two are in hand";
  shell.Saved("A");
  EXPECT_TRUE(shell.HasOpenJob("E"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
}

TEST(ResourcesTest, EveryEndOfAnAttemptGivesItsGrantBack) {
  for (const Fault fault :
       {Fault::kCrashed, Fault::kTimeout, Fault::kRefused, Fault::kInfrastructure}) {
    SCOPED_TRACE(static_cast<int>(fault));
    CoreHarness shell("A @gpu\nB @gpu\n", {.own_fault_attempts_max = 1, .resources = {{"gpu", 1}}});
    shell.Request({"A", "B"});
    const std::string holds = shell.HasOpenJob("A") ? "A" : "B";
    shell.Failed(holds, fault);
    EXPECT_TRUE(shell.HasOpenJob(holds == "A" ? "B" : "A"));
  }
}

TEST(ResourcesTest, ARetractedOrCancelledHolderGivesItBackAtOnce) {
  CoreHarness shell("A @gpu\nB @gpu\n", {.resources = {{"gpu", 1}}});
  shell.Request({"A", "B"});
  const std::string holds = shell.HasOpenJob("A") ? "A" : "B";
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{shell.project(), {holds}, {}});
  EXPECT_TRUE(shell.HasOpenJob(holds == "A" ? "B" : "A"));
}

TEST(ResourcesTest, AClassOfWhichThereIsNoneFailsWhoAsksForIt) {
  CoreHarness shell("A @gpu\n", {.resources = {{"gpu", 0}}});
  shell.Request({"A"});
  EXPECT_TRUE(shell.Says(
      "failed A: its rule asks for 1 of the resource 'gpu', and [resources] has 0 of it"));
}

}  // namespace
}  // namespace galley::director
