// Equal work is cooked once at a time: one package leads, the others follow.
#include "director/core/packages/equal_work.h"

#include <deque>
#include <string>
#include <utility>

#include "director/core/packages/blame.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Fault = WorkerReport::Fault;

TEST(EqualWorkTest, OneIsCookedAndTheOthersFindItsResult) {
  CoreHarness shell("A = w\nB = w\nC = w\nOther = v\n");
  shell.Request({"A", "B", "C", "Other"});
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_TRUE(shell.HasOpenJob("Other"));
  EXPECT_FALSE(shell.HasOpenJob("B") || shell.HasOpenJob("C"));
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("done B\n") && shell.Says("done C\n"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
  EXPECT_EQ(shell.core().counters().results_cached, 2u);
}

TEST(EqualWorkTest, ThoseThatLieElsewhereAreCookedSideBySide) {
  CoreHarness shell("A = stub x\nB = stub y\nC = stub y\nD = stub z\nE = stub x\n");
  shell.Request({"A", "B", "C", "D", "E"});
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("done E\n"));
  EXPECT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C") && shell.HasOpenJob("D"));
  shell.Finish();
  EXPECT_EQ(shell.core().counters().results_cooked, 4u);
}

TEST(EqualWorkTest, WhoComesLaterFollowsWhatRunsAlready) {
  CoreHarness shell("A = w\nB = w\n");
  shell.Request({"A"});
  shell.Send(PackagesDiscovered{{{"B"}}});
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("done B\n"));
}

TEST(EqualWorkTest, ResultsAreFoundOnlyWhenTheyAreDurable) {
  CoreHarness shell("A = w\nB = w\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  shell.Saved("A");
  EXPECT_FALSE(shell.Says("done B\n") || shell.HasOpenJob("B"));
  shell.hold_commits = false;
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}});
  EXPECT_TRUE(shell.Says("done A\n"));
  EXPECT_TRUE(shell.HasOpenJob("B")) << "looked up, and (this shell's cache being as it is) missed";
}

// The look-up looked before A's result was there.
TEST(EqualWorkTest, AnAnswerThatIsOlderThanTheResultIsAskedForOnceMore) {
  CoreHarness shell("A = w\nB = w\nC = w elsewhere\n");
  shell.Request({"A"});
  shell.hold_look_ups = true;
  shell.Send(PackagesDiscovered{{{"B"}, {"C"}}});
  const std::deque<LookUp::Item> early = std::exchange(shell.look_ups, {});
  ASSERT_EQ(early.size(), 2u);
  shell.hold_look_ups = false;
  shell.Saved("A");
  for (const LookUp::Item& item : early)
    shell.Send(LookedUp{
        {{item.package, 0, item.generation, LookedUp::Miss{.work = CoreHarness::WorkOf("w", 0)}}}});
  EXPECT_TRUE(shell.Says("done B\n"));
  EXPECT_TRUE(shell.HasOpenJob("C"));
}

TEST(EqualWorkTest, AVerdictIsTheOthersWhereItHolds) {
  CoreHarness shell("A = w\nA ! bad\nB = w\nB ! bad\nC = w elsewhere\n");
  shell.Request({"A", "B", "C"});
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("failed A: bad\n") && shell.Says("failed B: bad\n"));
  EXPECT_TRUE(shell.HasOpenJob("C"));
}

// In series, many copies of a file that hangs would take the sum of all their limits.
TEST(EqualWorkTest, CrashesAndLimitsAreNotShared) {
  for (const Fault fault : {Fault::kCrashed, Fault::kTimeout}) {
    CoreHarness shell("A = w\nB = w\nC = w\n");
    shell.Request({"A", "B", "C"});
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(shell.HasOpenJob("A"));
      EXPECT_FALSE(shell.HasOpenJob("B") || shell.HasOpenJob("C")) << "A leads";
      shell.Failed("A", fault);
    }
    EXPECT_TRUE(shell.Says("failed A: "));
    ASSERT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C")) << "side by side";
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(shell.HasOpenJob("C"));
      shell.Failed("C", fault);
    }
    EXPECT_TRUE(shell.Says("failed C: "));
    EXPECT_TRUE(shell.HasOpenJob("B")) << "judged by itself";
    shell.Saved("B");
    EXPECT_TRUE(shell.Says("done B\n"));
    EXPECT_TRUE(shell.Says("ended\n"));
  }
}

// The last attempt at each package has the machine for itself (exclusive_run_test.cc).
TEST(EqualWorkTest, MemoryIsNotShared) {
  CoreHarness shell("A = w\nB = w\nC = w\n");
  shell.Request({"A", "B", "C"});
  for (int i = 0; i < 3; ++i) shell.Failed("A", Fault::kMemory);
  EXPECT_TRUE(shell.Says("failed A: outgrew its memory limit (3 attempts"));
  ASSERT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C")) << "side by side";
  shell.Failed("C", Fault::kMemory);
  shell.Failed("C", Fault::kMemory);
  EXPECT_FALSE(shell.HasOpenJob("C"));
  shell.Saved("B");
  ASSERT_TRUE(shell.HasOpenJob("C"));
  shell.Saved("C");
  EXPECT_TRUE(shell.Says("done B\n") && shell.Says("done C\n"));
}

// Followers do not keep the last attempt from being alone.
TEST(EqualWorkTest, ALimitThatIsKeptIsTheOthersWhereItHolds) {
  CoreHarness shell("A = w\nB = w\nC = w elsewhere\nD = w\n");
  shell.Request({"A", "B", "C", "D"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(shell.HasOpenJob("A"));
    EXPECT_FALSE(shell.HasOpenJob("B") || shell.HasOpenJob("C") || shell.HasOpenJob("D"));
    shell.Report(
        HarnessJob(shell.JobOf("A")),
        WorkerReport::Failed{
            .fault = Fault::kMemory, .error = "big", .executor_lost = true, .outgrown = 0});
  }
  EXPECT_TRUE(shell.Says("failed A: outgrew its memory limit in 3 attempts"));
  EXPECT_TRUE(shell.Says("failed B: kept: outgrew its memory limit"));
  EXPECT_TRUE(shell.Says("failed D: kept: outgrew its memory limit"));
  ASSERT_TRUE(shell.HasOpenJob("C")) << "it misses";
  EXPECT_FALSE(shell.Says("start B") || shell.Says("start D"));
  shell.Saved("C");
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(EqualWorkTest, RefusalsAreNotShared) {
  CoreHarness shell("A = w\nB = w\nC = w\n");
  shell.Request({"A", "B", "C"});
  shell.Failed("A", Fault::kRefused);
  EXPECT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C"));
}

TEST(EqualWorkTest, WhoBacksOffASecondTimeLetsAnotherLead) {
  CoreHarness shell("A = w\nB = w\nC = w\n");
  shell.Request({"A", "B", "C"});
  shell.Failed("A", Fault::kInfrastructure);
  EXPECT_FALSE(shell.HasOpenJob("B") || shell.HasOpenJob("C"));
  shell.Pass(BackOff(1));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.Failed("A", Fault::kInfrastructure);
  ASSERT_TRUE(shell.HasOpenJob("B"));
  EXPECT_FALSE(shell.HasOpenJob("A") || shell.HasOpenJob("C"));
  shell.Saved("B");
  EXPECT_TRUE(shell.Says("done C\n"));
  shell.Pass(BackOff(2));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(EqualWorkTest, ALostWorkerLosesNoFollower) {
  CoreHarness shell("A = w\nB = w\n", {.workers = 2});
  shell.Request({"A", "B"});
  shell.Send(WorkerLost{shell.JobOf("A").worker, "killed"});
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
}

TEST(EqualWorkTest, WhatIsStaleLeadsNoLonger) {
  CoreHarness shell("A = w\nB = w\n");
  shell.Request({"A", "B"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"content/A"});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  shell.ChangeProject("A = other\nB = w\n");
  shell.Send(FilesChanged{shell.project(), {"A"}, {"content/A"}});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
}

TEST(EqualWorkTest, WhatChangesLeavesTheWorkThatItWasEqualTo) {
  CoreHarness shell("A = w\nB = w\nC = w\n");
  shell.Request({"A", "B", "C"});
  shell.ChangeProject("A = w\nB = other\nC = w\n");
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  shell.ChangeProject("A = another\nB = other\nC = w\n");
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_TRUE(shell.HasOpenJob("A") && shell.HasOpenJob("C"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

// The followers want the same input; when the input is there, one follower leads anew.
TEST(EqualWorkTest, WhoWantsACookedInputHoldsUpNobody) {
  CoreHarness shell("A = w\nB = w\nC = w\nInput\n");
  shell.Request({"A", "B", "C"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Input", 0});
  ASSERT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C"));
  for (const char* name : {"B", "C"})
    shell.Report(HarnessJob(shell.JobOf(name)), WorkerReport::Needs{"Input", 0});
  shell.TakeLog();
  shell.Saved("Input");
  EXPECT_TRUE(shell.Says("start A")) << shell.TakeLog();
  EXPECT_FALSE(shell.Says("start B") || shell.Says("start C"));
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("done B\n") && shell.Says("done C\n"));
}

// A waits for B, which would follow C, which waits for D, which would follow A.
TEST(EqualWorkTest, NoCycleOfWaitsGoesThroughEqualWork) {
  CoreHarness shell("A = w a\nD = w d\nC = v c\nB = v b\n");
  shell.Request({"A", "C", "D", "B"});
  ASSERT_FALSE(shell.HasOpenJob("B") || shell.HasOpenJob("D"));
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_TRUE(shell.HasOpenJob("D"));
  shell.Report(HarnessJob(shell.JobOf("C")), WorkerReport::Needs{"D", 0});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 4u);
}

TEST(EqualWorkTest, AFollowerHoldsNoResourceAndSaysWhomItWaitsFor) {
  CoreHarness shell("A = w\nB = w\nB @gpu\nOther @gpu\n", {.resources = {{"gpu", 1}}});
  shell.Request({"A", "B", "Other"});
  EXPECT_TRUE(shell.HasOpenJob("Other"));
  EXPECT_EQ(shell.core().StateText(shell.Id("B")), "Request, waits for A, whose work is equal");
}

TEST(EqualWorkTest, WhatAFollowerWantsIsLentToWhoLeads) {
  CoreHarness shell("Long ~ 500000\nA = w\nA ~ 400000\nB = w\n", {.workers = 1});
  shell.slots = 1;
  shell.Request({"A", "B", "Long"});
  shell.TakeLog();
  shell.Send(PackagesDiscovered{{{"B", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_TRUE(shell.Says("retract A\nstart A 0\n")) << shell.TakeLog();
  EXPECT_EQ(shell.JobOf("A").start.urgency, Urgency::kBlocking);
}

TEST(EqualWorkTest, TheMostUrgentLeadsNext) {
  CoreHarness shell("A = w\nB = w\nNow = w\n");
  CookRequested request;
  request.selected.push_back({"A"});
  request.selected.push_back({"B"});
  shell.Request({}, request);
  shell.Send(PackagesDiscovered{{{"Now", InstigatorCategory::kCookOnTheFly}}});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"content/A"});
  EXPECT_TRUE(shell.HasOpenJob("Now"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
}

TEST(EqualWorkTest, EachPlatformIsWorkOfItsOwn) {
  CoreHarness shell("A = w\nB = w\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  EXPECT_EQ(shell.JobOf("A").start.platforms, 3u);
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Saved("A", 0);
  EXPECT_FALSE(shell.HasOpenJob("B")) << "the other platform is still cooked";
  shell.Report(HarnessJob(shell.JobOf("A")),
               WorkerReport::Failed{.fault = Fault::kRefused, .error = "why", .platforms = 2});
  ASSERT_TRUE(shell.HasOpenJob("B"));
  EXPECT_EQ(shell.JobOf("B").start.platforms, 2u);
  shell.Saved("B", 1);
  shell.Finish();
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
  EXPECT_EQ(shell.core().counters().results_cached, 1u);
  EXPECT_TRUE(shell.Says("failed A 1: why\n"));
}

TEST(EqualWorkTest, WhatIsForcedIsCookedForEach) {
  CoreHarness shell("A = w\nB = w\n");
  CookRequested request;
  request.force = true;
  shell.Request({"A", "B"}, request);
  EXPECT_TRUE(shell.HasOpenJob("A") && shell.HasOpenJob("B"));
}

TEST(EqualWorkTest, ACancelledCookEnds) {
  CoreHarness shell("A = w\nB = w\n");
  shell.Request({"A", "B"});
  shell.Send(CancelRequested{});
  EXPECT_TRUE(shell.Says("ended interrupted\n"));
  shell.Request({"A", "B"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
}

TEST(EqualWorkTest, PlatformsChangeUnderWhoFollows) {
  CoreHarness shell("A = w\nB = w\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  shell.Send(PlatformsChanged{.catalog = shell.project(), .mapping = {1, 0}, .platform_count = 2});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

// ------------------------------------------------------------------ EqualWork by itself

constexpr PackageId kA(0), kB(1), kC(2);
constexpr WorkId kWork = 7;

TEST(EqualWorkTest, EndsWithAResultWhenOneOfItsPlatformsHasOne) {
  EqualWork equal;
  equal.Lead(kA, kWork);
  equal.Lead(kA, kWork);
  equal.Follow({kB, 0, kWork});
  equal.EndLead(kA, kWork, EqualWork::End::kResult);
  EXPECT_FALSE(equal.has_freed());
  EXPECT_EQ(equal.LeaderOf(kWork), kA);
  equal.EndLead(kA, kWork, EqualWork::End::kNothing);
  ASSERT_TRUE(equal.has_freed());
  const EqualWork::Freed freed = equal.TakeFreed();
  EXPECT_EQ(freed.follower.package, kB);
  EXPECT_EQ(freed.why, EqualWork::End::kResult);
  EXPECT_FALSE(equal.has_freed());
  EXPECT_FALSE(equal.LeaderOf(kWork).valid());
  EXPECT_EQ(equal.leading(), 0u);
}

TEST(EqualWorkTest, FreesThoseOfItsWorkInTheirOrder) {
  EqualWork equal;
  equal.Lead(kA, kWork);
  equal.Lead(kB, kWork + 1);
  equal.Follow({kC, 0, kWork});
  equal.Follow({kC, 1, kWork + 1});
  equal.Follow({kB, 0, kWork});
  equal.EndLead(kA, kWork, EqualWork::End::kNothing);
  EXPECT_EQ(equal.TakeFreed().follower.package, kC);
  EXPECT_EQ(equal.TakeFreed().follower.package, kB);
  EXPECT_FALSE(equal.has_freed());
  EXPECT_EQ(equal.LeaderOf(kWork + 1), kB);
}

}  // namespace
}  // namespace galley::director
