// The core forgets its packages when the director's memory is short.
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;

TEST(MemoryShortTest, BetweenTwoCooksAllPackagesAreForgotten) {
  CoreHarness shell("A -> B\nB\n");
  shell.Request({"A"});
  shell.Finish();
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 2u) << "a worker may still report";
  for (const HarnessJob& job : shell.TakeJobs()) shell.Report(job, WorkerReport::Ended{});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 0u);
  shell.TakeLog();
  shell.Request({"A"});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\n"));
}

TEST(MemoryShortTest, WhileACookRunsNothingIsForgotten) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 1u);
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A\n"));
}

TEST(MemoryShortTest, NothingIsForgottenWhileACommitNamesAPackage) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  shell.Saved("A");
  shell.Send(CancelRequested{});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 2u);
}

TEST(MemoryShortTest, AnAnswerToAQuestionOfBeforeIsVoid) {
  CoreHarness shell("A\nB\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  ASSERT_EQ(shell.look_ups.size(), 1u);
  const LookUp::Item asked = shell.look_ups.front();
  shell.Send(CancelRequested{});
  shell.Send(MemoryShort{});
  ASSERT_EQ(shell.core().package_count(), 0u);
  shell.Request({"B"});  // it has the id that A had
  LookedUp late;
  late.items.push_back({asked.package, 0, asked.generation, LookedUp::Error{"of A"}});
  shell.Send(late);
  EXPECT_FALSE(shell.Says("of A"));
}

CookOptions TwoPlatforms() { return {.platform_count = 2, .workers = 1, .cooks_max = 4}; }

void EndJobs(CoreHarness& shell, const std::vector<HarnessJob>& jobs) {
  for (const HarnessJob& job : jobs) shell.Report(job, WorkerReport::Ended{});
}

TEST(MemoryShortTest, WhileSomebodyAsksWhatNobodyNeedsIsForgotten) {
  CoreHarness shell("A -> B\nB\nC\n", TwoPlatforms());
  shell.Request({"A"}, {.request = 1, .platforms = 1});
  shell.Saved("A");
  shell.Saved("B");
  EndJobs(shell, shell.TakeJobs());
  shell.Ask(1, "C");
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 1u);
  EXPECT_FALSE(shell.Id("A").valid());
  EXPECT_LT(shell.Id("C").value(), shell.core().package_ids());
  shell.TakeLog();
  shell.Saved("C");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
  shell.Request({"A"}, {.request = 2, .platforms = 1});
  shell.Saved("A");
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A B\n"));
}

TEST(MemoryShortTest, WhatIsAskedForItsNeedsAndItsReadersStay) {
  CoreHarness shell("R\nOther\nIn\nX\n", TwoPlatforms());
  shell.Ask(1, "Other");
  shell.Report(HarnessJob(shell.JobOf("Other")), WorkerReport::Needs{"In", 0});
  shell.Saved("In");
  shell.Saved("Other");
  ASSERT_TRUE(shell.Says("ask 1: done"));
  shell.Ask(2, "X");
  shell.Send(AskWithdrawn{2});
  shell.Ask(3, "R");
  shell.Report(HarnessJob(shell.JobOf("R")), WorkerReport::Needs{"In", 0});
  ASSERT_TRUE(shell.HasOpenJob("In")) << "it was let go meanwhile";
  std::vector<HarnessJob> jobs = shell.TakeJobs();
  jobs.pop_back();  // the job of In
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 4u) << "the worker may still report on X";
  EndJobs(shell, jobs);
  shell.Pass(absl::Seconds(11));
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 3u);
  EXPECT_FALSE(shell.Id("X").valid());
  EXPECT_TRUE(shell.Id("Other").valid()) << "it reads In";
  shell.Saved("In");
  shell.Saved("R");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 3: done"));
}

TEST(MemoryShortTest, ACookFindsTheReferencesOfWhatStayed) {
  CoreHarness shell("A -> B\nB\n", TwoPlatforms());
  shell.Request({"A"}, {.request = 1, .platforms = 1});
  const HarnessJob first = shell.JobOf("A");
  shell.Saved("A");
  shell.Ask(1, "A", 1);
  const HarnessJob other = shell.JobOf("B");
  shell.Saved("B");
  EndJobs(shell, {first, other});
  ASSERT_TRUE(shell.Says("root of 1: A B"));
  shell.Send(MemoryShort{});
  ASSERT_FALSE(shell.Id("B").valid());
  ASSERT_TRUE(shell.Id("A").valid());
  shell.TakeLog();
  shell.Request({"A"}, {.request = 2, .platforms = 1});
  ASSERT_TRUE(shell.HasOpenJob("B"));
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A B\n"));
}

TEST(MemoryShortTest, ADeferredAskIsForItsPackageThoughAnotherOneHasTheIdByNow) {
  CoreHarness shell("P\nN\nQ\n", TwoPlatforms());
  shell.AskAhead(1, "P", 1);
  const HarnessJob first = shell.JobOf("P");
  shell.Report(first, WorkerReport::Needs{"N", 1});
  shell.Ask(2, "N", 0);  // defers the ask for P, which needs N on another platform
  shell.Saved("N");
  ASSERT_TRUE(shell.Says("ask 2: done"));
  EndJobs(shell, shell.TakeJobs());
  shell.Send(MemoryShort{});
  ASSERT_FALSE(shell.Id("P").valid());
  shell.Ask(3, "Q");
  ASSERT_EQ(shell.Id("Q"), first.start.package);
  shell.Saved("Q");
  ASSERT_TRUE(shell.Says("ask 3: done"));
  shell.TakeLog();
  shell.Pass(absl::Seconds(6));
  ASSERT_TRUE(shell.Says("start P")) << shell.TakeLog();
  EXPECT_EQ(shell.JobOf("P").start.platforms, 0b10u);
  shell.Saved("P", 1);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(MemoryShortTest, AnAnswerForAForgottenPackageIsNotForTheNextOneWithItsId) {
  CoreHarness shell("X\nY\nZ\n", TwoPlatforms());
  shell.hold_look_ups = true;
  shell.Ask(1, "X");
  ASSERT_EQ(shell.look_ups.size(), 1u);
  const LookUp::Item asked = shell.look_ups.front();
  shell.Ask(2, "Y");
  shell.Send(AskWithdrawn{1});
  shell.Send(MemoryShort{});
  ASSERT_FALSE(shell.Id("X").valid());
  shell.Ask(3, "Z");
  ASSERT_EQ(shell.Id("Z"), asked.package);
  LookedUp late;
  late.items.push_back({asked.package, 0, asked.generation, LookedUp::Error{"of X"}});
  shell.Send(late);
  EXPECT_FALSE(shell.Says("of X"));
  shell.look_ups.clear();
}

}  // namespace
}  // namespace galley::director
