// Packages are discovered, renamed and cleared while a cook runs.
#include <algorithm>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Fault = WorkerReport::Fault;

// ------------------------------------------------------------------ found, discovered

TEST(FindTest, APackageIsFoundByItsNameAndByItsFile) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A"});
  EXPECT_TRUE(shell.core().Find("A").valid());
  EXPECT_EQ(shell.core().Find("content/A"), shell.core().Find("A"));
  EXPECT_FALSE(shell.core().Find("content/B").valid()) << "nobody asked for it yet";
  EXPECT_FALSE(shell.core().Find("content/C").valid());
}

TEST(DiscoveryTest, AFoundPackageJoinsTheCookThatRunsAndItsRoot) {
  CoreHarness shell("A\nB -> C\nC\nD\n");
  shell.Request({"A"});
  shell.Send(PackagesDiscovered{{{"B"}, {"content/D", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(shell.core().InstigatorsOf(shell.Id("D")).at(0).category,
            InstigatorCategory::kCookOnTheFly);
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B C D\n"));
}

TEST(DiscoveryTest, WhatIsNoPackageFailsByTheNameItWasAskedFor) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Send(PackagesDiscovered{{{"content/B"}}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed content/B: unknown package"));
}

TEST(DiscoveryTest, OnceRootsAreBuiltItIsTooLateAndSaidSo) {
  CoreHarness shell("A\nB\n");
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Work();
  shell.TakeLog();
  shell.Send(PackagesDiscovered{{{"B"}}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("warned B: is asked for too late"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
}

// ------------------------------------------------------------------ renamed

TEST(RenameTest, TheNewNameTakesTheResultOverByContent) {
  CoreHarness shell("Old\nZ\n");
  shell.Request({"Old", "Z"});
  const ResultViewPtr result = shell.MakeResult("Old");
  shell.Report(HarnessJob(shell.JobOf("Old")), WorkerReport::Saved{.result = result});
  ASSERT_EQ(shell.StateOf("Old"), "Idle, cooked");
  shell.ChangeProject("New\nZ\n");
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  ASSERT_EQ(shell.look_ups.size(), 1u) << "the new one is looked up";
  const LookUp::Item item = shell.look_ups.front();
  EXPECT_EQ(item.package, shell.Id("New"));
  shell.Send(LookedUp{{{item.package, 0, item.generation, LookedUp::Hit{result}}}});
  shell.Saved("Z");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root New Z\n"));
  EXPECT_EQ(shell.core().counters().in_cook, 2u);
  EXPECT_EQ(shell.core().counters().failed, 0u);
}

TEST(RenameTest, AJobUnderTheOldNameIsCancelledAndItsResultFeedsTheCache) {
  CoreHarness shell("Old\n");
  shell.Request({"Old"});
  const HarnessJob job = shell.JobOf("Old");
  shell.ChangeProject("New\n");
  shell.TakeLog();
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel Old\nstart New"));
  shell.hold_commits = true;
  shell.Saved(job);
  ASSERT_EQ(shell.commits.size(), 1u);
  EXPECT_EQ(shell.commits.front().package, shell.Id("Old"));
  shell.hold_commits = false;
  shell.Saved("New");
  shell.Send(Persisted{{{shell.Id("Old"), 0, shell.commits.front().result, nullptr}}, ""});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root New\npublish 0\nended\n"));
}

TEST(RenameTest, ReferencesToTheOldNameLeadNowhereAndThoseToTheNewOneToIt) {
  CoreHarness shell("A -> Old\nB -> New?\nOld\nZ\n");
  shell.Request({"A", "B", "Z"});
  shell.Saved("A");
  shell.Saved("B");
  shell.ChangeProject("A -> Old\nB -> New?\nNew\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: refers to 'Old' (hard)"));
  EXPECT_EQ(shell.StateOf("New"), "Idle, cooked");
  EXPECT_EQ(shell.StateOf("B"), "Idle, cooked");
}

TEST(RenameTest, WhoWaitsForTheOldOnesOutputIsToldThatItIsGone) {
  CoreHarness shell("A\nOld\n");
  shell.Request({"A", "Old"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Old", 0});
  shell.ChangeProject("A\nNew\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  ASSERT_TRUE(shell.HasOpenJob("A")) << "it may read another one today";
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Old", 0});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: cooked input Old: expected a package"));
}

TEST(RenameTest, WhoReadTheOldOnesOutputIsLookedUpAgain) {
  CoreHarness shell("A\nOld\nZ\n");
  shell.Request({"A", "Old", "Z"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Old", 0});
  shell.Saved("Old");
  shell.Saved("A");
  ASSERT_EQ(shell.StateOf("A"), "Idle, cooked");
  shell.ChangeProject("A\nNew\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  EXPECT_EQ(shell.StateOf("A"), "Load");
}

TEST(RenameTest, WhatTheOldOneGeneratedLeavesWithIt) {
  CoreHarness shell("Old : a\n");
  shell.Request({"Old"});
  shell.Loaded("Old");
  ASSERT_TRUE(shell.HasOpenJob("Old/_gen/a"));
  shell.Saved("Old");
  shell.ChangeProject("New : a\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root New New/_gen/a\npublish 0\nended\n"));
  EXPECT_EQ(shell.core().counters().in_cook, 2u);
}

TEST(RenameTest, ANameThatFailedBeforeAFileHadItIsTriedAgain) {
  CoreHarness shell("Old\n");
  shell.Request({"New", "Old"});
  ASSERT_EQ(shell.StateOf("New"), "Idle, failed");
  shell.ChangeProject("New\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  shell.Finish();
  EXPECT_EQ(shell.StateOf("New"), "Idle, cooked");
}

TEST(RenameTest, NamesThatAreHandedOnInARowMoveAtOnce) {
  CoreHarness shell("A\nB\nZ\n");
  shell.Request({"A", "B", "Z"});
  shell.Saved("A");
  shell.Saved("B");
  shell.ChangeProject("B\nC\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"A", "B"}, {"B", "C"}}});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root B C Z\n"));
  EXPECT_EQ(shell.core().counters().in_cook, 3u);
}

TEST(RenameTest, NamesThatAreExchangedBothStayInTheCook) {
  CoreHarness shell("A\nB\nZ\n");
  shell.Request({"A", "B", "Z"});
  shell.Saved("A");
  shell.Saved("B");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"A", "B"}, {"B", "A"}}});
  EXPECT_TRUE(shell.HasOpenJob("A") && shell.HasOpenJob("B")) << "each has another's content";
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B Z\n"));
}

TEST(RenameTest, WhatWasAskedForAndIsNeverCookedIsWantedUnderANameThatIs) {
  CoreHarness shell("Draft @never\nZ\n");
  CookRequested request;
  for (const char* name : {"Draft", "Z"})
    request.selected.push_back({name, InstigatorCategory::kCommandLineDirectory});
  shell.Request({}, request);
  shell.ChangeProject("Final\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Draft", "Final"}}});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root Final Z\n"));
}

TEST(RenameTest, WhyTheOldNameWasAskedForIsNoReasonForWhatHasItNow) {
  CoreHarness shell("A -> B\nB\nZ\n");
  shell.Request({"A", "Z"});
  shell.Saved("A");
  shell.Saved("B");
  shell.ChangeProject("A\nB -> A\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"A", "B"}, {"B", "A"}}});
  const auto is_selected = [](const InstigatorView& why) { return !why.referencer.valid(); };
  const auto count = [&](const char* name) {
    const auto all = shell.core().InstigatorsOf(shell.Id(name));
    return std::count_if(all.begin(), all.end(), is_selected);
  };
  EXPECT_EQ(count("A"), 0);
  EXPECT_EQ(count("B"), 1);
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"A", "B"}, {"B", "A"}}});
  EXPECT_EQ(count("A"), 1) << "once, though it was before";
  EXPECT_EQ(count("B"), 0);
}

TEST(RenameTest, ACookThatWaitsForItsTurnFollows) {
  CoreHarness shell("Old\nZ\n");
  shell.hold_roots = true;
  shell.Request({"Z"});
  shell.Work();
  shell.Send(CookRequested{.request = 2, .platforms = 1, .selected = {{"Old"}}});
  shell.ChangeProject("New\nZ\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  shell.hold_roots = false;
  shell.Send(RootBuilt{0, Digest::Of("root"), {}, shell.roots.front().platform_set});
  EXPECT_TRUE(shell.HasOpenJob("New")) << shell.TakeLog();
}

TEST(RenameTest, ASelectionThatIsNotReachedYetFollows) {
  CoreHarness shell("Old\nA\nB\n", {.units_per_step = 1});
  std::vector<Effect> effects;
  shell.core().Step(absl::UnixEpoch(),
                    CookRequested{.platforms = 1, .selected = {{"A"}, {"B"}, {"Old"}}}, effects);
  shell.core().Step(absl::UnixEpoch(), Tick{}, effects);
  ASSERT_FALSE(shell.Id("Old").valid());
  shell.ChangeProject("New\nA\nB\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  EXPECT_FALSE(shell.Id("Old").valid());
  EXPECT_TRUE(shell.HasOpenJob("New"));
}

TEST(RenameTest, ASourceThatMovedToAnotherMountKeepsItsNameAndIsLookedUp) {
  CoreHarness shell("A\nZ\n");
  shell.Request({"A", "Z"});
  shell.Saved("A");
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  ASSERT_EQ(shell.look_ups.size(), 1u);
  EXPECT_EQ(shell.StateOf("A"), "Request");
}

// ------------------------------------------------------------------ cleared

TEST(ClearTest, AClearedPackageIsLookedUpAnewAndSoAreItsReaders) {
  CoreHarness shell("A\nB\nC\nZ\n");
  shell.Request({"A", "B", "C", "Z"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Saved("B");
  shell.Saved("A");
  shell.Saved("C");
  shell.Send(PackagesCleared{{"content/B", "Nowhere"}});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_EQ(shell.StateOf("A"), "Load") << "its look-up missed, too";
  EXPECT_EQ(shell.StateOf("C"), "Idle, cooked");
}

TEST(ClearTest, AQuarantineIsForgotten) {
  CoreHarness shell("A\nZ\n", {.own_fault_attempts_max = 2});
  shell.Request({"A", "Z"});
  shell.Failed("A", Fault::kCrashed);
  shell.Failed("A", Fault::kCrashed);
  ASSERT_EQ(shell.StateOf("A"), "Idle, failed");
  shell.Send(PackagesCleared{{"A"}});
  EXPECT_EQ(shell.core().counters().failed, 0u);
  shell.Failed("A", Fault::kCrashed);
  EXPECT_TRUE(shell.HasOpenJob("A")) << "the first fault again";
  shell.Saved("A");
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A Z\n"));
}

// The bytes of its source may be what cannot be read: every machine would fail with it, while the
// generator waits for one that can work.
TEST(ClearTest, WhatAClearedPackageGeneratesWaitsUntilItIsMadeAgain) {
  CoreHarness shell("G : a\nZ\n");
  shell.Request({"G", "Z"});
  shell.Saved("G");
  ASSERT_TRUE(shell.HasOpenJob("G/_gen/a"));
  shell.Send(PackagesCleared{{"G"}});
  EXPECT_TRUE(shell.HasOpenJob("G"));
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G");
  EXPECT_TRUE(shell.HasOpenJob("G/_gen/a"));
}

TEST(ClearTest, SoDoesAGeneratedPackageThatHadFailed) {
  CoreHarness shell("G : a\nZ\n");
  shell.Request({"G", "Z"});
  shell.Saved("G");
  shell.Failed("G/_gen/a", Fault::kRefused);
  ASSERT_EQ(shell.StateOf("G/_gen/a"), "Idle, failed");
  shell.Send(PackagesCleared{{"G"}});
  EXPECT_TRUE(shell.HasOpenJob("G"));
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G");
  EXPECT_TRUE(shell.HasOpenJob("G/_gen/a"));
}

TEST(ClearTest, SoDoesAGeneratedPackageThatWasDone) {
  CoreHarness shell("G : a\nZ\n");
  shell.Request({"G", "Z"});
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  ASSERT_EQ(shell.StateOf("G/_gen/a"), "Idle, cooked");
  shell.Send(PackagesCleared{{"G"}});
  EXPECT_TRUE(shell.HasOpenJob("G"));
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G");
  EXPECT_TRUE(shell.HasOpenJob("G/_gen/a"));
}

TEST(ClearTest, SoDoGeneratedPackagesThatHadNotBegun) {
  CoreHarness shell("G : a b c\nZ\n", {.units_per_step = 1});
  shell.Request({"G", "Z"});
  const HarnessJob job = shell.JobOf("G");
  const WorkerReport loaded{.report = 1000,
                            .attempt = job.start.attempt,
                            .what = WorkerReport::Loaded{1, shell.MakeResult("G")}};
  shell.SendAtOnce({WorkerReported{job.worker, {loaded}}, PackagesCleared{{"G"}}});
  EXPECT_TRUE(shell.HasOpenJob("G"));
  for (const char* name : {"G/_gen/a", "G/_gen/b", "G/_gen/c"})
    EXPECT_FALSE(shell.HasOpenJob(name)) << name;
  shell.Saved("G");
  for (const char* name : {"G/_gen/a", "G/_gen/b", "G/_gen/c"})
    EXPECT_TRUE(shell.HasOpenJob(name)) << name;
}

TEST(ClearTest, OnceRootsAreBuiltTheCookBelongsToWhatWasBefore) {
  CoreHarness shell("A\n");
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Work();
  shell.Send(PackagesCleared{{"A"}});
  EXPECT_EQ(shell.StateOf("A"), "Idle, cooked");
}

}  // namespace
}  // namespace galley::director
