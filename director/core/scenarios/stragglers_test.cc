// Backups: second attempts at jobs that run for too long near the end.
#include <string>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// Worker 0 has Slow, of which 100 ms are expected; worker 1 was quick and has nothing to do.
struct Race {
  explicit Race(const std::string& project = "Slow ~ 100000\nQuick ~ 90000\n",
                CookOptions options = {})
      : shell(project, With(std::move(options))) {
    shell.slots = 1;
    shell.Request({"Quick", "Slow"});
    EXPECT_EQ(shell.JobOf("Slow").worker, WorkerId(0));
    for (PlatformIndex p = 0; p < platforms; ++p) shell.Saved("Quick", p);
    shell.TakeLog();
  }

  CookOptions With(CookOptions options) {
    options.workers = 2;
    options.resources = {{"gpu", 2}};
    platforms = options.platform_count;
    return options;
  }

  // Seconds in which these workers speak.
  void Pass(int seconds, std::vector<uint32_t> speaking = {0, 1}) {
    for (int i = 0; i < seconds; ++i) {
      for (const uint32_t worker : speaking) shell.Send(WorkerAlive{WorkerId(worker)});
      shell.Pass(absl::Seconds(1));
    }
  }
  const Counters& counters() { return shell.core().counters(); }

  uint32_t platforms = 1;
  CoreHarness shell;
};

TEST(StragglersTest, AJobThatRunsForTooLongIsGivenToAnIdleWorkerToo) {
  Race race;
  race.Pass(2);
  EXPECT_EQ(race.shell.TakeLog(), "");
  race.Pass(1);
  EXPECT_EQ(race.shell.TakeLog(), "start Slow 1\n");
  EXPECT_EQ(race.counters().backups_started, 1u);
  race.Pass(20);
  EXPECT_EQ(race.shell.TakeLog(), "");  // one is enough
}

TEST(StragglersTest, TheBackupsResultCountsAndTheStragglerIsCancelled) {
  Race race;
  const HarnessJob straggler = race.shell.JobOf("Slow");
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Saved("Slow");
  EXPECT_EQ(race.shell.TakeLog(),
            "retract Slow\ncancel Slow\ndone Slow\nroot Quick Slow\npublish 0\nended\n");
  EXPECT_EQ(race.counters().backups_won, 1u);
  EXPECT_EQ(race.counters().jobs_retried, 0u);
  const ReportId late = race.shell.Saved(straggler);
  EXPECT_TRUE(race.shell.acknowledged().contains(late));
  EXPECT_EQ(race.counters().results_dropped, 1u);
  EXPECT_EQ(race.counters().results_cooked, 2u);
}

TEST(StragglersTest, TheStragglerGoesOnUntilTheBackupsResultIsDurableAndCountsIfThatIsRefused) {
  for (const bool is_refused : {false, true}) {
    Race race;
    const HarnessJob straggler = race.shell.JobOf("Slow");
    race.Pass(3);
    race.shell.hold_commits = true;
    race.shell.TakeLog();
    race.shell.Saved("Slow");
    EXPECT_EQ(race.shell.TakeLog(), "retract Slow\n");
    const Persist::Item item = race.shell.commits.front();
    race.shell.hold_commits = false;
    Persisted persisted{{{item.package, item.platform, item.result, nullptr}}, ""};
    if (is_refused) persisted.items[0].refused = "its worker did not write blob x";
    race.shell.Send(persisted);
    EXPECT_EQ(race.shell.Says("cancel Slow\n"), !is_refused);
    if (!is_refused) continue;
    race.shell.TakeLog();
    race.shell.Saved(straggler);
    EXPECT_TRUE(race.shell.Says("done Slow\nroot Quick Slow\n")) << race.shell.TakeLog();
    EXPECT_EQ(race.counters().results_dropped, 0u);
  }
}

TEST(StragglersTest, TheStragglerOfAPackageThatFailsElsewhereIsCancelledToo) {
  Race race;
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Report(race.shell.JobOf("Slow"),
                    WorkerReport::Failed{.fault = WorkerReport::Fault::kRefused, .error = "no"});
  EXPECT_TRUE(race.shell.Says("cancel Slow\n")) << race.shell.TakeLog();
  EXPECT_TRUE(race.shell.Says("failed Slow"));
}

TEST(StragglersTest, TheStragglerGoesOnWhileOneOfItsPlatformsMayHaveToBeMade) {
  CookOptions options;
  options.platform_count = 2;
  for (const size_t refused : {size_t{0}, size_t{1}}) {
    Race race("Slow ~ 100000\nQuick ~ 90000\n", options);
    race.Pass(3);
    race.shell.hold_commits = true;
    race.shell.Saved("Slow", 0);
    race.shell.Saved("Slow", 1);
    ASSERT_EQ(race.shell.commits.size(), 2u);
    race.shell.TakeLog();
    race.shell.hold_commits = false;
    Persisted persisted;
    for (const Persist::Item& item : race.shell.commits)
      persisted.items.push_back({item.package, item.platform, item.result, nullptr});
    persisted.items[refused].refused = "its worker did not write blob x";
    race.shell.Send(persisted);
    EXPECT_FALSE(race.shell.Says("cancel Slow\n")) << refused << race.shell.TakeLog();
  }
}

TEST(StragglersTest, WhatComesOutOtherwiseTheSecondTimeIsAWarningAndDropped) {
  CookOptions options;
  options.platform_count = 2;
  struct Late {
    std::string output;
    bool is_current;
  };
  for (const Late& late : {Late{"", true}, Late{"something else", true}, Late{"else", false}}) {
    Race race("Slow ~ 100000\nQuick ~ 90000\n", options);
    const HarnessJob straggler = race.shell.JobOf("Slow");
    race.Pass(3);
    race.shell.Saved("Slow", 0);
    race.shell.TakeLog();
    auto saved =
        WorkerReport::Saved{0, race.shell.MakeResult("Slow", late.output), absl::Milliseconds(1)};
    saved.is_current = late.is_current;
    EXPECT_TRUE(race.shell.acknowledged().contains(race.shell.Report(straggler, saved)));
    EXPECT_EQ(race.shell.Says("warned Slow: two workers cooked it"),
              late.output == "something else")
        << late.output;
    EXPECT_EQ(race.counters().results_dropped, 1u);
    EXPECT_EQ(race.counters().results_cooked, 3u);
  }
}

TEST(StragglersTest, TheSecondTimeIsComparedWhenThePackageIsOverToo) {
  Race race("Slow ~ 100000\nQuick ~ 90000\nLast ~ 90000\n");
  const HarnessJob straggler = race.shell.JobOf("Slow");
  race.Pass(3);
  race.shell.hold_roots = true;
  race.shell.Saved("Slow");
  race.shell.TakeLog();
  const auto other = race.shell.MakeResult("Slow", "something else");
  race.shell.Report(straggler, WorkerReport::Saved{0, other, absl::Milliseconds(1)});
  EXPECT_TRUE(race.shell.Says("warned Slow: two workers cooked it"));
}

TEST(StragglersTest, TheStragglersResultCountsAndTheBackupIsCancelled) {
  Race race;
  const HarnessJob straggler = race.shell.JobOf("Slow");
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Saved(straggler);
  EXPECT_TRUE(race.shell.Says("cancel Slow\ndone Slow\n")) << race.shell.TakeLog();
  EXPECT_EQ(race.counters().backups_won, 0u);
}

TEST(StragglersTest, PlatformsMayComeFromBoth) {
  CookOptions options;
  options.platform_count = 2;
  Race race("Slow ~ 100000\nQuick ~ 90000\n", options);
  const HarnessJob straggler = race.shell.JobOf("Slow");
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Saved(straggler, 0);
  EXPECT_EQ(race.shell.TakeLog(), "done Slow\n");
  race.shell.Saved("Slow", 1);
  EXPECT_TRUE(race.shell.Says("cancel Slow\ndone Slow\nroot")) << race.shell.TakeLog();
  EXPECT_EQ(race.counters().results_cooked, 4u);
  EXPECT_EQ(race.counters().results_dropped, 0u);
}

TEST(StragglersTest, ABackupGoesOnWhenTheStragglerIsLost) {
  Race race;
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Send(WorkerLost{WorkerId(0), "killed"});
  EXPECT_EQ(race.shell.TakeLog(), "spawn 2\n");
  EXPECT_EQ(race.counters().jobs_retried, 0u);
  race.shell.Saved("Slow");
  EXPECT_TRUE(race.shell.Says("ended\n"));
}

TEST(StragglersTest, TheStragglerGoesOnWhenItsBackupFails) {
  Race race;
  const HarnessJob straggler = race.shell.JobOf("Slow");
  race.Pass(3);
  race.shell.Failed("Slow", WorkerReport::Fault::kInfrastructure);
  EXPECT_EQ(race.counters().jobs_retried, 0u);
  race.shell.Saved(straggler);
  EXPECT_TRUE(race.shell.Says("ended\n"));
}

TEST(StragglersTest, APackageGetsThreeBackupsAtMost) {
  Race race;
  for (int i = 0; i < 9; ++i) {
    race.Pass(3);
    if (race.shell.JobOf("Slow").worker == WorkerId(1) && race.shell.HasOpenJob("Slow"))
      race.shell.Failed("Slow", WorkerReport::Fault::kInfrastructure);
  }
  EXPECT_EQ(race.counters().backups_started, 3u);
}

TEST(StragglersTest, WhatABackupNeedsBothNeed) {
  Race race("Slow ~ 100000\nQuick ~ 90000\nInput\n");
  race.Pass(3);
  race.shell.TakeLog();
  race.shell.Report(HarnessJob(race.shell.JobOf("Slow")), WorkerReport::Needs{"Input", 0});
  // Worker 0 is slow at Slow, so that Input begins at worker 1.
  EXPECT_TRUE(race.shell.Says("start Input 1\n")) << race.shell.TakeLog();
  EXPECT_TRUE(race.shell.Says("cancel Slow\n"));
  race.shell.Finish();
  EXPECT_TRUE(race.shell.Says("ended\n"));
}

TEST(StragglersTest, WhatHoldsAResourceHasNoBackup) {
  Race race("Slow @gpu\nQuick @gpu\n");
  race.Pass(50);
  EXPECT_EQ(race.counters().backups_started, 0u);
}

TEST(StragglersTest, WhatFailedThroughItsOwnFaultHasNoBackup) {
  Race race;
  race.shell.Failed("Slow", WorkerReport::Fault::kCrashed);
  race.Pass(50);
  ASSERT_TRUE(race.shell.HasOpenJob("Slow"));
  EXPECT_EQ(race.counters().backups_started, 0u);
}

TEST(StragglersTest, AJobThatIsExpectedToBeLongIsNone) {
  Race race("Slow ~ 10000000\nQuick ~ 90000\n");
  race.Pass(39);
  EXPECT_EQ(race.counters().backups_started, 0u);
  race.Pass(2);
  EXPECT_EQ(race.counters().backups_started, 1u);
}

TEST(StragglersTest, AJobOfASilentWorkerIsOneHoweverLongItMayTake) {
  Race race("Slow ~ 10000000\nQuick ~ 90000\n");
  race.Pass(3, {1});
  EXPECT_EQ(race.counters().backups_started, 0u);
  race.Pass(2, {1});
  EXPECT_EQ(race.counters().backups_started, 1u);
}

// SIGSTOP: the job that runs gets a backup, the one that waits is moved, and nothing new goes
// there.
TEST(StragglersTest, AFrozenWorkerHoldsNothingUp) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell("A ~ 1000\nB ~ 1000\nC ~ 1000\nD ~ 1000\nE ~ 1000\n", options);
  shell.slots = 1;
  shell.Request({"A", "B", "C", "D", "E"});
  const auto finish_of = [&](uint32_t worker) {
    for (const std::string name : {"A", "B", "C", "D", "E"}) {
      if (shell.HasOpenJob(name) && shell.JobOf(name).worker == WorkerId(worker)) shell.Saved(name);
    }
  };
  for (int i = 0; i < 12 && !shell.Says("ended"); ++i) {
    finish_of(1);
    shell.Send(WorkerAlive{WorkerId(1)});
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_TRUE(shell.Says("ended\n")) << shell.TakeLog();
  EXPECT_FALSE(shell.Says("stop 0"));
}

TEST(StragglersTest, AQuarterOfTheSlotsMayHoldBackups) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell("A ~ 1000\nB ~ 1000\nC ~ 1000\nD ~ 1000\n", options);
  shell.slots = 4;
  shell.Request({"A", "B", "C", "D"});
  shell.Pass(absl::Seconds(20));
  EXPECT_EQ(shell.core().counters().backups_started, 2u);
}

}  // namespace
}  // namespace galley::director
