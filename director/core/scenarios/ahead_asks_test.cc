// Asks ahead of need (cooks/asks.h): their jobs run in slots that nothing else wants.
#include <string>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Fault = WorkerReport::Fault;

CookOptions BesideCooks(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

// A worker with one slot.
CoreHarness OneSlot(const std::string& project, uint32_t platforms = 1) {
  CoreHarness shell(project, BesideCooks(platforms));
  shell.slots = 1;
  return shell;
}

uint32_t HandOvers(CoreHarness& shell, const std::string& name) {
  shell.Send(QueryAsked{.package = name});
  return shell.replies.back().package->attempts;
}

void Outgrow(CoreHarness& shell, const std::string& name) {
  shell.Report(HarnessJob(shell.JobOf(name)), WorkerReport::Failed{.fault = Fault::kMemory,
                                                                   .error = "more than 5 bytes",
                                                                   .executor_lost = true,
                                                                   .outgrown = 0});
  shell.Pass(absl::Seconds(30));
}

TEST(AheadAsksTest, OneIsCookedWhileNothingElseIsThere) {
  CoreHarness shell("A -> B\nB\n", BesideCooks());
  shell.AskAhead(1, "A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("start A 0"), Not(HasSubstr("start B"))));
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
  const CoreFigures figures = shell.core().figures();
  EXPECT_EQ(figures.ahead_begun, 1u);
  EXPECT_EQ(figures.ahead_killed, 0u);
}

TEST(AheadAsksTest, NoneWaitsAtAWorker) {
  CoreHarness shell = OneSlot("A\nB\n");
  shell.AskAhead(1, "A");
  shell.AskAhead(2, "B");
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Saved("A");
  EXPECT_TRUE(shell.HasOpenJob("B"));
}

TEST(AheadAsksTest, OneWaitsUntilNoOtherJobNeedsTheSlot) {
  CoreHarness shell = OneSlot("A\nB\nC\nZ\n");
  shell.Request({"A", "B", "C"}, {.request = 1});
  shell.AskAhead(7, "Z");
  EXPECT_FALSE(shell.HasOpenJob("Z"));
  shell.Work();
  EXPECT_FALSE(shell.HasOpenJob("Z")) << "more jobs of the cook may follow";
  shell.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell.HasOpenJob("Z")) << shell.TakeLog();
}

TEST(AheadAsksTest, WhoeverWaitsGetsTheSlotAtOnceAndNobodyIsBlamed) {
  CoreHarness shell = OneSlot("A\nZ\n");
  shell.AskAhead(1, "A");
  shell.TakeLog();
  shell.Ask(2, "Z");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start Z 0")));
  EXPECT_EQ(shell.core().figures().ahead_killed, 1u);
  shell.Saved("Z");
  shell.Pass(absl::Seconds(1));
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 2: done"), HasSubstr("start A"),
                                     Not(HasSubstr("blamed")), Not(HasSubstr("warned"))));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AheadAsksTest, OneMayBeEndedAnyNumberOfTimes) {
  CoreHarness shell = OneSlot("A\nZ\n");
  shell.AskAhead(1, "A");
  for (uint64_t ask = 2; ask < 200; ++ask) {
    ASSERT_TRUE(shell.HasOpenJob("A")) << shell.TakeLog();
    shell.Ask(ask, "Z");
    ASSERT_TRUE(shell.HasOpenJob("Z"));
    shell.Saved("Z");
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_EQ(HandOvers(shell, "A"), 1u) << "those that were taken back do not count";
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AheadAsksTest, OneSlotIsLeftAndThenAsManyAreEndedAsOthersNeed) {
  CoreHarness shell("A\nB\nC\nD\nY\nZ\n", BesideCooks());
  shell.AskAhead(1, "A");
  shell.AskAhead(2, "B");
  shell.AskAhead(3, "C");
  shell.AskAhead(4, "D");
  ASSERT_TRUE(shell.HasOpenJob("C"));
  EXPECT_FALSE(shell.HasOpenJob("D")) << "the last slot is for whoever waits";
  shell.TakeLog();
  shell.Ask(9, "Z");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("start Z"), Not(HasSubstr("cancel"))));
  shell.Ask(10, "Y");
  const std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("cancel", log), 1u);
  EXPECT_THAT(log, AllOf(HasSubstr("cancel C"), HasSubstr("start Y")));
}

TEST(AheadAsksTest, ASlotWithoutOneIsPreferred) {
  CookOptions options = BesideCooks();
  options.workers = 3;
  CoreHarness shell("A\nB\nC\n", options);
  shell.slots = 1;
  shell.AskAhead(1, "A");
  ASSERT_EQ(shell.JobOf("A").worker, WorkerId(0));
  shell.Ask(2, "B");
  shell.Request({"C"}, {.request = 1});
  EXPECT_FALSE(shell.Says("cancel")) << shell.TakeLog();
  EXPECT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C"));
}

TEST(AheadAsksTest, ACookOfTheLowestClassGetsTheSlotToo) {
  CoreHarness shell = OneSlot("A\nB\n");
  shell.AskAhead(7, "A");
  shell.TakeLog();
  shell.Request({"B"}, {.request = 1, .of_class = CookClass::kAhead});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start B 0")));
}

TEST(AheadAsksTest, WhatACookWantsBesidesGoesOn) {
  CoreHarness shell = OneSlot("A\nZ\n");
  shell.AskAhead(7, "A");
  shell.Request({"A"}, {.request = 1});
  shell.Ask(8, "Z");
  EXPECT_FALSE(shell.Says("cancel")) << shell.TakeLog();
  EXPECT_TRUE(shell.HasOpenJob("A"));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 7: done"), HasSubstr("root of 1: A")));
}

TEST(AheadAsksTest, ACookIsNotHeldUpByOne) {
  CoreHarness shell("A\nB\nC\n", BesideCooks());
  shell.AskAhead(7, "A");
  shell.Request({"B"}, {.request = 1});
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 1: B"), HasSubstr("ended [1]")));
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(AheadAsksTest, WhoeverAsksNowLiftsOneUntilTheyLeave) {
  CoreHarness shell = OneSlot("A\nZ\n");
  shell.AskAhead(1, "A");
  shell.Ask(2, "A");
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kBlocking);
  shell.Ask(3, "Z");
  EXPECT_FALSE(shell.Says("cancel")) << "somebody waits for A";
  shell.TakeLog();
  shell.Send(AskWithdrawn{2});
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel A")) << "Z waits behind it";
  shell.Saved("Z");
  shell.Pass(absl::Seconds(1));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 3: done"), HasSubstr("ask 1: done")));
}

// The job may have begun, and must not go on in a slot that counts as free.
TEST(AheadAsksTest, AJobThatWaitsIsCancelledWhenOnlyOneWantsIt) {
  CoreHarness shell = OneSlot("A\nB\n");
  shell.Ask(1, "B");
  shell.AskAhead(2, "A");
  shell.Ask(3, "A");
  ASSERT_TRUE(shell.HasOpenJob("A")) << "it waits behind B";
  shell.TakeLog();
  shell.Send(AskWithdrawn{3});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), Not(HasSubstr("retract"))));
  EXPECT_EQ(HandOvers(shell, "A"), 0u);
  shell.Saved("B");
  shell.Pass(absl::Seconds(1));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AheadAsksTest, TheLastAttemptOfOneIsAloneAndIsEndedForOthers) {
  CoreHarness shell("Big\nA\nZ\n", BesideCooks());
  shell.AskAhead(1, "Big");
  Outgrow(shell, "Big");
  Outgrow(shell, "Big");
  ASSERT_EQ(HandOvers(shell, "Big"), 3u);
  shell.AskAhead(2, "A");
  EXPECT_FALSE(shell.HasOpenJob("A")) << "nothing runs beside Big";
  shell.TakeLog();
  shell.Ask(3, "Z");
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("cancel Big"), HasSubstr("start Z"), Not(HasSubstr("blamed"))));
  shell.Saved("Z");
  shell.Pass(absl::Seconds(1));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(HandOvers(shell, "Big"), 2u) << "A runs";
  shell.Saved("A");
  shell.Pass(absl::Seconds(1));
  ASSERT_EQ(HandOvers(shell, "Big"), 3u);
  Outgrow(shell, "Big");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: "));
}

TEST(AheadAsksTest, TheSlotThatIsLeftIsOfAWorkerThatTakesJobs) {
  CookOptions options = BesideCooks();
  options.workers = 2;
  CoreHarness shell("L\nA\nB\n", options);
  shell.slots = 2;
  shell.Ask(1, "L");
  shell.hold_workers = true;
  shell.Send(DrainAsked{{shell.JobOf("L").worker}});
  shell.AskAhead(2, "A");
  shell.AskAhead(3, "B");
  shell.Pass(absl::Seconds(1));
  EXPECT_NE(shell.HasOpenJob("A"), shell.HasOpenJob("B")) << "the slots beside L take no jobs";
}

TEST(AheadAsksTest, WhatOneNeedsIsSpareAndLiftedWithIt) {
  CoreHarness shell("A\nB\n", BesideCooks());
  shell.AskAhead(1, "A");
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("B")), Urgency::kSpare);
  shell.Ask(2, "A");
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("B")), Urgency::kBlocking);
  shell.Send(AskWithdrawn{2});
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("B")), Urgency::kSpare);
  shell.Saved("B");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AheadAsksTest, OneThatIsWithdrawnTakesItsJobBack) {
  CoreHarness shell("A\n", BesideCooks());
  shell.AskAhead(1, "A");
  shell.TakeLog();
  shell.Send(AskWithdrawn{1});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel A"));
  EXPECT_EQ(shell.StateOf("A"), "Idle");
  EXPECT_EQ(shell.core().figures().ahead_killed, 0u);
}

// A package that is in hand for one platform is looked up for others only afterwards.
TEST(AheadAsksTest, WhoeverWaitsForAnotherPlatformDoesNotWaitForTheJob) {
  CoreHarness shell("A\n", BesideCooks(2));
  shell.AskAhead(1, "A", 1);
  ASSERT_EQ(shell.JobOf("A").start.platforms, 0b10u);
  shell.TakeLog();
  shell.Ask(2, "A", 0);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start A")));
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b01u);
  shell.Saved("A", 0);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
  shell.Pass(absl::Seconds(1));
  ASSERT_EQ(shell.JobOf("A").start.platforms, 0b10u);
  shell.Saved("A", 1);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AheadAsksTest, WhoeverWaitsForAnotherPlatformGetsWhatThePackageNeedsThere) {
  CoreHarness shell("A\nB\n", BesideCooks(2));
  shell.AskAhead(1, "A", 1);
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 1});
  ASSERT_EQ(shell.JobOf("B").start.platforms, 0b10u);
  shell.Ask(2, "A", 0);
  ASSERT_EQ(shell.JobOf("A").start.platforms, 0b01u);
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  for (int i = 0; i < 8 && !shell.Says("ask 2: "); ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AheadAsksTest, OneForAnotherPlatformThanACookWantsWaitsForTheCook) {
  CoreHarness shell("A\n", BesideCooks(2));
  shell.Request({"A"}, {.request = 1, .platforms = 0b01});
  shell.AskAhead(7, "A", 1);
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b01u);
  shell.Saved("A", 0);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A"));
  shell.Pass(absl::Seconds(2));
  ASSERT_EQ(shell.JobOf("A").start.platforms, 0b10u);
  shell.Saved("A", 1);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
}

// The input is looked up and loaded once for all its platforms.
TEST(AheadAsksTest, OneGivesUpAnInputThatACookWantsOnAnotherPlatform) {
  CoreHarness shell("A\nB\nLong\n", BesideCooks(2));
  shell.AskAhead(7, "A", 1);
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 1});
  ASSERT_EQ(shell.JobOf("B").start.platforms, 0b10u);
  shell.TakeLog();
  shell.Request({"B"}, {.request = 1, .platforms = 0b01});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel B"));
  EXPECT_EQ(shell.JobOf("B").start.platforms, 0b01u);
  shell.Saved("B", 0);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: B"));
  shell.Pass(absl::Seconds(10));
  for (int i = 0; i < 8 && !shell.Says("ask 7: done"); ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
}

TEST(AheadAsksTest, WhoeverNeedsAResourceGetsIt) {
  CookOptions options = BesideCooks();
  options.resources = {{"gpu", 1}};
  CoreHarness shell("A @gpu\nB @gpu\n", options);
  shell.AskAhead(1, "A");
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.TakeLog();
  shell.Ask(2, "B");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start B")));
  shell.Saved("B");
  shell.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(AheadAsksTest, OneIsNotEndedForAJobThatNoWorkerCanDo) {
  CookOptions options = BesideCooks();
  options.resources = {{"gpu", 1}};
  CoreHarness shell("A @gpu\nB @on win gpu=1\n", options);
  shell.AskAhead(1, "A");
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.Ask(2, "B");
  shell.Pass(absl::Seconds(3));
  EXPECT_FALSE(shell.Says("cancel")) << shell.TakeLog();
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("ask 1: done"));
}

TEST(AheadAsksTest, OneIsEndedForAResourceOnlyWhenThatIsEnough) {
  CookOptions options = BesideCooks();
  options.resources = {{"gpu", 2}};
  CoreHarness shell("A @gpu\nB @on gpu=2\nC @gpu\nD @gpu\n", options);
  shell.Ask(1, "C");
  shell.AskAhead(2, "A");
  shell.Pass(absl::Seconds(1));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.Ask(3, "B");
  shell.Pass(absl::Seconds(3));
  EXPECT_FALSE(shell.Says("cancel")) << "C holds what B wants: " << shell.TakeLog();
  shell.AskAhead(4, "D");
  shell.Saved("A");
  shell.Pass(absl::Seconds(1));
  EXPECT_FALSE(shell.HasOpenJob("D")) << "B waits for it";
  shell.Saved("C");
  EXPECT_TRUE(shell.HasOpenJob("B")) << shell.TakeLog();
}

TEST(AheadAsksTest, OneTakesAResourceThatNobodyHolds) {
  CookOptions options = BesideCooks();
  options.resources = {{"gpu", 1}};
  CoreHarness shell("A @gpu\nB @gpu\n", options);
  shell.Ask(1, "B");
  shell.AskAhead(2, "A");
  shell.Pass(absl::Seconds(1));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Saved("B");
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(AheadAsksTest, AFollowerOfItsEqualWorkLiftsOne) {
  CoreHarness shell = OneSlot("A = w\nB = w\nZ\n");
  shell.AskAhead(7, "A");
  shell.Request({"B"}, {.request = 1});
  EXPECT_GT(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
  shell.Ask(8, "Z");
  EXPECT_FALSE(shell.Says("cancel")) << "a cook waits for the job of A";
}

TEST(AheadAsksTest, AFollowerThatLeavesLiftsOneNoLonger) {
  CoreHarness shell = OneSlot("A = w\nB = w\nZ\n");
  shell.AskAhead(1, "A");
  shell.Ask(2, "B");
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kBlocking);
  shell.Send(AskWithdrawn{2});
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
  shell.TakeLog();
  shell.Ask(3, "Z");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start Z")));
}

TEST(AheadAsksTest, TheFollowersOfACookThatIsCancelledLiftOneNoLonger) {
  CoreHarness shell = OneSlot("A = w\nB = w\n");
  shell.AskAhead(7, "A");
  shell.Request({"B"}, {.request = 1});
  ASSERT_GT(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
  shell.Send(CancelRequested{1});
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
}

TEST(AheadAsksTest, AFollowerThatIsSpareItselfLiftsNone) {
  CoreHarness shell = OneSlot("A = w\nB = w\nZ\n");
  shell.AskAhead(1, "A");
  shell.AskAhead(2, "B");
  shell.Ask(3, "B");
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kBlocking);
  shell.Send(AskWithdrawn{3});  // B follows A as before
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("B")), Urgency::kSpare);
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("A")), Urgency::kSpare);
}

TEST(AheadAsksTest, OneBringsUpNoMachines) {
  CookOptions options = BesideCooks();
  options.workers = 0;
  options.fleet.max = 2;
  options.fleet.min = 1;
  CoreHarness shell("A\nB\n", options);
  shell.AskAhead(1, "A");
  shell.Pass(absl::Seconds(3));
  EXPECT_FALSE(shell.Says("spawn"));
  shell.Ask(2, "B");
  EXPECT_TRUE(shell.Says("spawn"));
}

TEST(AheadAsksTest, AFailureIsKept) {
  CoreHarness shell("A\n", BesideCooks());
  shell.AskAhead(1, "A");
  for (int i = 0; i < 8 && shell.HasOpenJob("A"); ++i) {
    shell.Failed("A", Fault::kCrashed, "signal 11");
    shell.Pass(absl::Seconds(30));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: "));
  shell.AskAhead(2, "A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 2: failed: "), Not(HasSubstr("start"))));
}

// A device that asks now and then, while nobody else waits, finds what the last cook left in doubt.
TEST(AheadAsksTest, OneKeepsItsFaultsWhileDevicesAskForOtherThings) {
  CoreHarness shell("P\nZ\n", BesideCooks());
  shell.AskAhead(1, "P");
  for (uint64_t i = 0; i < 8 && shell.HasOpenJob("P"); ++i) {
    shell.Failed("P", Fault::kCrashed, "signal 11");
    shell.Ask(100 + i, "Z");
    shell.Saved("Z");
    shell.Pass(absl::Seconds(30));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: "));
}

// Answers the first held look-up with a miss, and returns its package.
PackageId AnswerFirst(CoreHarness& shell) {
  const LookUp::Item first = shell.look_ups.front();
  shell.look_ups.pop_front();
  LookedUp answer;
  answer.items.push_back({first.package, 0, first.generation, LookedUp::Miss{}});
  shell.Send(answer);
  return first.package;
}

TEST(AheadAsksTest, WhatAnEarlierDirectorBlamedForACookThatIsOverIsTried) {
  CoreHarness shell("A\nZ\n", BesideCooks());
  shell.Request({"Z"}, {.request = 1, .blamed = {{"A", 4, "crashed", "signal 11", ""}}});
  shell.Finish();
  ASSERT_THAT(shell.TakeLog(), HasSubstr("root of 1: Z"));
  shell.AskAhead(7, "A");
  EXPECT_TRUE(shell.HasOpenJob("A")) << shell.TakeLog();
}

TEST(AheadAsksTest, OneIsLookedUpAfterAllOthers) {
  constexpr size_t kEach = 32;
  std::string project = "Z\n";
  std::vector<std::string> first, second;
  for (size_t i = 0; i < kEach; ++i) {
    first.push_back("P" + std::to_string(i));
    second.push_back("Q" + std::to_string(i));
    project += first.back() + "\n" + second.back() + "\n";
  }
  CookOptions options = BesideCooks();
  options.look_ups_per_batch = 4;
  CoreHarness shell(project, options);
  shell.hold_look_ups = true;
  shell.Request(first, {.request = 1});
  shell.AskAhead(7, "Z");
  shell.Request(second, {.request = 2});
  const PackageId last = shell.Id("Z");
  std::vector<PackageId> asked;
  while (!shell.look_ups.empty()) asked.push_back(AnswerFirst(shell));
  ASSERT_EQ(asked.size(), 2 * kEach + 1);
  EXPECT_EQ(asked.back(), last);
}

TEST(AheadAsksTest, OnlySomeAreLookedUpAtATime) {
  constexpr size_t kAtATime = 16;
  std::string project;
  for (uint64_t i = 0; i < 20; ++i) project += "P" + std::to_string(i) + "\n";
  CoreHarness shell(project, BesideCooks());
  shell.hold_look_ups = true;
  for (uint64_t i = 0; i < 20; ++i) shell.AskAhead(i + 1, "P" + std::to_string(i));
  ASSERT_EQ(shell.look_ups.size(), kAtATime);
  EXPECT_FALSE(shell.look_ups.front().is_awaited);
  AnswerFirst(shell);
  EXPECT_EQ(shell.look_ups.size(), kAtATime) << "another one has taken its place";
}

TEST(AheadAsksTest, AllEndWhenTheDirectorCannotGoOn) {
  CoreHarness shell("A\nB\n", BesideCooks(2));
  shell.Request({"B"}, {.request = 1, .platforms = 0b01});
  shell.AskAhead(7, "A");
  shell.AskAhead(8, "B", 1);  // deferred
  shell.Send(DirectorUnfit{"the disk is full"});
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("ask 7: the disk is full"), HasSubstr("ask 8: the disk is full")));
  EXPECT_EQ(shell.StateOf("A"), "Idle");
}

TEST(AheadAsksTest, TheOutcomeSaysWhetherAJobRanForTheAsk) {
  CoreHarness shell("A\nLong\n", BesideCooks());
  shell.Ask(100, "Long");
  shell.AskAhead(1, "A");
  shell.Pass(absl::Seconds(1));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done, cooked"));
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Saved("A");
  shell.TakeLog();
  shell.AskAhead(2, "A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 2: done"), Not(HasSubstr("cooked"))));
}

}  // namespace
}  // namespace galley::director
