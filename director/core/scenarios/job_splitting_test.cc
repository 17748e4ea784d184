// Platforms of a running job go to a worker that has nothing to do.
#include <string>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Fault = WorkerReport::Fault;

// Big is expected to take four seconds for four platforms, one each, as does its load. Worker 0 has
// it; the others come with the first look.
struct Alone {
  explicit Alone(CookOptions options = {}, uint32_t slot_count = 1,
                 const std::string& project = "Big ~ 4000000\n")
      : shell(project, With(std::move(options))), slots(slot_count) {
    shell.hold_workers = true;
    shell.Request({"Big"});
    Attach();
    whole = shell.JobOf("Big");
    shell.TakeLog();
  }

  static CookOptions With(CookOptions options) {
    options.platform_count = 4;
    if (options.workers == 1) options.workers = 2;
    options.resources = {{"gpu", 2}};
    return options;
  }

  void Attach() {
    shell.Send(WorkerAttached{.worker = shell.spawned.front(), .slots = slots, .in_hand = {}});
    shell.spawned.pop_front();
  }

  std::string Look() {
    while (!shell.spawned.empty()) Attach();
    shell.Pass(absl::Milliseconds(200));
    return shell.TakeLog();
  }

  CoreHarness shell;
  uint32_t slots;
  HarnessJob whole;
};

TEST(JobSplittingTest, TheLastPlatformsOfWhatRunsGoToAnIdleWorker) {
  Alone alone;
  EXPECT_EQ(alone.Look(), "retract Big of 8\nstart Big 1\n");
  EXPECT_EQ(alone.shell.JobOf("Big").start.platforms, 0b1000u);
  EXPECT_EQ(alone.shell.core().counters().jobs_split, 1u);
}

// A part is an attempt of its own; the last attempt has the machine for itself (exclusive_run.h).
TEST(JobSplittingTest, APartThatWouldBeTheLastAttemptAfterLimitsIsTakenBack) {
  Alone alone({.workers = 3});
  CoreHarness& shell = alone.shell;
  std::vector<HarnessJob> jobs = {alone.whole};
  for (int i = 0; i < 2; ++i) {
    alone.Attach();
    shell.Pass(absl::Milliseconds(200));
    jobs.push_back(shell.JobOf("Big"));
  }
  ASSERT_NE(jobs[1].start.attempt, jobs[2].start.attempt) << shell.TakeLog();
  shell.TakeLog();
  for (int i = 0; i < 2; ++i)
    shell.Report(jobs[i], WorkerReport::Failed{.fault = Fault::kMemory, .error = "big"});
  EXPECT_TRUE(shell.Says("cancel Big\n")) << shell.TakeLog();
  EXPECT_EQ(shell.JobOf("Big").start.platforms, 0b1111u);
}

TEST(JobSplittingTest, ResultsComeFromBoth) {
  Alone alone;
  alone.Look();
  const HarnessJob part = alone.shell.JobOf("Big");
  for (PlatformIndex p = 0; p < 3; ++p) alone.shell.Saved(alone.whole, p);
  alone.shell.Saved(part, 3);
  const std::string log = alone.shell.TakeLog();
  EXPECT_NE(log.find("done Big"), std::string::npos) << log;
  EXPECT_EQ(log.find("cancel"), std::string::npos) << log;
  const Counters& counters = alone.shell.core().counters();
  EXPECT_EQ(counters.results_cooked, 4u);
  EXPECT_EQ(counters.results_dropped, 0u);
  EXPECT_EQ(counters.jobs_retried, 0u);
  EXPECT_EQ(counters.backups_started, 0u);
}

TEST(JobSplittingTest, OneThatHadBegunCountsAndTheOtherIsCancelled) {
  Alone alone;
  alone.Look();
  const HarnessJob part = alone.shell.JobOf("Big");
  alone.shell.Saved(alone.whole, 3);
  EXPECT_TRUE(alone.shell.Says("cancel Big\n")) << alone.shell.TakeLog();
  alone.shell.Saved(part, 3);
  EXPECT_EQ(alone.shell.core().counters().results_dropped, 1u);
}

TEST(JobSplittingTest, AllThatAreIdleHaveTheirShare) {
  Alone alone({.workers = 4});
  EXPECT_EQ(alone.Look(), "retract Big of 8\nstart Big 1\nretract Big of 4\nstart Big 2\n");
  EXPECT_EQ(alone.Look(), "") << "two at one worker are done as soon as one after a load";
}

TEST(JobSplittingTest, AsManyHaveOneAsMayDieOfIt) {
  Alone alone({.workers = 4, .own_fault_attempts_max = 2});
  EXPECT_EQ(alone.Look(), "retract Big of 8\nstart Big 1\n");
  EXPECT_EQ(alone.Look(), "");
}

TEST(JobSplittingTest, TwoPartsOfOneInOneLookAreNotTooMany) {
  CoreHarness shell("Big ~ 16000000\n", {.platform_count = 16, .workers = 4});
  shell.hold_workers = true;
  shell.Request({"Big"});
  while (!shell.spawned.empty()) {  // the last two within the time between two looks
    shell.Send(WorkerAttached{.worker = shell.spawned.front(), .slots = 1, .in_hand = {}});
    shell.spawned.pop_front();
  }
  EXPECT_EQ(shell.core().counters().jobs_split, 1u);
  shell.Pass(absl::Milliseconds(200));
  EXPECT_EQ(shell.core().counters().jobs_split, 2u) << "three may have it";
}

// The worker may have begun a platform that another one has now.
TEST(JobSplittingTest, WhoIsDoneWithWhatItKeptIsToldToLeaveTheRestAndStoppedIfThatKills) {
  Alone alone;
  alone.Look();
  const HarnessJob part = alone.shell.JobOf("Big");
  for (PlatformIndex p = 0; p < 3; ++p) alone.shell.Saved(alone.whole, p);
  EXPECT_TRUE(alone.shell.Says("retract Big\n")) << alone.shell.TakeLog();
  alone.shell.TakeLog();
  alone.shell.Report(part, WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  EXPECT_TRUE(alone.shell.Says("cancel Big\n")) << alone.shell.TakeLog();
}

TEST(JobSplittingTest, AFreeSlotOfTheSameWorkerIsAsGood) {
  Alone alone({}, /*slots=*/2);
  EXPECT_EQ(alone.shell.core().counters().jobs_split, 1u);
  EXPECT_EQ(alone.whole.worker, WorkerId(0));
  EXPECT_EQ(alone.whole.start.platforms, 0b1000u) << "the last that was handed over";
}

TEST(JobSplittingTest, AGainBelowTheBoundIsNone) {
  Alone alone({.split_min = absl::Milliseconds(1'010)});
  EXPECT_EQ(alone.Look(), "");
  Alone worth({.split_min = absl::Milliseconds(990)});
  EXPECT_NE(worth.Look(), "");
}

TEST(JobSplittingTest, OnePlatformIsNotSplit) {
  Alone alone;
  for (PlatformIndex p = 0; p < 3; ++p) alone.shell.Saved(alone.whole, p);
  alone.shell.TakeLog();
  EXPECT_EQ(alone.Look(), "");
}

TEST(JobSplittingTest, WhatHoldsAResourceIsNot) {
  Alone alone({}, 1, "Big ~ 4000000\nBig @gpu\n");
  EXPECT_EQ(alone.Look(), "");
}

TEST(JobSplittingTest, WhatFailedThroughItsOwnFaultIsNot) {
  Alone alone;
  alone.shell.Report(alone.whole, WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  alone.shell.Pass(absl::Seconds(1));
  ASSERT_TRUE(alone.shell.HasOpenJob("Big"));
  alone.shell.TakeLog();
  EXPECT_EQ(alone.Look(), "");
}

// The attempt that is left goes on for its own platforms, then the others are tried again.
TEST(JobSplittingTest, WhatOneOfThemLosesIsCookedOnceTheOtherIsDone) {
  Alone alone;
  alone.Look();
  const HarnessJob part = alone.shell.JobOf("Big");
  alone.shell.Send(WorkerLost{WorkerId(0), "gone", true});
  alone.shell.Saved(part, 3);
  alone.shell.Pass(absl::Seconds(2));
  ASSERT_TRUE(alone.shell.HasOpenJob("Big")) << alone.shell.TakeLog();
  EXPECT_EQ(alone.shell.JobOf("Big").start.platforms, 0b0111u);
  alone.shell.Finish();
  EXPECT_TRUE(alone.shell.Says("ended\n"));
  EXPECT_EQ(alone.shell.core().counters().results_cooked, 4u);
}

TEST(JobSplittingTest, ThreeDeathsQuarantineItWhoeverDied) {
  Alone alone;
  alone.Look();
  const HarnessJob part = alone.shell.JobOf("Big");
  alone.shell.Report(alone.whole, WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  alone.shell.Report(part, WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  alone.shell.Pass(absl::Seconds(2));
  ASSERT_TRUE(alone.shell.HasOpenJob("Big"));
  EXPECT_EQ(alone.shell.JobOf("Big").start.platforms, 0b1111u);
  alone.shell.Failed("Big", Fault::kCrashed);
  EXPECT_TRUE(alone.shell.Says("failed Big: crashed its executor (3 attempts"))
      << alone.shell.TakeLog();
}

TEST(JobSplittingTest, AChangeOfItsFileCancelsBoth) {
  Alone alone;
  alone.Look();
  alone.shell.Send(FilesChanged{alone.shell.project(), {"Big"}, {}});
  const std::string log = alone.shell.TakeLog();
  EXPECT_NE(log.find("cancel Big\n"), log.rfind("cancel Big\n")) << log;
  alone.shell.Finish();
  EXPECT_TRUE(alone.shell.Says("ended\n"));
}

}  // namespace
}  // namespace galley::director
