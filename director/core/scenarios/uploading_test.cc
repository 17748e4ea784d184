// Jobs that have left their slots, and whose outputs are still on their way to the director.
#include <string>
#include <vector>

#include "director/core/jobs/assigned_jobs.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Duration kWhenUploaded = absl::ZeroDuration();

// ------------------------------------------------------------------ one hand

class UploadingHandTest : public testing::Test {
 protected:
  // 1 runs, 2 and 3 wait; 10 s each.
  UploadingHandTest() {
    for (const AttemptId attempt : {1, 2, 3})
      hand_.Add(attempt, {.expected = absl::Seconds(10), .memory_bytes = 10 * attempt},
                kWhenUploaded);
  }
  AssignedJobs hand_;
};

TEST_F(UploadingHandTest, ItsSlotIsTheNextOnesAndItsTimeStandsStill) {
  hand_.SetUploading(1, absl::Seconds(4));
  hand_.SetUploading(1, absl::Seconds(5));  // said again
  EXPECT_TRUE(hand_.IsUploading(1));
  EXPECT_TRUE(hand_.HasBegun(1));
  EXPECT_TRUE(hand_.HasBegun(2));
  EXPECT_FALSE(hand_.HasBegun(3));
  EXPECT_EQ(hand_.All(), std::vector<AttemptId>({2, 1, 3}));
  EXPECT_EQ(hand_.active_count(), 2u);
  EXPECT_EQ(hand_.expected(), absl::Seconds(20));
  EXPECT_EQ(DelayOf(hand_, 3, absl::Seconds(5)), absl::Seconds(9)) << "of 2";
  EXPECT_EQ(hand_.Remove(2, absl::Seconds(6)), absl::Seconds(2));
  hand_.NoteReport(1, absl::Seconds(50));
  hand_.NoteReport(3, absl::Seconds(55));
  EXPECT_EQ(hand_.Remove(1, absl::Seconds(60)), absl::Seconds(4));
  EXPECT_EQ(hand_.uploaded_at(), absl::Seconds(50));
  EXPECT_EQ(hand_.expected(), absl::Seconds(10));
  EXPECT_EQ(hand_.All(), std::vector<AttemptId>({3}));
}

TEST_F(UploadingHandTest, OneThatWasTakenToWaitHasBegun) {
  hand_.SetUploading(3, kWhenUploaded);
  EXPECT_EQ(hand_.All(), std::vector<AttemptId>({1, 3, 2}));
  EXPECT_EQ(hand_.running().size(), 1u);
}

TEST_F(UploadingHandTest, OneThatWasPendingIsNotAnyMore) {
  hand_.SetPending({1}, kWhenUploaded);
  hand_.SetUploading(1, kWhenUploaded);
  EXPECT_FALSE(hand_.IsPending(1));
  EXPECT_EQ(hand_.pending_count(), 0u);
  EXPECT_EQ(hand_.SetPending({1}, kWhenUploaded), 0u) << "what was said before it";
  EXPECT_EQ(hand_.active_count(), 2u);
  EXPECT_EQ(hand_.expected(), absl::Seconds(20));
  hand_.Remove(1, kWhenUploaded);
  EXPECT_EQ(hand_.expected(), absl::Seconds(20));
}

TEST_F(UploadingHandTest, ItTakesNoMemory) {
  hand_.SetSlots(2, kWhenUploaded);
  EXPECT_FALSE(HasMemoryFor(hand_, 75, 100)) << "beside 3";
  hand_.SetUploading(3, kWhenUploaded);
  EXPECT_TRUE(HasMemoryFor(hand_, 75, 100)) << "beside 2";
}

TEST_F(UploadingHandTest, WhatIsSaidOfOneThatComesLaterHolds) {
  hand_.SetUploading(7, kWhenUploaded);
  hand_.Add(7, {.expected = absl::Seconds(10)}, kWhenUploaded);
  EXPECT_TRUE(hand_.IsUploading(7));
  EXPECT_EQ(hand_.expected(), absl::Seconds(30));
}

TEST_F(UploadingHandTest, AtAWorkerThatIsHeldItStaysSo) {
  hand_.SetUploading(1, kWhenUploaded);
  const std::vector<AttemptId> begun = {1};
  hand_.SetHeld(&begun, kWhenUploaded);
  EXPECT_TRUE(hand_.IsUploading(1));
  EXPECT_EQ(hand_.Queue(), std::vector<AttemptId>({2, 3}));
}

TEST_F(UploadingHandTest, WhenAllIsOnItsWayTheSlotIsFree) {
  for (const AttemptId attempt : {1, 2, 3}) hand_.SetUploading(attempt, kWhenUploaded);
  EXPECT_TRUE(hand_.has_free_slot());
  EXPECT_EQ(DelayOfNew(hand_, absl::Seconds(3)), absl::ZeroDuration());
}

// ------------------------------------------------------------------ a cook

// Workers with one slot each; the first has all jobs when the second one attaches.
class UploadingTest : public testing::Test {
 protected:
  explicit UploadingTest(const std::string& project = "A ~ 100000\nB ~ 100000\nC ~ 100000\n",
                         const std::vector<std::string>& packages = {"C", "B", "A"})
      : shell_(project, {.workers = 2}) {
    shell_.hold_workers = true;
    shell_.slots = 1;
    shell_.Request(packages);
    Attach(0);
  }
  void Attach(uint32_t worker) { shell_.Send(WorkerAttached{shell_.spawned[worker], 1, {}}); }
  AttemptId AttemptAt(const std::string& name) { return shell_.JobOf(name).start.attempt; }
  void SayUploading(const std::vector<std::string>& names) {
    WorkerUploads event{.worker = WorkerId(0), .attempts = {}};
    for (const std::string& name : names) event.attempts.push_back(AttemptAt(name));
    shell_.Send(event);
  }
  // Seconds in which both workers speak.
  void Pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      for (const uint32_t worker : {0, 1}) shell_.Send(WorkerAlive{WorkerId(worker)});
      shell_.Pass(absl::Seconds(1));
    }
  }
  CoreHarness shell_;
};

// A and B have left the slot, so C has begun: C stays.
TEST_F(UploadingTest, WhatHasBegunBehindThemIsNotMoved) {
  SayUploading({"A", "B"});
  shell_.TakeLog();
  Attach(1);
  EXPECT_EQ(shell_.TakeLog(), "");
  EXPECT_EQ(shell_.core().counters().jobs_retracted, 0u);
  shell_.Finish();
  EXPECT_EQ(shell_.core().counters().results_dropped, 0u);
}

TEST_F(UploadingTest, WhatWaitsBehindWhatHasBegunIs) {
  SayUploading({"A"});
  shell_.TakeLog();
  Attach(1);
  EXPECT_EQ(shell_.TakeLog(), "retract C\nstart C 1\n");
}

TEST_F(UploadingTest, PeopleSeeIt) {
  shell_.Loaded("A");
  SayUploading({"A"});
  EXPECT_EQ(shell_.StateOf("A"), "Save, uploading");
}

TEST_F(UploadingTest, WordsOfOthersJobsAndOfUnknownWorkersChangeNothing) {
  shell_.TakeLog();
  shell_.Send(WorkerUploads{WorkerId(5), {AttemptAt("A")}});
  shell_.Send(WorkerUploads{WorkerId(0), {AttemptAt("A") + 1000}});
  EXPECT_EQ(shell_.StateOf("A"), "Load");
  EXPECT_EQ(shell_.TakeLog(), "");
}

// The worker dies while B is cooked: A had no part in it.
TEST_F(UploadingTest, ALostWorkersDeathIsNotBlamedOnIt) {
  SayUploading({"A"});
  shell_.TakeLog();
  shell_.Send(WorkerLost{WorkerId(0), "killed", false});
  const std::string log = shell_.TakeLog();
  EXPECT_NE(log.find("blamed B 1"), std::string::npos) << log;
  EXPECT_EQ(log.find("blamed A"), std::string::npos) << log;
}

TEST_F(UploadingTest, AWorkerThatAttachesAgainSaysIt) {
  shell_.TakeLog();
  shell_.Send(WorkerAttached{.worker = WorkerId(0),
                             .slots = 1,
                             .in_hand = {AttemptAt("A"), AttemptAt("B"), AttemptAt("C")},
                             .uploading = {AttemptAt("A"), AttemptAt("B")}});
  Attach(1);
  EXPECT_EQ(shell_.TakeLog(), "") << "C has begun";
}

class UploadingStragglerTest : public UploadingTest {
 protected:
  UploadingStragglerTest() {
    SayUploading({"A", "B"});
    Attach(1);
    shell_.Saved("C");
    shell_.TakeLog();
  }
};

TEST_F(UploadingStragglerTest, IsBackedUpWhenNothingMoreComesFromItsWorker) {
  Pass(2);
  EXPECT_EQ(shell_.TakeLog(), "");
  Pass(2);
  EXPECT_EQ(shell_.TakeLog(), "start A 1\n");
}

// The slot's first unreported job would have been a straggler after two seconds.
TEST_F(UploadingStragglerTest, IsNoneWhileOutputsComeFromItsWorker) {
  Pass(2);
  shell_.Saved("A");
  shell_.TakeLog();
  Pass(2);
  EXPECT_EQ(shell_.TakeLog(), "") << "two seconds after A";
  EXPECT_EQ(shell_.core().counters().backups_started, 0u);
}

TEST(UploadingSurvivorTest, ItIsSoForTheNextDirectorToo) {
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
                            .uploading = {kGiven}});
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.core().counters().jobs_resumed, 1u);
  EXPECT_EQ(shell.StateOf("A"), "Save, uploading");
  EXPECT_EQ(shell.StateOf("B"), "Load");
}

}  // namespace
}  // namespace galley::director
