// Platforms are added, removed and renumbered while a cook runs.
#include "director/core/packages/platforms.h"

#include <random>

#include "director/core/packages/agenda.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Removes the platform of that number out of `count`; those behind it move up.
PlatformsChanged Removal(PlatformIndex removed, uint32_t count) {
  PlatformsChanged event{.platform_count = count - 1};
  for (PlatformIndex p = 0; p < count; ++p) {
    event.mapping.push_back(p == removed ? std::nullopt : std::optional(p - (p > removed)));
  }
  return event;
}

// Puts a new platform before the others.
PlatformsChanged Addition(uint32_t count) {
  PlatformsChanged event{.platform_count = count + 1, .added = {{0, 1}}};
  for (PlatformIndex p = 0; p < count; ++p) event.mapping.emplace_back(p + 1);
  return event;
}

TEST(PlatformMapTest, AMaskFollowsItsBits) {
  const PlatformMap map({2, std::nullopt, 0});
  EXPECT_EQ(map.Mask(0b111), 0b101u);
  EXPECT_EQ(map.Mask(0b001), 0b100u);
  EXPECT_EQ(map.Index(1), std::nullopt);
  EXPECT_EQ(map.Index(3), std::nullopt);
}

TEST(PlatformMapTest, AllThirtyTwoHaveABit) {
  std::vector<std::optional<PlatformIndex>> reversed;
  for (PlatformIndex p = 0; p < 32; ++p) reversed.emplace_back(31 - p);
  EXPECT_EQ(PlatformMap(reversed).Mask(0x0000'0003), 0xc000'0000u);
  EXPECT_EQ(PlatformMap(reversed).Mask(~PlatformMask{0}), ~PlatformMask{0});
}

TEST(PlatformSetsTest, WhatIsOnItsWayIsLedThroughEveryChange) {
  PlatformSets sets;
  sets.Add(PlatformMap({1, 0}));
  sets.Add(PlatformMap({std::nullopt, 2}));
  EXPECT_EQ(sets.Index(0, 0), 2u);
  EXPECT_EQ(sets.Index(1, 0), std::nullopt);
  EXPECT_EQ(sets.Index(1, 1), 2u);
  EXPECT_EQ(sets.Index(1, 2), 1u);
  EXPECT_EQ(sets.Mask(0b11, 0), 0b100u);
}

TEST(PlatformMapTest, TheAgendaFollows) {
  Agenda agenda;
  const PackageId package(7);
  agenda.Push(Urgency::kNormal, {AgendaItem::Kind::kExplore, package, 0});
  agenda.Push(Urgency::kNormal, {AgendaItem::Kind::kExplore, package, 1});
  agenda.Push(Urgency::kNormal, {AgendaItem::Kind::kBegin, package});
  std::vector<PackageId> gone;
  agenda.Remap(PlatformMap({std::nullopt, 0}), [&](PackageId one) { gone.push_back(one); });
  EXPECT_THAT(gone, testing::ElementsAre(package));
  EXPECT_EQ(agenda.Pop().platform, 0u);
  EXPECT_EQ(agenda.Pop().kind, AgendaItem::Kind::kBegin);
  EXPECT_TRUE(agenda.empty());
}

TEST(PlatformsTest, AnAddedOneIsAskedForOfEveryPackageInTheCook) {
  CoreHarness shell("A -> B\nB\nC\n");
  shell.Request({"A", "C"});
  shell.Saved("C");   // done
  shell.Loaded("A");  // in hand; B has joined
  shell.Send(Addition(1));
  EXPECT_EQ(shell.JobOf("C").start.platforms, 0b01u);
  shell.Saved("A");  // it was handed over as the first, and is the second now
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B C\nroot A B C\npublish 0\npublish 1\nended\n"));
  EXPECT_EQ(shell.core().counters().results_wanted, 6u);
  EXPECT_EQ(shell.core().counters().results_cooked, 6u);
}

TEST(PlatformsTest, WhatIsStoredIsRemapped) {
  CoreHarness shell("A -> B\nB\n", {.platform_count = 2});
  shell.Request({"A"});
  shell.Saved("A", 1);
  shell.Send(PlatformsChanged{.mapping = {1, 0}, .platform_count = 2});
  EXPECT_EQ(shell.TakeLog().find("cancel"), std::string::npos);
  shell.Saved("A", 0);  // the second by now; what was the second is done, and the first
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\nroot A B\n"));
  EXPECT_EQ(shell.core().counters().results_cooked, 4u);
}

// A is saved for a platform on which it refers to `to`.
WorkerReport::Saved With(CoreHarness& shell, PlatformIndex platform, const std::string& to) {
  ResultView view = *shell.MakeResult("A");
  if (!to.empty()) view.references.push_back({to, record::ReferenceKind::kHard});
  return {.platform = platform, .result = std::make_shared<ResultView>(std::move(view))};
}
void SavedWith(CoreHarness& shell, PlatformIndex platform, const std::string& to) {
  shell.Report(HarnessJob(shell.JobOf("A")), With(shell, platform, to));
}

TEST(PlatformsTest, WhatIsStillToBeExploredFollowsToo) {
  CoreHarness shell("A\nX\n", {.platform_count = 2, .units_per_step = 1});
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  std::vector<Effect> effects;
  const auto step = [&](const Event& event) {
    shell.core().Step(absl::UnixEpoch(), event, effects);
  };
  step(WorkerReported{
      job.worker,
      {{1, job.start.attempt, With(shell, 0, "")}, {2, job.start.attempt, With(shell, 1, "X")}}});
  ASSERT_TRUE(shell.core().has_agenda());  // one of the two is left
  shell.Send(Removal(0, 2));
  EXPECT_TRUE(shell.HasOpenJob("X"));
}

TEST(PlatformsTest, WhatIsReferredToOnOnePlatformFollowsIt) {
  CoreHarness shell("A\nB\nX\n", {.platform_count = 2});
  shell.Request({"A"});
  SavedWith(shell, 0, "");
  SavedWith(shell, 1, "X");
  shell.Send(Removal(0, 2));
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A X\npublish 0\nended\n"));
}

TEST(PlatformsTest, AReferenceToNothingOnARemovedOneFailsNobody) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  SavedWith(shell, 0, "Missing");
  SavedWith(shell, 1, "");
  shell.Send(Removal(0, 2));
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\npublish 0\nended\n"));
  EXPECT_EQ(shell.core().counters().failed, 0u);
}

TEST(PlatformsTest, PlatformsWithTheSameReferencesToNothingFailTogether) {
  CoreHarness shell("A\n", {.platform_count = 3});
  shell.Request({"A"});
  SavedWith(shell, 0, "Missing");
  SavedWith(shell, 1, "Other");
  SavedWith(shell, 2, "Missing");
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A 0: refers to 'Missing'"));
  EXPECT_THAT(log, HasSubstr("failed A 1: refers to 'Other'"));
  EXPECT_THAT(log, HasSubstr("failed A 2: refers to 'Missing'"));
}

TEST(PlatformsTest, AReferenceToNothingFailsThePlatformAsItIsNumberedNow) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  SavedWith(shell, 0, "Missing");
  SavedWith(shell, 1, "");
  shell.Send(PlatformsChanged{.mapping = {1, 0}, .platform_count = 2});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A 1:"));
}

TEST(PlatformsTest, ReferencesAreFollowedAgainThoughThatWasToBeginWithARemovedOne) {
  CoreHarness shell("A -> B\nB\nC\n", {.platform_count = 2});
  shell.Request({"A", "C"});
  shell.Saved("A", 0);
  shell.Saved("A", 1);
  shell.Saved("B", 0);
  shell.Saved("B", 1);
  shell.hold_commits = true;
  shell.Saved("C", 0);
  shell.Saved("C", 1);
  shell.ChangeProject("A -> B\nC\n");
  std::vector<Effect> effects;
  const auto step = [&](const Event& event) {
    shell.core().Step(absl::UnixEpoch(), event, effects);
  };
  step(FilesChanged{shell.project(), {}, {}});
  Persisted persisted;
  for (const Persist::Item& item : shell.commits)
    persisted.items.push_back({item.package, item.platform, item.result, nullptr});
  step(persisted);  // all is quiet: references are judged anew from the next step on
  ASSERT_TRUE(shell.core().has_agenda());
  shell.Send(Removal(0, 2));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: refers to 'B' (hard)"));
}

TEST(PlatformsTest, ACookThatWaitsForItsTurnIsForTheSamePlatforms) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.Request({"A"});
  shell.Send(CookRequested{.platforms = 0b01, .selected = {{"A"}}});
  shell.Send(PlatformsChanged{.mapping = {1, 0}, .platform_count = 2});
  shell.Work();
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b10u);
}

TEST(PlatformsTest, ARootThatIsBeingPublishedIsAwaitedThoughItsPlatformIsRemoved) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_publish = true;
  shell.Request({"A"});
  shell.Work();
  shell.Send(RootPublished{1, ""});
  shell.Send(Removal(0, 2));
  EXPECT_FALSE(shell.Says("ended\n"));
  shell.Send(RootPublished{0, ""});
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(PlatformsTest, AnAttemptLosesARemovedOneAndGoesOnWithTheOthers) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.Request({"A"});
  shell.TakeLog();
  shell.Send(Removal(0, 2));
  EXPECT_EQ(shell.TakeLog(), "");
  shell.Saved("A", 1);
  EXPECT_EQ(shell.TakeLog(), "done A\nroot A\npublish 0\nended\n");
}

TEST(PlatformsTest, AnAttemptThatHasOnlyRemovedOnesIsCancelled) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  shell.Saved("A", 1);
  shell.TakeLog();
  shell.Send(Removal(0, 2));
  EXPECT_EQ(shell.TakeLog(), "cancel A\n");
  shell.Saved("B", 1);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\npublish 0\nended\n"));
}

// A was taken back for an idle worker, after it had begun.
TEST(PlatformsTest, WhatARetractedAttemptBringsIsGoodAfterAChange) {
  CoreHarness shell("A ~ 100000\nB ~ 100000\nC ~ 100000\n", {.platform_count = 2, .workers = 2});
  shell.hold_workers = true;
  shell.slots = 1;
  shell.Request({"C", "B", "A"});
  shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  const HarnessJob jobs[] = {shell.JobOf("A"), shell.JobOf("B"), shell.JobOf("C")};
  shell.TakeLog();
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  for (const HarnessJob& job : jobs) {
    const std::string name = shell.core().NameOf(job.start.package);
    if (!shell.Says("retract " + name + "\n")) continue;
    shell.Send(Removal(0, 2));
    shell.TakeLog();
    shell.Saved(job, 1);
    EXPECT_THAT(shell.TakeLog(), HasSubstr("done " + name + "\n"));
    EXPECT_EQ(shell.core().counters().jobs_retried, 0u);
    return;
  }
  FAIL() << "nothing was retracted";
}

TEST(PlatformsTest, AResultForARemovedOneFeedsTheCache) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_commits = true;
  shell.Request({"A"});
  shell.Send(Removal(0, 2));
  shell.TakeLog();
  const ReportId report = shell.Saved("A", 0);
  ASSERT_EQ(shell.commits.size(), 1u);
  EXPECT_FALSE(shell.acknowledged().contains(report));
  const Persist::Item commit = shell.commits.front();
  shell.Send(Persisted{{{commit.package, commit.platform, commit.result, nullptr}}, ""});
  EXPECT_TRUE(shell.acknowledged().contains(report));
  EXPECT_EQ(shell.TakeLog(), "");
  EXPECT_EQ(shell.core().counters().results_cooked, 0u);
}

TEST(PlatformsTest, ACommitOnItsWayIsForThePlatformAsItIsNumberedNow) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_commits = true;
  shell.Request({"A"});
  shell.Saved("A", 1);
  shell.Send(Removal(0, 2));
  shell.TakeLog();
  const Persist::Item commit = shell.commits.front();
  shell.Send(Persisted{{{commit.package, commit.platform, commit.result, nullptr}}, ""});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("done A\nroot A\npublish 0\nended\n"));
}

TEST(PlatformsTest, AnAnswerToALookUpOfTheOldSetIsVoid) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_look_ups = true;
  shell.Request({"A"});
  const LookUp::Item old = shell.look_ups.front();
  shell.Send(Removal(0, 2));
  ASSERT_EQ(shell.look_ups.size(), 2u);
  const LookUp::Item asked = shell.look_ups.back();
  EXPECT_EQ(asked.platforms, 0b1u);
  shell.Send(LookedUp{{{old.package, 0, old.generation, LookedUp::Error{"of the removed one"}}}});
  EXPECT_FALSE(shell.Says("failed"));
  shell.Send(LookedUp{{{asked.package, 0, asked.generation, LookedUp::Miss{}}}});
  EXPECT_TRUE(shell.HasOpenJob("A"));
}

TEST(PlatformsTest, AFailureOnARemovedOneIsForgotten) {
  CoreHarness shell("A\nB\n", {.platform_count = 2, .own_fault_attempts_max = 1});
  shell.Request({"A", "B"});
  shell.Report(HarnessJob(shell.JobOf("A")),
               WorkerReport::Failed{.fault = WorkerReport::Fault::kCrashed, .platforms = 0b01});
  shell.Saved("A", 1);
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Idle, failed");
  shell.Send(Removal(0, 2));
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Idle, cooked");
  EXPECT_EQ(shell.core().counters().failed, 0u);
}

TEST(PlatformsTest, ReportsOfLoadsFailuresAndNeedsFollowToo) {
  CoreHarness shell("A -> C\nB\nC\n", {.platform_count = 2, .own_fault_attempts_max = 1});
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  shell.Send(PlatformsChanged{.mapping = {1, 0}, .platform_count = 2});
  shell.Report(job, WorkerReport::Loaded{0b01, shell.MakeResult("A"), absl::ZeroDuration()});
  EXPECT_TRUE(shell.Id("C").valid());
  shell.Report(job, WorkerReport::Failed{
                        .fault = WorkerReport::Fault::kCrashed, .error = "e", .platforms = 0b01});
  EXPECT_TRUE(shell.Says("failed A 1:"));
  shell.Report(job, WorkerReport::Needs{"B", 1});
  ASSERT_TRUE(shell.HasOpenJob("B"));
  shell.Saved("B", 0);
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b01u);
}

TEST(PlatformsTest, AWaitForACookedInputOfARemovedOneIsOver) {
  CoreHarness shell("A\nB\n", {.platform_count = 2});
  shell.Request({"A"});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"B", 0});
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Request");
  shell.Send(Removal(0, 2));
  EXPECT_EQ(shell.core().StateText(shell.Id("A")), "Load");
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b1u);
}

TEST(PlatformsTest, RootsThatAreBeingBuiltAreBuiltAgainForTheNewSet) {
  CoreHarness shell("A\n");
  shell.hold_roots = true;
  shell.Request({"A"});
  shell.Saved("A");
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Send(Addition(1));
  shell.Send(RootBuilt{0, Digest::Of("old"), {}, shell.roots[0].platform_set});
  EXPECT_FALSE(shell.Says("publish"));
  shell.Saved("A");
  ASSERT_EQ(shell.roots.size(), 3u);
  shell.Send(RootBuilt{0, Digest::Of("0"), {}, shell.roots[1].platform_set});
  shell.Send(RootBuilt{1, Digest::Of("1"), {}, shell.roots[2].platform_set});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("publish 0\npublish 1\nended\n"));
}

TEST(PlatformsTest, WhatChangedWhileRootsWereBuiltBelongsToThoseOfTheNewSet) {
  CoreHarness shell("A\nB\n");
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_FALSE(shell.HasOpenJob("A")) << "its roots are of what was before";
  shell.Send(Addition(1));
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b11u);
  EXPECT_EQ(shell.JobOf("B").start.platforms, 0b01u);
}

TEST(PlatformsTest, WhatAPackageRefersToIsJudgedForAPlatformThatCameWhileRootsWereBuilt) {
  CoreHarness shell("A -> Gone\nB -> Nor?\n");
  shell.hold_roots = true;
  shell.Request({"A", "B"});
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 1u);
  EXPECT_TRUE(shell.Says("failed A: "));
  shell.TakeLog();
  shell.Send(Addition(1));
  shell.Work();
  ASSERT_EQ(shell.roots.size(), 3u);
  for (const size_t i : {1, 2}) {
    ASSERT_EQ(shell.roots[i].packages.size(), 1u) << i;
    EXPECT_EQ(shell.roots[i].packages[0].first, shell.Id("B"));
  }
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A 0: "));
  EXPECT_THAT(log, testing::Not(HasSubstr("warned B"))) << "once is enough";
}

TEST(PlatformsTest, ASoftReferenceThatLeadsNowhereIsToldOnceForAllPlatforms) {
  CoreHarness shell("A -> Nor?\nB\n", {.platform_count = 2});
  shell.Request({"A", "B"});
  shell.Saved("A", 0);
  shell.ChangeProject("A -> Nor? B\nB\n");  // for the other platform it refers to B as well
  shell.Saved("A", 1);
  shell.Finish();
  EXPECT_EQ(CountOf("warned A", shell.TakeLog()), 1u);
}

TEST(PlatformsTest, SoIsOneToWhatAGeneratorDoesNotListHoweverOftenItIsJudged) {
  CoreHarness shell("A -> G/_gen/no?\nG : yes\n");
  shell.hold_roots = true;
  shell.Request({"A", "G"});
  for (int i = 0; i < 3; ++i) shell.Work();
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Send(Addition(1));
  for (int i = 0; i < 3; ++i) shell.Work();
  ASSERT_EQ(shell.roots.size(), 3u);
  for (size_t i = 1; i < 3; ++i) shell.Send(WholeRoot(shell.roots[i]));
  const std::string log = shell.TakeLog();
  EXPECT_EQ(CountOf("ended", log), 1u) << log;
  EXPECT_EQ(CountOf("warned A: refers to 'G/_gen/no' (soft)", log), 1u) << log;
}

TEST(PlatformsTest, ACookThatPublishesIsOverButForThat) {
  CoreHarness shell("A\n", {.platform_count = 2});
  shell.hold_publish = true;
  shell.Request({"A"});
  shell.Work();
  ASSERT_EQ(shell.publishes.size(), 2u);
  PlatformsChanged event = Removal(0, 2);
  event.platform_count = 2;
  event.added = {{0, 0b10}};
  shell.Send(event);
  EXPECT_FALSE(shell.HasOpenJob("A"));
  shell.Send(RootPublished{0, "a root of the removed one", 0});
  EXPECT_FALSE(shell.Says("ended"));
  shell.Send(RootPublished{1, "", 0});
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(PlatformsTest, ForcedPackagesAreNotLookedUpForAnAddedOne) {
  CoreHarness shell("A\nB\n");
  shell.Request({"A", "B"}, {.force = true});
  shell.Saved("A");
  shell.hold_look_ups = true;
  shell.Send(Addition(1));
  EXPECT_TRUE(shell.HasOpenJob("A"));
  shell.Saved("B");
  EXPECT_TRUE(shell.HasOpenJob("B"));
  EXPECT_TRUE(shell.look_ups.empty());
}

TEST(PlatformsTest, AnAddedOneGivesTheSkippedAnotherChance) {
  CoreHarness shell("G : a\nB\n", {.own_fault_attempts_max = 1});
  shell.Request({"G", "G/_gen/a", "B"});
  shell.Failed("G", WorkerReport::Fault::kCrashed);
  ASSERT_EQ(shell.core().StateText(shell.Id("G/_gen/a")), "Idle, skipped");
  shell.Send(Addition(1));
  EXPECT_EQ(shell.core().StateText(shell.Id("G/_gen/a")), "Request");
  shell.Saved("G", 0);  // the added one
  shell.Finish();
  EXPECT_EQ(shell.core().StateText(shell.Id("G")), "Idle, failed");
  EXPECT_EQ(shell.core().StateText(shell.Id("G/_gen/a")), "Idle, cooked");
}

TEST(PlatformsTest, TheNextCookHasTheNewSet) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Work();
  shell.TakeLog();
  shell.Send(Addition(1));
  EXPECT_EQ(shell.TakeLog(), "");
  shell.Send(CookRequested{.platforms = ~PlatformMask{0}, .selected = {{"A"}}});
  shell.Send(Tick{});
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b11u);
}

// Whenever platforms come and go: in the end every package has its result for each platform.
TEST(PlatformsTest, RandomChangesInACookEndWithAllThatIsWanted) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    CoreHarness shell("A -> B C?\nB -> D\nC\nD\nE : x y\n", {.platform_count = 3, .workers = 2});
    shell.hold_commits = seed % 2 == 0;
    shell.hold_look_ups = seed % 3 == 0;
    shell.hold_roots = seed % 5 == 0;
    uint32_t count = 3;
    shell.Request({"A", "E"});
    const auto answer_some = [&] {
      if (!shell.commits.empty()) {
        const Persist::Item item = shell.commits.front();
        shell.commits.pop_front();
        shell.Send(Persisted{{{item.package, item.platform, item.result, nullptr}}, ""});
      }
      if (!shell.look_ups.empty()) {
        const LookUp::Item item = shell.look_ups.front();
        shell.look_ups.pop_front();
        LookedUp looked_up;
        for (PlatformIndex p = 0; p < 32; ++p) {
          if (item.platforms & MaskOf(p))
            looked_up.items.push_back({item.package, p, item.generation, LookedUp::Miss{}});
        }
        shell.Send(looked_up);
      }
      if (!shell.roots.empty()) {
        const BuildRoot root = shell.roots.front();
        shell.roots.pop_front();
        shell.Send(WholeRoot(root));
      }
    };
    for (int i = 0; i < 60 && !shell.Says("ended"); ++i) {
      switch (random() % 8) {
        case 0:
          if (count < 5 && !shell.Says("publish")) shell.Send(Addition(count++));
          break;
        case 1:
          if (count > 1 && !shell.Says("publish")) {
            shell.Send(Removal(static_cast<PlatformIndex>(random() % count), count));
            --count;
          }
          break;
        case 2: {
          static constexpr const char* kNames[] = {"A", "B", "C", "D", "E", "E/_gen/x", "E/_gen/y"};
          const std::string name = kNames[random() % 7];
          if (shell.Id(name).valid() && shell.HasOpenJob(name))
            shell.Report(HarnessJob(shell.JobOf(name)), WorkerReport::Needs{"D", 0});
          break;
        }
        case 3:
          shell.Work();
          break;
        default:
          answer_some();
      }
    }
    for (int i = 0; i < 500 && !shell.Says("ended"); ++i) {
      shell.Work();
      answer_some();
      shell.Pass(absl::Seconds(1));
    }
    const std::string log = shell.TakeLog();
    ASSERT_THAT(log, HasSubstr("ended\n"));
    ASSERT_THAT(log, HasSubstr("publish " + std::to_string(count - 1)));
    ASSERT_THAT(log, Not(HasSubstr("publish " + std::to_string(count))));
    ASSERT_EQ(shell.core().counters().results_wanted, count * 7);
    ASSERT_EQ(shell.core().counters().results_cooked + shell.core().counters().results_failed,
              count * 7);
  }
}

}  // namespace
}  // namespace galley::director
