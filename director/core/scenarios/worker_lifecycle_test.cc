// The core when workers come late, go, are silent, or are killed by their jobs: a test plays the
// shell by hand (CoreHarness).
#include <algorithm>
#include <set>

#include "director/core/jobs/worker_table.h"
#include "director/core/packages/blame.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using Fault = WorkerReport::Fault;

TEST(SpawnTest, TooManyFailuresInARowEndTheCook) {
  CoreHarness shell("A\n", {.spawn_failures_max = 3});
  shell.hold_workers = true;
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(shell.spawned.size(), 1u);
    const WorkerId worker = shell.spawned.front();
    shell.spawned.clear();
    shell.Send(LauncherReported{worker, "no such program"});
  }
  EXPECT_TRUE(
      shell.Says("ended: no worker would start: 3 failures in a row, the last: no such program\n"));
}

TEST(SpawnTest, OneThatEndsBeforeItAttachesCountsAsNotStarted) {
  CoreHarness shell("A\n", {.spawn_failures_max = 1});
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(WorkerLost{shell.spawned.front(), "exit code 3", true});
  EXPECT_TRUE(shell.Says("it ended before it attached: exit code 3"));
  EXPECT_EQ(shell.core().counters().workers_lost, 0u);
}

TEST(SpawnTest, TwoThatSayThatOthersWouldFareTheSameEndTheCook) {
  CookOptions options;
  options.workers = 0;
  options.fleet = {.max = 1};
  CoreHarness shell("A\n", options);
  shell.hold_workers = true;
  shell.Request({"A"});
  const auto end_unfit = [&](bool is_unfit) {
    shell.Pass(absl::Seconds(10));
    ASSERT_FALSE(shell.spawned.empty());
    const WorkerId worker = shell.spawned.back();
    shell.Send(WorkerLost{.worker = worker, .reason = "another certificate", .is_unfit = is_unfit});
  };
  end_unfit(true);
  end_unfit(false);
  end_unfit(true);
  EXPECT_FALSE(shell.Says("ended:"));
  end_unfit(true);
  EXPECT_TRUE(
      shell.Says("ended: no worker would start: 4 failures in a row, the last: it ended "
                 "before it attached: another certificate\n"))
      << shell.TakeLog();
}

TEST(SpawnTest, WhileOneWorkerWorksTheOthersFailuresDoNotEndTheCook) {
  CoreHarness shell("A\n", {.workers = 2, .spawn_failures_max = 2});
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  for (size_t i = 1; i < 10; ++i)
    shell.Send(LauncherReported{shell.spawned[i], "no more processes"});
  EXPECT_FALSE(shell.Says("ended"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

// A healthy worker does a job between the failures of the other: the job proves nothing about
// these.
template <typename Fail>
std::vector<absl::Duration> DelaysBesideAHealthyWorker(const Fail& fail) {
  std::string project;
  std::vector<std::string> names;
  for (char name = 'A'; name <= 'Z'; ++name) {
    names.emplace_back(1, name);
    project += names.back() + "\n";
  }
  CoreHarness shell(project, {.workers = 2});
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request(names);
  const WorkerId healthy = shell.spawned.front();
  shell.spawned.pop_front();
  shell.Send(WorkerAttached{healthy, 1, {}});
  const auto do_a_job = [&] {
    const auto name = std::find_if(names.begin(), names.end(), [&](const std::string& one) {
      return shell.HasOpenJob(one) && shell.JobOf(one).worker == healthy;
    });
    shell.Saved(*name);
  };
  do_a_job();
  shell.spawn_delays.clear();
  for (int i = 0; i < 6; ++i) {
    const WorkerId other = shell.spawned.front();
    shell.spawned.clear();
    fail(shell, other);
    do_a_job();
  }
  return shell.spawn_delays;
}

TEST(SpawnTest, BesideAHealthyWorkerTheDelayOfOneThatDoesNotStartDoubles) {
  const auto delays = DelaysBesideAHealthyWorker([](CoreHarness& shell, WorkerId worker) {
    shell.Send(LauncherReported{worker, "no more processes"});
  });
  ASSERT_EQ(delays.size(), 6u);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(delays[i], BackOff(i + 1)) << i;
}

TEST(SpawnTest, BesideAHealthyWorkerTheDelayOfOneThatIsLostAtOnceDoubles) {
  const auto delays = DelaysBesideAHealthyWorker([](CoreHarness& shell, WorkerId worker) {
    shell.Send(WorkerAttached{worker, 1, {}});
    shell.Send(WorkerLost{worker, "signal 11", true});
  });
  ASSERT_EQ(delays.size(), 6u);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(delays[i], BackOff(i + 1)) << i;
}

TEST(SpawnTest, WorkersThatAreLostBeforeTheyHaveDoneAnythingEndTheCook) {
  CoreHarness shell("A\nB\n", {.losses_max = 4, .losses_of_each_max = 2});
  shell.Request({"A", "B"});
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(shell.Says("ended")) << i;
    shell.Send(WorkerLost{WorkerId(i), "exit code 1", true});
    shell.Pass(absl::Seconds(10));
  }
  EXPECT_TRUE(
      shell.Says("ended: no worker lives: 4 in a row were lost before they had done "
                 "anything, the last: exit code 1\n"));
}

TEST(SpawnTest, ManyWorkersThatAreLostAtOnceAreReplaced) {
  CoreHarness shell("A\nB\n", {.workers = 8, .losses_max = 4});
  shell.Request({"A", "B"});
  for (uint32_t i = 0; i < 8; ++i) shell.Send(WorkerLost{WorkerId(i), "killed", true});
  EXPECT_FALSE(shell.Says("ended"));
  shell.Pass(absl::Seconds(10));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n")) << shell.TakeLog();
}

TEST(SpawnTest, AWorkerThatWorksEndsTheDelays) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  for (uint32_t i = 0; i < 4; ++i) {
    shell.Send(WorkerLost{WorkerId(i), "killed", true});
    shell.Pass(absl::Seconds(10));
  }
  EXPECT_EQ(shell.spawn_delays.back(), BackOff(4));
  shell.Saved("A");
  shell.Send(WorkerLost{WorkerId(4), "killed", true});
  EXPECT_EQ(shell.spawn_delays.back(), BackOff(1));
}

TEST(SpawnTest, WorkersThatCannotWorkEndTheCookAndBlameNoPackage) {
  CoreHarness shell("A\nB\n", {.spawn_failures_max = 3});
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(shell.spawned.size(), static_cast<size_t>(i) + 1);
    shell.Send(WorkerAttached{shell.spawned.back(), 1, {}});
    ASSERT_EQ(shell.JobOf("A").worker, shell.spawned.back());
    shell.Send(WorkerUnfit{shell.spawned.back(), "no such program"});
    shell.Pass(absl::Seconds(5));
  }
  EXPECT_TRUE(shell.Says("no worker would start: 3 failures in a row, the last: no such program"));
  EXPECT_EQ(shell.core().counters().jobs_retried, 0u);
  EXPECT_EQ(shell.core().counters().failed, 0u);
}

TEST(AttachTest, WhatAWorkerShouldHaveAndHasNotIsHandedOverAgain) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  const HarnessJob a = shell.JobOf("A"), b = shell.JobOf("B");
  shell.TakeLog();
  shell.Send(WorkerAttached{a.worker, 4, {b.start.attempt, 12345}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel unknown\n"));
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.TakeLog(), "start A 0\n");
  EXPECT_NE(shell.JobOf("A").start.attempt, a.start.attempt);
  shell.Saved(b);
  shell.Finish();
  EXPECT_EQ(shell.core().counters().workers_started, 1u);
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
}

TEST(AttachTest, AJobThatIsLostOnItsWayEachTimeFailsInTheEnd) {
  CoreHarness shell("A\n", {.infrastructure_attempts_max = 4});
  shell.Request({"A"});
  for (int i = 0; i < 4; ++i) {
    shell.Send(WorkerAttached{WorkerId(0), 4, {}});
    shell.Pass(absl::Seconds(2));
  }
  EXPECT_TRUE(
      shell.Says("failed A: 4 attempts failed for the machine's sake, the last: it was lost on the "
                 "way to its worker\n"));
}

// Loses the worker that makes A; then a second worker makes A. Returns the first hand-over.
HarnessJob LoseTheMakerOfA(CoreHarness& shell) {
  shell.Request({"A"});
  const HarnessJob first = shell.JobOf("A");
  shell.Send(WorkerLost{first.worker, "no route", true});
  shell.Pass(absl::Seconds(1));
  return first;
}

TEST(AttachTest, TheResultOfAWorkerThatWasThoughtLostIsWelcomeAndItsSecondMakerIsRetracted) {
  CoreHarness shell("A\n");
  const HarnessJob first = LoseTheMakerOfA(shell);
  ASSERT_NE(shell.JobOf("A").worker, first.worker);
  shell.TakeLog();
  shell.Saved(first);
  EXPECT_EQ(shell.TakeLog(), "retract A\ndone A\nroot A\npublish 0\nended\n");
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
}

TEST(AttachTest, TheSecondMakerOfALongJobIsCancelled) {
  CoreHarness shell("A ~ 900000\n");
  const HarnessJob first = LoseTheMakerOfA(shell);
  shell.TakeLog();
  shell.Saved(first);
  EXPECT_TRUE(shell.Says("cancel A\n"));
}

TEST(AttachTest, OfTwoResultsForOnePackageOneIsCommitted) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const HarnessJob first = shell.JobOf("A");
  shell.Send(WorkerLost{first.worker, "no route", true});
  shell.Pass(absl::Seconds(1));
  const HarnessJob second = shell.JobOf("A");
  shell.Saved(first);
  const ReportId report = shell.Saved(second);
  EXPECT_EQ(shell.commits.size(), 1u);
  EXPECT_TRUE(shell.acknowledged().contains(report));
}

// The next process numbers its reports anew.
TEST(AttachTest, AnswersForAFormerProcessOfAWorkerDoNotGoToTheNext) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId report = shell.Saved("A");
  ASSERT_EQ(shell.commits.size(), 1u);
  shell.Send(WorkerAttached{.worker = WorkerId(0), .slots = 4, .session = 9});
  const Persist::Item commit = shell.commits.front();
  shell.Send(Persisted{{{commit.package, commit.platform, commit.result}}, ""});
  EXPECT_TRUE(shell.Says("done A"));
  EXPECT_FALSE(shell.acknowledged().contains(report));
}

TEST(AttachTest, WhatWasCommittedWhileItWasThoughtLostIsAcknowledgedWhenItIsSentAgain) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId report = shell.Saved("A");
  shell.Send(WorkerLost{WorkerId(0), "no route", true});
  const Persist::Item commit = shell.commits.front();
  shell.Send(Persisted{{{commit.package, commit.platform, commit.result}}, ""});
  ASSERT_TRUE(shell.Says("done A"));
  ASSERT_FALSE(shell.acknowledged().contains(report));
  shell.Send(WorkerAttached{.worker = WorkerId(0), .slots = 4});
  shell.Resend(report);
  EXPECT_TRUE(shell.acknowledged().contains(report));
}

TEST(AttachTest, AReportOfAnAttemptThatAnotherWorkerWasGivenIsRefused) {
  CoreHarness shell("A\nB\n", {.workers = 2});
  shell.Request({"A", "B"});
  const HarnessJob a = shell.JobOf("A");
  const WorkerId other(a.worker == WorkerId(0) ? 1u : 0u);
  const ReportId report = shell.Saved(HarnessJob{other, a.start});
  EXPECT_FALSE(shell.Says("done A"));
  EXPECT_TRUE(shell.acknowledged().contains(report));
}

TEST(AttachTest, AnIdThatSomebodyAttachedUnderIsNotSpawnedAgain) {
  CoreHarness shell("A\nB\n", {.workers = 2});
  shell.Send(WorkerAttached{WorkerId(0), 1, {}});
  shell.Request({"A", "B"});
  EXPECT_FALSE(shell.Says("spawn 0"));
  EXPECT_TRUE(shell.Says("spawn 1"));
}

TEST(DrainTest, OneThatDrainsGetsNoJobAndAnotherOneGoesOnWithoutALoss) {
  CoreHarness shell("A\nB\nC\n", {.workers = 1, .window_jobs_max = 2});
  shell.slots = 1;
  shell.Request({"A", "B", "C"});
  const std::string before = shell.TakeLog();  // "... start A 0 start B 0": the second one waits
  const size_t first = before.find("start ") + 6;
  const size_t second = before.find("start ", first) + 6;
  shell.Send(DrainAsked{{WorkerId(0), WorkerId(7)}});  // the core does not know worker 7
  EXPECT_TRUE(shell.Says("drain 0\n"));
  EXPECT_TRUE(shell.Says("retract " + before.substr(second, 1))) << before;
  shell.Saved(before.substr(first, 1));
  EXPECT_FALSE(shell.Says("start"));
  shell.Send(WorkerLost{WorkerId(0), "drained", true});
  EXPECT_TRUE(shell.Says("spawn 1\n"));
  EXPECT_TRUE(shell.Says("start " + before.substr(second, 1) + " 1\n"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().workers_lost, 0u);
  EXPECT_EQ(shell.core().counters().jobs_retried, 0u);
  EXPECT_THAT(shell.spawn_delays, testing::ElementsAre(absl::ZeroDuration(), absl::ZeroDuration()));
}

TEST(DrainTest, OneThatCameByItselfIsReplacedByWhoeverStartedIt) {
  CoreHarness shell("A\n", {.workers = 0});
  const WorkerId far(kForeignWorkers);
  const std::string drained = "drain " + std::to_string(kForeignWorkers) + " start another\n";
  shell.Send(WorkerAttached{.worker = far, .slots = 1, .session = 1});
  shell.Request({"A"});
  shell.Send(DrainAsked{{far}});
  EXPECT_TRUE(shell.Says(drained));
  shell.TakeLog();
  shell.Send(WorkerAttached{.worker = far, .slots = 1, .session = 1});
  EXPECT_TRUE(shell.Says(drained)) << "it is told again when it comes back";
  shell.TakeLog();
  shell.Send(WorkerAttached{.worker = far, .slots = 1, .session = 2});
  EXPECT_FALSE(shell.Says("drain")) << "that is the other one";
}

TEST(DrainTest, AnUrgentPackageOrOneThatKilledAnExecutorGoesToAnotherWorkerToo) {
  CoreHarness shell("A\nB\nC\n", {.workers = 2});
  shell.slots = 1;
  shell.Request({"A"});
  const WorkerId first = shell.JobOf("A").worker;
  const WorkerId other(first == WorkerId(0) ? 1u : 0u);
  shell.Send(DrainAsked{{other}});
  shell.Failed("A", Fault::kCrashed);
  shell.Pass(absl::Minutes(1));
  EXPECT_EQ(shell.JobOf("A").worker, first);  // it must not go where nothing may begin
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(DrainTest, OneThatDiesWithJobsIsLostAndOneThatAttachesAgainIsToldAgain) {
  CoreHarness shell("A\n", {.workers = 1});
  shell.Request({"A"});
  shell.Send(DrainAsked{{WorkerId(0)}});
  shell.TakeLog();
  const AttemptId attempt = shell.JobOf("A").start.attempt;
  shell.Send(WorkerAttached{.worker = WorkerId(0), .slots = 4, .in_hand = {attempt}});
  EXPECT_TRUE(shell.Says("drain 0\n"));
  shell.Send(WorkerLost{WorkerId(0), "killed", true});
  EXPECT_EQ(shell.core().counters().workers_lost, 1u);
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(WorkerLossTest, ALossThatAPackageExplainsIsThatPackagesFault) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    shell.Send(WorkerLost{shell.JobOf("A").worker, "stack overflow", false});
    shell.Pass(absl::Seconds(6));
  }
  EXPECT_TRUE(
      shell.Says("failed A: its worker was lost (3 attempts ended so); quarantined for this cook: "
                 "stack overflow\n"));
  EXPECT_EQ(shell.core().counters().workers_lost, 3u);
}

TEST(WorkerLossTest, AnInfrastructureLossIsTriedAgainMoreThanThreeTimes) {
  CoreHarness shell("A\n", {.infrastructure_attempts_max = 10});
  shell.Request({"A"});
  for (int i = 0; i < 9; ++i) {
    shell.Send(WorkerLost{shell.JobOf("A").worker, "killed", true});
    shell.Pass(absl::Seconds(12));
  }
  EXPECT_FALSE(shell.Says("failed"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().jobs_retried, 9u);
}

TEST(WorkerLossTest, WhatWasMerelyQueuedBehindItsSlotsIsNotBlamed) {
  CoreHarness shell("A\nB\n", {.own_fault_attempts_max = 1});
  shell.slots = 1;
  shell.Request({"A", "B"});
  ASSERT_TRUE(shell.Says("start B 0\nstart A 0\n"));  // the lowest rank comes first
  shell.Send(WorkerLost{WorkerId(0), "crashed", false});
  EXPECT_TRUE(shell.Says("failed B"));
  shell.Finish();
  EXPECT_FALSE(shell.Says("failed A"));
  EXPECT_TRUE(shell.Says("done A"));
}

TEST(SilenceTest, AWorkerThatHoldsJobsAndSaysNothingIsStoppedAndItsJobsGoElsewhere) {
  CoreHarness shell("A\n", {.silence_max = absl::Seconds(60)});
  shell.Request({"A"});
  shell.Pass(absl::Seconds(60));
  EXPECT_FALSE(shell.Says("stop"));
  shell.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell.Says("stop 0\n"));
  EXPECT_EQ(shell.core().counters().workers_lost, 1u);
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.JobOf("A").worker, WorkerId(1));
  // The launcher notices the death as well.
  shell.Send(WorkerLost{WorkerId(0), "killed", true});
  EXPECT_EQ(shell.core().counters().workers_lost, 1u);
}

TEST(SilenceTest, AnySignOfLifeWillDo) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  shell.Pass(absl::Seconds(50));
  shell.Send(WorkerAlive{WorkerId(0)});
  shell.Pass(absl::Seconds(50));
  shell.Saved("A");
  shell.Pass(absl::Seconds(50));
  EXPECT_FALSE(shell.Says("stop"));
}

TEST(SilenceTest, OneThatHoldsNothingMayBeSilentAndHasItsTimeFromTheHandOver) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A"});
  shell.Saved("A");
  shell.Pass(absl::Seconds(500));
  shell.Request({"B"});
  shell.Pass(absl::Seconds(59));
  EXPECT_FALSE(shell.Says("stop"));
  shell.Pass(absl::Seconds(2));
  EXPECT_TRUE(shell.Says("stop 0"));
}

TEST(SilenceTest, APauseOfTheDirectorIsNoSilenceOfItsWorkers) {
  CoreHarness shell("A\n", {.silence_max = absl::Seconds(60)});
  shell.Request({"A"});
  std::vector<Effect> effects;
  shell.core().Step(absl::UnixEpoch() + absl::Hours(1), Tick{}, effects);
  EXPECT_TRUE(effects.empty());
}

TEST(SilenceTest, AWorkerThatNeverAttachesIsStoppedAndAnotherStarted) {
  CoreHarness shell("A\n", {.start_max = absl::Seconds(20)});
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Pass(absl::Seconds(21));
  EXPECT_EQ(shell.TakeLog(), "spawn 0\nstop 0\nspawn 1\n");
}

TEST(RefusalTest, ItFailsAtOnceWithoutARetry) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Failed("A", Fault::kRefused, "another cooker identity");
  EXPECT_TRUE(shell.Says("failed A: another cooker identity\n"));
  EXPECT_EQ(shell.core().counters().jobs_retried, 0u);
  EXPECT_EQ(shell.core().counters().executors_lost, 0u);
}

TEST(FaultTest, TheReasonOfTheQuarantineIsNamed) {
  for (const auto& [fault, text] : {std::pair(Fault::kCrashed, "crashed its executor"),
                                    std::pair(Fault::kMemory, "outgrew its memory limit"),
                                    std::pair(Fault::kTimeout, "ran out of time")}) {
    CoreHarness shell("A\n");
    shell.Request({"A"});
    for (int i = 0; i < 3; ++i) shell.Failed("A", fault, "why");
    EXPECT_TRUE(shell.Says(std::string("failed A: ") + text + " (3 attempts")) << shell.TakeLog();
    EXPECT_EQ(shell.core().counters().executors_lost, 3u);
    EXPECT_EQ(shell.core().counters().jobs_retried, 2u);
  }
}

TEST(FaultTest, AnExecutorThatWasKilledForTheMachinesSakeIsCountedAsLostAndBlamesNobody) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Report(shell.JobOf("A"),
               WorkerReport::Failed{
                   .fault = Fault::kInfrastructure, .error = "signal 9", .executor_lost = true});
  EXPECT_EQ(shell.core().counters().executors_lost, 1u);
  EXPECT_FALSE(shell.Says("failed A"));
}

TEST(FaultTest, TheNextAttemptGoesToAnotherWorker) {
  CoreHarness shell("A\n", {.workers = 2});
  shell.Request({"A"});
  const WorkerId first = shell.JobOf("A").worker;
  shell.Failed("A", Fault::kCrashed);
  EXPECT_NE(shell.JobOf("A").worker, first);
}

TEST(FaultTest, EachAttemptGoesToAWorkerThatHasNotSeenThePackage) {
  CoreHarness shell("A\n", {.workers = 3});
  shell.Request({"A"});
  std::set<WorkerId> workers;
  for (int i = 0; i < 3; ++i) {
    workers.insert(shell.JobOf("A").worker);
    shell.Failed("A", Fault::kCrashed);
  }
  EXPECT_EQ(workers.size(), 3u);
  EXPECT_TRUE(shell.Says("failed A"));
}

TEST(FaultTest, ItIsNotTriedAgainWhereItFailedBecauseTheOthersAreFull) {
  CoreHarness shell("A\nB\nC\nD\nE\n", {.workers = 2, .window_jobs_max = 2});
  shell.slots = 1;
  shell.Request({"A", "B", "C", "D", "E"});
  const WorkerId first = shell.JobOf("E").worker;  // the lowest rank comes first
  ASSERT_FALSE(shell.HasOpenJob("A")) << "both have all that they may have";
  shell.Failed("E", Fault::kCrashed);
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, first);
  EXPECT_NE(shell.JobOf("E").worker, first);
}

// Workers of one slot, which take two jobs; each package comes when its look-up is answered.
struct FullWorkers {
  explicit FullWorkers(uint32_t workers)
      : shell("Killer\nA\nB\nC\nD\nE\n", {.workers = workers, .window_jobs_max = 2}) {
    shell.slots = 1;
    shell.hold_look_ups = true;
    shell.Request({"Killer", "A", "B", "C", "D", "E"});
  }
  WorkerId Come(const std::string& name, int ms) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name))
        shell.Send(LookedUp{{{item.package, 0, item.generation,
                              LookedUp::Miss{.last_save = absl::Milliseconds(ms)}}}});
    }
    return shell.JobOf(name).worker;
  }
  CoreHarness shell;
};

TEST(FaultTest, WhenItHasBeenEverywhereItGoesWhereThereIsRoom) {
  FullWorkers cook(2);
  ASSERT_EQ(cook.Come("Killer", 20), WorkerId(0));
  cook.shell.Failed("Killer", Fault::kCrashed);
  ASSERT_EQ(cook.shell.JobOf("Killer").worker, WorkerId(1));
  ASSERT_EQ(cook.Come("A", 1), WorkerId(0));
  ASSERT_EQ(cook.Come("B", 1), WorkerId(0));
  ASSERT_EQ(cook.Come("C", 900), WorkerId(1));
  cook.shell.Failed("Killer", Fault::kCrashed);
  ASSERT_TRUE(cook.shell.HasOpenJob("Killer"));
  EXPECT_EQ(cook.shell.JobOf("Killer").worker, WorkerId(1)) << "0 has less to do, and is full";
}

TEST(FaultTest, WhereAllOthersAreFullItGoesToTheOneWithTheLeastToDo) {
  FullWorkers cook(3);
  ASSERT_EQ(cook.Come("A", 500), WorkerId(0));
  ASSERT_EQ(cook.Come("B", 10), WorkerId(1));
  ASSERT_EQ(cook.Come("Killer", 900), WorkerId(2));
  ASSERT_EQ(cook.Come("C", 10), WorkerId(1));
  ASSERT_EQ(cook.Come("D", 10), WorkerId(0));
  cook.shell.Failed("Killer", Fault::kCrashed);
  ASSERT_TRUE(cook.shell.HasOpenJob("Killer"));
  EXPECT_EQ(cook.shell.JobOf("Killer").worker, WorkerId(1));
}

TEST(FaultTest, WhereAllOthersAreFullItDoesNotGoToOneThatIsSilent) {
  FullWorkers cook(3);
  ASSERT_EQ(cook.Come("A", 10), WorkerId(0));
  cook.shell.Saved("A");
  for (int i = 0; i < 5; ++i) {
    cook.shell.Pass(absl::Seconds(1));
    for (const uint32_t worker : {0, 2}) cook.shell.Send(WorkerAlive{WorkerId(worker)});
  }
  ASSERT_EQ(cook.Come("Killer", 900), WorkerId(0));
  ASSERT_EQ(cook.Come("B", 10), WorkerId(2));
  ASSERT_EQ(cook.Come("C", 10), WorkerId(2));
  cook.shell.Failed("Killer", Fault::kCrashed);
  ASSERT_TRUE(cook.shell.HasOpenJob("Killer"));
  EXPECT_EQ(cook.shell.JobOf("Killer").worker, WorkerId(2));
}

TEST(FaultTest, WhereThereIsOneWorkerAllAttemptsAreThere) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(shell.JobOf("A").worker, WorkerId(0));
    shell.Failed("A", Fault::kTimeout);
  }
  EXPECT_TRUE(shell.Says("failed A: ran out of time (3 attempts"));
}

TEST(FaultTest, OwnFaultsAndTheMachinesAreCountedApart) {
  CoreHarness shell("A\nB\n", {.infrastructure_attempts_max = 10});
  shell.Request({"A", "B"});
  shell.Saved("B");  // the worker is none that is held (Breakers)
  const auto machine = [&] {
    shell.Failed("A", Fault::kInfrastructure, "signal 9");
    shell.Pass(absl::Seconds(6));
  };
  for (int i = 0; i < 4; ++i) machine();
  shell.Failed("A", Fault::kCrashed);
  for (int i = 0; i < 4; ++i) machine();
  shell.Failed("A", Fault::kMemory);
  EXPECT_FALSE(shell.Says("failed A"));
  machine();
  EXPECT_FALSE(shell.Says("failed A")) << "nine of the machine's, two of its own";
  shell.Failed("A", Fault::kCrashed, "signal 11");
  EXPECT_TRUE(
      shell.Says("failed A: crashed its executor (3 attempts ended by crashes or limits); "
                 "quarantined for this cook: signal 11"))
      << shell.TakeLog();
}

TEST(FaultTest, TheMachineIsTriedAHundredTimesWithABackOffThatDoubles) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  shell.Saved("B");  // the worker is none that is held (Breakers)
  for (uint32_t i = 1; i <= 99; ++i) {
    const AttemptId attempt = shell.JobOf("A").start.attempt;
    shell.Failed("A", Fault::kInfrastructure, "signal 9");
    shell.Pass(BackOff(i) - absl::Milliseconds(1));
    ASSERT_EQ(shell.JobOf("A").start.attempt, attempt) << i;
    shell.Pass(absl::Milliseconds(1));
    ASSERT_NE(shell.JobOf("A").start.attempt, attempt) << i;
  }
  EXPECT_FALSE(shell.Says("failed A"));
  shell.Failed("A", Fault::kInfrastructure, "signal 9");
  EXPECT_TRUE(
      shell.Says("failed A: 100 attempts failed for the machine's sake, the last: signal 9"));
}

TEST(FaultTest, TheCulpritIsNamedWithItsLogAndTheRestIsCooked) {
  CoreHarness shell("A\nB\nC\n", {.workers = 2});
  shell.Request({"A", "B", "C"});
  for (int i = 0; i < 3; ++i) {
    shell.Report(shell.JobOf("B"),
                 WorkerReport::Failed{.fault = Fault::kCrashed,
                                      .error = "signal 11",
                                      .log = "tail of attempt " + std::to_string(i + 1),
                                      .executor_lost = true});
  }
  EXPECT_TRUE(shell.Says("failed B: crashed its executor"));
  EXPECT_TRUE(shell.Says("log=tail of attempt 3\n"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("root A C\n"));
  EXPECT_EQ(shell.core().counters().failed, 1u);
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
}

TEST(FaultTest, TheNextCookTriesAQuarantinedPackageAgain) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) shell.Failed("A", Fault::kCrashed);
  shell.TakeLog();
  shell.Request({"A"});
  for (int i = 0; i < 2; ++i) shell.Failed("A", Fault::kCrashed);
  EXPECT_FALSE(shell.Says("failed A"));
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("done A"));
}

// Two workers: the first has A and B, and B was taken from it for the second, though it may have
// begun.
CoreHarness TakenAway(HarnessJob& before, CookOptions options = {}) {
  options.workers = 2;
  CoreHarness shell("A ~ 100000\nB ~ 100000\n", options);
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"B", "A"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  before = shell.JobOf("B");
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_TRUE(shell.Says("retract B\n"));
  shell.TakeLog();
  return shell;
}

const WorkerReport::Failed kCrash{
    .fault = Fault::kCrashed, .error = "signal 11", .executor_lost = true};

TEST(FaultTest, AJobThatWasTakenAwayAndHadBegunCountsWhenItKills) {
  HarnessJob before;
  CoreHarness shell = TakenAway(before, {.own_fault_attempts_max = 2});
  shell.Report(before, kCrash);
  EXPECT_FALSE(shell.Says("failed B"));
  shell.Failed("B", Fault::kCrashed);
  EXPECT_TRUE(shell.Says("failed B: crashed its executor (2 attempts"));
}

TEST(FaultTest, TheLastSuchFaultEndsTheAttemptThatRunsElsewhere) {
  HarnessJob before;
  CoreHarness shell = TakenAway(before, {.own_fault_attempts_max = 1});
  shell.Report(before, kCrash);
  EXPECT_TRUE(shell.Says("cancel B\n"));
  EXPECT_TRUE(shell.Says("failed B: crashed its executor (1 attempts")) << shell.TakeLog();
  shell.Finish();
  EXPECT_TRUE(shell.Says("root A\n"));
}

TEST(FaultTest, WhatWasTakenAwayAndMayGoOnIsEndedWhenItsPackageKills) {
  HarnessJob before;
  CoreHarness shell = TakenAway(before);
  shell.Failed("B", Fault::kCrashed);
  EXPECT_TRUE(shell.Says("cancel B\n")) << "the one that was taken away";
  shell.TakeLog();
  shell.Failed("B", Fault::kCrashed);
  EXPECT_FALSE(shell.Says("cancel")) << "it was said once";
}

TEST(FaultTest, WhatWasTakenAwayAndGivenBackIsNotEndedAgain) {
  HarnessJob before;
  CoreHarness shell = TakenAway(before);
  shell.Report(before, WorkerReport::Ended{});
  shell.Failed("B", Fault::kCrashed);
  EXPECT_FALSE(shell.Says("cancel"));
}

TEST(FaultTest, OtherPlatformsOfTheAttemptGoOn) {
  CoreHarness shell("A\n", {.platform_count = 2, .own_fault_attempts_max = 1});
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  shell.Report(job, WorkerReport::Failed{Fault::kCrashed, "signal 6", "", MaskOf(0)});
  shell.Saved(job, 1);
  EXPECT_TRUE(shell.Says("failed A 0: crashed its executor"));
  EXPECT_TRUE(shell.Says("done A"));
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
}

TEST(FaultTest, AnAttemptThatEndsWithoutASaveIsTriedAgainAfterAWhile) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  shell.Report(job, WorkerReport::Ended{});
  EXPECT_EQ(shell.JobOf("A").start.attempt, job.start.attempt);
  shell.Pass(absl::Seconds(1));
  EXPECT_NE(shell.JobOf("A").start.attempt, job.start.attempt);
}

}  // namespace
}  // namespace galley::director
