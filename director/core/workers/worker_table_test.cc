// Workers and the jobs in their hands.
#include "director/core/jobs/worker_table.h"

#include <random>
#include <set>
#include <vector>

#include "director/core/jobs/assigned_jobs.h"
#include "director/core/jobs/overrun_histogram.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/workers/placement_candidate.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Duration kWhenAsked = absl::ZeroDuration();

AssignedJob Job(absl::Duration expected) { return {.expected = expected}; }

TEST(AssignedJobsTest, UrgentGoesBeforeWhatWaitsAndBehindWhatRuns) {
  AssignedJobs hand;
  hand.Add(1, Job(absl::Seconds(1)), kWhenAsked);
  hand.Add(2, Job(absl::Seconds(1)), kWhenAsked);
  hand.Add(3, {.urgency = Urgency::kBlocking}, kWhenAsked);
  hand.Add(4, {.urgency = Urgency::kBlocking}, kWhenAsked);
  EXPECT_EQ(hand.All(), std::vector<AttemptId>({1, 3, 4, 2}));
  EXPECT_EQ(CountWaiting(hand, Urgency::kBlocking), 2u);
  EXPECT_TRUE(hand.HasBegun(1));
}

TEST(AssignedJobsTest, TheNextBeginsWhenOneEnds) {
  AssignedJobs hand;
  hand.SetSlots(2, kWhenAsked);
  for (AttemptId attempt = 1; attempt <= 3; ++attempt) hand.Add(attempt, {}, kWhenAsked);
  EXPECT_EQ(hand.Remove(1, absl::Seconds(5)), absl::Seconds(5));
  EXPECT_TRUE(hand.HasBegun(3));
  EXPECT_EQ(hand.Remove(3, absl::Seconds(7)), absl::Seconds(2));
  EXPECT_TRUE(hand.has_free_slot());
}

TEST(AssignedJobsTest, ABlockingJobWaitsForTheNextSlotAndForThoseBeforeIt) {
  AssignedJobs hand;
  EXPECT_EQ(BlockingDelay(hand, kWhenAsked), absl::ZeroDuration());
  hand.Add(1, Job(absl::Seconds(10)), kWhenAsked);
  hand.Add(2, Job(absl::Seconds(99)), kWhenAsked);
  EXPECT_EQ(BlockingDelay(hand, absl::Seconds(4)), absl::Seconds(6));
  EXPECT_EQ(BlockingDelay(hand, absl::Seconds(40)), absl::Seconds(40));  // as long again
  hand.Add(3, {.urgency = Urgency::kBlocking, .expected = absl::Seconds(2)}, kWhenAsked);
  EXPECT_EQ(BlockingDelay(hand, absl::Seconds(4)), absl::Seconds(8));
}

TEST(AssignedJobsTest, ASpareJobIsInNobodysWayUntilItsSlotIsTaken) {
  AssignedJobs hand;
  hand.SetSlots(2, kWhenAsked);
  hand.Add(1, {.expected = absl::Seconds(9), .is_spare = true}, kWhenAsked);
  hand.Add(2, {.expected = absl::Seconds(9), .is_spare = true}, kWhenAsked);
  EXPECT_TRUE(hand.has_free_slot());
  EXPECT_TRUE(hand.is_idle());
  EXPECT_EQ(hand.active_count(), 0u);
  EXPECT_EQ(hand.expected(), absl::ZeroDuration());
  EXPECT_EQ(BlockingDelay(hand, absl::Seconds(1)), absl::ZeroDuration());
  EXPECT_TRUE(hand.HasBegun(1));
  EXPECT_TRUE(InTheWay(hand, 0).empty());
  EXPECT_FALSE(HasRoomForSpare(hand, 0, 0)) << "both slots are used";
  hand.Add(3, Job(absl::Seconds(1)), absl::Seconds(1));
  EXPECT_EQ(InTheWay(hand, 0), std::vector<AttemptId>({2}));
  EXPECT_EQ(hand.Remove(2, absl::Seconds(4)), absl::Seconds(4));
  EXPECT_TRUE(InTheWay(hand, 0).empty());
  EXPECT_EQ(hand.All(), std::vector<AttemptId>({3, 1}));
  hand.Add(4, Job(absl::Seconds(1)), absl::Seconds(4));
  EXPECT_EQ(InTheWay(hand, 0), std::vector<AttemptId>({1}));
}

TEST(AssignedJobsTest, AJobBecomesSpareAndIsWantedAgain) {
  AssignedJobs hand;
  hand.Add(1, Job(absl::Seconds(9)), kWhenAsked);
  hand.Add(2, Job(absl::Seconds(1)), kWhenAsked);
  hand.SetSpare(1, true, absl::Seconds(1));
  EXPECT_TRUE(hand.HasBegun(2)) << "the slot is free for it";
  EXPECT_EQ(InTheWay(hand, 0), std::vector<AttemptId>({1}));
  hand.Remove(2, absl::Seconds(2));
  hand.SetSpare(1, false, absl::Seconds(3));
  EXPECT_EQ(hand.expected(), absl::Seconds(9));
  EXPECT_EQ(NextSlot(hand, absl::Seconds(4)), absl::Seconds(5)) << "it began long ago";
}

TEST(AssignedJobsTest, ASpareJobGivesItsMemoryBack) {
  AssignedJobs hand;
  hand.SetSlots(3, kWhenAsked);
  hand.Add(1, {.memory_bytes = 60, .is_spare = true}, kWhenAsked);
  EXPECT_TRUE(HasMemoryFor(hand, 90, 100));
  EXPECT_FALSE(HasRoomForSpare(hand, 60, 100));
  EXPECT_TRUE(HasRoomForSpare(hand, 40, 100));
  hand.Add(2, {.memory_bytes = 90}, kWhenAsked);
  EXPECT_EQ(InTheWay(hand, 100), std::vector<AttemptId>({1}));
  EXPECT_TRUE(InTheWay(hand, 0).empty()) << "there is room for all that is known";
}

TEST(AssignedJobsTest, ASpareJobThatUploadsHasLeftItsSlot) {
  AssignedJobs hand;
  hand.Add(1, {.is_spare = true}, kWhenAsked);
  hand.SetUploading(1, absl::Seconds(2));
  EXPECT_FALSE(hand.IsSpare(1));
  hand.Add(2, Job(absl::Seconds(1)), absl::Seconds(3));
  EXPECT_TRUE(InTheWay(hand, 0).empty());
  EXPECT_EQ(hand.Remove(1, absl::Seconds(9)), absl::Seconds(2));
}

TEST(AssignedJobsTest, MemoryIsThatOfTheLargestThatMayRunTogether) {
  AssignedJobs hand;
  hand.SetSlots(2, kWhenAsked);
  EXPECT_TRUE(HasMemoryFor(hand, 500, 100));  // alone
  hand.Add(1, {.memory_bytes = 60}, kWhenAsked);
  hand.Add(2, {.memory_bytes = 30}, kWhenAsked);
  EXPECT_TRUE(HasMemoryFor(hand, 40, 100));
  EXPECT_FALSE(HasMemoryFor(hand, 41, 100));
  EXPECT_FALSE(HasMemoryFor(hand, 500, 100));
  EXPECT_TRUE(HasMemoryFor(hand, 500, 0));
  hand.Remove(1, kWhenAsked);
  EXPECT_TRUE(HasMemoryFor(hand, 70, 100));
}

TEST(WorkersTest, AWindowIsCountedInExpectedTimeAndInJobs) {
  const auto has_room = [&](std::vector<absl::Duration> jobs) {
    WorkerTable workers({.window = absl::Seconds(2), .jobs_max = 4});
    const Worker& worker = workers.Attach(WorkerId(0), 1, kWhenAsked);
    AttemptId attempt = 0;
    for (const absl::Duration job : jobs)
      workers.Take(WorkerId(0), ++attempt, Job(job), kWhenAsked);
    workers.CheckInvariants();
    EXPECT_EQ(workers.attached().with_room().empty(), !workers.attached().HasRoom(worker));
    return workers.attached().HasRoom(worker);
  };
  const absl::Duration second = absl::Seconds(1), none;
  EXPECT_TRUE(has_room({100 * second}));  // one more than its slots, however long they are
  EXPECT_FALSE(has_room({second, second}));
  EXPECT_TRUE(has_room({second, none, none}));
  EXPECT_FALSE(has_room({none, none, none, none}));
}

TEST(WorkersTest, TheLeastLoadedForItsSlotsComesFirst) {
  WorkerTable workers({.window = absl::Seconds(100), .jobs_max = 100});
  workers.Attach(WorkerId(0), 1, kWhenAsked);
  workers.Attach(WorkerId(1), 4, kWhenAsked);
  workers.Take(WorkerId(0), 1, Job(absl::Seconds(3)), kWhenAsked);
  workers.Take(WorkerId(1), 2, Job(absl::Seconds(8)), kWhenAsked);
  EXPECT_EQ(workers.attached().with_room().begin()->worker, WorkerId(1));
  workers.Take(WorkerId(1), 3, Job(absl::Seconds(8)), kWhenAsked);
  EXPECT_EQ(workers.attached().with_room().begin()->worker, WorkerId(0));
  workers.SetLost(WorkerId(0), absl::ZeroDuration());
  EXPECT_EQ(workers.attached().with_room().begin()->worker, WorkerId(1));
  EXPECT_EQ(workers.attached().count(), 1u);
  EXPECT_EQ(workers.attached().jobs_in_hand(), 2u);
}

TEST(WorkersTest, AReportIsSeenOnceInWhateverOrderReportsCome) {
  Worker worker;
  std::mt19937 random(3);
  std::set<ReportId> model;
  for (int i = 0; i < 2000; ++i) {
    const ReportId report = 1 + random() % 200;
    ASSERT_EQ(worker.reports.See(report), model.insert(report).second);
  }
  EXPECT_FALSE(worker.reports.See(0));
}

TEST(WorkersTest, OnlyThoseWithJobsOrThatAreStartingCanBeSilent) {
  WorkerTable workers({.window = absl::Seconds(2),
                       .jobs_max = 4,
                       .silence_max = absl::Seconds(10),
                       .start_max = absl::Seconds(20)});
  const WorkerId starting = workers.AddOwn(Pool::kLocal, kWhenAsked);
  const WorkerId idle(10), busy(11);
  workers.Attach(idle, 1, kWhenAsked);
  workers.Attach(busy, 1, kWhenAsked);
  workers.Take(busy, 1, {}, kWhenAsked);
  EXPECT_EQ(workers.Silent(absl::Seconds(10)), std::vector<WorkerId>());
  EXPECT_EQ(workers.Silent(absl::Seconds(11)), std::vector<WorkerId>({busy}));
  EXPECT_EQ(workers.Silent(absl::Seconds(21)), std::vector<WorkerId>({starting, busy}));
}

TEST(WorkersTest, TheSuspectComeLastUntilTheySpeak) {
  WorkerTable workers(
      {.window = absl::Seconds(2), .jobs_max = 4, .suspect_after = absl::Seconds(3)});
  workers.Attach(WorkerId(0), 1, kWhenAsked);
  workers.Attach(WorkerId(1), 1, kWhenAsked);
  workers.Take(WorkerId(1), 1, Job(absl::Seconds(1)), kWhenAsked);
  workers.Heard(WorkerId(1), absl::Seconds(2));
  EXPECT_EQ(workers.Silent(absl::Seconds(4)), std::vector<WorkerId>());
  workers.CheckInvariants();
  EXPECT_EQ(workers.attached().with_room().begin()->worker, WorkerId(1));
  EXPECT_FALSE(workers.attached().IsUsable(*workers.Find(WorkerId(0))));
  workers.Heard(WorkerId(0), absl::Seconds(4));
  EXPECT_EQ(workers.attached().with_room().begin()->worker, WorkerId(0));
  workers.Silent(absl::Seconds(99));
  EXPECT_TRUE(workers.attached().IsUsable(*workers.Find(WorkerId(0))));  // all are
}

TEST(WorkersTest, IdsOfOwnWorkersPassOverThoseThatAreTaken) {
  WorkerTable workers({});
  workers.Attach(WorkerId(0), 1, kWhenAsked);
  workers.Attach(WorkerId(1), 1, kWhenAsked);
  EXPECT_EQ(workers.AddOwn(Pool::kLocal, kWhenAsked), WorkerId(2));
  EXPECT_EQ(workers.alive(), 3u);
}

TEST(WorkersTest, OneThatNeverAttachedIsForgotten) {
  WorkerTable workers({});
  const WorkerId worker = workers.AddOwn(Pool::kLocal, kWhenAsked);
  workers.SetLost(worker, absl::ZeroDuration());
  EXPECT_EQ(workers.Find(worker), nullptr);
  EXPECT_EQ(workers.alive(), 0u);
  EXPECT_NE(workers.AddOwn(Pool::kLocal, kWhenAsked), worker);
}

TEST(OverrunHistogramTest, TheLimitFollowsWhatWasMeasured) {
  OverrunHistogram overruns;
  EXPECT_EQ(overruns.Limit(absl::Seconds(1)), absl::Seconds(4));
  for (int i = 0; i < 100; ++i) overruns.AddMeasurement(absl::Seconds(1), absl::Milliseconds(900));
  EXPECT_EQ(overruns.Limit(absl::Seconds(1)), absl::Seconds(1.5));
  for (int i = 0; i < 100; ++i) overruns.AddMeasurement(absl::Seconds(1), absl::Milliseconds(7900));
  EXPECT_GT(overruns.Limit(absl::Seconds(1)), absl::Seconds(7.9));
  EXPECT_LT(overruns.Limit(absl::Seconds(1)), absl::Seconds(8.1));
}

TEST(OverrunHistogramTest, AFewJobsTellNothing) {
  OverrunHistogram overruns;
  for (int i = 0; i < 19; ++i) overruns.AddMeasurement(absl::Seconds(1), absl::Seconds(20));
  EXPECT_EQ(overruns.Limit(absl::Seconds(1)), absl::Seconds(4));
  overruns.AddMeasurement(absl::Seconds(1), absl::Seconds(20));
  EXPECT_GT(overruns.Limit(absl::Seconds(1)), absl::Seconds(20));
}

TEST(OverrunHistogramTest, ShortJobsTellNothing) {
  OverrunHistogram overruns;
  for (int i = 0; i < 100; ++i)
    overruns.AddMeasurement(absl::Milliseconds(1), absl::Milliseconds(50));
  EXPECT_EQ(overruns.Limit(absl::Seconds(1)), absl::Seconds(4));
}

TEST(PlacementCandidateTest, LoadIsWeighedAgainstWarmth) {
  std::vector<PlacementCandidate> workers = {{.worker = WorkerId(0), .load = absl::Seconds(1)},
                                             {.worker = WorkerId(1), .load = absl::Seconds(2)}};
  EXPECT_EQ(ChooseCandidate(workers).worker, WorkerId(0));
  workers[1].saved = absl::Milliseconds(1500);
  EXPECT_EQ(ChooseCandidate(workers).worker, WorkerId(1));
  workers[1].is_large_enough = false;
  EXPECT_EQ(ChooseCandidate(workers).worker, WorkerId(0));
}

}  // namespace
}  // namespace galley::director
