// Workers that lack cookers get no job of these cookers, and no job waits behind such a job.
#include <algorithm>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// No launcher: workers come by themselves.
CookOptions WithNoLauncher() {
  CookOptions options;
  options.workers = 0;
  return options;
}

WorkerAttached Attached(WorkerId worker, std::vector<std::string> lacks, uint32_t slots = 1) {
  return {.worker = worker, .slots = slots, .in_hand = {}, .session = 1, .lacks = std::move(lacks)};
}

TEST(EligibilityTest, AJobGoesToAWorkerThatHasItsCookerAndHoldsNobodyUp) {
  CoreHarness shell("A % tool\nB % sound\nC % sound\n", WithNoLauncher());
  shell.Request({"A", "B", "C"});
  EXPECT_FALSE(shell.HasOpenJob("B")) << "nobody is there";
  shell.Send(Attached(kFar, {"tool"}, 4));
  EXPECT_TRUE(shell.HasOpenJob("B") && shell.HasOpenJob("C"));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(Attached(kFarther, {}));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, kFarther);
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended")) << shell.TakeLog();
}

TEST(EligibilityTest, ManyOfThemHoldNobodyUpEither) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + " % tool\n";
  }
  project += "Z % sound\n";
  names.push_back("Z");
  CoreHarness shell(project, WithNoLauncher());
  shell.Request(names);
  shell.Send(Attached(kFar, {"tool"}));
  EXPECT_TRUE(shell.HasOpenJob("Z"));
  shell.Saved("Z");
  shell.Send(Attached(kFarther, {}, 4));
  shell.Finish();
  EXPECT_EQ(CountOf("done A", shell.TakeLog()), 100u);
}

TEST(EligibilityTest, ABlockingJobIsNotPutWhereItCannotBeDone) {
  CoreHarness shell("A % sound\nD % tool\n", WithNoLauncher());
  shell.Request({"A"});
  shell.Send(Attached(kFar, {"tool"}, 4));
  shell.Send(PackagesDiscovered{{{"D", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_FALSE(shell.HasOpenJob("D"));
  shell.Send(Attached(kFarther, {}));
  ASSERT_TRUE(shell.HasOpenJob("D"));
  EXPECT_EQ(shell.JobOf("D").worker, kFarther);
}

// A silent worker that holds no job is never lost: no worker would come in its place.
TEST(EligibilityTest, WhatOnlyASilentWorkerCanDoIsGivenToItAndGoesOnWhereOthersCome) {
  for (const auto category :
       {InstigatorCategory::kCommandLinePackage, InstigatorCategory::kCookOnTheFly}) {
    CoreHarness shell("A % sound ~ 900000000\nD % tool\n", WithNoLauncher());
    const auto pass = [&](int seconds) {
      for (int i = 0; i < seconds; ++i) {
        shell.Pass(absl::Seconds(1));
        shell.Send(WorkerAlive{kFarther});
      }
    };
    shell.Send(Attached(kFarther, {"tool"}, 4));
    shell.Request({"A"});
    shell.Send(Attached(kFar, {}));
    pass(5);
    shell.Send(PackagesDiscovered{{{"D", category}}});
    ASSERT_TRUE(shell.HasOpenJob("D"));
    EXPECT_EQ(shell.JobOf("D").worker, kFar);
    pass(61);
    EXPECT_TRUE(shell.Says("stop " + std::to_string(kFar.value()))) << shell.TakeLog();
    const WorkerId third(kForeignWorkers + 2);
    shell.Send(Attached(third, {}));
    pass(1);  // the back-off is over
    EXPECT_EQ(shell.JobOf("D").worker, third);
    shell.Finish();
    EXPECT_TRUE(shell.Says("done D")) << shell.TakeLog();
  }
}

TEST(EligibilityTest, AnIdleWorkerTakesNoJobsOverThatItCannotDo) {
  CoreHarness shell("A % tool ~ 9000000\nB % tool ~ 9000000\nC % tool ~ 9000000\n",
                    WithNoLauncher());
  shell.Send(Attached(kFar, {}));
  shell.Request({"A", "B", "C"});
  shell.Send(Attached(kFarther, {"tool"}));
  shell.Pass(absl::Seconds(60));  // a backup would be given by now, too
  for (const HarnessJob& job : shell.TakeJobs()) EXPECT_EQ(job.worker, kFar);
}

TEST(EligibilityTest, WhatNobodyCanEverDoFailsByName) {
  CookOptions options = WithNoLauncher();
  options.unoffered_max = absl::Seconds(30);
  CoreHarness shell("A % tool\nB % sound\n", options);
  shell.Request({"A", "B"});
  shell.Pass(absl::Seconds(60));
  EXPECT_FALSE(shell.Says("failed A")) << "queued is waiting: nobody is attached";
  shell.Send(Attached(kFar, {"tool"}));
  shell.Pass(absl::Seconds(20));
  EXPECT_FALSE(shell.Says("failed A"));
  shell.Pass(absl::Seconds(20));
  EXPECT_TRUE(shell.Says("failed A: no worker can cook it: wanted is the cooker \"tool\""));
  shell.Finish();
  EXPECT_TRUE(shell.Says("done B"));
}

TEST(EligibilityTest, AWorkerThatIsStartedFromHereHasAllCookers) {
  CookOptions options;
  options.workers = 1;
  options.unoffered_max = absl::Seconds(30);
  CoreHarness shell("A % tool\n", options);
  shell.hold_workers = true;
  shell.Send(Attached(kFar, {"tool"}));
  shell.Request({"A"});
  ASSERT_EQ(shell.spawned.size(), 1u) << "one that came by itself is not one of ours";
  shell.Pass(absl::Seconds(20));
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(EligibilityTest, AnotherProcessOfTheWorkerMayHaveTheCooker) {
  CoreHarness shell("A % tool\n", WithNoLauncher());
  shell.Request({"A"});
  shell.Send(Attached(kFar, {"tool"}));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  WorkerAttached updated = Attached(kFar, {});
  updated.session = 2;
  shell.Send(updated);
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(EligibilityTest, NobodyWaitsBehindAJobForWhichItsOnlyWorkerHasNoMemory) {
  CookOptions options = WithNoLauncher();
  std::string project = "Z % sound\n";
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + " % tool ~ 1000\n";
  }
  names.push_back("Z");
  CoreHarness shell(project, options);
  WorkerAttached near = Attached(kFar, {}, 8);
  near.memory_bytes = 20 << 20;  // one at a time: each is taken for 16 MiB
  shell.Request({"A0"});
  shell.Send(near);
  ASSERT_TRUE(shell.HasOpenJob("A0"));
  shell.Send(PackagesDiscovered{[&] {
    std::vector<SelectedPackage> more;
    for (const std::string& name : names)
      more.push_back({name, InstigatorCategory::kCommandLinePackage});
    return more;
  }()});
  shell.Send(Attached(kFarther, {"tool"}, 4));
  EXPECT_TRUE(shell.HasOpenJob("Z"));
  shell.Finish();
  EXPECT_EQ(CountOf("done A", shell.TakeLog()), 30u);
}

TEST(EligibilityTest, TheOrderOfJobsIsThatOfTheQueue) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 80; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + " % tool ~ " + std::to_string(i == 70 ? 5'000'000 : 100) + "\n";
  }
  CoreHarness shell(project, WithNoLauncher());
  shell.Request(names);
  shell.Send(Attached(kFar, {"tool"}));
  shell.Send(Attached(kFarther, {}));
  EXPECT_TRUE(shell.HasOpenJob("A70")) << "the longest comes first";
}

TEST(EligibilityTest, WorkersThatCameByThemselvesMayGoAsOftenAsTheyLike) {
  CookOptions options = WithNoLauncher();
  options.losses_max = 3;
  options.losses_of_each_max = 1;
  CoreHarness shell("A % sound\n", options);
  shell.Request({"A"});
  for (uint64_t i = 0; i < 20; ++i) {
    WorkerAttached attached = Attached(kFar, {});
    attached.session = i + 1;
    shell.Send(attached);
    shell.Send(WorkerLost{.worker = kFar, .reason = "gone", .is_in_order = i % 2 == 0});
  }
  shell.Send(Attached(kFarther, {}));
  shell.Pass(absl::Seconds(60));  // the back-off of its attempts ends
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("done A", log), 1u) << log;
}

constexpr char kOther[] = "tool(/bin/sh): wanted 1, found 2";

TEST(EligibilityTest, AWorkerThatRefusesIsGivenNoJobOfTheSamePrograms) {
  CoreHarness shell("A % tool bake\nB % tool bake\nC % tool pack\n", WithNoLauncher());
  shell.Request({"A", "B", "C"});
  shell.Send(Attached(kFar, {}, 4));
  for (const char* name : {"A", "B", "C"}) ASSERT_EQ(shell.JobOf(name).worker, kFar) << name;
  shell.Send(Attached(kFarther, {}, 4));
  shell.TakeJobs();
  shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, kFarther);
  EXPECT_FALSE(shell.Says("blamed")) << "nobody is to blame";
  shell.Saved("C");
  shell.Failed("B", WorkerReport::Fault::kOtherTool, kOther);
  EXPECT_EQ(shell.JobOf("B").worker, kFarther);
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 3u);
}

TEST(EligibilityTest, WhatWaitsAtAWorkerThatRefusesIsTakenBack) {
  CoreHarness shell("A % tool bake\nB % tool bake\nC % tool pack\n", WithNoLauncher());
  shell.Request({"A", "B", "C"});
  shell.Send(Attached(kFar, {}));
  ASSERT_TRUE(shell.HasOpenJob("A") && shell.HasOpenJob("B"));
  shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
  EXPECT_TRUE(shell.Says("retract B")) << shell.TakeLog();
  EXPECT_TRUE(shell.HasOpenJob("C")) << "that it can do";
  shell.Send(Attached(kFarther, {}));
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 3u);
}

TEST(EligibilityTest, WhatAllRefuseFailsByNameWithWhatWasWantedAndFound) {
  CookOptions options = WithNoLauncher();
  options.unoffered_max = absl::Seconds(30);
  CoreHarness shell("A % tool bake\nB % sound\n", options);
  shell.Request({"A", "B"});
  shell.Send(Attached(kFar, {}));
  shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
  for (int i = 0; i < 40; ++i) {
    shell.Pass(absl::Seconds(1));
    shell.Send(WorkerAlive{kFar});
  }
  EXPECT_TRUE(
      shell.Says("failed A: no worker can cook it: the only worker that is attached does "
                 "not have its tools as the director has them, and no launcher starts others: "
                 "tool(/bin/sh): wanted 1, found 2"))
      << shell.TakeLog();
  shell.Finish();
  EXPECT_TRUE(shell.Says("done B"));
}

TEST(EligibilityTest, ARefusalIsForgottenWithItsProcessAndWhenACookBegins) {
  CoreHarness shell("A % tool bake\nB % tool bake\n", WithNoLauncher());
  shell.Request({"A"});
  shell.Send(Attached(kFar, {}));
  shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
  EXPECT_FALSE(shell.HasOpenJob("A"));
  WorkerAttached updated = Attached(kFar, {});
  updated.session = 2;
  shell.Send(updated);
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(CancelRequested{});
  shell.Finish();
  shell.Request({"B"}, {.request = 2});
  EXPECT_TRUE(shell.HasOpenJob("B"));
}

TEST(EligibilityTest, AProgramThatFailsWithoutFilesIsTriedWhereTheyAre) {
  CookOptions options;
  options.workers = 1;
  CoreHarness shell("A % tool bake\nB % tool bake\n", options);
  shell.hold_workers = true;
  shell.Send(Attached(kFar, {}));
  shell.Request({"A", "B"});
  ASSERT_EQ(shell.JobOf("A").worker, kFar);
  shell.Failed("A", WorkerReport::Fault::kNeedsFiles, "no module");
  EXPECT_FALSE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("B").worker, kFar) << "the other one may do";
  shell.Send(Attached(shell.spawned.at(0), {}));
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").worker, shell.spawned.at(0));
  shell.Failed("A", WorkerReport::Fault::kRefused, "it is wrong");
  EXPECT_TRUE(shell.Says("failed A: it is wrong")) << shell.TakeLog();
}

TEST(EligibilityTest, ProgramsThatNeedFilesAreNoLongerTriedWhereTheyAreNot) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + " % tool bake ~ 3000000\n";
  }
  CookOptions options;
  options.workers = 1;
  CoreHarness shell(project + "B % tool pack\n", options);
  shell.hold_workers = true;
  names.push_back("B");
  shell.Send(Attached(kFar, {}));
  shell.Request(names);
  const auto next = [&] {
    for (const std::string& name : names) {
      if (name != "B" && shell.HasOpenJob(name) && shell.JobOf(name).worker == kFar) return name;
    }
    return std::string();
  };
  shell.Failed(next(), WorkerReport::Fault::kNeedsFiles, "no module");
  shell.Saved(next());
  shell.Failed(next(), WorkerReport::Fault::kNeedsFiles, "no module");
  EXPECT_NE(next(), "") << "one was made between them";
  shell.Failed(next(), WorkerReport::Fault::kNeedsFiles, "no module");
  // The worker may end the jobs that it has in hand.
  int tries = 3;
  for (std::string name = next(); !name.empty(); name = next(), ++tries)
    shell.Failed(name, WorkerReport::Fault::kNeedsFiles, "no module");
  EXPECT_LT(tries, 8);
  shell.TakeLog();
  for (const std::string& name : names) {
    EXPECT_EQ(shell.HasOpenJob(name), name == "B") << name << ": other programs are another matter";
  }
  shell.Send(Attached(shell.spawned.at(0), {}, 4));
  shell.Finish();
  EXPECT_EQ(CountOf("done", shell.TakeLog()), 12u);
}

TEST(EligibilityTest, KindsOfProgramsThatNobodyHasAreForgotten) {
  std::string project;
  for (int i = 0; i < 20; ++i)
    project += "A" + std::to_string(i) + " % tool bake" + std::to_string(i) + "\n";
  CoreHarness shell(project);
  size_t most = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    shell.Request({"A" + std::to_string(i)}, {.request = i + 1});
    shell.Finish();
    most = std::max(most, shell.core().holdings().job_kinds);
  }
  EXPECT_LE(most, 4u) << "files, the cooker, and what the last two cooks had";
}

TEST(EligibilityTest, WhereNobodyHasFilesItFailsForWhatItSaid) {
  CoreHarness shell("A % tool bake\n", WithNoLauncher());
  shell.Request({"A"});
  shell.Send(Attached(kFar, {}));
  shell.Failed("A", WorkerReport::Fault::kNeedsFiles, "no module");
  EXPECT_TRUE(shell.Says("failed A: no module")) << shell.TakeLog();
}

TEST(EligibilityTest, OfAWorkerOfThisMachineARefusalIsTroubleOfTheMachine) {
  CookOptions options;
  options.workers = 1;
  options.infrastructure_attempts_max = 3;
  CoreHarness shell("A % tool bake\nB % tool bake\n", options);
  shell.Request({"A", "B"});
  for (int i = 0; i < 3; ++i) {
    shell.Failed("A", WorkerReport::Fault::kOtherTool, kOther);
    shell.Failed("B", WorkerReport::Fault::kNeedsFiles, "no module");
    shell.Pass(absl::Seconds(10));
  }
  EXPECT_TRUE(shell.Says("failed A: 3 attempts failed for the machine's sake"));
  EXPECT_TRUE(shell.Says("failed B: 3 attempts failed for the machine's sake"));
}

TEST(EligibilityTest, WhatIsParkedMayBeGivenUp) {
  CoreHarness shell("A % tool\nB % sound\n", WithNoLauncher());
  shell.Request({"A", "B"});
  shell.Send(Attached(kFar, {"tool"}));
  shell.Send(CancelRequested{});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended interrupted"));
}

}  // namespace
}  // namespace galley::director
