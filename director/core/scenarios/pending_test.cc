// Jobs whose external programs merely wait leave their slots to other jobs.
#include <algorithm>
#include <string>
#include <vector>

#include "director/core/jobs/assigned_jobs.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kNow = absl::ZeroDuration();

// ------------------------------------------------------------------ one hand

class PendingHandTest : public testing::Test {
 protected:
  // 1 runs, 2 and 3 wait; 10 s each.
  PendingHandTest() {
    for (const AttemptId attempt : {1, 2, 3}) {
      hand_.Add(attempt, {.expected = absl::Seconds(10), .memory_bytes = 10 * attempt}, kNow);
    }
  }
  AssignedJobs hand_;
};

TEST_F(PendingHandTest, ItsSlotIsTheNextOnesAndItsTimeGoesOn) {
  EXPECT_EQ(hand_.SetPending({1}, absl::Seconds(4)), 1u);
  EXPECT_TRUE(hand_.IsPending(1));
  EXPECT_TRUE(hand_.HasBegun(1)) << "it has begun";
  EXPECT_TRUE(hand_.HasBegun(2));
  EXPECT_FALSE(hand_.HasBegun(3));
  EXPECT_EQ(hand_.All(), std::vector<AttemptId>({1, 2, 3}));
  EXPECT_EQ(hand_.active_count(), 2u);
  EXPECT_EQ(hand_.expected(), absl::Seconds(20));
  EXPECT_EQ(hand_.SetPending({1}, absl::Seconds(5)), 0u) << "it is already";
  EXPECT_EQ(hand_.Remove(2, absl::Seconds(6)), absl::Seconds(2));
  EXPECT_EQ(hand_.Remove(1, absl::Seconds(6)), absl::Seconds(6));
  EXPECT_EQ(hand_.pending_count(), 0u);
  EXPECT_EQ(hand_.expected(), absl::Seconds(10));
}

TEST_F(PendingHandTest, WhenItGoesOnTheNextOneWaitsForTwo) {
  hand_.SetPending({1}, kNow);
  hand_.SetPending({}, kNow);
  EXPECT_FALSE(hand_.IsPending(1));
  EXPECT_EQ(hand_.expected(), absl::Seconds(30));
  hand_.Remove(2, kNow);
  EXPECT_FALSE(hand_.HasBegun(3));
  hand_.Remove(1, kNow);
  EXPECT_TRUE(hand_.HasBegun(3));
}

TEST_F(PendingHandTest, NoMoreArePendingThanThereAreSlots) {
  EXPECT_EQ(hand_.SetPending({1, 2, 3}, kNow), 1u);
  EXPECT_EQ(hand_.pending_count(), 1u);
  EXPECT_FALSE(hand_.has_free_slot());
}

TEST_F(PendingHandTest, OneThatWasTakenToWaitForASlotHasBegun) {
  hand_.SetPending({3}, absl::Seconds(2));
  EXPECT_TRUE(hand_.IsPending(3));
  EXPECT_EQ(hand_.All(), std::vector<AttemptId>({1, 3, 2}));
  EXPECT_EQ(hand_.Remove(3, absl::Seconds(5)), absl::Seconds(3));
}

TEST_F(PendingHandTest, WhatIsSaidOfOneThatComesLaterHolds) {
  hand_.SetPending({7}, kNow);
  EXPECT_EQ(hand_.pending_count(), 0u);
  hand_.Add(7, {.expected = absl::Seconds(10)}, kNow);
  EXPECT_TRUE(hand_.IsPending(7));
  EXPECT_EQ(hand_.expected(), absl::Seconds(30));
}

TEST_F(PendingHandTest, ItsMemoryIsTaken) {
  hand_.Remove(2, kNow);
  EXPECT_TRUE(HasMemoryFor(hand_, 100, 100)) << "one slot: nothing runs beside it";
  hand_.SetPending({1}, kNow);
  EXPECT_TRUE(HasMemoryFor(hand_, 70, 100));
  EXPECT_FALSE(HasMemoryFor(hand_, 71, 100)) << "the largest in hand may be the pending one";
}

TEST_F(PendingHandTest, ABlockingJobDoesNotWaitForIt) {
  hand_.SetPending({1}, absl::Seconds(4));
  EXPECT_EQ(BlockingDelay(hand_, absl::Seconds(5)), absl::Seconds(9)) << "of 2, which has begun";
  hand_.Remove(2, kNow);
  hand_.Remove(3, kNow);
  EXPECT_EQ(BlockingDelay(hand_, kNow), absl::ZeroDuration());
}

TEST_F(PendingHandTest, AtAWorkerThatIsHeldNothingBeginsButWhatItSays) {
  hand_.SetPending({1}, kNow);
  ASSERT_TRUE(hand_.HasBegun(2));
  const std::vector<AttemptId> first = {1}, more = {1, 3};
  hand_.SetHeld(&first, absl::Seconds(1));
  EXPECT_FALSE(hand_.HasBegun(2));
  EXPECT_EQ(hand_.Queue(), std::vector<AttemptId>({2, 3}));
  EXPECT_FALSE(hand_.has_free_slot()) << "for whatever else comes";
  EXPECT_EQ(BlockingDelay(hand_, kNow), absl::InfiniteDuration());
  hand_.SetHeld(&more, absl::Seconds(2));
  EXPECT_EQ(hand_.Queue(), std::vector<AttemptId>({2}));
  EXPECT_EQ(hand_.Remove(3, absl::Seconds(5)), absl::Seconds(3));
  EXPECT_FALSE(hand_.HasBegun(2));
  hand_.SetHeld(nullptr, absl::Seconds(6));
  EXPECT_TRUE(hand_.HasBegun(2));
  EXPECT_EQ(hand_.expected(), absl::Seconds(10));
}

TEST_F(PendingHandTest, WhatIsPendingHasBegunWhateverElseIsSaid) {
  hand_.SetPending({1}, kNow);
  const std::vector<AttemptId> none;
  hand_.SetHeld(&none, kNow);
  EXPECT_TRUE(hand_.IsPending(1));
}

// ------------------------------------------------------------------ a cook

// A worker with one slot; each package is expected to take 9 s, so that the worker has two at a
// time.
class PendingTest : public testing::Test {
 protected:
  explicit PendingTest(const std::string& kinds = "~ 9000000",
                       std::vector<std::string> packages = {"A", "B", "C", "D"})
      : shell_(Text(packages, kinds), {.resources = {{"gpu", 1}}}) {
    shell_.slots = 1;
    std::reverse(packages.begin(), packages.end());  // so they begin in their order
    shell_.Request(packages);
  }
  static std::string Text(const std::vector<std::string>& packages, const std::string& kinds) {
    std::string text;
    for (const std::string& package : packages) text += package + " " + kinds + "\n";
    return text;
  }
  AttemptId AttemptAt(const std::string& name) { return shell_.JobOf(name).start.attempt; }
  void SayPending(const std::vector<std::string>& names, WorkerId worker = WorkerId(0)) {
    WorkerPending event{.worker = worker, .attempts = {}};
    for (const std::string& name : names) event.attempts.push_back(AttemptAt(name));
    shell_.Send(event);
  }
  CoreHarness shell_;
};

TEST_F(PendingTest, AWorkerWhoseJobIsPendingGetsAnother) {
  EXPECT_EQ(shell_.TakeLog(), "spawn 0\nstart A 0\nstart B 0\n");
  SayPending({"A"});
  EXPECT_EQ(shell_.TakeLog(), "start C 0\n");
  SayPending({});
  SayPending({"A"});
  EXPECT_EQ(shell_.TakeLog(), "") << "it has B and C for its slot";
  SayPending({});
  shell_.Saved("B");
  EXPECT_EQ(shell_.TakeLog(), "done B\n") << "A and C fill it again";
  shell_.Saved("A");
  EXPECT_EQ(shell_.TakeLog(), "start D 0\ndone A\n");
  shell_.Finish();
  EXPECT_TRUE(shell_.Says("root A B C D\n"));
  EXPECT_EQ(shell_.core().counters().jobs_pending, 2u);
}

TEST_F(PendingTest, PeopleSeeWhatIsPending) {
  shell_.Loaded("A");
  SayPending({"A"});
  EXPECT_EQ(shell_.core().progress().pending, 1u);
  EXPECT_EQ(shell_.core().StateText(shell_.Id("A")), "Save, pending");
  shell_.Send(QueryAsked{.package = "A"});
  EXPECT_EQ(shell_.replies.back().package->state, "Save, pending");
  SayPending({});
  EXPECT_EQ(shell_.core().progress().pending, 0u);
  EXPECT_EQ(shell_.core().StateText(shell_.Id("A")), "Save");
}

TEST(ProgressTest, ThePackageThatRunsForTheLongestTimeIsNamed) {
  CoreHarness shell("A\n", {.workers = 1});
  EXPECT_EQ(shell.core().progress().longest, "");
  shell.Request({"A"});
  shell.Pass(absl::Seconds(5));
  EXPECT_EQ(shell.core().progress().longest, "A");
  EXPECT_EQ(shell.core().progress().longest_for, absl::Seconds(5));
  shell.Saved("A");
  EXPECT_EQ(shell.core().progress().longest, "");
}

TEST(ProgressTest, TheTimeLeftIsNoLessThanThatOfTheJobThatRuns) {
  CoreHarness shell("A\n", {.workers = 8});
  shell.Request({"A"});
  // A worker that says nothing for so long is taken for dead, and its job begins anew elsewhere.
  for (int i = 0; i < 100; ++i) {
    for (uint32_t worker = 0; worker < 8; ++worker) shell.Send(WorkerAlive{WorkerId(worker)});
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_GT(*shell.core().progress().left, absl::Seconds(90)) << "nobody expected that of it";
}

TEST_F(PendingTest, WordsOfOthersJobsAndOfUnknownWorkersChangeNothing) {
  shell_.TakeLog();
  shell_.Send(WorkerPending{WorkerId(5), {AttemptAt("A")}});
  shell_.Send(WorkerPending{WorkerId(0), {AttemptAt("A") + 1000}});
  EXPECT_EQ(shell_.TakeLog(), "");
  EXPECT_EQ(shell_.core().progress().pending, 0u);
}

TEST_F(PendingTest, ALostWorkersPendingJobHadBegun) {
  SayPending({"A"});
  shell_.TakeLog();
  shell_.hold_workers = true;
  for (int i = 0; i < 3; ++i) {
    shell_.Send(WorkerLost{WorkerId(static_cast<uint32_t>(i)), "killed", false});
    shell_.Pass(absl::Seconds(30));
    shell_.Send(WorkerAttached{shell_.spawned.back(), 1, {}});
    if (shell_.HasOpenJob("A")) SayPending({"A"}, shell_.JobOf("A").worker);
  }
  EXPECT_TRUE(shell_.Says("blamed A 3")) << shell_.TakeLog();
}

TEST_F(PendingTest, AWorkerThatAttachesAgainSaysWhatIsPending) {
  SayPending({"A"});
  shell_.TakeLog();
  const std::vector<AttemptId> in_hand = {AttemptAt("A"), AttemptAt("B"), AttemptAt("C")};
  shell_.Send(WorkerAttached{.worker = WorkerId(0), .slots = 1, .in_hand = in_hand});
  EXPECT_EQ(shell_.core().progress().pending, 0u);
  shell_.Send(WorkerAttached{
      .worker = WorkerId(0), .slots = 1, .in_hand = in_hand, .pending = {AttemptAt("B")}});
  EXPECT_EQ(shell_.core().progress().pending, 1u);
  EXPECT_EQ(shell_.core().StateText(shell_.Id("B")), "Load, pending");
  EXPECT_EQ(shell_.core().counters().jobs_pending, 2u) << "A, and B, which nobody had told of";
  EXPECT_EQ(shell_.TakeLog(), "");
}

TEST_F(PendingTest, ACancelledCookCancelsItAndForgetsIt) {
  SayPending({"A"});
  shell_.Send(CancelRequested{});
  EXPECT_TRUE(shell_.Says("cancel A\n"));
  EXPECT_TRUE(shell_.Says("ended interrupted\n"));
  EXPECT_EQ(shell_.core().progress().pending, 0u);
}

class PendingResourceTest : public PendingTest {
 protected:
  PendingResourceTest() : PendingTest("@gpu", {"A", "B"}) {}
};

TEST_F(PendingResourceTest, ItKeepsWhatItWasGranted) {
  shell_.TakeLog();
  SayPending({"A"});
  EXPECT_EQ(shell_.TakeLog(), "");
  shell_.Saved("A");
  EXPECT_EQ(shell_.TakeLog(), "start B 0\ndone A\n");
}

// A program that hangs does so wherever it waits.
TEST(PendingStragglerTest, APendingJobThatTakesTooLongIsGivenToAnIdleWorkerToo) {
  CoreHarness shell("Slow ~ 100000\nQuick ~ 90000\n", {.workers = 2});
  shell.slots = 1;
  shell.Request({"Quick", "Slow"});
  const HarnessJob slow = shell.JobOf("Slow");
  shell.Saved("Quick");
  shell.Send(WorkerPending{slow.worker, {slow.start.attempt}});
  shell.TakeLog();
  for (int i = 0; i < 4; ++i) {
    for (const uint32_t worker : {0, 1}) shell.Send(WorkerAlive{WorkerId(worker)});
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start Slow 1\n"));
}

// A waits for its program, so B has the slot and has begun: B stays.
TEST(PendingBalanceTest, WhatWaitsBehindAPendingJobIsNotTakenAway) {
  CoreHarness shell("A ~ 100000\nB ~ 100000\n", {.workers = 2});
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"B", "A"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  shell.Send(WorkerPending{shell.spawned[0], {shell.JobOf("A").start.attempt}});
  shell.TakeLog();
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_EQ(shell.TakeLog(), "") << "B runs";
}

TEST(PendingBalanceTest, WhatAWorkerDoesNotBeginForWantOfMemoryIsTakenToAnother) {
  CoreHarness shell("A ~ 100000\nB ~ 100000\n", {.workers = 2});
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"B", "A"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  const AttemptId pending = shell.JobOf("A").start.attempt;
  shell.Send(WorkerPending{
      .worker = shell.spawned[0], .attempts = {pending}, .is_held = true, .begun = {pending}});
  shell.TakeLog();
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_EQ(shell.TakeLog(), "retract B\nstart B 1\n");
}

// The jobs that wait at the first worker are short, but none begins there; the job that runs at the
// second one is long.
TEST(PendingBalanceTest, ABlockingJobGoesNotWhereNothingBegins) {
  CoreHarness shell("A ~ 100000\nB @gpu\nLong ~ 9000000\nNow ~ 1\n",
                    {.workers = 2, .resources = {{"gpu", 1}}});
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"B", "A"});
  const WorkerId first = shell.spawned[0], second = shell.spawned[1];
  shell.Send(WorkerAttached{first, 1, {}});
  const AttemptId pending = shell.JobOf("A").start.attempt;
  ASSERT_EQ(shell.JobOf("B").worker, first) << "and stays, since it holds the resource";
  shell.Send(
      WorkerPending{.worker = first, .attempts = {pending}, .is_held = true, .begun = {pending}});
  shell.Send(WorkerAttached{second, 1, {}});
  shell.Send(PackagesDiscovered{{{"Long", InstigatorCategory::kCommandLinePackage}}});
  ASSERT_EQ(shell.JobOf("Long").worker, second);
  shell.Send(PackagesDiscovered{{{"Now", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(shell.JobOf("Now").worker, second);
}

TEST(PendingSurvivorTest, ItIsPendingForTheNextDirectorToo) {
  CoreHarness shell("A ~ 9000000\nB ~ 9000000\n", {.term = 2});
  shell.hold_workers = true;
  shell.Send(
      WorkersSurvived{.workers = {kOld}, .given = {{kGiven, kOld, "A", 1, {}}}, .first_free = 4});
  shell.Request({"A", "B"});
  shell.Send(WorkerAttached{.worker = kOld,
                            .slots = 1,
                            .in_hand = {kGiven},
                            .session = 5,
                            .begun = {kGiven},
                            .pending = {kGiven}});
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.core().counters().jobs_resumed, 1u);
  EXPECT_EQ(shell.core().counters().jobs_pending, 1u);
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Save, pending");
  EXPECT_EQ(shell.TakeLog(), "start B 3\n");
}

}  // namespace
}  // namespace galley::director
