// Asks: requests for one package beside the cooks (cooks/asks.h).
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Fault = WorkerReport::Fault;

CookOptions Beside(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

TEST(AsksTest, OneCooksItsPackageAndNothingToWhichItRefers) {
  CoreHarness shell("A -> B\nB\n", Beside());
  shell.Ask(1, "A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start A 0"));
  shell.Saved("A");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ask 1: done"));
  EXPECT_THAT(log, Not(HasSubstr("start B")));
  EXPECT_THAT(log, Not(HasSubstr("root")));
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Ended{});
  EXPECT_EQ(shell.core().holdings().attempts, 0u);
}

TEST(AsksTest, TwoForOnePackageShareItsJob) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  shell.Ask(2, "A");
  shell.Saved("A");
  const std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("start A", log), 1u);
  EXPECT_THAT(log, HasSubstr("ask 1: done"));
  EXPECT_THAT(log, HasSubstr("ask 2: done"));
}

TEST(AsksTest, OneSharesTheJobOfACook) {
  CoreHarness shell("A -> B\nB\n", Beside());
  shell.Request({"A"}, {.request = 1});
  shell.Ask(7, "A");
  shell.Saved("A");
  std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("start A", log), 1u);
  EXPECT_THAT(log, HasSubstr("ask 7: done"));
  EXPECT_THAT(log, HasSubstr("done A [1]"));
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A B"));
}

TEST(AsksTest, OneForWhatIsDoneIsAnsweredAtOnce) {
  CoreHarness shell("A\nLong\n", Beside());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Saved("A");
  shell.TakeLog();
  shell.Ask(7, "A");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ask 7: done"));
  EXPECT_THAT(log, Not(HasSubstr("start")));
  shell.Saved("Long");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A Long"));
}

TEST(AsksTest, OneThatIsWithdrawnTakesItsJobBack) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  shell.Ask(2, "A");
  shell.TakeLog();
  shell.Send(AskWithdrawn{1});
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("cancel")));
  shell.Send(AskWithdrawn{2});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel A"));
  EXPECT_EQ(shell.StateOf("A"), "Idle");
}

// The way of A until the moment when the ask for it is withdrawn.
struct Moment {
  const char* name;
  std::function<void(CoreHarness&)> go_there;
};

const Moment kMoments[] = {
    {"looked up", [](CoreHarness& shell) { shell.hold_look_ups = true, shell.Ask(1, "A"); }},
    {"in a queue", [](CoreHarness& shell) { shell.hold_workers = true, shell.Ask(1, "A"); }},
    {"loaded", [](CoreHarness& shell) { shell.Ask(1, "A"), shell.Loaded("A"); }},
    {"committed",
     [](CoreHarness& shell) {
       shell.hold_commits = true;
       shell.Ask(1, "A");
       shell.Saved("A");
       ASSERT_EQ(shell.commits.size(), 1u);
     }},
    {"backing off",
     [](CoreHarness& shell) {
       shell.Ask(1, "A");
       shell.Failed("A", Fault::kInfrastructure);
     }},
    {"waiting for a scan",
     [](CoreHarness& shell) {
       shell.Ask(1, "A");
       shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"content/A"});
       ASSERT_TRUE(shell.Says("rescan content/A"));
     }},
    {"waiting for an input",
     [](CoreHarness& shell) {
       shell.Ask(1, "A");
       shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
     }},
    {"leading equal work", [](CoreHarness& shell) { shell.Ask(1, "A"), shell.Ask(2, "Equal"); }},
    {"following equal work", [](CoreHarness& shell) { shell.Ask(2, "Equal"), shell.Ask(1, "A"); }},
    {"parked", [](CoreHarness& shell) { shell.Ask(1, "Parked"), shell.Ask(2, "B"); }},
};

// Answers all that was held.
void LetGoOn(CoreHarness& shell) {
  shell.hold_look_ups = shell.hold_commits = shell.hold_workers = false;
  for (; !shell.look_ups.empty(); shell.look_ups.pop_front()) {
    const LookUp::Item item = shell.look_ups.front();
    LookedUp late;
    late.items.push_back({item.package, 0, item.generation, LookedUp::Miss{}});
    shell.Send(late);
  }
  for (; !shell.commits.empty(); shell.commits.pop_front()) {
    const Persist::Item item = shell.commits.front();
    Persisted late;
    late.items.push_back({item.package, item.platform, item.result});
    shell.Send(late);
  }
  for (; !shell.spawned.empty(); shell.spawned.pop_front())
    shell.Send(WorkerAttached{shell.spawned.front(), 4, {}});
}

TEST(AsksTest, OneMayBeWithdrawnAtAnyMoment) {
  for (const Moment& moment : kMoments) {
    for (const bool is_answered_first : {true, false}) {
      SCOPED_TRACE(moment.name);
      CoreHarness shell("A = w\nB\nEqual = w\nParked @on win\n", Beside());
      moment.go_there(shell);
      shell.Send(AskWithdrawn{1});
      for (const char* name : {"A", "Parked"}) {
        EXPECT_TRUE(!shell.Id(name).valid() || shell.StateOf(name) == "Idle");
      }
      if (is_answered_first) LetGoOn(shell);
      shell.Ask(9, "A");
      LetGoOn(shell);
      for (int i = 0; i < 90 && !shell.Says("ask 9: done"); ++i) {
        shell.Work();
        shell.Pass(absl::Seconds(1));
      }
      const std::string log = shell.TakeLog();
      EXPECT_THAT(log, HasSubstr("ask 9: done"));
      EXPECT_THAT(log, Not(HasSubstr("ask 1: ")));
    }
  }
}

TEST(AsksTest, OneMayBeWithdrawnWhileItsResultIsHeldForAProof) {
  CookOptions options = Beside();
  options.workers = 0;
  options.proofs = {.share = 1, .second_max = absl::Seconds(5), .third_max = absl::Seconds(30)};
  CoreHarness shell("A\n", options);
  shell.Send(
      WorkerAttached{.worker = kFar, .slots = 1, .in_hand = {}, .session = 1, .machine = "m1"});
  shell.Ask(1, "A");
  shell.Saved("A");
  EXPECT_FALSE(shell.Says("ask 1: done")) << "another machine is to say the same";
  shell.Send(AskWithdrawn{1});
  EXPECT_EQ(shell.StateOf("A"), "Idle");
  shell.Ask(2, "A");
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(AsksTest, OneThatIsWithdrawnLeavesTheJobToACook) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(7, "A");
  shell.Request({"A"}, {.request = 1});
  shell.Send(AskWithdrawn{7});
  EXPECT_FALSE(shell.Says("cancel"));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A"));
}

TEST(AsksTest, ACookThatEndsLeavesTheJobToAnAsk) {
  CoreHarness shell("A\n", Beside());
  shell.Request({"A"}, {.request = 1});
  shell.Ask(7, "A");
  shell.Send(CancelRequested{1});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ended interrupted [1]"), Not(HasSubstr("cancel"))));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
}

TEST(AsksTest, TheInputsOfOneComeAlongAndGoWithIt) {
  CoreHarness shell("A\nB\nC\n", Beside());
  shell.Ask(1, "A");
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start B"));
  EXPECT_EQ(shell.core().UrgencyOf(shell.Id("B")), Urgency::kBlocking);
  shell.Send(AskWithdrawn{1});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel B"));
  shell.Ask(2, "C");
  shell.Saved("C");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

// A goes on without its input, which an old observation set names.
TEST(AsksTest, OneForAnInputThatFailedTriesItAgain) {
  CoreHarness shell("A\nB ! no width\n", Beside());
  shell.hold_look_ups = true;
  shell.Ask(1, "A");
  ASSERT_EQ(shell.look_ups.size(), 1u);
  const LookUp::Item item = shell.look_ups.front();
  shell.hold_look_ups = false;
  LookedUp answer;
  answer.items.push_back({item.package, 0, item.generation, LookedUp::NeedsCooked{{"B"}}});
  shell.Send(answer);
  shell.Saved("B");
  ASSERT_TRUE(shell.HasOpenJob("A")) << shell.TakeLog();
  shell.Ask(2, "B");
  ASSERT_TRUE(shell.HasOpenJob("B")) << shell.TakeLog();
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: failed: no width"));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AsksTest, AnInputStaysAsLongAsOneOfItsReadersIsAskedFor) {
  CoreHarness shell("A\nB\nC\n", Beside());
  shell.Ask(1, "A");
  shell.Ask(2, "C");
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Report(HarnessJob(shell.JobOf("C")), WorkerReport::Needs{"B", 0});
  shell.Send(AskWithdrawn{1});
  EXPECT_FALSE(shell.Says("cancel B"));
  shell.Saved("B");
  shell.Saved("C");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AsksTest, TheGeneratorComesAlongAndItsOtherPackagesDoNot) {
  CoreHarness shell("G : a b\n", Beside());
  shell.Ask(1, "G/_gen/a");
  shell.Saved("G");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("start G/_gen/a"), Not(HasSubstr("G/_gen/b"))));
  shell.Saved("G/_gen/a");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AsksTest, OneForWhatIsGeneratedWaitsForTheListOfAChangedGenerator) {
  CoreHarness shell("G : a\nLong\n", Beside());
  shell.Ask(100, "Long");  // somebody asks all the time
  shell.Ask(1, "G/_gen/a");
  shell.Saved("G");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.TakeLog();
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a")) << "its source may be another one by now";
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

// The cook goes on with the old list, which it compares with the new one before it ends.
TEST(AsksTest, OneBeginsWhatIsGeneratedAgainIfACookHasItFromAnOldList) {
  CoreHarness shell("G : a\nLong\n", Beside());
  shell.Request({"G", "Long"}, {.request = 1});
  shell.Loaded("G");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  ASSERT_TRUE(shell.HasOpenJob("G/_gen/a"));
  shell.Ask(7, "G/_gen/a");
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
}

TEST(AsksTest, OneForWhatIsNotGeneratedFails) {
  CoreHarness shell("G : a\n", Beside());
  shell.Ask(1, "G/_gen/x");
  shell.Saved("G");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: G does not generate it"));
}

TEST(AsksTest, OneForWhatAPackageThatIsNotGeneratedWouldGenerateFails) {
  CoreHarness shell("G : a\n", Beside());
  shell.Ask(1, "G/_gen/x/_gen/y");
  shell.Saved("G");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: its generator G/_gen/x failed"));
}

TEST(AsksTest, OneForWhatAFailedGeneratorWouldGenerateFails) {
  CoreHarness shell("G ! no cells\n", Beside());
  shell.Ask(1, "G/_gen/a");
  shell.Saved("G");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: its generator G failed"));
}

TEST(AsksTest, OneFailsByTheVerdictOfItsPackage) {
  CoreHarness shell("A ! no width\n", Beside());
  shell.Ask(1, "A");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: no width"));
}

TEST(AsksTest, AHardReferenceThatLeadsNowhereFailsOne) {
  CoreHarness shell("A -> X\nB -> X?\n", Beside());
  shell.Ask(1, "A");
  shell.Ask(2, "B");
  shell.Saved("A");
  shell.Saved("B");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ask 1: failed: refers to 'X' (hard): expected a package"));
  EXPECT_THAT(log, HasSubstr("ask 2: done"));
}

TEST(AsksTest, OneForNoPackageFails) {
  CoreHarness shell("A\nB @never\n", Beside());
  shell.Ask(1, "X");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: unknown package"));
  shell.Ask(2, "B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: failed: is never cooked"));
  shell.Ask(3, "A", 5);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 3: the ask names no platform"));
}

TEST(AsksTest, EachHasItsPlatform) {
  CoreHarness shell("A\n", Beside(2));
  shell.Request({"A"}, {.request = 1, .platforms = 0b01});
  shell.Ask(7, "A", 1);
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("ask 7: done"));
  EXPECT_THAT(log, HasSubstr("publish 0 of 1"));
  EXPECT_THAT(log, Not(HasSubstr("publish 1")));
  EXPECT_EQ(shell.core().counters(1).results_wanted, 1u);
}

// Otherwise the cook would end only when a platform is cooked that nobody wants.
TEST(AsksTest, APlatformThatIsAskedForNoMoreIsNotCookedForTheCookOfAnother) {
  CoreHarness shell("A\n", Beside(2));
  shell.hold_look_ups = true;
  shell.Request({"A"}, {.request = 1, .platforms = 0b01});
  shell.Ask(7, "A", 1);
  shell.Send(AskWithdrawn{7});
  shell.hold_look_ups = false;
  while (!shell.look_ups.empty()) {
    const LookUp::Item item = shell.look_ups.front();
    shell.look_ups.pop_front();
    for (PlatformIndex p = 0; p < 2; ++p) {
      if (item.platforms & MaskOf(p))
        shell.Send(LookedUp{{{item.package, p, item.generation, LookedUp::Miss{}}}});
    }
  }
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b01u);
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A"));
}

TEST(AsksTest, APlatformThatWasAskedForIsNotMadeAgainForTheCookOfAnother) {
  CoreHarness shell("A\nLong\n", Beside(2));
  shell.Request({"A", "Long"}, {.request = 1, .platforms = 0b01});
  shell.Ask(7, "A", 1);
  for (int i = 0; i < 3 && !shell.Says("ask 7: done"); ++i) {
    if (shell.HasOpenJob("A")) shell.Saved("A", shell.JobOf("A").start.platforms == 0b01 ? 0 : 1);
  }
  ASSERT_TRUE(shell.Says("ask 7: done")) << shell.TakeLog();
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  ASSERT_TRUE(shell.HasOpenJob("A"));
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b01u);
}

TEST(AsksTest, OneGoesBeforeAllThatACookWants) {
  CoreHarness shell("A\nB\nC\nD\nZ\n", Beside());
  shell.slots = 1;
  shell.Request({"A", "B", "C", "D"}, {.request = 1});
  shell.TakeJobs();
  shell.Ask(7, "Z");
  shell.Work();
  const std::vector<HarnessJob> jobs = shell.TakeJobs();
  ASSERT_FALSE(jobs.empty());
  EXPECT_EQ(shell.core().NameOf(jobs[0].start.package), "Z");
  EXPECT_EQ(jobs[0].start.urgency, Urgency::kBlocking);
}

TEST(AsksTest, OneDoesNotTryAgainWhatKilledItsExecutors) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  for (int i = 0; i < 8 && shell.HasOpenJob("A"); ++i) {
    shell.Failed("A", Fault::kCrashed, "signal 11");
    shell.Pass(absl::Seconds(30));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: "));
  shell.Ask(2, "A");
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("ask 2: failed: "), HasSubstr("signal 11"), Not(HasSubstr("start"))));
  shell.Pass(absl::Minutes(10));
  shell.Ask(3, "A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start A"));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 3: done"));
}

TEST(AsksTest, WhatKilledItsExecutorsIsTriedAgainWhenItChanges) {
  CoreHarness shell("A\nLong\n", Beside());
  shell.Request({"A", "Long"}, {.request = 1});
  for (int i = 0; i < 8 && shell.HasOpenJob("A"); ++i) {
    shell.Failed("A", Fault::kCrashed, "signal 11");
    shell.Pass(absl::Seconds(30));
  }
  shell.TakeLog();
  shell.Ask(2, "A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: failed: ")) << "it failed in the cook";
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  shell.Ask(3, "A");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 3: done"));
}

// A crashes each time, until it fails.
void CrashUntilItFails(CoreHarness& shell) {
  for (int i = 0; i < 8 && shell.HasOpenJob("A"); ++i) {
    shell.Failed("A", Fault::kCrashed, "signal 11");
    shell.Pass(absl::Seconds(30));
  }
}

TEST(AsksTest, WhatKilledItsExecutorsIsTriedAgainWhenAnInputChanges) {
  CoreHarness shell("A\nB\nLong\n", Beside());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Saved("B");
  CrashUntilItFails(shell);
  shell.Ask(1, "A");
  ASSERT_TRUE(shell.Says("ask 1: failed: ")) << shell.TakeLog();
  shell.Send(CancelRequested{1});
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  shell.Ask(2, "A");
  EXPECT_TRUE(shell.HasOpenJob("A")) << shell.TakeLog();
}

TEST(AsksTest, WhatKilledItsExecutorsIsTriedAgainUnderItsNewName) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  CrashUntilItFails(shell);
  ASSERT_TRUE(shell.Says("ask 1: failed: ")) << shell.TakeLog();
  shell.Send(PlatformsChanged{
      .catalog = shell.project(),
      .mapping = {PlatformIndex{0}},
      .platform_count = 1,
      .files = FilesChanged{.catalog = shell.project(), .packages = {}, .renamed = {{"X", "A"}}}});
  shell.Ask(2, "A");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AsksTest, WhatKilledItsExecutorsOnOnePlatformMayBeDoneOnAnother) {
  CoreHarness shell("A = a\nB = a\n", Beside(2));
  shell.Ask(1, "B", 1);  // equal work
  shell.Work();
  shell.Ask(2, "A", 0);
  CrashUntilItFails(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: failed: "));
  shell.Ask(3, "A", 1);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 3: done"), Not(HasSubstr("start"))));
  shell.Ask(4, "A", 0);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 4: failed: "), Not(HasSubstr("start"))));
}

// Ids are given again when the core forgets its packages.
TEST(AsksTest, AFailureIsNotThatOfAnotherPackage) {
  CoreHarness shell("A\nB\n", Beside());
  shell.Ask(1, "A");
  CrashUntilItFails(shell);
  for (const HarnessJob& job : shell.TakeJobs()) shell.Report(job, WorkerReport::Ended{});
  shell.Send(MemoryShort{});
  ASSERT_EQ(shell.core().package_count(), 0u);
  shell.Ask(2, "B");
  shell.Ask(3, "A");
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_FALSE(shell.HasOpenJob("A"));
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 3: failed: "), HasSubstr("signal 11")));
}

TEST(AsksTest, AChangeBeginsThePackageAnew) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  shell.TakeLog();
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("cancel A"), HasSubstr("start A")));
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: done"));
}

TEST(AsksTest, ChangesUnderEarlierOnesDoNotCountForTheNext) {
  CoreHarness shell("A\nLong\n", Beside());
  shell.Ask(100, "Long");  // somebody asks all the time
  for (uint64_t ask = 1; ask <= 6; ++ask) {
    shell.Ask(ask, "A");
    shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Stale{"content/A"});
    shell.Send(FilesChanged{shell.project(), {"A"}, {"content/A"}});
    shell.Saved("A");
    EXPECT_THAT(shell.TakeLog(), HasSubstr("ask " + std::to_string(ask) + ": done"));
  }
  EXPECT_EQ(shell.core().holdings().changed_files, 0u);
}

TEST(AsksTest, OneFailsIfItsFileGoes) {
  CoreHarness shell("A\nB\n", Beside());
  shell.Ask(1, "A");
  shell.ChangeProject("B\n");
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: failed: unknown package"));
}

TEST(AsksTest, OneFailsIfItsFileGetsAnotherName) {
  CoreHarness shell("A\nLong\n", Beside());
  shell.Request({"A", "Long"}, {.request = 1});
  shell.Ask(7, "A");
  shell.ChangeProject("New\nLong\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"A", "New"}}});
  EXPECT_TRUE(shell.Says("ask 7: failed: renamed")) << shell.TakeLog();
  EXPECT_TRUE(shell.HasOpenJob("New")) << "for the cook";
  EXPECT_LT(shell.core().UrgencyOf(shell.Id("New")), Urgency::kBlocking);
  shell.Ask(8, "New");
  shell.Send(AskWithdrawn{8});
  EXPECT_LT(shell.core().UrgencyOf(shell.Id("New")), Urgency::kBlocking);
  for (int i = 0; i < 3; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: Long New\n"));
}

TEST(AsksTest, CooksBeginAndEndBesideOne) {
  CoreHarness shell("A\nB\n", Beside());
  shell.Ask(7, "A");
  for (uint64_t cook = 1; cook <= 3; ++cook) {
    shell.Request({"B"}, {.request = cook});
    if (shell.HasOpenJob("B")) shell.Saved("B");
    EXPECT_TRUE(shell.Says("root of " + std::to_string(cook) + ": B"));
  }
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
}

TEST(AsksTest, OneAfterACookFindsNothingOfIt) {
  CoreHarness shell("A -> B\nB\n", Beside());
  shell.Request({"A"}, {.request = 1});
  shell.Saved("A");
  shell.Saved("B");
  shell.TakeLog();
  shell.Ask(7, "B");
  while (shell.core().has_agenda()) shell.Send(Tick{});
  if (shell.HasOpenJob("B")) shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 7: done"));
  shell.Request({"A"}, {.request = 2});
  for (int i = 0; i < 3; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A B"));
}

TEST(AsksTest, AWarningThatIsAnErrorFailsOneAsItFailsACook) {
  CoreHarness shell("A @warns audio-file\nA @strict audio-file\nB @warns audio-file\n", Beside());
  shell.Ask(1, "A");
  shell.Ask(2, "B");
  shell.Saved("A");
  shell.Saved("B");
  std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("ask 1: failed: is odd [audio-file], which is an error here"),
                         HasSubstr("ask 2: done")));
  shell.Request({"A", "B"}, {.request = 1});
  for (int i = 0; i < 3; ++i) shell.Work();
  log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("failed A"), HasSubstr("is odd [audio-file], which is an error"),
                         HasSubstr("root of 1: B\n")));
}

TEST(AsksTest, ASoftReferenceThatLeadsNowhereFailsOneWhereThatIsAnError) {
  CoreHarness shell("A -> X?\nA @strict missing-soft-reference\nB -> X?\nC -> X Y\n", Beside());
  const char* const names[] = {"A", "B", "C"};
  for (const uint64_t ask : {0u, 1u, 2u}) {
    shell.Ask(ask, names[ask]);
    shell.Saved(names[ask]);
  }
  EXPECT_THAT(
      shell.TakeLog(),
      AllOf(HasSubstr("ask 0: failed: refers to 'X' (soft)"), HasSubstr("ask 1: done"),
            HasSubstr("ask 2: failed: 2 references lead nowhere:\n  refers to 'X' (hard)")));
}

// Nobody took the change in: no cook ran.
TEST(AsksTest, OneAfterACookSeesWhatChangedSince) {
  CoreHarness shell("A\nB\n", Beside());
  shell.Request({"A", "B"}, {.request = 1});
  shell.Saved("A");
  shell.Failed("B", Fault::kRefused);
  ASSERT_TRUE(shell.Says("ended"));
  shell.Send(FilesChanged{shell.project(), {"A", "B"}, {}});
  shell.TakeLog();
  shell.Ask(7, "A");
  shell.Ask(8, "B");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("start A"), HasSubstr("start B"),
                                     Not(HasSubstr("ask 7")), Not(HasSubstr("ask 8"))));
  shell.Saved("A");
  shell.Saved("B");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ask 7: done"), HasSubstr("ask 8: done")));
}

TEST(AsksTest, OneEndsWhenTheDirectorCannotGoOn) {
  CoreHarness shell("A\n", Beside());
  shell.Ask(1, "A");
  shell.Send(DirectorUnfit{"the disk is full"});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: the disk is full"));
  shell.Ask(2, "A");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AsksTest, OneEndsWithItsPlatformAndOthersFollowTheirs) {
  CoreHarness shell("A\nB\n", Beside(2));
  shell.Ask(1, "A", 0);
  shell.Ask(2, "B", 1);
  shell.Send(PlatformsChanged{.catalog = shell.project(),
                              .mapping = {std::nullopt, PlatformIndex{0}},
                              .platform_count = 1});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 1: its platform was removed"));
  for (int i = 0; i < 3; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AsksTest, TheInputsOfOneGoWithItsPlatform) {
  CoreHarness shell("A\nB\nC\n", Beside(2));
  shell.Ask(1, "A", 0);
  shell.Ask(2, "C", 1);
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_TRUE(shell.HasOpenJob("B"));
  shell.Send(PlatformsChanged{.catalog = shell.project(),
                              .mapping = {std::nullopt, PlatformIndex{0}},
                              .platform_count = 1});
  EXPECT_FALSE(shell.HasOpenJob("B"));
  EXPECT_EQ(shell.StateOf("B"), "Idle");
  for (int i = 0; i < 3; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

// B leaves before the ask ends: its input is needed by nobody.
TEST(AsksTest, TheInputsOfAnInputThatLeavesAreLetGo) {
  CoreHarness shell("A\nB\nC\nD\n", Beside());
  shell.Ask(1, "A");
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Report(HarnessJob(shell.JobOf("B")), WorkerReport::Needs{"C", 0});
  EXPECT_TRUE(shell.HasOpenJob("C"));
  shell.ChangeProject("A\nNew\nC\nD\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"B", "New"}}});
  EXPECT_FALSE(shell.HasOpenJob("C"));
  shell.Send(AskWithdrawn{1});
  for (const char* name : {"A", "B", "C", "New"}) EXPECT_EQ(shell.StateOf(name), "Idle") << name;
  shell.Ask(2, "D");
  shell.Saved("D");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ask 2: done"));
}

TEST(AsksTest, AllEndTogetherWithTheWaitsBetweenThem) {
  CoreHarness shell("G : a b\nA\nB\n", Beside());
  shell.Ask(1, "B");
  shell.Ask(2, "A");
  shell.Ask(3, "G/_gen/a");
  shell.Ask(4, "G/_gen/b");
  shell.Ask(5, "G");
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  shell.Send(DirectorUnfit{"the disk is full"});
  const std::string log = shell.TakeLog();
  for (int ask = 1; ask <= 5; ++ask)
    EXPECT_THAT(log, HasSubstr("ask " + std::to_string(ask) + ": the disk is full"));
  for (const char* name : {"A", "B", "G", "G/_gen/a"})
    EXPECT_EQ(shell.StateOf(name), "Idle") << name;
}

TEST(AsksTest, ABlockingLookUpDoesNotWaitForThoseOfACook) {
  std::string project = "Z\n";
  std::vector<std::string> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back("P" + std::to_string(i));
    project += all.back() + "\n";
  }
  CookOptions options = Beside();
  options.look_ups_per_batch = 4;
  CoreHarness shell(project, options);
  shell.hold_look_ups = true;
  shell.Request(all, {.request = 1});
  for (size_t i = 0; i < all.size(); ++i) shell.Send(Tick{});
  const size_t before = shell.look_ups.size();
  ASSERT_LT(before, all.size());
  shell.Ask(7, "Z");
  ASSERT_EQ(shell.look_ups.size(), before + 1);
  EXPECT_EQ(shell.core().NameOf(shell.look_ups.back().package), "Z");
  EXPECT_TRUE(shell.look_ups.back().is_awaited);
  EXPECT_FALSE(shell.look_ups.front().is_awaited);
}

}  // namespace
}  // namespace galley::director
