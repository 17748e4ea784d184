// Proofs: jobs of workers on other machines are made again, and different results are held back.
#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr WorkerId kFar1(kForeignWorkers), kFar2(kForeignWorkers + 1), kFar3(kForeignWorkers + 2),
    kFar4(kForeignWorkers + 3);

// Every job is proven, and no worker is started here.
CookOptions ProveAll() {
  CookOptions options;
  options.workers = 0;
  options.proofs = {.share = 1, .second_max = absl::Seconds(5), .third_max = absl::Seconds(30)};
  return options;
}

WorkerAttached On(const std::string& machine, WorkerId worker, uint32_t slots = 4) {
  return {.worker = worker,
          .slots = slots,
          .in_hand = {},
          .session = 1,
          .lacks = {},
          .machine = machine};
}

// The worker's answer to its job: an output with these bytes.
ReportId Says(CoreHarness& shell, const HarnessJob& job, const std::string& output,
              PlatformIndex platform = 0) {
  return shell.Report(
      job, WorkerReport::Saved{platform,
                               shell.MakeResult(shell.core().NameOf(job.start.package), output),
                               absl::Milliseconds(1)});
}

TEST(ProofsTest, AResultIsHeldUntilAnotherMachineSaysTheSame) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  const HarnessJob first = shell.JobOf("A");
  const ReportId said = Says(shell, first, "a");
  EXPECT_FALSE(shell.Says("done A"));
  EXPECT_FALSE(shell.acknowledged().contains(said)) << "the worker keeps it until it is durable";
  shell.Send(On("m1", kFar2));
  EXPECT_EQ(shell.TakeJobs().size(), 1u) << "workers of one machine count as one";
  shell.Send(On("m2", kFar3));
  const std::vector<HarnessJob> again = shell.TakeJobs();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].worker, kFar3);
  shell.hold_commits = true;
  const ReportId proof = Says(shell, again[0], "a");
  ASSERT_EQ(shell.commits.size(), 1u);
  EXPECT_FALSE(shell.acknowledged().contains(said));
  const Persist::Item item = shell.commits[0];
  shell.Send(Persisted{{{item.package, item.platform, item.result}}});
  EXPECT_TRUE(shell.Says("done A"));
  EXPECT_TRUE(shell.acknowledged().contains(said) && shell.acknowledged().contains(proof));
  EXPECT_EQ(shell.core().counters().results_proven, 1u);
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
  EXPECT_TRUE(shell.Says("ended"));
}

TEST(ProofsTest, TheOddOneOfThreeIsOutAndTheOthersCount) {
  CoreHarness shell("A\nB\n", ProveAll());
  shell.Send(On("m1", kFar1, 1));
  shell.Request({"A"});
  const HarnessJob lie = shell.JobOf("A");
  const ReportId lied = Says(shell, lie, "lie");
  shell.Send(On("m2", kFar2, 1));
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_FALSE(shell.Says("quarantined")) << "nobody knows yet who is right";
  shell.Send(On("m3", kFar3, 1));
  ASSERT_EQ(shell.JobOf("A").worker, kFar3);
  const HarnessJob third = shell.JobOf("A");
  shell.hold_commits = true;
  const ResultViewPtr right = shell.MakeResult("A", "a");
  shell.Report(third, WorkerReport::Saved{0, right, absl::Milliseconds(1)});
  EXPECT_TRUE(shell.Says("quarantined 0 for A, unlike m2 and m3; unproven:\n")) << shell.TakeLog();
  EXPECT_TRUE(shell.Says("drain " + std::to_string(kFar1.value())));
  EXPECT_TRUE(shell.acknowledged().contains(lied)) << "it need not keep what nobody believes";
  ASSERT_EQ(shell.commits.size(), 1u);
  shell.hold_commits = false;
  shell.Send(Persisted{{{shell.commits[0].package, 0, shell.commits[0].result}}});
  shell.Send(On("m1", kFar1, 1));
  shell.Request({"B"});
  for (const HarnessJob& job : shell.TakeJobs())
    EXPECT_TRUE(job.worker != kFar1 || job.start.attempt == lie.start.attempt);
}

TEST(ProofsTest, WhatTheOddOneHasInHandGoesToOthersAndItsWordIsNotTaken) {
  CoreHarness shell("A\nB ~ 9000000\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A", "B"});
  const HarnessJob unfinished = shell.JobOf("B");
  Says(shell, shell.JobOf("A"), "lie");
  shell.Send(On("m2", kFar2));
  Says(shell, shell.JobOf("A"), "a");
  shell.Send(On("m3", kFar3));
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("cancel B"));
  ASSERT_NE(shell.JobOf("B").worker, kFar1);
  Says(shell, unfinished, "late lie");
  EXPECT_FALSE(shell.Says("done B"));
  const HarnessJob first = shell.JobOf("B");
  Says(shell, first, "b");
  ASSERT_NE(shell.JobOf("B").worker, first.worker) << "the late lie is no half of a proof";
  Says(shell, shell.JobOf("B"), "b");
  EXPECT_TRUE(shell.Says("done B"));
  EXPECT_EQ(CountOf("quarantined", shell.TakeLog()), 1u);
}

TEST(ProofsTest, OneWhoseQuarantineIsLiftedWorksAgain) {
  CoreHarness shell("A\nB\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Send(On("m2", kFar2));
  shell.Send(On("m3", kFar3));
  shell.Request({"A"});
  const HarnessJob first = shell.JobOf("A");
  Says(shell, first, "lie");
  Says(shell, shell.JobOf("A"), "a");
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("quarantined"));
  shell.Send(WorkerLost{.worker = first.worker, .reason = "it said goodbye", .is_in_order = true});
  for (const WorkerId other : {kFar1, kFar2, kFar3}) {
    if (other != first.worker)
      shell.Send(WorkerLost{.worker = other, .reason = "it said goodbye", .is_in_order = true});
  }
  WorkerAttached again = On("m1", first.worker);
  again.session = 2;
  shell.Send(again);
  (void)shell.TakeJobs();
  shell.Request({"B"});
  EXPECT_TRUE(shell.TakeJobs().empty()) << "it is still quarantined";
  shell.Send(WorkerLost{.worker = first.worker, .reason = "it said goodbye", .is_in_order = true});
  shell.Send(WorkerReadmitted{first.worker});
  again.session = 3;
  shell.Send(again);
  const std::vector<HarnessJob> jobs = shell.TakeJobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].worker, first.worker);
}

TEST(ProofsTest, WhereAllThreeDifferTheCookerIsToBlame) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Send(On("m2", kFar2));
  shell.Send(On("m3", kFar3));
  shell.Request({"A"});
  for (const char* said : {"a", "b", "c"}) Says(shell, shell.JobOf("A"), said);
  EXPECT_TRUE(shell.Says("failed A: it was cooked on m")) << shell.TakeLog();
  EXPECT_TRUE(shell.Says("its cooker is not deterministic"));
  EXPECT_FALSE(shell.Says("quarantined"));
  EXPECT_EQ(shell.core().counters().proofs_failed, 1u);
  EXPECT_TRUE(shell.Says("ended"));
}

TEST(ProofsTest, WithoutAThirdMachineNeitherIsUsed) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Send(On("m2", kFar2));
  shell.Request({"A"});
  Says(shell, shell.JobOf("A"), "a");
  Says(shell, shell.JobOf("A"), "b");
  shell.Pass(absl::Seconds(29));
  EXPECT_FALSE(shell.Says("failed A"));
  shell.Pass(absl::Seconds(5));
  EXPECT_TRUE(shell.Says("there is no third machine to decide who is right")) << shell.TakeLog();
  EXPECT_FALSE(shell.Says("quarantined"));
}

TEST(ProofsTest, TwoWorkersOfOneMachineBlameNobody) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  const HarnessJob honest = shell.JobOf("A");
  Says(shell, honest, "a");
  shell.Send(On("m2", kFar2));
  Says(shell, shell.JobOf("A"), "lie");
  shell.Send(On("m2", kFar3));
  EXPECT_EQ(shell.JobOf("A").worker, kFar2) << "its machine has had its say";
  shell.Send(On("m3", kFar4));
  ASSERT_EQ(shell.JobOf("A").worker, kFar4);
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("quarantined 1 for A"));
}

TEST(ProofsTest, WhatTheDirectorsMachineMakesIsBelieved) {
  CookOptions options = ProveAll();
  options.workers = 1;
  CoreHarness shell("A\n", options);
  shell.Request({"A"});
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("done A"));
  EXPECT_EQ(shell.core().counters().results_proven, 0u);
}

TEST(ProofsTest, TheDirectorsMachineIsASecondAndIfNeedBeTheThird) {
  CookOptions options = ProveAll();
  options.workers = 1;
  CoreHarness shell("A\n", options);
  shell.hold_workers = true;
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  ASSERT_EQ(shell.JobOf("A").worker, kFar1);
  Says(shell, shell.JobOf("A"), "lie");
  shell.Send(
      WorkerAttached{.worker = shell.spawned[0], .slots = 1, .in_hand = {}, .machine = "m1"});
  ASSERT_EQ(shell.JobOf("A").worker, shell.spawned[0]);
  Says(shell, shell.JobOf("A"), "a");
  ASSERT_EQ(shell.TakeJobs().size(), 3u) << "once more, where it is believed";
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("quarantined 0 for A, unlike the director's machine and the director's"))
      << shell.TakeLog();
  EXPECT_TRUE(shell.Says("done A"));
}

TEST(ProofsTest, AHelperOfTheDirectorsMachineComesWhereNoOtherIs) {
  CookOptions options = ProveAll();
  options.fleet = {.max = 1, .helpers_max = 1};
  CoreHarness shell("A\n", options);
  shell.Request({"A"});  // the launched worker attaches at once
  ASSERT_EQ(PoolOf(shell.JobOf("A").worker), Pool::kLaunched);
  Says(shell, shell.JobOf("A"), "a");
  shell.Pass(absl::Seconds(1));
  ASSERT_EQ(PoolOf(shell.JobOf("A").worker), Pool::kLocal);
  Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("done A"));
}

TEST(ProofsTest, WithOneMachineNothingIsProvenAndThatIsCounted) {
  CoreHarness shell("A\nB\nC\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A", "B", "C"});
  Says(shell, shell.JobOf("A"), "a");
  shell.Pass(absl::Seconds(4));
  EXPECT_FALSE(shell.Says("done A"));
  shell.Pass(absl::Seconds(2));
  EXPECT_TRUE(shell.Says("done A"));
  Says(shell, shell.JobOf("B"), "b");
  Says(shell, shell.JobOf("C"), "c");
  shell.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell.Says("done C")) << "nobody waits again for whom has not come";
  EXPECT_EQ(shell.core().counters().results_unproven, 3u);
  EXPECT_TRUE(shell.Says("ended"));
}

TEST(ProofsTest, AProofThatWaitsHoldsNobodyUp) {
  CoreHarness shell("A\nB\nC\nD\n", ProveAll());
  shell.Send(On("m1", kFar1, 1));
  shell.Send(On("m2", kFar2, 1));
  shell.Request({"A", "B", "C", "D"});
  for (int i = 0; i < 20 && !shell.Says("ended"); ++i) {
    // Only m1 ever answers, until it has nothing more to do.
    bool has_answered = false;
    for (const HarnessJob& job : shell.TakeJobs()) {
      if (job.worker != kFar1) continue;
      Says(shell, job, shell.core().NameOf(job.start.package));
      has_answered = true;
    }
    if (!has_answered) break;
  }
  shell.Send(WorkerLost{.worker = kFar2, .reason = "gone"});
  shell.Pass(absl::Seconds(10));
  for (int i = 0; i < 20 && !shell.Says("ended"); ++i) {
    for (const HarnessJob& job : shell.TakeJobs()) {
      if (job.worker == kFar1) Says(shell, job, shell.core().NameOf(job.start.package));
    }
    shell.Pass(absl::Seconds(10));
  }
  EXPECT_TRUE(shell.Says("ended")) << shell.TakeLog();
  EXPECT_EQ(shell.core().counters().results_unproven, 4u);
}

TEST(ProofsTest, WhichJobsAreProvenFollowsFromTheirNamesAndTheSeed) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 400; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + "\n";
  }
  const auto chosen = [&](uint64_t seed, bool is_backwards) {
    CookOptions options = ProveAll();
    options.proofs.share = 0.1;
    options.proofs.seed = seed;
    CoreHarness shell(project, options);
    shell.Send(On("m1", kFar1));
    std::vector<std::string> asked = names;
    if (is_backwards) std::reverse(asked.begin(), asked.end());
    shell.Request(asked);
    std::set<std::string> held;
    for (size_t jobs = 1; jobs != 0;) {
      const std::vector<HarnessJob> open = shell.TakeJobs();
      jobs = open.size();
      for (const HarnessJob& job : open) {
        const std::string name = shell.core().NameOf(job.start.package);
        Says(shell, job, name);
        if (!shell.Says("done " + name + "\n")) held.insert(name);
      }
    }
    return held;
  };
  const std::set<std::string> once = chosen(1, false);
  EXPECT_GT(once.size(), 20u);
  EXPECT_LT(once.size(), 70u);
  EXPECT_EQ(once, chosen(1, true));
  EXPECT_NE(once, chosen(2, false));
}

TEST(ProofsTest, TheOthersResultsOfTheOddOneAreNamed) {
  CookOptions options = ProveAll();
  options.proofs.share = 0.5;
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("A" + std::to_string(i));
    project += names.back() + "\n";
  }
  CoreHarness shell(project, options);
  shell.Send(On("m1", kFar1));
  shell.Request(names);
  std::set<std::string> done;
  for (size_t jobs = 1; jobs != 0;) {
    const std::vector<HarnessJob> open = shell.TakeJobs();
    jobs = open.size();
    for (const HarnessJob& job : open) Says(shell, job, "lie");
  }
  const std::string log = shell.TakeLog();
  const size_t unproven = CountOf("done A", log);
  ASSERT_GT(unproven, 2u);
  ASSERT_LT(unproven, 18u);
  shell.Send(On("m2", kFar2, 1));
  shell.Send(On("m3", kFar3, 1));
  for (int i = 0; i < 2; ++i) {
    const std::vector<HarnessJob> open = shell.TakeJobs();
    for (const HarnessJob& job : open) Says(shell, job, "right");
  }
  const std::string told = shell.TakeLog();
  const size_t at = told.find("; unproven:");
  ASSERT_NE(at, told.npos) << told;
  EXPECT_EQ(CountOf(" A", told.substr(at, told.find('\n', at) - at)), unproven);
}

TEST(ProofsTest, AFileThatChangesMeanwhileVoidsWhatIsHeld) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  const ReportId said = Says(shell, shell.JobOf("A"), "of the old file");
  shell.Send(FilesChanged{.catalog = shell.project(), .packages = {"A"}, .paths = {}});
  EXPECT_TRUE(shell.acknowledged().contains(said));
  shell.Send(On("m2", kFar2));
  Says(shell, shell.JobOf("A"), "of the new file");
  EXPECT_FALSE(shell.Says("done A"));
  EXPECT_FALSE(shell.Says("failed A"));
  Says(shell, shell.JobOf("A"), "of the new file");
  EXPECT_TRUE(shell.Says("done A")) << shell.TakeLog();
}

TEST(ProofsTest, ACookThatIsStoppedLetsGoOfWhatIsHeld) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  const ReportId said = Says(shell, shell.JobOf("A"), "a");
  shell.Send(CancelRequested{});
  EXPECT_TRUE(shell.Says("ended interrupted"));
  EXPECT_FALSE(shell.Says("done A"));
  EXPECT_TRUE(shell.acknowledged().contains(said));
}

TEST(ProofsTest, ResultsOfOtherKeysDoNotAgree) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Send(On("m2", kFar2));
  shell.Request({"A"});
  for (const uint64_t key : {1u, 2u}) {
    ResultView result = *shell.MakeResult("A", "a");
    result.key = key;
    shell.Report(shell.JobOf("A"), WorkerReport::Saved{0, std::make_shared<ResultView>(result),
                                                       absl::Milliseconds(1)});
  }
  EXPECT_FALSE(shell.Says("done A")) << "one of them looked at less than the other";
}

TEST(ProofsTest, AResultThatIsChosenAndComesTooLateFeedsNoCache) {
  CoreHarness shell("A\n", ProveAll());
  shell.Send(On("m1", kFar1));
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  shell.Send(CancelRequested{});
  shell.hold_commits = true;
  const ReportId late = Says(shell, job, "lie");
  EXPECT_TRUE(shell.commits.empty());
  EXPECT_TRUE(shell.acknowledged().contains(late));
}

TEST(ProofsTest, PlatformsThatWereMadeApartAreProvenApart) {
  CookOptions options = ProveAll();
  options.platform_count = 2;
  CoreHarness shell("A\n", options);
  shell.Send(On("m1", kFar1, 1));
  shell.Request({"A"});
  const HarnessJob both = shell.JobOf("A");
  Says(shell, both, "of 0", 0);
  shell.Report(both, WorkerReport::Ended{});
  shell.Send(On("m2", kFar2, 1));
  shell.Send(WorkerLost{.worker = kFar1, .reason = "gone"});
  shell.Pass(absl::Seconds(1));  // the back-off ends
  ASSERT_EQ(shell.JobOf("A").worker, kFar2);
  const HarnessJob other = shell.JobOf("A");
  Says(shell, other, "of 0", 0);
  Says(shell, other, "of 1", 1);
  EXPECT_EQ(shell.core().counters().results_proven, 1u);
  shell.Send(On("m3", kFar3, 1));
  ASSERT_EQ(shell.JobOf("A").worker, kFar3);
  EXPECT_EQ(shell.JobOf("A").start.platforms, MaskOf(1)) << "the other is done";
  Says(shell, shell.JobOf("A"), "of 1", 1);
  EXPECT_EQ(shell.core().counters().results_proven, 2u);
  EXPECT_TRUE(shell.Says("ended")) << shell.TakeLog();
}

TEST(ProofsTest, TwoMachinesProveWhatEachMadeAPartOf) {
  CookOptions options = ProveAll();
  options.platform_count = 2;
  CoreHarness shell("A\n", options);
  shell.Send(On("m1", kFar1, 1));
  shell.Request({"A"});
  const HarnessJob first = shell.JobOf("A");
  Says(shell, first, "of 0", 0);
  shell.Report(first, WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure,
                                           .error = "its disk",
                                           .log = "",
                                           .platforms = MaskOf(1)});
  shell.Pass(absl::Seconds(1));
  // m1 has made one of them, and may have the other.
  ASSERT_EQ(shell.JobOf("A").worker, kFar1);
  EXPECT_EQ(shell.JobOf("A").start.platforms, MaskOf(1));
  shell.Send(On("m2", kFar2, 1));
  Says(shell, shell.JobOf("A"), "of 1", 1);
  ASSERT_EQ(shell.JobOf("A").worker, kFar2);
  for (const PlatformIndex p : {0u, 1u})
    Says(shell, HarnessJob(shell.JobOf("A")), "of " + std::to_string(p), p);
  EXPECT_EQ(shell.core().counters().results_proven, 2u) << shell.TakeLog();
}

TEST(ProofsTest, NoOtherIsAskedForInPlaceOfALaunchedOneThatIsOut) {
  CookOptions options = ProveAll();
  options.fleet = {.max = 1, .helpers_max = 1};
  CoreHarness shell("A\nB\n", options);
  shell.Request({"A", "B"});
  Says(shell, shell.JobOf("A"), "lie");
  shell.Pass(absl::Seconds(1));
  for (int i = 0; i < 2; ++i) Says(shell, shell.JobOf("A"), "a");
  EXPECT_TRUE(shell.Says("no more are started")) << shell.TakeLog();
}

}  // namespace
}  // namespace galley::director
