// WorkerTrust: the last jobs of a cook wait for no worker that is slow or failed last; paces.
#include "director/core/workers/worker_trust.h"

#include <string>

#include "director/core/jobs/overrun_histogram.h"
#include "director/core/jobs/pace.h"
#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr WorkerId kFar0(kForeignWorkers), kFar1(kForeignWorkers + 1);

WorkerAttached On(const std::string& machine, WorkerId worker) {
  return {.worker = worker, .slots = 1, .in_hand = {}, .session = 1, .machine = machine};
}

CookOptions Farm() {
  CookOptions options;
  options.workers = 0;
  options.window_jobs_max = 2;
  return options;
}

// Seconds in which these workers speak.
void Pass(CoreHarness& shell, int seconds, const std::vector<WorkerId>& workers) {
  for (int i = 0; i < seconds; ++i) {
    for (const WorkerId worker : workers) shell.Send(WorkerAlive{worker});
    shell.Pass(absl::Seconds(1));
  }
}

TEST(PaceTest, IsTheRatioOfWhatJobsTookToWhatWasExpected) {
  Pace pace;
  EXPECT_DOUBLE_EQ(pace.Factor(), 1);
  for (int i = 0; i < 10; ++i) pace.AddMeasurement(absl::Seconds(1), absl::Seconds(20));
  EXPECT_NEAR(pace.Factor(), 20, 1);
}

TEST(PaceTest, OneJobOfAnUnknownCostIsNotBelievedThreeAre) {
  Pace pace;
  pace.AddMeasurement(absl::Seconds(1), absl::Seconds(8));
  EXPECT_LT(pace.Factor(), WorkerTrust::kSlow);
  pace.AddMeasurement(absl::Seconds(1), absl::Seconds(8));
  pace.AddMeasurement(absl::Seconds(1), absl::Seconds(8));
  EXPECT_GT(pace.Factor(), WorkerTrust::kSlow);
}

TEST(PaceTest, AJobThatAnotherWorkerDidMeanwhileIsBelieved) {
  Pace pace;
  pace.AddOutrun(absl::Seconds(1), absl::Seconds(8));
  EXPECT_GT(pace.Factor(), WorkerTrust::kSlow);
  Pace quicker;
  quicker.AddOutrun(absl::Seconds(8), absl::Seconds(1));  // it began later
  EXPECT_DOUBLE_EQ(quicker.Factor(), 1);
}

TEST(PaceTest, AShortJobDoesNotMakeUpForASlowOne) {
  Pace pace;
  pace.AddOutrun(absl::Seconds(1), absl::Seconds(20));
  pace.AddMeasurement(absl::Seconds(1), absl::Seconds(2));
  EXPECT_GT(pace.Factor(), WorkerTrust::kSlow);
  for (int i = 0; i < 20; ++i) pace.AddMeasurement(absl::Seconds(1), absl::Seconds(1));
  EXPECT_LT(pace.Factor(), 1.1);  // it was repaired
}

TEST(OverrunHistogramTest, TheFarLimitIsMoreThanTheLimit) {
  OverrunHistogram overruns;
  EXPECT_EQ(overruns.FarLimit(absl::Seconds(1)), absl::Seconds(8));
  EXPECT_GT(overruns.Usual(), 1e9);
  for (int i = 0; i < 1000; ++i) overruns.AddMeasurement(absl::Seconds(1), absl::Milliseconds(900));
  EXPECT_EQ(overruns.FarLimit(absl::Seconds(1)), absl::Seconds(1.875));
  EXPECT_DOUBLE_EQ(overruns.Usual(), 1);
  for (int i = 0; i < 20; ++i) overruns.AddMeasurement(absl::Seconds(1), absl::Seconds(20));
  EXPECT_GT(overruns.FarLimit(absl::Seconds(1)), absl::Seconds(20));
}

// Two workers with much to do; one worker is at its first job for far too long.
TEST(WorkerTrustTest, AJobThatRunsForFarTooLongIsBegunElsewhereThoughNobodyIsIdle) {
  std::string project = "Slow ~ 900000\n";
  std::vector<std::string> names = {"Slow"};
  for (int i = 0; i < 40; ++i) {
    names.push_back("p" + std::to_string(i));
    project += names.back() + " ~ 800000\n";
  }
  CoreHarness shell(project, Farm());
  shell.Send(On("m0", kFar0));
  shell.Send(On("m1", kFar1));
  shell.Request(names);
  const HarnessJob slow = shell.JobOf("Slow");
  const WorkerId other = slow.worker == kFar0 ? kFar1 : kFar0;
  shell.TakeLog();
  for (int i = 0; i < 12 && !shell.Says("start Slow"); ++i) {
    EXPECT_LT(i, 10);
    const HarnessJob* first = nullptr;
    for (const std::string& name : names) {
      if (name == "Slow" || !shell.HasOpenJob(name)) continue;
      const HarnessJob& job = shell.JobOf(name);
      if (job.worker == other && (!first || job.start.attempt < first->start.attempt)) first = &job;
    }
    ASSERT_NE(first, nullptr);
    shell.Saved(HarnessJob(*first));
    Pass(shell, 1, {kFar0, kFar1});
    EXPECT_TRUE(i >= 1 || !shell.Says("start Slow"));
  }
  EXPECT_EQ(shell.JobOf("Slow").worker, other);
}

// The last job is rather left to a trusted worker, though the worker is busy.
TEST(WorkerTrustTest, AWorkerWhoseLastJobFailedGetsNoneOfTheLast) {
  CoreHarness shell("First ~ 5000000\nLong ~ 6000000\nLast ~ 20000000\n", Farm());
  shell.Send(On("m0", kFar0));
  shell.Send(On("m1", kFar1));
  shell.Request({"First", "Long"});
  const HarnessJob first = shell.JobOf("First");
  const WorkerId good = shell.JobOf("Long").worker;
  ASSERT_NE(first.worker, good);
  shell.Report(first, WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                           .error = "no space left on device"});
  Pass(shell, 1, {kFar0, kFar1});
  EXPECT_EQ(shell.JobOf("First").worker, good);  // behind Long
  EXPECT_TRUE(shell.HasOpenJob("First"));
  // Last would not be made there, and then once more elsewhere, before all else is done.
  shell.Send(PackagesDiscovered{{{"Last", InstigatorCategory::kCommandLinePackage}}});
  Pass(shell, 1, {kFar0, kFar1});
  EXPECT_TRUE(!shell.HasOpenJob("Last") || shell.JobOf("Last").worker == good);
  shell.Saved("Long");
  Pass(shell, 1, {kFar0, kFar1});
  ASSERT_TRUE(shell.HasOpenJob("Last")) << shell.TakeLog();
  EXPECT_EQ(shell.JobOf("Last").worker, good);
}

// The trusted worker is busy with the first of the packages for a while.
TEST(WorkerTrustTest, ADoubtfulWorkerHelpsWhereMuchIsAskedForWithoutACook) {
  std::string project = "First ~ 5000000\n";
  for (int i = 0; i < 20; ++i) project += "P" + std::to_string(i) + " ~ 5000000\n";
  CoreHarness shell(project, Farm());
  shell.Send(On("m0", kFar0));
  shell.Send(On("m1", kFar1));
  shell.Ask(1, "First");
  const HarnessJob first = shell.JobOf("First");
  shell.Report(first, WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                           .error = "no space left on device"});
  shell.TakeJobs();
  for (int i = 0; i < 20; ++i) shell.Ask(static_cast<uint64_t>(i) + 2, "P" + std::to_string(i));
  Pass(shell, 1, {kFar0, kFar1});
  int at_doubtful = 0;
  for (const HarnessJob& job : shell.TakeJobs()) at_doubtful += job.worker == first.worker;
  EXPECT_GT(at_doubtful, 0);
}

TEST(WorkerTrustTest, WhatOnlyADoubtfulWorkerCanDoItGets) {
  CoreHarness shell("First % tool ~ 5000000\n", Farm());
  shell.Send(On("m0", kFar0));
  WorkerAttached trusted = On("m1", kFar1);
  trusted.lacks = {"tool"};
  shell.Send(trusted);
  shell.Request({"First"});
  shell.Report(shell.JobOf("First"),
               WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                    .error = "no space left on device"});
  shell.TakeLog();
  Pass(shell, 1, {kFar0, kFar1});
  ASSERT_TRUE(shell.HasOpenJob("First")) << shell.TakeLog();
  EXPECT_EQ(shell.JobOf("First").worker, kFar0);
}

}  // namespace
}  // namespace galley::director
