// The core when the world misbehaves: a test plays the shell by hand (CoreHarness).
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Fault = WorkerReport::Fault;

// ------------------------------------------------------------------ cancel, fail-fast, commits

TEST(CancelTest, WhatIsInHandIsCancelledAndNoRootIsPublished) {
  CoreHarness shell("A -> B\nB\n");
  shell.Request({"A"});
  shell.TakeLog();
  shell.Send(CancelRequested{});
  EXPECT_EQ(shell.TakeLog(), "cancel A\nended interrupted\n");
  EXPECT_EQ(shell.core().counters().skipped, 1u);
}

TEST(CancelTest, ACommitOnItsWayIsWaitedForAndItsWorkerAnswered) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId report = shell.Saved("A");
  shell.TakeLog();
  shell.Send(CancelRequested{});
  EXPECT_EQ(shell.TakeLog(), "cancel B\n");
  const Persist::Item commit = shell.commits.front();
  shell.Send(Persisted{{{commit.package, commit.platform, commit.result}}, ""});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("done A\nended interrupted\n"));
  EXPECT_TRUE(shell.acknowledged().contains(report));
}

TEST(CancelTest, ItComesTooLateOnceRootsAreBeingPublished) {
  CoreHarness shell("A\n");
  shell.hold_publish = true;
  shell.Request({"A"});
  shell.Saved("A");
  ASSERT_EQ(shell.publishes.size(), 1u);
  shell.Send(CancelRequested{});
  shell.Send(RootPublished{0, ""});
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(CancelTest, WhileRootsAreBuiltItPublishesNone) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 2u);
  shell.Send(RootBuilt{0, Digest::Of("0"), {}});
  shell.Send(CancelRequested{});
  shell.Send(RootBuilt{1, Digest::Of("1"), {}});
  EXPECT_FALSE(shell.Says("publish"));
  EXPECT_TRUE(shell.Says("ended interrupted"));
}

TEST(CancelTest, TheNextCookIsWhole) {
  CoreHarness shell("A -> B\nB\n");
  shell.Request({"A"});
  shell.Send(CancelRequested{});
  shell.TakeLog();
  shell.Request({"A"});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\npublish 0\nended\n"));
}

TEST(FailFastTest, WhatIsStillToBeginWhenTheFirstFailsIsForgotten) {
  CoreHarness shell("A\nB\n", {.units_per_step = 1});
  shell.Request({"Unknown", "A", "B"}, {.fail_fast = true});
  EXPECT_TRUE(shell.Says("ended fail-fast\n")) << shell.TakeLog();
  shell.Request({"A", "B"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("root A B\n"));
}

TEST(CommitTest, NothingIsDoneOrAcknowledgedBeforeItIsPersisted) {
  CoreHarness shell("A\n");
  shell.hold_commits = true;
  shell.Request({"A"});
  const ReportId report = shell.Saved("A");
  shell.Resend(report);
  shell.Pass(absl::Seconds(5));
  EXPECT_FALSE(shell.Says("done A"));
  EXPECT_FALSE(shell.acknowledged().contains(report));
  EXPECT_EQ(shell.commits.size(), 1u);
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, ""});
  EXPECT_TRUE(shell.acknowledged().contains(report));
  EXPECT_TRUE(shell.Says("done A"));
}

TEST(CommitTest, AFailedCommitEndsTheCookWithTheMachinesError) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId report = shell.Saved("A");
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, "no space left on device"});
  EXPECT_TRUE(shell.Says("cancel B\n"));
  EXPECT_TRUE(shell.Says("ended: results could not be made durable: no space left on device\n"));
  EXPECT_FALSE(shell.Says("publish"));
  EXPECT_FALSE(shell.acknowledged().contains(report));
}

TEST(CommitTest, AfterAFailedCommitTheNextCookBeginsAndTheResultSentAgainIsTaken) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId report = shell.Saved("A");
  const HarnessJob b = shell.JobOf("B");
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, "no space left on device"});
  shell.commits.clear();
  // A result that comes late, and whose commit fails too.
  shell.Saved(b);
  ASSERT_EQ(shell.commits.size(), 1u);
  shell.Send(Persisted{{{shell.Id("B"), 0, shell.commits[0].result}}, "no space left on device"});
  shell.commits.clear();
  shell.hold_commits = false;
  shell.Resend(report);
  EXPECT_TRUE(shell.acknowledged().contains(report));
  shell.TakeLog();
  shell.Request({"A"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(CommitTest, AfterAFailedCommitTheNextCookAsksTheWorkerForWhatItKeeps) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A"});
  const ReportId report = shell.Saved("A");
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, "no space left on device"});
  EXPECT_FALSE(shell.Says("resend all"));
  shell.hold_commits = false;
  shell.Request({"B"});
  EXPECT_TRUE(shell.Says("resend all 0\n"));
  shell.Resend(report);
  EXPECT_TRUE(shell.acknowledged().contains(report));
}

TEST(CommitTest, ADirectorThatCannotGoOnEndsTheCookForItsReason) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  shell.Send(DirectorUnfit{"another director has the project"});
  EXPECT_TRUE(shell.Says("cancel B\n"));
  EXPECT_TRUE(shell.Says("ended: another director has the project\n"));
  shell.TakeLog();
  shell.Send(DirectorUnfit{"another director has the project"});
  EXPECT_EQ(shell.TakeLog(), "");
}

TEST(CommitTest, AnInterruptIsToldThoughTheCommitFailsToo) {
  CoreHarness shell("A\n");
  shell.hold_commits = true;
  shell.Request({"A"});
  shell.Saved("A");
  shell.Send(CancelRequested{});
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, "disk full"});
  EXPECT_TRUE(shell.Says("ended interrupted: results could not be made durable: disk full\n"));
}

TEST(CommitTest, ASecondCookWaitsForCommitsWithoutABusyAgenda) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const HarnessJob b = shell.JobOf("B");
  shell.Send(CancelRequested{});
  shell.Saved(b);  // late: feeds the cache
  ASSERT_EQ(shell.commits.size(), 1u);
  shell.Request({"A"});
  EXPECT_FALSE(shell.core().has_agenda());
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Idle, skipped");
  shell.Send(Persisted{{{shell.Id("B"), 0, shell.commits[0].result}}, ""});
  shell.hold_commits = false;
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(CancelTest, ACookThatWaitsForItsTurnIsOverBeforeItBegan) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const HarnessJob b = shell.JobOf("B");
  shell.Send(CancelRequested{});
  shell.Saved(b);
  shell.TakeLog();
  shell.Request({"A"});
  shell.Send(CancelRequested{});
  EXPECT_EQ(shell.TakeLog(), "ended interrupted\n");
}

TEST(FailFastTest, TheFirstFailureCancelsTheRest) {
  CoreHarness shell("A\nB\nC\n");
  shell.Request({"A", "B", "C"}, {.fail_fast = true});
  shell.TakeLog();
  shell.Failed("A", Fault::kRefused, "no such tool");
  EXPECT_EQ(shell.TakeLog(),
            "cancel C\ncancel B\ncancel A\nfailed A: no such tool\nended fail-fast\n");
}

TEST(FailFastTest, APackageThatIsJudgedWhileItIsCommittedHasFailedAndIsNotDone) {
  CoreHarness shell("A -> Missing\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"}, {.fail_fast = true});
  shell.Saved("A");
  ASSERT_EQ(shell.commits.size(), 1u);
  shell.Send(Persisted{{{shell.Id("A"), 0, shell.commits[0].result}}, ""});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: refers to 'Missing'"));
  EXPECT_THAT(log, Not(HasSubstr("done A")));
  EXPECT_THAT(log, HasSubstr("ended fail-fast\n"));
  EXPECT_EQ(shell.core().counters().failed, 1u);
  EXPECT_EQ(shell.core().counters().skipped, 1u) << "B alone was not tried";
}

TEST(FailFastTest, TwoFailuresOfOneLostWorkerEndTheCookOnce) {
  CoreHarness shell("A @gpu\nB @gpu\n", {.own_fault_attempts_max = 1, .resources = {{"gpu", 2}}});
  shell.Request({"A", "B"}, {.fail_fast = true});
  shell.Send(WorkerLost{shell.JobOf("A").worker, "crashed", false});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed B: its worker was lost"));
  EXPECT_THAT(log, Not(HasSubstr("failed A")));
  EXPECT_THAT(log, HasSubstr("ended fail-fast\n"));
}

// A fails when it comes to be handed over: the packages behind it in that step are not handed over.
TEST(FailFastTest, AfterAQuarantinedPackageNothingIsHandedOver) {
  CoreHarness shell("A\nB\nC\n");
  shell.Request({"A", "B", "C"}, {.fail_fast = true,
                                  .blamed = {{"A", 3, "crashed its executor", "signal 11", ""},
                                             {"B", 3, "crashed its executor", "signal 11", ""}}});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ended fail-fast\n"));
  EXPECT_FALSE(shell.HasOpenJob("C")) << log;
}

TEST(FailFastTest, AConflictOnOnePlatformPublishesNeither) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.hold_roots = true;
  shell.Request({"A", "B"}, {.fail_fast = true});
  shell.Work();
  shell.Send(RootBuilt{0, Digest::Of("0"), {}});
  shell.Send(RootBuilt{1, Digest(), {{shell.Id("A"), shell.Id("B"), "x.ktx2", "the same path"}}});
  EXPECT_FALSE(shell.Says("publish"));
  EXPECT_TRUE(shell.Says("ended fail-fast\n"));
}

// ------------------------------------------------------------------ roots

TEST(RootTest, PackagesInConflictBothFailAndTheRootIsBuiltAgainWithoutThem) {
  CoreHarness shell("A\nB\nC\n");
  shell.hold_roots = true;
  shell.Request({"A", "B", "C"});
  shell.Work();
  shell.TakeLog();
  shell.Send(RootBuilt{
      0, Digest(), {{shell.Id("A"), shell.Id("B"), "x.ktx2", "they differ only in case"}}});
  EXPECT_EQ(shell.TakeLog(),
            "failed A: its output x.ktx2 is in conflict with that of B: they differ only in case\n"
            "failed B: its output x.ktx2 is in conflict with that of A: they differ only in "
            "case\nroot C\n");
  EXPECT_EQ(shell.core().counters().failed, 2u);
  EXPECT_EQ(shell.core().counters().results_failed, 2u);
  shell.Send(RootBuilt{0, Digest::Of("c"), {}});
  EXPECT_EQ(shell.TakeLog(), "publish 0\nended\n");
}

TEST(RootTest, AConflictFailsItsPlatformOnly) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  shell.Send(RootBuilt{1, Digest(), {{shell.Id("A"), shell.Id("B"), "x", "the same path"}}});
  EXPECT_EQ(shell.core().counters().results_failed, 2u);
  EXPECT_FALSE(shell.Says("publish"));
  shell.Send(RootBuilt{0, Digest::Of("0"), {}});
  EXPECT_FALSE(shell.Says("publish"));
  shell.Send(RootBuilt{1, Digest::Of("1"), {}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\npublish 1\nended\n"));
}

TEST(RootTest, APackageWhoseOutputNoTreeCanHoldFailsAndTheRootIsBuiltAgainWithoutIt) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  shell.TakeLog();
  shell.Send(RootBuilt{0, Digest(), {{shell.Id("A"), shell.Id("A"), "A.ktx2", "it is too long"}}});
  EXPECT_THAT(
      shell.TakeLog(),
      HasSubstr("failed A 0: its output A.ktx2 cannot be in a tree: it is too long\nroot B\n"));
  EXPECT_EQ(shell.core().counters().results_failed, 1u);
  shell.Send(RootBuilt{1, Digest::Of("1"), {}});
  EXPECT_FALSE(shell.Says("publish"));
  shell.Send(RootBuilt{0, Digest::Of("0"), {}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\npublish 1\nended\n"));
}

TEST(RootTest, ConflictsOfWhatIsNotInTheRootEndTheCookRatherThanGoOnForEver) {
  CoreHarness shell("A\n");
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Work();
  shell.Send(RootBuilt{0, Digest(), {{PackageId(77), PackageId(78), "x", "?"}}});
  EXPECT_TRUE(shell.Says("ended: a root could not be built"));
}

// The store dropped the package's output during the cook.
RootBuilt LostIn(const BuildRoot& root, PackageId package) {
  RootBuilt built = WholeRoot(root);
  built.lost = {{.package = package, .path = "A.ktx2", .digest = Digest::Of("a")}};
  return built;
}

TEST(RootTest, WhatTheStoreLostIsMadeAgainAndAllRootsAreBuiltAgain) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 2u);
  shell.TakeLog();
  shell.Send(LostIn(shell.roots[0], shell.Id("A")));
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 4u) << shell.TakeLog();
  // A root that was being built meanwhile is not wanted any more.
  shell.Send(WholeRoot(shell.roots[1]));
  shell.Send(WholeRoot(shell.roots[2]));
  EXPECT_FALSE(shell.Says("publish"));
  shell.Send(WholeRoot(shell.roots[3]));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\npublish 1\nended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 4u);
}

TEST(RootTest, WhatIsLostAgainAndAgainEndsTheCookAndIsNamed) {
  CoreHarness shell("A\n", {.lost_rounds_max = 2});
  shell.hold_roots = true;
  shell.Request({"A"});
  for (size_t round = 0; round < 3; ++round) {
    shell.Work();
    ASSERT_EQ(shell.roots.size(), round + 1);
    EXPECT_FALSE(shell.Says("ended"));
    shell.Send(LostIn(shell.roots.back(), shell.Id("A")));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("2 times: A.ktx2 (" + Digest::Of("a").ToString() + ")"));
  // The next cook is not blamed for it.
  shell.Request({"A"}, {.request = 2});
  shell.Work();
  shell.Send(LostIn(shell.roots.back(), shell.Id("A")));
  shell.Work();
  shell.Send(WholeRoot(shell.roots.back()));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\nended\n"));
}

TEST(RootTest, WhatChangedMeanwhileBelongsToTheRootsThatAreBuiltAgain) {
  CoreHarness shell("A\nB\n");
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  EXPECT_FALSE(shell.HasOpenJob("B"));
  shell.Send(LostIn(shell.roots.back(), shell.Id("A")));
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_TRUE(shell.HasOpenJob("B"));
}

// The result of a package is right, though it does not fit together with others.
TEST(RootTest, WhatIsMadeAgainMayReadWhatFailedForHowItFitsIn) {
  CoreHarness shell("A\nB -> Missing\nC\nD\n");
  shell.hold_roots = true;
  shell.Request({"A", "B", "C", "D"});
  shell.Work();
  RootBuilt conflict{0, Digest(), {{shell.Id("C"), shell.Id("D"), "x.ktx2", "the same path"}}};
  shell.Send(conflict);
  EXPECT_TRUE(shell.Says("failed B: refers to")) << shell.TakeLog();
  EXPECT_TRUE(shell.Says("failed C: its output")) << shell.TakeLog();
  shell.Send(LostIn(shell.roots.back(), shell.Id("A")));
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"C", 0});
  ASSERT_EQ(shell.JobOf("A").start.cooked.size(), 2u) << shell.TakeLog();
  shell.Saved("A");
  // How they fit together is judged anew.
  EXPECT_EQ(shell.roots.back().packages.size(), 3u);
  conflict.round = shell.roots.back().round;
  shell.Send(conflict);
  EXPECT_EQ(shell.roots.back().packages.size(), 1u);
  shell.Send(WholeRoot(shell.roots.back()));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\nended\n"));
}

// Otherwise its partner would stay failed, and the package itself would be published.
TEST(RootTest, AConflictOfWhatIsMadeAgainIsMetAgain) {
  CoreHarness shell("A\nC\nD\n");
  shell.hold_roots = true;
  shell.Request({"A", "C", "D"});
  shell.Work();
  const RootBuilt conflict{
      0, Digest(), {{shell.Id("C"), shell.Id("D"), "x.ktx2", "the same path"}}};
  shell.Send(conflict);
  EXPECT_TRUE(shell.Says("failed C: its output")) << shell.TakeLog();
  shell.Send(LostIn(shell.roots.back(), shell.Id("A")));
  shell.Send(PackagesCleared{{"C"}});
  shell.Work();
  EXPECT_EQ(shell.roots.back().packages.size(), 3u) << "both are in it, to be told apart";
}

TEST(RootTest, WhatFailsWhenItIsMadeAgainIsReadByNobody) {
  CoreHarness shell("A\nB -> Missing\nC\n");
  shell.hold_roots = true;
  shell.Request({"A", "B", "C"});
  shell.Report(HarnessJob(shell.JobOf("B")), WorkerReport::Needs{"A", 0});
  shell.Work();
  EXPECT_TRUE(shell.Says("failed B: refers to")) << shell.TakeLog();
  RootBuilt built = LostIn(shell.roots.back(), shell.Id("A"));
  built.lost.push_back({.package = shell.Id("C"), .path = "C.ktx2", .digest = Digest::Of("c")});
  shell.Send(built);
  shell.Saved("A");
  shell.Failed("B", WorkerReport::Fault::kRefused, "no such tool");
  shell.Report(HarnessJob(shell.JobOf("C")), WorkerReport::Needs{"B", 0});
  EXPECT_TRUE(shell.Says("failed C: cooked input B failed")) << shell.TakeLog();
}

TEST(RootTest, ATreeThatCannotBeBuiltIsTheMachinesError) {
  CoreHarness shell("A\n");
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Saved("A");
  shell.Work();
  RootBuilt failed;
  failed.platform_set = shell.roots.back().platform_set;
  failed.error = "no space left on device";
  shell.Send(failed);
  EXPECT_TRUE(shell.Says("ended: a root could not be built: no space left on device\n"));
}

TEST(RootTest, ARootThatCannotBePublishedIsTheMachinesError) {
  CoreHarness shell("A\n");
  shell.hold_publish = true;
  shell.Request({"A"});
  shell.Work();
  shell.Send(RootPublished{0, "read-only file system"});
  EXPECT_TRUE(shell.Says("ended: a root could not be published: read-only file system\n"));
}

// ------------------------------------------------------------------ files that change

TEST(StaleTest, TheThirdChangeOfAFileFailsItsPackageByName) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"/Game/a.h"});
    EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Request");
    shell.Send(FilesChanged{shell.project(), {}, {"/Game/a.h"}});
  }
  EXPECT_TRUE(shell.Says(
      "failed A: /Game/a.h changed 3 times while it was cooked: expected files that keep still\n"));
}

TEST(StaleTest, OneChangeThatManyJobsMeetIsOneChange) {
  CoreHarness shell("A\nB\nC\nD\nE\n");
  shell.slots = 8;
  shell.Request({"A", "B", "C", "D", "E"});
  for (const char* name : {"A", "B", "C", "D", "E"}) {
    shell.Report(HarnessJob(shell.JobOf(name)), WorkerReport::Stale{"/Game/common.h"});
    if (shell.Says("rescan")) shell.Send(FilesChanged{shell.project(), {}, {"/Game/common.h"}});
    shell.TakeLog();
  }
  shell.Finish();
  EXPECT_FALSE(shell.Says("failed"));
  EXPECT_EQ(shell.core().counters().results_cooked, 5u);
}

TEST(StaleTest, FilesThatGoStaleTogetherAreAllAnswered) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"});
  const HarnessJob a = shell.JobOf("A"), b = shell.JobOf("B");
  shell.Send(WorkerReported{a.worker,
                            {{901, a.start.attempt, WorkerReport::Stale{"x"}},
                             {902, b.start.attempt, WorkerReport::Stale{"y"}}}});
  EXPECT_TRUE(shell.Says("rescan x y\n"));
  shell.Send(FilesChanged{shell.project(), {}, {"x", "y"}});
  EXPECT_NE(shell.JobOf("A").start.attempt, a.start.attempt);
  EXPECT_NE(shell.JobOf("B").start.attempt, b.start.attempt);
}

TEST(StaleTest, AResultOfTheOldSnapshotFeedsTheCacheAndThePackageIsLookedUpAgain) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.hold_look_ups = true;
  shell.Saved("A", 0, false);
  EXPECT_FALSE(shell.Says("done A"));
  ASSERT_EQ(shell.look_ups.size(), 1u);
  shell.Send(LookedUp{{{shell.Id("A"), 0, shell.look_ups[0].generation, LookedUp::Miss{}}}});
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 1u);
}

TEST(StaleTest, APackageThatNeverKeepsStillFailsInTheEnd) {
  CoreHarness shell("A\n", {.infrastructure_attempts_max = 5});
  shell.Request({"A"});
  for (int i = 0; i < 5; ++i) {
    const std::string path = "file" + std::to_string(i);
    shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{path});
    shell.Send(FilesChanged{shell.project(), {}, {path}});
    shell.Pass(absl::Seconds(6));
  }
  EXPECT_TRUE(
      shell.Says("failed A: its files changed in each of too many attempts, the last: file4\n"));
}

TEST(FilesChangedTest, AnAnswerToAnOlderLookUpIsDropped) {
  CoreHarness shell("A\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  const LookUp::Item old = shell.look_ups.front();
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  shell.Send(
      LookedUp{{{old.package, 0, old.generation, LookedUp::Hit{shell.MakeResult("A"), true}}}});
  EXPECT_FALSE(shell.Says("done A"));
  ASSERT_EQ(shell.look_ups.size(), 2u);
  shell.Send(LookedUp{{{old.package, 0, shell.look_ups[1].generation,
                        LookedUp::Hit{shell.MakeResult("A"), true}}}});
  EXPECT_TRUE(shell.Says("done A"));
}

TEST(FilesChangedTest, ReadersOfTheOutputAreLookedUpAgainToo) {
  CoreHarness shell("A\nB\n");
  shell.hold_roots = true;
  shell.Request({"A", "C"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Saved("B");
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  ASSERT_EQ(shell.look_ups.size(), 2u);
  EXPECT_THAT((std::set<PackageId>{shell.look_ups[0].package, shell.look_ups[1].package}),
              ElementsAre(shell.Id("A"), shell.Id("B")));
}

// ------------------------------------------------------------ look-ups, force, verdicts, refusals

TEST(LookUpTest, AVerdictFromTheCacheFailsThePackageWithoutAWorker) {
  CoreHarness shell("A ! not a mesh\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  shell.Send(LookedUp{{{shell.Id("A"), 0, shell.look_ups[0].generation,
                        LookedUp::Hit{shell.MakeResult("A"), false}}}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: not a mesh\n"));
  EXPECT_EQ(shell.core().counters().workers_started, 0u);
  EXPECT_EQ(shell.core().counters().results_failed, 1u);
}

TEST(LookUpTest, AnErrorFailsItsPlatformInRequest) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_look_ups = true;
  shell.Request({"A"});
  const uint64_t generation = shell.look_ups[0].generation;
  shell.Send(LookedUp{{{shell.Id("A"), 0, generation, LookedUp::Error{"cannot be read"}},
                       {shell.Id("A"), 1, generation, LookedUp::Miss{}}}});
  shell.Finish();
  EXPECT_TRUE(shell.Says("failed A 0: cannot be read\n"));
  EXPECT_EQ(shell.JobOf("A").start.platforms, PlatformMask{2});
}

TEST(LookUpTest, AnOldSetThatWantsAnInputThatCannotBeHadIsAMiss) {
  CoreHarness shell("A\nB ! bad\nN @never\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  shell.Send(
      LookedUp{{{shell.Id("A"), 0, shell.look_ups[0].generation, LookedUp::NeedsCooked{{"N"}}}}});
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.Says("failed"));
}

TEST(LookUpTest, AnOldSetWaitsForItsInputsAndAsksAgainWithTheirResults) {
  CoreHarness shell("A\nB\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  const auto answer = [&](size_t i, decltype(LookedUp::Item::outcome) outcome) {
    shell.Send(LookedUp{
        {{shell.look_ups[i].package, 0, shell.look_ups[i].generation, std::move(outcome)}}});
  };
  answer(0, LookedUp::NeedsCooked{{"B"}});
  ASSERT_EQ(shell.look_ups.size(), 2u);
  answer(1, LookedUp::Hit{shell.MakeResult("B"), true});
  ASSERT_EQ(shell.look_ups.size(), 3u);
  ASSERT_EQ(shell.look_ups[2].cooked.size(), 1u);
  EXPECT_EQ(shell.look_ups[2].cooked[0].package, shell.Id("B"));
  answer(2, LookedUp::Hit{shell.MakeResult("A"), true});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A\n"));
  EXPECT_EQ(shell.core().counters().workers_started, 0u);
}

TEST(LookUpTest, OldSetsThatWantEachOtherAreBrokenByCookingOne) {
  CoreHarness shell("A\nB\n");
  shell.hold_look_ups = true;
  shell.Request({"A", "B"});
  shell.Send(
      LookedUp{{{shell.Id("A"), 0, shell.look_ups[0].generation, LookedUp::NeedsCooked{{"B"}}},
                {shell.Id("B"), 0, shell.look_ups[1].generation, LookedUp::NeedsCooked{{"A"}}}}});
  shell.hold_look_ups = false;
  shell.Finish();
  EXPECT_FALSE(shell.Says("failed"));
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(ForceTest, NothingIsLookedUpAndAllIsCooked) {
  CoreHarness shell("A -> B\nB\n");
  shell.hold_look_ups = true;
  shell.Request({"A"}, {.force = true});
  shell.Finish();
  EXPECT_TRUE(shell.look_ups.empty());
  EXPECT_EQ(shell.core().counters().results_cooked, 2u);
}

TEST(ForceTest, AStaleAttemptIsCookedAgainNotLookedUp) {
  CoreHarness shell("A\n");
  shell.hold_look_ups = true;
  shell.Request({"A"}, {.force = true});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"a.h"});
  shell.Send(FilesChanged{shell.project(), {"A"}, {"a.h"}});
  shell.Saved("A", 0, false);
  shell.Pass(absl::Seconds(1));
  EXPECT_TRUE(shell.look_ups.empty());
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Load");
  shell.Saved("A");
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(FaultTest, WhatTheStoreHeldForTheSameKeyStandsInstead) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A"});
  shell.Saved("A");
  ResultView held{.id = ResultId(77), .references = {{"B", record::ReferenceKind::kHard}}};
  shell.Send(Persisted{
      {{shell.Id("A"), 0, shell.commits[0].result, std::make_shared<const ResultView>(held)}}, ""});
  EXPECT_TRUE(shell.Says("done A")) << shell.TakeLog();
  shell.hold_commits = false;
  shell.hold_roots = true;
  shell.Finish();
  ASSERT_EQ(shell.roots.size(), 1u);
  ASSERT_EQ(shell.roots[0].packages.size(), 2u) << "what it refers to joined the cook";
  EXPECT_EQ(shell.roots[0].packages[0].second, ResultId(77));
}

TEST(GrantTest, OnlySoManyHoldAResourceAndALossGivesItBack) {
  CoreHarness shell("A @gpu\nB @gpu\nC\n", {.resources = {{"gpu", 1}}});
  shell.Request({"A", "B", "C"});
  EXPECT_FALSE(shell.HasOpenJob("A"));
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_TRUE(shell.HasOpenJob("C"));
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "SaveStalled");
  shell.Send(WorkerLost{shell.JobOf("B").worker, "killed", true});
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

// ------------------------------------------------------------------ cooked inputs

TEST(NeedsTest, TheShortestCycleIsPrinted) {
  CoreHarness shell("A\nB\nC\nD\n");
  shell.Request({"A", "B", "C", "D"});
  const HarnessJob a = shell.JobOf("A"), b = shell.JobOf("B"), c = shell.JobOf("C"),
                   d = shell.JobOf("D");
  shell.Report(a, WorkerReport::Needs{"B", 0});
  shell.Report(b, WorkerReport::Needs{"C", 0});
  shell.Report(c, WorkerReport::Needs{"D", 0});
  shell.Report(d, WorkerReport::Needs{"B", 0});
  const std::string log = shell.TakeLog();
  for (const char* name : {"B", "C", "D"})
    EXPECT_THAT(log, HasSubstr(std::string("failed ") + name +
                               ": cycle of cooked inputs: B -> C -> D -> B\n"));
  EXPECT_THAT(log, HasSubstr("failed A: cooked input B failed\n"));
}

TEST(NeedsTest, AShortWayRoundIsPreferredToALongOne) {
  CoreHarness shell("A\nB\nC\n", {.platform_count = 2});
  shell.Request({"A", "B", "C"});
  const HarnessJob a = shell.JobOf("A"), b = shell.JobOf("B"), c = shell.JobOf("C");
  shell.Report(b, WorkerReport::Needs{"C", 0});
  shell.Report(c, WorkerReport::Needs{"A", 0});
  shell.Report(a, WorkerReport::Needs{"C", 0});
  EXPECT_TRUE(shell.Says("failed A: cycle of cooked inputs: A -> C -> A\n")) << shell.TakeLog();
}

TEST(NeedsTest, APackageThatReadsItselfIsACycle) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"A", 0});
  EXPECT_TRUE(shell.Says("failed A: cycle of cooked inputs: A -> A\n"));
}

TEST(NeedsTest, TheyAreBounded) {
  CoreHarness shell("A\nB\n", {.needs_max = 3});
  shell.Request({"A", "B"});
  shell.Saved("B");
  for (int i = 0; i < 4; ++i)
    shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_TRUE(shell.Says(
      "failed A: asked for more than 3 cooked inputs one after the other, the last: B\n"));
}

TEST(NeedsTest, WhatIsNoPackageFailsTheReader) {
  CoreHarness shell("A\nB\nN @never\n");
  shell.Request({"A", "B"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Gone", 0});
  shell.Report(HarnessJob(shell.JobOf("B")), WorkerReport::Needs{"N", 0});
  EXPECT_TRUE(shell.Says("failed A: cooked input Gone: expected a package: no such package\n"));
  EXPECT_TRUE(shell.Says("failed B: cooked input N: expected a package: it is never cooked"));
}

TEST(NeedsTest, TheJobStartsAgainWithTheResultAndTheInputIsAsUrgentAsItsReader) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Request");
  shell.Saved("B");
  ASSERT_EQ(shell.JobOf("A").start.cooked.size(), 1u);
  EXPECT_EQ(shell.JobOf("A").start.cooked[0].package, shell.Id("B"));
  EXPECT_EQ(shell.core().InstigatorsOf(shell.Id("B"))[0].category,
            InstigatorCategory::kBuildDependency);
}

// -------------------------------------------------------- generated packages, cultures, never_cook

TEST(GeneratedTest, OneAskedForBeforeItsGeneratorRanWaitsForTheList) {
  CoreHarness shell("G : a\n");
  shell.Request({"G/_gen/a"});
  EXPECT_TRUE(shell.HasOpenJob("G"));
  EXPECT_EQ(shell.core().StateText(shell.Id("G/_gen/a")), "Request");
  shell.Loaded("G");
  EXPECT_TRUE(shell.HasOpenJob("G/_gen/a"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("root G/_gen/a\n")) << shell.TakeLog();
}

TEST(GeneratedTest, OneThatIsSelectedAndNotListedFails) {
  CoreHarness shell("G : a\n");
  shell.Request({"G/_gen/b"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("failed G/_gen/b: G does not generate it"));
}

TEST(GeneratedTest, WhenNothingThatIsSelectedIsListedNoRootIsPublished) {
  CoreHarness shell("G : a\n");
  shell.Request({"G/_gen/b"}, {.by_the_book = true});
  shell.Finish();
  EXPECT_TRUE(shell.Says("failed G/_gen/b: G does not generate it"));
  EXPECT_FALSE(shell.Says("publish")) << "an empty tree would be the latest";
  CoreHarness other("G : a\nA ! wrong\n");
  other.Request({"G/_gen/b", "A"}, {.by_the_book = true});
  other.Finish();
  EXPECT_TRUE(other.Says("publish")) << "a package that fails leaves the tree";
}

TEST(GeneratedTest, AHardReferenceToOneThatIsNotListedFailsTheReferencer) {
  CoreHarness shell("A -> G/_gen/b\nG : a\n");
  shell.Request({"A"});
  shell.Finish();
  EXPECT_TRUE(shell.Says(
      "failed A: refers to 'G/_gen/b' (hard): expected a package: G does not generate it\n"));
}

TEST(GeneratedTest, OneThatIsNoLongerListedLeavesTheCook) {
  CoreHarness shell("G : a b\n");
  shell.hold_roots = true;
  shell.Request({"G", "X"});
  shell.Loaded("G");
  shell.Saved("G/_gen/b");
  shell.ChangeProject("G : a\n");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.Finish();
  EXPECT_TRUE(shell.Says("root G G/_gen/a\n")) << shell.TakeLog();
  EXPECT_EQ(shell.core().GeneratedOf(shell.Id("G/_gen/b")), nullptr);
  EXPECT_EQ(shell.core().counters().in_cook, 3u);  // G, a, and X, which failed
}

TEST(GeneratedTest, TheChildrenOfAGeneratorThatFailsAreSkipped) {
  CoreHarness shell("G : a\n");
  shell.Request({"G/_gen/a"});
  shell.Failed("G", Fault::kRefused, "bad");
  EXPECT_EQ(shell.core().StateText(shell.Id("G/_gen/a")), "Idle, skipped");
  EXPECT_EQ(shell.core().counters().skipped, 1u);
}

// Nobody makes the source again that the child cannot read: a hundred attempts would be in vain.
TEST(GeneratedTest, TheChildOfAGeneratorThatFailedIsNotTriedForeverForTheMachinesSake) {
  CoreHarness shell("G : a\n", {.own_fault_attempts_max = 3, .infrastructure_attempts_max = 100});
  shell.Request({"G"});
  shell.Loaded("G");
  shell.Failed("G", Fault::kRefused, "bad");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(shell.HasOpenJob("G/_gen/a")) << i << shell.TakeLog();
    shell.Failed("G/_gen/a", Fault::kInfrastructure, "no source");
    shell.Pass(absl::Minutes(1));
  }
  EXPECT_TRUE(
      shell.Says("failed G/_gen/a: 3 attempts failed for the machine's sake, the last: no source "
                 "(its generator G failed)\n"))
      << shell.TakeLog();
}

TEST(GeneratedTest, ListsThatDifferByPlatformFailTheGeneratorOnAllPlatforms) {
  CoreHarness shell("G : a\n", {.platform_count = 2});
  shell.Request({"G"});
  const HarnessJob job = shell.JobOf("G");
  shell.Saved(job, 0);
  shell.ChangeProject("G : a b\n");
  shell.Saved(job, 1);
  EXPECT_TRUE(
      shell.Says("failed G: generates G/_gen/b for one platform otherwise than for another: the "
                 "list must be the same\n"));
  shell.Finish();
  EXPECT_TRUE(shell.Says("root\n"));
  EXPECT_FALSE(shell.Says("root G"));
}

TEST(GeneratedTest, OneWhoseGeneratorIsNeverCookedIsNotWaitedFor) {
  CoreHarness shell("A -> N/_gen/a\nN @never\n");
  shell.Request({"A"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("failed A: refers to 'N/_gen/a' (hard)"));
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(CultureTest, VariantsComeAlongWithTheirInstigator) {
  CoreHarness shell("A @culture A.fr\nA.fr -> B\nB\n");
  shell.Request({"A"});
  shell.Finish();
  EXPECT_TRUE(shell.Says("root A A.fr B\n"));
  const std::vector<InstigatorView> why = shell.core().InstigatorsOf(shell.Id("A.fr"));
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].category, InstigatorCategory::kCulture);
  EXPECT_EQ(why[0].referencer, shell.Id("A"));
}

TEST(NeverCookTest, OneThatIsNamedFailsOneOfAFolderStaysOutOneThatIsReferredToFailsTheReferencer) {
  CoreHarness shell("N @never\nA -> N\n");
  CookRequested request;
  request.selected.push_back({"A", InstigatorCategory::kCommandLineDirectory});
  request.selected.push_back({"N", InstigatorCategory::kCommandLineDirectory});
  shell.Request({}, request);
  shell.Finish();
  EXPECT_FALSE(shell.Says("failed N"));
  EXPECT_TRUE(shell.Says("failed A: refers to 'N' (hard): expected a package: it is never cooked"));
  EXPECT_EQ(shell.core().counters().in_cook, 1u);
  shell.TakeLog();
  shell.Request({"N"});
  EXPECT_TRUE(shell.Says("failed N: is never cooked"));
}

TEST(InstigatorTest, AllReasonsAreKept) {
  CoreHarness shell("A -> C\nB -> C?\nC\n");
  shell.Request({"A", "B", "C"});
  shell.Finish();
  EXPECT_EQ(shell.core().InstigatorsOf(shell.Id("C")).size(), 3u);
}

TEST(BoundTest, ASelectionLargerThanAStepIsTakenInMany) {
  std::string project;
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) {
    names.push_back("P" + std::to_string(1000 + i));
    project += names.back() + "\n";
  }
  CoreHarness shell(project, {.units_per_step = 7, .look_ups_per_batch = 3});
  shell.Request(names);
  EXPECT_TRUE(shell.Says("spawn"));
  shell.Finish();
  EXPECT_EQ(shell.core().counters().results_cooked, 500u);
}

TEST(RankTest, EdgesPutAsideAreRankedBeforeJobsAreHandedOut) {
  CookOptions options;
  options.rank_visits_max = 0;  // every edge against the order is put aside
  CoreHarness shell("A\nB -> A\n", options);
  shell.Request({"A", "B"});
  shell.Loaded("A");
  shell.Loaded("B");
  shell.TakeLog();
  shell.Send(WorkerLost{WorkerId(0), "power", true});
  shell.Pass(absl::Seconds(3));
  const std::string log = shell.TakeLog();
  ASSERT_NE(log.find("start A"), std::string::npos) << log;
  ASSERT_NE(log.find("start B"), std::string::npos) << log;
  EXPECT_LT(log.find("start A"), log.find("start B")) << "leaves first";
}

}  // namespace
}  // namespace galley::director
