// A package that outgrew a limit in all its attempts but the last has the machine for itself in the
// last attempt.
#include <gtest/gtest.h>

#include "director/core/scenarios/core_harness.h"

namespace galley::director {
namespace {

using Fault = WorkerReport::Fault;

class AloneTest : public testing::Test {
 protected:
  void Outgrow(const std::string& name, Fault fault = Fault::kMemory,
               std::optional<PlatformIndex> outgrown = 0) {
    shell_.Report(shell_.JobOf(name), WorkerReport::Failed{.fault = fault,
                                                           .error = "more than 5 bytes",
                                                           .executor_lost = true,
                                                           .outgrown = outgrown});
  }
  uint32_t HandOvers(const std::string& name) {
    shell_.Send(QueryAsked{.package = name});
    return shell_.replies.back().package->attempts;
  }

  CoreHarness shell_{"Big\nA\nB\nC << A\n", {.workers = 2}};
};

TEST_F(AloneTest, TheLastAttemptWaitsUntilAllElseIsDone) {
  shell_.Request({"Big", "A", "B", "C"});
  Outgrow("Big");
  Outgrow("Big");
  EXPECT_EQ(HandOvers("Big"), 2u);
  shell_.Saved("A");
  shell_.Saved("B");
  EXPECT_EQ(HandOvers("Big"), 2u) << "C has begun meanwhile";
  shell_.Saved("C");
  EXPECT_EQ(HandOvers("Big"), 3u);
}

TEST_F(AloneTest, NothingBeginsBesideIt) {
  shell_.Request({"Big"});
  Outgrow("Big");
  Outgrow("Big");
  ASSERT_EQ(HandOvers("Big"), 3u);
  shell_.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookMap}}});
  shell_.Pass(absl::Seconds(3));
  EXPECT_FALSE(shell_.HasOpenJob("A"));
  Outgrow("Big");
  EXPECT_TRUE(shell_.HasOpenJob("A"));
}

TEST_F(AloneTest, ItsFailureIsOneByALimit) {
  shell_.Request({"Big"});
  Outgrow("Big");
  Outgrow("Big", Fault::kTimeout);
  Outgrow("Big");
  EXPECT_TRUE(
      shell_.Says("failed Big: outgrew its memory limit in 3 attempts, the last one alone "
                  "on its machine: more than 5 bytes cause=limit\n"))
      << shell_.TakeLog();
}

TEST_F(AloneTest, OfWhatCrashedOnceItIsNot) {
  shell_.Request({"Big", "A"});
  Outgrow("Big", Fault::kCrashed, std::nullopt);
  Outgrow("Big");
  EXPECT_EQ(HandOvers("Big"), 3u) << "beside A";
  Outgrow("Big");
  EXPECT_FALSE(shell_.Says("cause=limit")) << shell_.TakeLog();
  EXPECT_TRUE(shell_.Says("failed Big: outgrew its memory limit (3 attempts"));
}

// The machine had no room, or it is not known what the attempt had looked at.
TEST_F(AloneTest, WithoutWhatItHadLookedAtItIsNot) {
  shell_.Request({"Big"});
  for (int i = 0; i < 3; ++i) Outgrow("Big", Fault::kTimeout, std::nullopt);
  EXPECT_FALSE(shell_.Says("cause=limit")) << shell_.TakeLog();
  EXPECT_TRUE(shell_.Says("failed Big: ran out of time (3 attempts"));
}

// A job that hangs would only keep the others waiting; its failure is not kept.
TEST_F(AloneTest, WhatOnlyWaitedUntilItsTimeWasUpIsNotAlone) {
  shell_.Request({"Big", "A"});
  Outgrow("Big", Fault::kTimeout, std::nullopt);
  Outgrow("Big", Fault::kTimeout, std::nullopt);
  EXPECT_EQ(HandOvers("Big"), 3u) << "beside A";
}

TEST_F(AloneTest, MemoryThatTheMachineDidNotHaveMayBeThereAlone) {
  shell_.Request({"Big", "A"});
  Outgrow("Big", Fault::kMemory, std::nullopt);
  Outgrow("Big", Fault::kMemory, std::nullopt);
  EXPECT_EQ(HandOvers("Big"), 2u);
  shell_.Saved("A");
  ASSERT_EQ(HandOvers("Big"), 3u);
  shell_.Saved("Big");
  EXPECT_TRUE(shell_.Says("done Big\n"));
}

TEST(AloneOfTwoPlatformsTest, OnlyTheOneThatWasAtWorkFailsByTheLimit) {
  CoreHarness shell("Big\n", {.platform_count = 2});
  shell.Request({"Big"});
  for (int i = 0; i < 3; ++i)
    shell.Report(shell.JobOf("Big"),
                 WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 1});
  EXPECT_TRUE(
      shell.Says("failed Big 1: outgrew its memory limit in 3 attempts, the last one alone "
                 "on its machine: big cause=limit\n"));
  EXPECT_TRUE(
      shell.Says("failed Big 0: outgrew its memory limit (3 attempts ended by crashes or "
                 "limits); quarantined for this cook: big\n"))
      << shell.TakeLog();
}

// The memory that the platform before it left counts as well.
TEST(AloneOfTwoPlatformsTest, NothingIsKeptOfAnAttemptThatHadSavedOneBefore) {
  CoreHarness shell("Big\n", {.platform_count = 2});
  shell.Request({"Big"});
  const auto outgrow = [&] {
    shell.Report(shell.JobOf("Big"),
                 WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 1});
  };
  outgrow();
  outgrow();
  shell.Saved("Big", 0);
  outgrow();
  EXPECT_TRUE(shell.Says("failed Big 1: outgrew its memory limit (3 attempts")) << shell.TakeLog();
  EXPECT_FALSE(shell.Says("cause=limit"));
}

TEST_F(AloneTest, ABlockingJobIsNotHeldUpAndEndsIt) {
  shell_.Request({"Big"});
  Outgrow("Big");
  Outgrow("Big");
  shell_.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  Outgrow("Big");
  EXPECT_TRUE(shell_.Says("failed Big: outgrew its memory limit (3 attempts")) << shell_.TakeLog();
}

TEST_F(AloneTest, AChangeOfItsFilesTakesItBackToTheOthers) {
  shell_.Request({"Big", "A"});
  Outgrow("Big");
  Outgrow("Big");
  ASSERT_EQ(HandOvers("Big"), 2u);
  shell_.Send(FilesChanged{.catalog = shell_.project(), .packages = {"Big"}, .paths = {}});
  EXPECT_EQ(HandOvers("Big"), 3u) << "beside A";
}

TEST_F(AloneTest, SeveralAreAloneOneAfterTheOther) {
  shell_.Request({"A", "B"});
  for (const char* name : {"A", "B"}) {
    Outgrow(name);
    Outgrow(name);
  }
  EXPECT_NE(HandOvers("A") == 3, HandOvers("B") == 3);
  const std::string first = HandOvers("A") == 3 ? "A" : "B";
  Outgrow(first);
  EXPECT_EQ(HandOvers(first == "A" ? "B" : "A"), 3u);
}

TEST_F(AloneTest, AnAttemptThatItsWorkerDiedUnderIsMadeAgainAlone) {
  shell_.Request({"Big"});
  Outgrow("Big");
  Outgrow("Big");
  shell_.Send(WorkerLost{.worker = shell_.JobOf("Big").worker, .reason = "signal 9"});
  shell_.Pass(absl::Seconds(1));
  ASSERT_EQ(HandOvers("Big"), 4u);
  Outgrow("Big");
  EXPECT_TRUE(shell_.Says("cause=limit")) << shell_.TakeLog();
}

// C could begin as soon as A is durable.
TEST_F(AloneTest, ItWaitsForWhatIsBeingCommitted) {
  shell_.Request({"Big", "A", "C"});
  Outgrow("Big");
  Outgrow("Big");
  shell_.hold_commits = true;
  shell_.Saved("A");
  EXPECT_EQ(HandOvers("Big"), 2u);
  shell_.hold_commits = false;
  const Persist::Item item = shell_.commits.front();
  shell_.Send(Persisted{{{item.package, item.platform, item.result}}});
  EXPECT_EQ(HandOvers("Big"), 2u) << "C comes first";
  shell_.Saved("C");
  EXPECT_EQ(HandOvers("Big"), 3u);
}

TEST_F(AloneTest, ItWaitsForWhatBacksOff) {
  shell_.Request({"Big", "A"});
  Outgrow("Big");
  Outgrow("Big");
  shell_.Failed("A", Fault::kInfrastructure);
  EXPECT_EQ(HandOvers("Big"), 2u);
  shell_.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  shell_.Saved("A");
  EXPECT_EQ(HandOvers("Big"), 3u);
}

TEST_F(AloneTest, WhatIsBlockingWaitsForNobody) {
  shell_.Request({"A"});
  shell_.Send(PackagesDiscovered{{{"Big", InstigatorCategory::kCookOnTheFly}}});
  Outgrow("Big");
  Outgrow("Big");
  EXPECT_EQ(HandOvers("Big"), 3u) << "beside A";
}

TEST_F(AloneTest, ItsUrgencyMayRiseWhileItWaits) {
  shell_.Request({"Big", "A"});
  Outgrow("Big");
  Outgrow("Big");
  ASSERT_EQ(HandOvers("Big"), 2u);
  shell_.Send(PackagesDiscovered{{{"Big", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(HandOvers("Big"), 3u) << "beside A";
}

TEST_F(AloneTest, WithFailFastItFailsAtOnce) {
  shell_.Request({"Big", "A"}, {.fail_fast = true});
  for (int i = 0; i < 3; ++i) Outgrow("Big");
  EXPECT_TRUE(shell_.Says("failed Big: outgrew its memory limit (3 attempts")) << shell_.TakeLog();
}

TEST(AloneInACookTest, SoMuchOfItIsSpentOnThat) {
  CoreHarness shell("A\nB\nC\n", {.workers = 2, .alone_max = absl::Seconds(5)});
  shell.Request({"A", "B", "C"});
  const auto outgrow = [&](const std::string& name) {
    shell.Report(shell.JobOf(name),
                 WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 0});
  };
  for (const char* name : {"A", "B", "C"}) {
    outgrow(name);
    outgrow(name);
  }
  const auto with_three = [&] {
    std::string names;
    for (const char* name : {"A", "B", "C"}) {
      shell.Send(QueryAsked{.package = name});
      if (shell.replies.back().package->attempts == 3) names += name;
    }
    return names;
  };
  const std::string first = with_three();
  ASSERT_EQ(first.size(), 1u) << first;
  shell.Pass(absl::Seconds(6));
  outgrow(first);
  EXPECT_TRUE(shell.Says("cause=limit"));
  EXPECT_EQ(with_three().size(), 2u) << "the others, side by side: " << with_three();
}

TEST(AloneInACookTest, TheNextCookHasAsMuchAlsoWhereSomebodyAsksMeanwhile) {
  CoreHarness shell("A\nB\nZ\n", {.workers = 2, .alone_max = absl::Seconds(5), .cooks_max = 4});
  shell.hold_roots = true;
  const auto outgrow = [&](const std::string& name) {
    shell.Report(HarnessJob(shell.JobOf(name)),
                 WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 0});
  };
  shell.Request({"A"}, {.request = 1});
  outgrow("A");
  outgrow("A");
  shell.Pass(absl::Seconds(6));
  outgrow("A");
  ASSERT_TRUE(shell.Says("cause=limit")) << shell.TakeLog();
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Ask(9, "Z");
  shell.Send(WholeRoot(shell.roots.front()));
  ASSERT_TRUE(shell.Says("ended [1]")) << shell.TakeLog();
  shell.Request({"B"}, {.request = 2});
  shell.Send(AskWithdrawn{9});
  shell.TakeLog();
  outgrow("B");
  outgrow("B");
  shell.Pass(absl::Seconds(1));
  outgrow("B");
  EXPECT_TRUE(shell.Says("cause=limit")) << shell.TakeLog();
}

TEST(AloneInACookTest, WhatCameUpSinceDoesNotWaitForLonger) {
  CoreHarness shell("Big\nA\n", {.workers = 2, .alone_max = absl::Seconds(5)});
  shell.Request({"Big"});
  const auto outgrow = [&] {
    shell.Report(shell.JobOf("Big"),
                 WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 0});
  };
  outgrow();
  outgrow();
  shell.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookMap}}});
  shell.Pass(absl::Seconds(4));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Pass(absl::Seconds(2));
  EXPECT_TRUE(shell.HasOpenJob("A"));
  outgrow();
  EXPECT_FALSE(shell.Says("cause=limit")) << "it was not alone";
}

class MovedJobTest : public testing::Test {
 protected:
  // The first worker gets every job; some jobs are moved to the second worker when it comes.
  explicit MovedJobTest(const std::string& project = "A\nB\nBig\n")
      : shell_(project, {.workers = 2}) {
    shell_.slots = 1;
    shell_.hold_workers = true;
  }
  void Attach(size_t worker) { shell_.Send(WorkerAttached{shell_.spawned[worker], 1, {}}); }
  void Outgrow(const HarnessJob& job) {
    shell_.Report(job,
                  WorkerReport::Failed{.fault = Fault::kMemory, .error = "big", .outgrown = 0});
  }

  CoreHarness shell_;
};

// Big had begun when it was moved, so that it ran twice; the attempt in hand is taken back.
TEST_F(MovedJobTest, AfterALateFaultTheLastAttemptIsAloneToo) {
  shell_.Request({"Big", "A", "B"});
  Attach(0);
  const HarnessJob moved = shell_.JobOf("Big");
  Attach(1);
  ASSERT_TRUE(shell_.Says("retract Big\n")) << shell_.TakeLog();
  Outgrow(shell_.JobOf("Big"));
  const AttemptId third = shell_.JobOf("Big").start.attempt;
  ASSERT_TRUE(shell_.HasOpenJob("Big")) << "beside the other job";
  shell_.TakeLog();
  Outgrow(moved);
  EXPECT_TRUE(shell_.Says("cancel Big\n")) << shell_.TakeLog();
  EXPECT_EQ(shell_.JobOf("Big").start.attempt, third) << "it waits";
  shell_.Saved("A");
  shell_.Saved("B");
  ASSERT_NE(shell_.JobOf("Big").start.attempt, third);
}

TEST_F(MovedJobTest, WhatALostWorkerHadDoesNotCount) {
  shell_.Request({"Big", "A", "B"});
  Attach(0);
  const WorkerId lost = shell_.JobOf("A").worker;
  Attach(1);
  ASSERT_TRUE(shell_.Says("retract ")) << shell_.TakeLog();
  shell_.Send(WorkerLost{.worker = lost, .reason = "signal 9", .is_infrastructure = true});
  shell_.Pass(absl::Seconds(1));
  shell_.Saved("A");
  shell_.Saved("B");
  for (int i = 0; i < 3; ++i) Outgrow(shell_.JobOf("Big"));
  EXPECT_TRUE(shell_.Says("cause=limit")) << shell_.TakeLog();
}

TEST_F(AloneTest, WhatIsKeptFailsWithoutAnAttempt) {
  shell_.hold_look_ups = true;
  shell_.Request({"Big"});
  const LookUp::Item asked = shell_.look_ups.front();
  shell_.Send(LookedUp{{{asked.package, 0, asked.generation,
                         LookedUp::Kept{.stage = Stage::kSave, .error = "too large", .log = ""}}}});
  EXPECT_TRUE(shell_.Says("failed Big: too large")) << shell_.TakeLog();
  EXPECT_FALSE(shell_.HasOpenJob("Big"));
}

}  // namespace
}  // namespace galley::director
