// Tests of the labels and resources that rules demand of a machine, and of where such jobs go.
#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;

CookOptions WithoutLauncher() {
  CookOptions options;
  options.workers = 0;
  return options;
}

CookOptions OnAFarm(const record::WorkerOffer& offer) {
  CookOptions options;
  options.workers = 0;
  options.fleet = {.max = 8, .start = absl::Milliseconds(1), .helpers_max = 2};
  options.fleet.offer = offer;
  return options;
}

struct Machine {
  std::string name = "m1";
  std::vector<std::string> labels = {};
  record::ResourceCounts resources = {};
  uint32_t slots = 4;
};

WorkerAttached On(WorkerId worker, const Machine& machine, uint64_t session = 1) {
  return {.worker = worker,
          .slots = machine.slots,
          .in_hand = {},
          .session = session,
          .machine = machine.name,
          .offer = {.labels = machine.labels, .resources = machine.resources}};
}

std::string Many(const std::string& name, int count, const std::string& rest) {
  std::string project;
  for (int i = 0; i < count; ++i) project += name + std::to_string(i) + " " + rest + "\n";
  return project;
}

std::vector<std::string> NamesOf(const std::string& name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

// How many of these packages are in some worker's hands.
int InHand(const CoreHarness& shell, const std::vector<std::string>& names) {
  int count = 0;
  for (const std::string& name : names) count += shell.HasOpenJob(name);
  return count;
}

// Time goes on while the worker lives.
void PassWith(CoreHarness& shell, const std::vector<WorkerId>& workers, int seconds) {
  for (int i = 0; i < seconds; ++i) {
    shell.Pass(absl::Seconds(1));
    for (const WorkerId worker : workers) shell.Send(WorkerAlive{worker});
  }
}

TEST(DemandsTest, AJobGoesToAWorkerThatHasAllItsLabelsAndHoldsNobodyUp) {
  CoreHarness shell("A @on sdk win\nB\nC @on win\n", WithoutLauncher());
  shell.Request({"A", "B", "C"});
  shell.Send(On(kFar, {.labels = {"win"}}));
  EXPECT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C"));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(On(kFarther, {.name = "m2", .labels = {"mac", "sdk", "win"}}));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, kFarther);
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 3u);
}

TEST(DemandsTest, NoTimeIsToldWhileAllThatIsLeftWaitsForAWorkerThatMayNeverCome) {
  CoreHarness shell("A @on sdk\nB\n", WithoutLauncher());
  shell.Request({"A", "B"});
  shell.Send(On(kFar, {}));
  shell.Loaded("B");
  EXPECT_TRUE(shell.core().progress().left) << "B runs";
  shell.Saved("B");
  PassWith(shell, {kFar}, 1);
  EXPECT_FALSE(shell.core().progress().left);
  shell.Send(On(kFarther, {.name = "m2", .labels = {"sdk"}}));
  shell.Loaded("A");
  EXPECT_TRUE(shell.core().progress().left) << "A runs";
}

TEST(DemandsTest, WhatAMachineHasIsSharedByTheJobsOfAllItsWorkers) {
  CoreHarness shell(Many("A", 6, "@on gpu=1") + "B\n", WithoutLauncher());
  const std::vector<std::string> names = NamesOf("A", 6);
  shell.Send(On(kFar, {.resources = {{"gpu", 2}}}));
  shell.Send(On(kFarther, {.resources = {{"gpu", 2}}}));
  shell.Request(names);
  shell.Send(PackagesDiscovered{{{"B", InstigatorCategory::kSpeculative}}});
  EXPECT_EQ(InHand(shell, names), 2);
  EXPECT_TRUE(shell.HasOpenJob("B")) << "it is held up by none of these";
  shell.Send(On(kFarthest, {.name = "m2", .resources = {{"gpu", 1}}}));
  EXPECT_EQ(InHand(shell, names), 3);
  for (const HarnessJob& job : shell.TakeJobs()) shell.Saved(job);
  EXPECT_EQ(InHand(shell, names), 3) << "the next ones";
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 7u);
}

TEST(DemandsTest, AWorkerMayLimitWhatItsMachineHoldsOfTheFarms) {
  CookOptions options = WithoutLauncher();
  options.resources = {{"licence", 4}};
  CoreHarness shell(Many("A", 6, "@on licence=1"), options);
  const std::vector<std::string> names = NamesOf("A", 6);
  shell.Send(On(kFar, {.resources = {{"licence", 1}}}));
  shell.Send(On(kFarther, {.name = "m2", .resources = {{"licence", 0}}}));
  shell.Request(names);
  EXPECT_EQ(InHand(shell, names), 1);
  shell.Send(On(kFarthest, {.name = "m3"}));
  EXPECT_EQ(InHand(shell, names), 4) << "one that says nothing has no limit of its own";
  for (const HarnessJob& job : shell.TakeJobs()) EXPECT_NE(job.worker, kFarther);
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 6u);
}

TEST(DemandsTest, AMachineThatIsBusyHoldsUpNobodyWhereThereIsRoom) {
  CoreHarness shell(Many("A", 3, "@on gpu=1") + Many("B", 3, ""), WithoutLauncher());
  std::vector<std::string> names = NamesOf("A", 3);
  for (const std::string& name : NamesOf("B", 3)) names.push_back(name);
  shell.Send(On(kFar, {.resources = {{"gpu", 1}}, .slots = 1}));
  shell.Send(On(kFarther, {.name = "m2", .slots = 1}));
  shell.Request(names);
  EXPECT_EQ(InHand(shell, NamesOf("A", 3)), 1);
  EXPECT_EQ(InHand(shell, NamesOf("B", 3)), 3);
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 6u);
}

TEST(DemandsTest, ABlockingJobIsNotPutWhereItDoesNotBelongNorWhereAllIsTaken) {
  CoreHarness shell("A @on gpu=1\nD @on gpu=1\nE\n", WithoutLauncher());
  shell.Request({"A"});
  shell.Send(On(kFar, {.resources = {{"gpu", 1}}}));
  shell.Send(On(kFarther, {.name = "m2"}));
  ASSERT_EQ(shell.JobOf("A").worker, kFar);
  for (const char* name : {"D", "E"})
    shell.Send(PackagesDiscovered{{{name, InstigatorCategory::kCookOnTheFly}}});
  EXPECT_FALSE(shell.HasOpenJob("D"));
  EXPECT_TRUE(shell.HasOpenJob("E")) << "not behind D";
  shell.Saved("A");
  ASSERT_TRUE(shell.HasOpenJob("D"));
  EXPECT_EQ(shell.JobOf("D").worker, kFar);
}

TEST(DemandsTest, AnIdleWorkerTakesOverWhatItHasTheLabelsFor) {
  const std::string project = Many("A", 4, "@on win") + Many("A", 4, "~ 9000000");
  CoreHarness shell(project, WithoutLauncher());
  shell.Send(On(kFar, {.labels = {"win"}, .slots = 1}));
  shell.Request(NamesOf("A", 4));
  shell.TakeJobs();
  shell.Send(On(kFarther, {.name = "m2", .slots = 1}));
  PassWith(shell, {kFar, kFarther}, 5);
  for (const HarnessJob& job : shell.TakeJobs()) EXPECT_EQ(job.worker, kFar);
  shell.Send(On(kFarthest, {.name = "m3", .labels = {"mac", "win"}, .slots = 1}));
  const std::vector<HarnessJob> jobs = shell.TakeJobs();
  ASSERT_FALSE(jobs.empty());
  EXPECT_EQ(jobs.front().worker, kFarthest);
}

TEST(DemandsTest, WhatNobodyEverHasFailsByNameWithWantedAndOffered) {
  CookOptions options;
  options.workers = 2;
  options.local_offer = {.labels = {"linux"}, .resources = {{"gpu", 1}}};
  options.resources = {{"licence", 3}};
  CoreHarness shell("A % tool\nA @on sdk win gpu=2 licence=1\nB @on linux\n", options);
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  ASSERT_EQ(shell.spawned.size(), 2u);
  for (const WorkerId worker : shell.spawned)
    shell.Send(On(worker, {.labels = {"linux"}, .resources = {{"gpu", 1}}}));
  EXPECT_TRUE(shell.HasOpenJob("B"));
  shell.Send(On(kFar, {.name = "m2"}));
  const std::vector<WorkerId> all = {shell.spawned[0], shell.spawned[1], kFar};
  PassWith(shell, all, 20);
  EXPECT_FALSE(shell.Says("failed A"));
  PassWith(shell, all, 20);
  EXPECT_TRUE(shell.Says(
      "failed A: no worker can cook it, and no launcher brings up one that could. Wanted: labels "
      "sdk, win; resources gpu=2, licence=1 for the cooker \"tool\". Offered: 2 workers: labels "
      "linux; resources gpu=1 | 1 worker: nothing | [farm] says of each that it starts: labels "
      "linux; resources gpu=1 | [resources], for the whole farm: resources licence=3. Start a "
      "worker that has it"))
      << shell.TakeLog();
  shell.Finish();
  EXPECT_TRUE(shell.Says("done B"));
}

TEST(DemandsTest, MoreThanTheFarmHasFailsAtOnce) {
  CoreHarness shell("A @on gpu=2\n", {.resources = {{"gpu", 1}}});
  shell.Request({"A"});
  EXPECT_TRUE(shell.Says(
      "failed A: its rule asks for 2 of the resource 'gpu', and [resources] has 1 of it"));
}

TEST(DemandsTest, OneThatComesByItselfIsWaitedForAsLongAsNobodyIsThere) {
  CoreHarness shell("A @on win\n", WithoutLauncher());
  shell.Request({"A"});
  shell.Pass(absl::Minutes(10));
  EXPECT_FALSE(shell.Says("failed"));
  shell.Send(On(kFar, {.labels = {"win"}}));
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(DemandsTest, OneThatHasItIsFoundBehindManyThatHaveNot) {
  CoreHarness shell("A @on win\n", WithoutLauncher());
  for (uint32_t i = 0; i < 100; ++i)
    shell.Send(On(WorkerId(kForeignWorkers + i), {.name = "m" + std::to_string(i)}));
  const WorkerId last(kForeignWorkers + 100);
  shell.Send(On(last, {.name = "windows", .labels = {"win"}}));
  shell.Request({"A"});
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, last);
}

TEST(DemandsTest, WhatWaitsForTheResourcesOfOneThatLeavesAsksForAnother) {
  CoreHarness shell("A @on gpu=1\nB @on gpu=1\n", OnAFarm({.resources = {{"gpu", 1}}}));
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  ASSERT_FALSE(shell.spawned.empty());
  const WorkerId first = shell.spawned.front();
  shell.Send(On(first, {.resources = {{"gpu", 1}}}));
  const std::string given = shell.HasOpenJob("A") ? "A" : "B";
  shell.Send(DrainAsked{{first}});
  shell.Saved(given);
  shell.Send(WorkerLost{.worker = first, .reason = "it said goodbye", .is_in_order = true});
  shell.Pass(absl::Seconds(1));
  const WorkerId second = shell.spawned.back();
  ASSERT_NE(second, first) << shell.TakeLog();
  shell.Send(On(second, {.name = "m2", .resources = {{"gpu", 1}}}));
  EXPECT_TRUE(shell.HasOpenJob(given == "A" ? "B" : "A"));
}

// A machine has one unit, and slots for four.
TEST(DemandsTest, WhatWaitsForAUnitOfAMachineAsksForFurtherMachines) {
  CookOptions options = OnAFarm({.resources = {{"gpu", 1}}});
  options.fleet.slots = 4;
  CoreHarness shell(Many("A", 6, "@on gpu=1") + Many("A", 6, "~ 9000000"), options);
  shell.hold_workers = true;
  shell.Request(NamesOf("A", 6));
  ASSERT_EQ(shell.spawned.size(), 2u) << "nobody has said what a machine has";
  const auto machine = [](size_t i) {
    return Machine{.name = "m" + std::to_string(i), .resources = {{"gpu", 1}}};
  };
  shell.Send(On(shell.spawned[0], machine(0)));
  PassWith(shell, {shell.spawned[0]}, 1);
  ASSERT_EQ(shell.spawned.size(), 6u) << "one has a job in hand, five wait";
  for (size_t i = 1; i < 6; ++i) shell.Send(On(shell.spawned[i], machine(i)));
  EXPECT_EQ(InHand(shell, NamesOf("A", 6)), 6);
  EXPECT_EQ(shell.spawned.size(), 6u);
}

TEST(DemandsTest, WhatWaitsForAUnitOfTheFarmAsksForNoMoreThanThereAre) {
  CookOptions options = OnAFarm({});
  options.resources = {{"licence", 2}};
  CoreHarness shell(Many("A", 6, "@on licence=1") + Many("A", 6, "~ 9000000"), options);
  shell.hold_workers = true;
  shell.Request(NamesOf("A", 6));
  const size_t asked = shell.spawned.size();
  shell.Send(On(shell.spawned[0], {.slots = 1}));
  shell.Send(On(shell.spawned[1], {.name = "m2", .slots = 1}));
  EXPECT_EQ(InHand(shell, NamesOf("A", 6)), 2);
  PassWith(shell, {shell.spawned[0], shell.spawned[1]}, 3);
  EXPECT_EQ(shell.spawned.size(), asked) << "no machine has a licence more";
}

TEST(DemandsTest, NobodyIsAskedForAnyMoreWhereFurtherWorkersBringNoFurtherUnits) {
  CookOptions options = OnAFarm({.resources = {{"gpu", 1}}});
  options.fleet.idle_max = absl::Seconds(20);
  CoreHarness shell(Many("A", 6, "@on gpu=1") + Many("A", 6, "~ 9000000"), options);
  shell.hold_workers = true;
  shell.Request(NamesOf("A", 6));
  std::vector<WorkerId> there;
  for (int i = 0; i < 100; ++i) {
    while (there.size() < shell.spawned.size()) {
      there.push_back(shell.spawned[there.size()]);
      shell.Send(On(there.back(), {.resources = {{"gpu", 1}}}));  // all on one machine
    }
    PassWith(shell, there, 1);
  }
  EXPECT_LE(shell.spawned.size(), 8u);
  EXPECT_EQ(InHand(shell, NamesOf("A", 6)), 1);
  // When the last worker goes, another worker comes for the jobs that wait.
  const size_t before = shell.spawned.size();
  shell.Send(DrainAsked{there});
  for (const std::string& name : NamesOf("A", 6)) {
    if (shell.HasOpenJob(name)) shell.Saved(name);
  }
  for (const WorkerId worker : there) {
    shell.Send(WorkerLost{.worker = worker, .reason = "it said goodbye", .is_in_order = true});
  }
  shell.Pass(absl::Seconds(60));
  EXPECT_GT(shell.spawned.size(), before);
}

// Two workers are on one machine: while one worker has its gpu, the other worker is idle.
TEST(DemandsTest, ThatFurtherMachinesBringNoneOfOneThingSaysNothingOfOthers) {
  const CookOptions options = OnAFarm({.resources = {{"gpu", 1}, {"key", 1}}});
  CoreHarness shell(Many("A", 6, "@on gpu=1") + Many("A", 6, "~ 9000000") +
                        Many("B", 6, "@on key=1") + Many("B", 6, "~ 9000000"),
                    options);
  shell.hold_workers = true;
  shell.Request(NamesOf("A", 6));
  const Machine machine = {.resources = {{"gpu", 1}, {"key", 1}}, .slots = 1};
  const std::vector<WorkerId> there = {shell.spawned[0], shell.spawned[1]};
  for (const WorkerId worker : there) shell.Send(On(worker, machine));
  PassWith(shell, there, 3);
  ASSERT_EQ(InHand(shell, NamesOf("A", 6)), 1);
  PackagesDiscovered others;
  for (const std::string& name : NamesOf("B", 6))
    others.packages.push_back({name, InstigatorCategory::kCommandLinePackage});
  const size_t before = shell.spawned.size();
  shell.Send(others);
  PassWith(shell, there, 1);
  EXPECT_EQ(InHand(shell, NamesOf("B", 6)), 1);
  EXPECT_GT(shell.spawned.size(), before) << "whoever has nothing to do could do all of it";
}

TEST(DemandsTest, QueuedIsWaitingWhereALauncherMayBringUpOneThatHasIt) {
  CoreHarness shell("A @on win\n", OnAFarm({.labels = {"win"}}));
  shell.hold_workers = true;
  shell.Send(On(kFar, {}));  // has no label
  shell.Request({"A"});
  ASSERT_EQ(shell.spawned.size(), 1u) << "it is asked for, whoever else is there";
  const WorkerId launched = shell.spawned.front();
  shell.Send(LauncherReported{.worker = launched, .state = LauncherReported::State::kQueued});
  PassWith(shell, {kFar}, 3600);
  EXPECT_FALSE(shell.Says("failed")) << shell.TakeLog();
  EXPECT_THAT(
      shell.TellState("A"),
      HasSubstr("Load, waits for a worker that is to come; wanted: labels win; offered: 1 worker: "
                "nothing | [farm] says of each that it starts: labels win"));
  shell.Send(On(launched, {.name = "m2", .labels = {"win"}}));
  EXPECT_EQ(shell.JobOf("A").worker, launched);
  EXPECT_EQ(shell.TellState("A"), "Load");
}

TEST(DemandsTest, WhatTheFarmsWorkersDoNotHaveAsksForNone) {
  CoreHarness shell(Many("A", 50, "@on mac") + Many("A", 50, "~ 9000000") + "B\n",
                    OnAFarm({.labels = {"win"}}));
  shell.hold_workers = true;
  std::vector<std::string> names = NamesOf("A", 50);
  names.insert(names.begin(), "B");
  shell.Request(names);
  EXPECT_EQ(shell.spawned.size(), 1u) << "for B";
  shell.Send(On(kFar, {.name = "mac", .labels = {"mac"}, .slots = 1}));
  EXPECT_GT(InHand(shell, names), 0);
  PassWith(shell, {kFar}, 5);
  EXPECT_EQ(shell.spawned.size(), 1u) << "for B: what others have in hand asks for nobody";
}

TEST(DemandsTest, WhatTheFarmsWorkersDoNotHaveFailsThoughNobodyIsThere) {
  CoreHarness shell("A @on mac\n", OnAFarm({.labels = {"win"}}));
  shell.hold_workers = true;
  shell.Request({"A"});
  shell.Pass(absl::Seconds(40));
  EXPECT_TRUE(
      shell.Says("Offered: no worker is attached | [farm] says of each that it starts: "
                 "labels win"))
      << shell.TakeLog();
  EXPECT_TRUE(shell.spawned.empty());
}

TEST(DemandsTest, AnotherProcessOfTheWorkerMayHaveIt) {
  CoreHarness shell("A @on win\nB @on mac\n", WithoutLauncher());
  shell.Request({"A"});
  shell.Send(On(kFar, {.labels = {"mac"}}));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(On(kFar, {.labels = {"win"}}, 2));
  EXPECT_TRUE(shell.HasOpenJob("A"));
  shell.Send(PackagesDiscovered{{{"B", InstigatorCategory::kCommandLinePackage}}});
  EXPECT_FALSE(shell.HasOpenJob("B")) << "which nobody demanded before";
}

TEST(DemandsTest, AProgramThatNeedsFilesStillNeedsItsLabels) {
  CookOptions options;
  options.workers = 1;
  options.local_offer = {.labels = {"linux"}};
  CoreHarness shell("A % tool bake\nA @on linux\nB % tool bake\nB @on win\n", options);
  shell.hold_workers = true;
  shell.Send(On(kFar, {.name = "m2", .labels = {"linux", "win"}}));
  shell.Request({"A", "B"});
  for (const char* name : {"A", "B"}) {
    ASSERT_EQ(shell.JobOf(name).worker, kFar);
    shell.Failed(name, WorkerReport::Fault::kNeedsFiles, "no module");
  }
  EXPECT_TRUE(shell.Says("failed B: no module")) << "no worker with files has its label";
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(On(shell.spawned.at(0), {.labels = {"linux"}}));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, shell.spawned.at(0));
}

TEST(DemandsTest, ARefusalIsOfTheProgramsWhateverIsDemanded) {
  CoreHarness shell("A % tool bake\nA @on win\nB % tool bake\n", WithoutLauncher());
  shell.Send(On(kFar, {.labels = {"win"}}));
  shell.Request({"A"});
  shell.Failed("A", WorkerReport::Fault::kOtherTool, "tool(/bin/sh): wanted 1, found 2");
  shell.Send(PackagesDiscovered{{{"B", InstigatorCategory::kCommandLinePackage}}});
  EXPECT_FALSE(shell.HasOpenJob("B"));
  PassWith(shell, {kFar}, 40);
  EXPECT_TRUE(
      shell.Says("failed A: no worker can cook it: the only worker that is attached does "
                 "not have its tools"))
      << shell.TakeLog();
}

TEST(DemandsTest, WhatALostWorkerHeldIsFree) {
  CookOptions options = WithoutLauncher();
  options.resources = {{"licence", 1}};
  CoreHarness shell("A @on licence=1\nB @on licence=1\n", options);
  shell.Send(On(kFar, {.resources = {{"licence", 1}}}));
  shell.Request({"A", "B"});
  EXPECT_EQ(InHand(shell, {"A", "B"}), 1);
  shell.Send(WorkerLost{.worker = kFar, .reason = "gone"});
  shell.Send(On(kFarther, {.name = "m2", .resources = {{"licence", 1}}}));
  shell.Pass(absl::Seconds(60));  // the back-off ends
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 2u);
}

}  // namespace
}  // namespace galley::director
