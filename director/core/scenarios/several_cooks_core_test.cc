// Several cooks that run at once: the state that they share, and the state of each cook alone.
#include <memory>
#include <string>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CookOptions Several(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

TEST(SeveralCooksTest, WhatTwoWantIsCookedOnceAndToldToBoth) {
  CoreHarness shell("A -> S\nB -> S\nS\n", Several());
  shell.Request({"A"}, {.request = 1});
  shell.Loaded("A");
  shell.Request({"B"}, {.request = 2});
  shell.Loaded("B");
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_EQ(log.find("start S"), log.rfind("start S"));
  EXPECT_THAT(log, HasSubstr("done S [1 2]"));
  EXPECT_THAT(log, HasSubstr("done A [1]"));
  EXPECT_THAT(log, HasSubstr("root of 1: A S"));
  EXPECT_THAT(log, HasSubstr("root of 2: B S"));
  EXPECT_THAT(log, HasSubstr("ended [1]"));
  EXPECT_THAT(log, HasSubstr("ended [2]"));
}

TEST(SeveralCooksTest, ACookThatComesLaterIsToldWhatStands) {
  CoreHarness shell("A -> S\nS\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Saved("A");
  shell.Saved("S");
  shell.TakeLog();
  shell.Request({"A"}, {.request = 2});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("done A [2]"));
  EXPECT_THAT(log, HasSubstr("done S [2]"));
  EXPECT_THAT(log, HasSubstr("root of 2: A S\n"));
  EXPECT_THAT(log, HasSubstr("ended [2]"));
  EXPECT_THAT(log, Not(HasSubstr("start")));
  EXPECT_EQ(shell.core().counters(1).in_cook, 3u);
}

TEST(SeveralCooksTest, ACancelledCookTakesBackOnlyWhatNobodyElseWants) {
  CoreHarness shell("A\nB\nS\n", Several());
  shell.Request({"A", "S"}, {.request = 1});
  shell.Request({"B", "S"}, {.request = 2});
  shell.TakeLog();
  shell.Send(CancelRequested{1});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("cancel A"));
  EXPECT_THAT(log, Not(HasSubstr("cancel S")));
  EXPECT_THAT(log, HasSubstr("ended interrupted [1]"));
  shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: B S"));
}

TEST(SeveralCooksTest, WhatWasGivenUpBeginsAgainForAnotherCook) {
  CoreHarness shell("A -> S\nB\nS\n", Several());
  shell.Request({"A"}, {.request = 1});
  shell.Request({"B"}, {.request = 2});
  shell.Loaded("A");
  shell.Send(CancelRequested{1});
  shell.Request({"A"}, {.request = 3});
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root of 3: A S"));
  EXPECT_THAT(log, HasSubstr("root of 2: B"));
}

TEST(SeveralCooksTest, WhatFailedIsTriedAgainForAnotherCookAndTheFirstKeepsItsFailure) {
  CoreHarness shell("A\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Failed("A", WorkerReport::Fault::kRefused, "no such tool");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: no such tool [1]"));
  shell.Request({"A"}, {.request = 2});
  shell.Saved("A");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("done A [2]"));
  EXPECT_THAT(log, HasSubstr("root of 2: A"));
  EXPECT_EQ(shell.core().counters(1).failed, 1u);
  shell.Saved("Long");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: Long\n"));
}

TEST(SeveralCooksTest, EachHasItsPlatforms) {
  CoreHarness shell("A\nLong\n", Several(2));
  shell.Request({"A", "Long"}, {.request = 1, .platforms = 0b01});
  shell.Request({"A"}, {.request = 2, .platforms = 0b10});
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("publish 0 of 1"));
  EXPECT_THAT(log, HasSubstr("publish 1 of 2"));
  EXPECT_THAT(log, Not(HasSubstr("publish 1 of 1")));
  EXPECT_EQ(shell.core().counters(2).results_wanted, 1u);
}

TEST(SeveralCooksTest, SoftReferencesAreFollowedByThoseThatFollowThem) {
  CoreHarness shell("A -> S?\nS\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1, .follow_soft = false});
  shell.Saved("A");
  shell.Request({"A"}, {.request = 2});
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root of 1: A Long\n"));
  EXPECT_THAT(log, HasSubstr("root of 2: A S\n"));
  EXPECT_THAT(log, HasSubstr("done S [2]"));
}

TEST(SeveralCooksTest, AForcedOneCooksAgainWhatWasThere) {
  CoreHarness shell("A\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Saved("A");
  shell.TakeLog();
  shell.Request({"A"}, {.request = 2, .force = true});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start A"));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("done A [1 2]"));
}

TEST(SeveralCooksTest, AChangeReachesTheOthersAtOnceThoughRootsAreBuilt) {
  CoreHarness shell("A\nB\n", Several());
  shell.hold_roots = true;
  shell.Request({"A"}, {.request = 1});
  shell.Saved("A");
  ASSERT_EQ(shell.roots.size(), 1u);
  const BuildRoot first = shell.roots.front();
  shell.Request({"A", "B"}, {.request = 2});
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_TRUE(shell.HasOpenJob("A"));
  shell.Saved("A");
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A B"));
  shell.Send(WholeRoot(first));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended [1]"));
}

TEST(SeveralCooksTest, ClearingReachesACookThoughAnotherOnesRootsAreBuilt) {
  CoreHarness shell("A\nB\nLong\n", Several());
  shell.hold_roots = true;
  shell.Request({"A"}, {.request = 1});
  shell.Request({"B", "Long"}, {.request = 2});
  shell.Saved("A");
  shell.Saved("B");
  ASSERT_EQ(shell.roots.size(), 1u);
  ASSERT_FALSE(shell.HasOpenJob("B"));
  shell.Send(PackagesCleared{{"B"}});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_EQ(shell.StateOf("A"), "Idle, cooked");
}

TEST(SeveralCooksTest, ClearingWhatRootsAreBuiltOfReachesTheOthersAtOnce) {
  CoreHarness shell("A\nB\nG : a\nLong\n", Several(2));
  shell.hold_roots = true;
  shell.Request({"A", "G"}, {.request = 1, .platforms = 0b01});
  shell.Saved("A");
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  ASSERT_EQ(shell.roots.size(), 1u);
  const BuildRoot first = shell.roots.front();
  shell.Send(PackagesCleared{{"A", "G"}});
  shell.Request({"A", "B", "G"}, {.request = 2, .platforms = 0b01});
  shell.Request({"G/_gen/a"}, {.request = 3, .platforms = 0b10});
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a")) << "the bytes of its source may be gone";
  shell.hold_roots = false;
  shell.Send(WholeRoot(first));
  EXPECT_TRUE(shell.Says("ended [1]"));
  for (int i = 0; i < 4; ++i) shell.Work();
  EXPECT_TRUE(shell.Says("root of 2: A B G G/_gen/a\n")) << shell.TakeLog();
  EXPECT_TRUE(shell.Says("ended [3]"));
}

TEST(SeveralCooksTest, AFailureOfTheMachineEndsThemAll) {
  CoreHarness shell("A\nB\n", Several());
  shell.Request({"A"}, {.request = 1});
  shell.Request({"B"}, {.request = 2});
  shell.Send(DirectorUnfit{"the disk is full"});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ended: the disk is full [1]"));
  EXPECT_THAT(log, HasSubstr("ended: the disk is full [2]"));
}

TEST(SeveralCooksTest, ACookThatCannotGoOnEndsAlone) {
  CoreHarness shell("A\nB\n", Several());
  shell.Request({"A", "B"}, {.request = 1});
  shell.Request({"B"}, {.request = 2});
  shell.Send(CookUnfit{1, "too large"});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended: too large [1]"));
  shell.Send(CookUnfit{1, "too large"});
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 2: B"), Not(HasSubstr("too large"))));
}

TEST(SeveralCooksTest, APlatformIsAddedToTheCooksThatAskForIt) {
  CoreHarness shell("A\nB\n", Several());
  shell.Request({"A"}, {.request = 1});
  shell.Request({"A", "B"}, {.request = 2});
  shell.Send(PlatformsChanged{.mapping = {0}, .platform_count = 2, .added = {{2, 0b10}}});
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 1: A"), Not(HasSubstr("root of 2"))));
  shell.Work();
  shell.Work();  // B began before the platform came
  const std::string log = shell.TakeLog();
  EXPECT_EQ(log.find("root of 1"), std::string::npos);
  EXPECT_THAT(log, HasSubstr("root of 2: A B\nroot of 2: A B\n"));
}

TEST(SeveralCooksTest, WhatWasToldOfAPackageIsTakenBackWhenItLeaves) {
  CoreHarness shell("A\nB\n", Several());
  CookRequested request{.request = 1};
  request.selected = {{"A", InstigatorCategory::kCommandLineDirectory}};
  shell.Request({"B"}, request);
  shell.Failed("A", WorkerReport::Fault::kRefused);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A"));
  shell.ChangeProject("B\n");
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("left A"));
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: B"));
  EXPECT_EQ(shell.core().counters(1).failed, 0u);
}

TEST(SeveralCooksTest, SoIsTheFailureOfAPackageWhoseGeneratorFailsAfterwards) {
  CoreHarness shell("G : a\n", Several());
  shell.Request({"G", "G/_gen/b"}, {.request = 1});
  shell.Saved("G");
  EXPECT_TRUE(shell.Says("failed G/_gen/b"));
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.Failed("G", WorkerReport::Fault::kRefused);
  EXPECT_TRUE(shell.Says("left G/_gen/b"));
}

TEST(SeveralCooksTest, AnEditForgivesFaultsOfACookThatWaits) {
  CoreHarness shell("A\nB\nC\n", {.workers = 1, .cooks_max = 1});
  shell.Request({"A"}, {.request = 1});
  CookRequested waits{.request = 2};
  for (const char* name : {"B", "C"})
    waits.blamed.push_back({name, CookOptions().own_fault_attempts_max, "crashed", "", ""});
  shell.Request({"B", "C"}, waits);
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  shell.Finish();
  EXPECT_FALSE(shell.Says("failed B"));
  EXPECT_TRUE(shell.Says("failed C"));
}

TEST(SeveralCooksTest, OneMoreThanMayRunWaitsForItsTurn) {
  CoreHarness shell("A\nB\nC\n", {.workers = 1, .cooks_max = 2});
  shell.Request({"A"}, {.request = 1});
  shell.Request({"B"}, {.request = 2});
  shell.Request({"C"}, {.request = 3});
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("began 3")));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("began 3"));
}

// The window of the worker is full: it would begin a job of the nightly cook before it hears of
// the commit cook.
TEST(SeveralCooksTest, AJobOfAHigherClassWaitsBeforeThoseThatFillTheWindow) {
  CoreHarness shell("A\nB\nC\nD\nE\nF\n",
                    {.workers = 1, .window = absl::ZeroDuration(), .cooks_max = 4});
  shell.slots = 1;
  shell.Request({"A", "B", "C"}, {.request = 1});
  const std::vector<HarnessJob> nightly = shell.TakeJobs();
  ASSERT_EQ(nightly.size(), 2u) << "one runs, and one waits";
  shell.Request({"E", "F"}, {.request = 2, .of_class = CookClass::kCommit});
  const std::vector<HarnessJob> first = shell.TakeJobs();
  ASSERT_EQ(first.size(), 1u) << "one waits for one slot";
  EXPECT_EQ(first[0].start.urgency, Urgency::kHigh);
  shell.Saved(nightly[0]);
  const std::vector<HarnessJob> second = shell.TakeJobs();
  ASSERT_EQ(second.size(), 1u) << "the first one has begun";
  EXPECT_EQ(second[0].start.urgency, Urgency::kHigh);
}

// By its worker's order alone, the job would begin in the order of the nightly cook.
TEST(SeveralCooksTest, AJobThatWaitsAtAWorkerIsTakenForwardForAHigherClass) {
  CoreHarness shell("A\nB\nC\n", {.workers = 1, .window = absl::ZeroDuration(), .cooks_max = 4});
  shell.slots = 1;
  shell.Request({"A", "B", "C"}, {.request = 1});
  const std::vector<HarnessJob> nightly = shell.TakeJobs();
  ASSERT_EQ(nightly.size(), 2u) << "one runs, and one waits";
  const std::string waits = shell.core().NameOf(nightly[1].start.package);
  shell.TakeLog();
  shell.Request({waits}, {.request = 2, .of_class = CookClass::kCommit});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("retract " + waits + "\nstart " + waits));
  EXPECT_EQ(shell.JobOf(waits).start.urgency, Urgency::kHigh);
}

TEST(SeveralCooksTest, ACommitCookOvertakesANightlyOne) {
  CoreHarness shell("A\nB\nC\nD\n", {.workers = 1, .window_jobs_max = 1, .cooks_max = 4});
  shell.slots = 1;
  shell.Request({"A", "B", "C"}, {.request = 1});
  shell.Request({"D"}, {.request = 2, .of_class = CookClass::kCommit});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start C"));
  shell.Saved("C");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start D"));
}

TEST(SeveralCooksTest, ANightlyCookGetsATenthBesideCommits) {
  std::string project = "N0\n";
  std::vector<std::string> nightly = {"N0"}, commit;
  for (int i = 1; i < 40; ++i) {
    nightly.push_back("N" + std::to_string(i));
    commit.push_back("C" + std::to_string(i));
    project += nightly.back() + "\n" + commit.back() + "\n";
  }
  CoreHarness shell(project, {.workers = 1, .window_jobs_max = 1, .cooks_max = 4});
  shell.slots = 1;
  shell.Request(nightly, {.request = 1});
  shell.Request(commit, {.request = 2, .of_class = CookClass::kCommit});
  shell.Work();
  shell.TakeLog();
  for (int i = 0; i < 30; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_GE(CountOf("start N", log), 2u) << log;
  EXPECT_LE(CountOf("start N", log), 4u) << log;
}

CookRequested OfFolder(uint64_t number, const std::vector<std::string>& names) {
  CookRequested request{.request = number, .platforms = 1};
  for (const std::string& name : names)
    request.selected.push_back({name, InstigatorCategory::kCommandLineDirectory});
  return request;
}

TEST(SeveralCooksTest, WhatAFolderHeldAndIsGoneLeavesTheCook) {
  CoreHarness shell("A\nB\nLong\n", Several());
  shell.Send(OfFolder(1, {"A", "B", "Long"}));
  shell.Saved("A");
  shell.Send(
      FilesChanged{.catalog = std::make_shared<TextProject>("A\nLong\n"), .packages = {"B"}});
  shell.Saved("Long");
  EXPECT_TRUE(shell.Says("root of 1: A Long\n")) << shell.TakeLog();
  EXPECT_FALSE(shell.Says("failed")) << shell.TakeLog();
  EXPECT_EQ(shell.core().counters(1).in_cook, 2u);
}

TEST(SeveralCooksTest, WhatWasNamedAndIsGoneFails) {
  CoreHarness shell("A\nB\n", Several());
  shell.Request({"B"}, {.request = 1});
  shell.Send(OfFolder(2, {"A", "B"}));
  shell.Send(FilesChanged{.catalog = std::make_shared<TextProject>("A\n"), .packages = {"B"}});
  shell.Saved("A");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("unknown package"));
  EXPECT_THAT(log, HasSubstr("root of 2: A\n")) << "the cook of the folder goes on without it";
  EXPECT_EQ(shell.core().counters(2).failed, 0u);
}

TEST(SeveralCooksTest, WhatWasNamedFailsWhenItsGeneratorIsGone) {
  CoreHarness shell("Gen : a\nA\n", Several());
  shell.Request({"Gen/_gen/a", "A"}, {.request = 1});
  shell.Loaded("Gen");
  shell.Send(FilesChanged{.catalog = std::make_shared<TextProject>("A\n"), .packages = {"Gen"}});
  shell.Saved("A");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed Gen/_gen/a: unknown package"));
  EXPECT_THAT(log, HasSubstr("root of 1: A\n"));
}

TEST(SeveralCooksTest, NewFilesAreAskedForByCooksThatGoOn) {
  CoreHarness shell("A\nLong\n", Several());
  shell.hold_publish = true;
  shell.Send(OfFolder(1, {"A", "Long"}));
  shell.Send(OfFolder(2, {"A"}));
  shell.Saved("A");  // the second cook is about to publish
  const auto all = {SelectedPackage{"New", InstigatorCategory::kCommandLineDirectory}};
  shell.Send(FilesChanged{.catalog = std::make_shared<TextProject>("A\nLong\nNew\n"),
                          .packages = {"New"},
                          .discovered = {{.packages = all, .request = 1},
                                         {.packages = all, .request = 2},
                                         {.packages = all, .request = 3}}});
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("too late")));
  shell.hold_publish = false;
  while (!shell.publishes.empty()) {
    const PublishRoot publish = shell.publishes.front();
    shell.publishes.pop_front();
    RootPublished event{.platform = publish.platform};
    event.request = publish.request;
    event.round = publish.round;
    event.platform_set = publish.platform_set;
    shell.Send(event);
  }
  shell.Saved("New");
  shell.Saved("Long");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root of 1: A Long New\n"));
  EXPECT_EQ(shell.core().counters(1).in_cook, 3u);
}

TEST(SeveralCooksTest, AResultCountsForTheMostUrgentCook) {
  CoreHarness shell("A\nB\n", Several());
  shell.hold_commits = true;
  shell.Request({"A", "B"}, {.request = 1, .of_class = CookClass::kNightly});
  shell.Request({"B"}, {.request = 2, .force = true, .of_class = CookClass::kCommit});
  shell.Saved("A");
  shell.Saved("B");
  ASSERT_EQ(shell.commits.size(), 2u);
  EXPECT_EQ(shell.commits[0].cook, 1u);
  EXPECT_FALSE(shell.commits[0].is_forced);
  EXPECT_EQ(shell.commits[1].cook, 2u);
  EXPECT_TRUE(shell.commits[1].is_forced);
}

TEST(SeveralCooksTest, ReasonsAreToldOfEachCookAlone) {
  CoreHarness shell("A -> S\nB -> S\nS\n", Several());
  shell.Request({"A"}, {.request = 1});
  shell.Loaded("A");
  shell.Request({"B"}, {.request = 2});
  shell.Loaded("B");
  std::vector<std::string> reasons;
  shell.core().ForEachReasonIn(2, [&](PackageId package, const InstigatorView& why) {
    reasons.push_back(shell.core().NameOf(package) + " for " +
                      (why.referencer.valid() ? shell.core().NameOf(why.referencer) : "itself"));
  });
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre("B for itself", "S for B"));
}

TEST(SeveralCooksTest, ACookThatComesLaterIsJudgedByTheFilesOfToday) {
  CoreHarness shell("A -> B\nB\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Saved("A");
  shell.Saved("B");
  shell.ChangeProject("A -> B\nLong\n");
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  shell.TakeLog();
  shell.Request({"A"}, {.request = 2});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: refers to 'B' (hard)"));
  EXPECT_THAT(log, Not(HasSubstr("root of 2: A")));
}

TEST(SeveralCooksTest, ThereIsNoRootOfPackagesWhoseGeneratorFailed) {
  CoreHarness shell("G : a\nLong\n", Several());
  shell.Request({"G/_gen/a", "Long"}, {.request = 1});
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  shell.ChangeProject("G ! it is broken\nLong\n");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.Request({"G/_gen/a"}, {.request = 2});
  shell.Saved("G");
  for (int i = 0; i < 3 && !shell.Says("ended [2]"); ++i) {
    if (shell.HasOpenJob("G/_gen/a")) shell.Saved("G/_gen/a");
    if (shell.HasOpenJob("G")) shell.Saved("G");
  }
  EXPECT_TRUE(shell.Says("ended [2]"));
  EXPECT_FALSE(shell.Says("root of 2"));
}

TEST(SeveralCooksTest, APackageIsTriedAgainWhenTheInputThatItLackedIsThere) {
  CoreHarness shell("A\nLong\n", Several());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: cooked input B: expected a package"));
  shell.ChangeProject("A\nB\nLong\n");
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start A"));
}

TEST(SeveralCooksTest, FaultsOfAnEarlierDirectorCountOnceWhicheverCooksAreToldOfThem) {
  CoreHarness shell("A\n", Several());
  const std::vector<CookRequested::Blamed> blamed = {
      {.package = "A", .own_faults = 1, .what = "crashed its executor"}};
  shell.Request({"A"}, {.request = 1, .blamed = blamed});
  shell.Request({"A"}, {.request = 2, .blamed = blamed});
  shell.Failed("A", WorkerReport::Fault::kCrashed);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("blamed A 2"));
}

}  // namespace
}  // namespace galley::director
