// Cooks that are settled: their roots are being built, published or staged, while files change and
// other cooks go on.
#include <algorithm>
#include <deque>
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

CookOptions SettledOptions(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

RootBuilt Conflict(const BuildRoot& asked, PackageId one, PackageId other) {
  RootBuilt built = WholeRoot(asked);
  built.conflicts = {{one, other, "x", "the same path"}};
  return built;
}

RootPublished PublishedAs(const PublishRoot& asked) {
  return {.platform = asked.platform,
          .error = "",
          .platform_set = asked.platform_set,
          .round = asked.round,
          .request = asked.request};
}

ResultId ResultIn(const BuildRoot& root, PackageId package) {
  for (const auto& [id, result] : root.packages) {
    if (id == package) return result;
  }
  return ResultId();
}

// Cook 1 of A and B, whose roots lie in `roots` and wait for an answer.
class SettledCooksTest : public ::testing::Test {
 protected:
  SettledCooksTest() : shell_("A\nB\nLong\n", SettledOptions()) { shell_.hold_roots = true; }
  void SettleFirst(CookRequested request = {.request = 1}) {
    shell_.Request({"A", "B"}, request);
    for (int i = 0; i < 3; ++i) shell_.Work();
    ASSERT_EQ(shell_.roots.size(), 1u) << shell_.TakeLog();
    first_ = shell_.roots.front();
    shell_.roots.clear();
    shell_.TakeLog();
  }
  void Change(const std::vector<std::string>& packages) {
    shell_.Send(FilesChanged{shell_.project(), packages, {}});
  }
  // The first cook is opened again: the store lost the bytes of this package.
  void LoseBytesOf(const std::string& name) {
    RootBuilt built = WholeRoot(first_);
    built.lost = {{.package = shell_.Id(name), .path = name, .digest = Digest::Of(name)}};
    shell_.Send(built);
  }

  CoreHarness shell_;
  BuildRoot first_;
};

TEST_F(SettledCooksTest, AChangeBeginsNothingForThem) {
  SettleFirst();
  Change({"A"});
  EXPECT_EQ(shell_.TakeLog(), "");
  EXPECT_EQ(shell_.StateOf("A"), "Idle, cooked");
  shell_.Send(WholeRoot(first_));
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("publish 0 of 1"), HasSubstr("ended [1]")));
  EXPECT_EQ(shell_.core().counters(1).results_cooked, 2u);
}

TEST_F(SettledCooksTest, TheNextCookTakesTheChangeAndWaitsForNobody) {
  SettleFirst();
  Change({"A"});
  shell_.Request({"A", "B"}, {.request = 2});
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("start A"), HasSubstr("done B [2]"),
                                      Not(HasSubstr("done A")), Not(HasSubstr("start B"))));
  shell_.Saved("A");
  ASSERT_EQ(shell_.roots.size(), 1u);
  EXPECT_EQ(ResultIn(shell_.roots[0], shell_.Id("B")), ResultIn(first_, shell_.Id("B")));
  EXPECT_NE(ResultIn(shell_.roots[0], shell_.Id("A")), ResultIn(first_, shell_.Id("A")));
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("done A [2]"), Not(HasSubstr("[1"))));
}

TEST_F(SettledCooksTest, TwoOfThemAreOfTwoWorlds) {
  shell_.hold_publish = true;
  SettleFirst();
  Change({"A"});
  shell_.Request({"A"}, {.request = 2});
  shell_.Saved("A");
  ASSERT_EQ(shell_.roots.size(), 1u);
  Change({"A"});
  EXPECT_FALSE(shell_.HasOpenJob("A")) << "both have their results";
  shell_.Send(WholeRoot(shell_.roots[0]));
  shell_.Send(WholeRoot(first_));
  ASSERT_EQ(shell_.publishes.size(), 2u);
  for (const PublishRoot& publish : std::deque<PublishRoot>(shell_.publishes))
    shell_.Send(PublishedAs(publish));
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("ended [1]"), HasSubstr("ended [2]")));
}

TEST_F(SettledCooksTest, WhatChangesInTheMiddleOfAnotherCookIsTakenAtOnce) {
  SettleFirst();
  shell_.Request({"A"}, {.request = 2});  // is settled as well, with the same result
  ASSERT_EQ(shell_.roots.size(), 1u);
  shell_.Request({"A", "Long"}, {.request = 3});
  Change({"A"});
  EXPECT_TRUE(shell_.HasOpenJob("A"));
}

TEST_F(SettledCooksTest, AnInterruptEndsOnlyTheCookThatItIsFor) {
  SettleFirst();
  Change({"A"});
  shell_.Request({"A"}, {.request = 2});
  shell_.Send(CancelRequested{1});
  EXPECT_TRUE(shell_.Says("ended interrupted [1]")) << shell_.TakeLog();
  EXPECT_EQ(shell_.core().counters(1).skipped, 0u) << "its packages were done";
  shell_.Send(WholeRoot(first_));
  EXPECT_FALSE(shell_.Says("publish"));
  shell_.Saved("A");
  EXPECT_TRUE(shell_.Says("root of 2: A")) << shell_.TakeLog();
}

TEST_F(SettledCooksTest, AConflictOfWhatWasChangedSinceFailsInTheSettledCookAlone) {
  SettleFirst();
  Change({"A"});
  shell_.Request({"A", "B"}, {.request = 2});
  shell_.TakeLog();
  shell_.Send(Conflict(first_, shell_.Id("A"), shell_.Id("B")));
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(
      log, AllOf(HasSubstr("failed A: its output x is in conflict with that of B: the same "
                           "path [1]"),
                 HasSubstr("the same path [1]"), Not(HasSubstr("[2]")), HasSubstr("root of 1:\n")));
  EXPECT_EQ(shell_.core().counters(1).results_failed, 2u);
  EXPECT_EQ(shell_.core().counters(1).results_cooked, 0u);
  EXPECT_EQ(shell_.core().counters(1).failed, 2u);
  shell_.Saved("A");
  EXPECT_TRUE(shell_.Says("root of 2: A B")) << shell_.TakeLog();
  EXPECT_EQ(shell_.core().counters(2).results_failed, 0u);
}

TEST_F(SettledCooksTest, AFailureOfNewContentStopsNoneOfThem) {
  SettleFirst({.request = 1, .fail_fast = true});
  Change({"A"});
  shell_.Request({"A"}, {.request = 2});
  shell_.Failed("A", WorkerReport::Fault::kRefused);
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("failed A: why [2]"), Not(HasSubstr("[1"))));
  shell_.Send(WholeRoot(first_));
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("publish 0 of 1"), HasSubstr("ended [1]")));
  EXPECT_EQ(shell_.core().counters(1).failed, 0u);
}

TEST_F(SettledCooksTest, ACookThatIsOpenedAgainHearsWhatChangedForOthers) {
  SettleFirst();
  Change({"A"});
  shell_.Request({"A", "B"}, {.request = 2});
  shell_.Saved("A");
  ASSERT_EQ(shell_.roots.size(), 1u);
  const BuildRoot other = shell_.roots.front();
  shell_.roots.clear();
  shell_.TakeLog();
  LoseBytesOf("B");
  EXPECT_TRUE(shell_.Says("done A [1]")) << shell_.TakeLog();
  EXPECT_TRUE(shell_.HasOpenJob("B"));
  shell_.Saved("B");
  ASSERT_EQ(shell_.roots.size(), 1u) << shell_.TakeLog();
  EXPECT_EQ(shell_.roots[0].request, 1u);
  EXPECT_EQ(ResultIn(shell_.roots[0], shell_.Id("A")), ResultIn(other, shell_.Id("A")));
  shell_.Send(WholeRoot(shell_.roots[0]));
  EXPECT_TRUE(shell_.Says("ended [1]"));
  EXPECT_EQ(shell_.core().counters(1).in_cook, 2u);
}

TEST_F(SettledCooksTest, ACookThatIsOpenedAgainTakesTheChangesThatItMissed) {
  SettleFirst();
  Change({"A"});
  LoseBytesOf("B");
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  EXPECT_TRUE(shell_.HasOpenJob("B"));
  shell_.Work();
  EXPECT_TRUE(shell_.Says("root of 1: A B")) << shell_.TakeLog();
}

TEST_F(SettledCooksTest, WhatIsGoneLeavesACookThatIsOpenedAgain) {
  CookRequested folder{.request = 1, .platforms = 1};
  folder.selected = {{"A", InstigatorCategory::kCommandLineDirectory},
                     {"B", InstigatorCategory::kCommandLineDirectory}};
  shell_.Send(folder);
  shell_.Work();
  ASSERT_EQ(shell_.roots.size(), 1u);
  first_ = shell_.roots.front();
  shell_.TakeLog();
  shell_.ChangeProject("B\nLong\n");
  Change({"A"});
  EXPECT_EQ(shell_.TakeLog(), "");
  LoseBytesOf("B");
  EXPECT_TRUE(shell_.Says("left A [1]")) << shell_.TakeLog();
  shell_.Saved("B");
  EXPECT_TRUE(shell_.Says("root of 1: B\n")) << shell_.TakeLog();
}

// Cook 2 finds N by B's reference to what N would generate, and leaves N out.
TEST(SettledNamesTest, WhatACookNamesAndIsNeverCookedFailsInItStill) {
  CoreHarness shell("A\nB -> N/_gen/a\nN @never\n", SettledOptions());
  shell.hold_roots = true;
  shell.Request({"A", "N"}, {.request = 1});
  for (int i = 0; i < 3; ++i) shell.Work();
  ASSERT_EQ(shell.roots.size(), 1u) << shell.TakeLog();
  const BuildRoot first = shell.roots.front();
  shell.Request({"B"}, {.request = 2});
  for (int i = 0; i < 3; ++i) shell.Work();
  ASSERT_THAT(shell.TakeLog(), HasSubstr("failed N: is never cooked"));
  RootBuilt built = WholeRoot(first);
  built.lost = {{.package = shell.Id("A"), .path = "A", .digest = Digest::Of("A")}};
  shell.Send(built);
  for (int i = 0; i < 3; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("left N [1]")));
  EXPECT_EQ(shell.core().counters(1).results_failed, 1u);
}

TEST_F(SettledCooksTest, AFailureThatACookDidNotHearOfIsTriedAgainForIt) {
  SettleFirst();
  Change({"A"});
  shell_.Request({"A", "B"}, {.request = 2});
  shell_.Failed("A", WorkerReport::Fault::kRefused);
  shell_.TakeLog();
  LoseBytesOf("B");
  ASSERT_TRUE(shell_.HasOpenJob("A")) << shell_.TakeLog();
  shell_.Saved("A");
  shell_.Saved("B");
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("done A [1]"));
  EXPECT_THAT(log, HasSubstr("root of 1: A B"));
}

TEST_F(SettledCooksTest, ARenamedFileIsInACookThatIsOpenedAgain) {
  SettleFirst();
  shell_.ChangeProject("New\nB\nLong\n");
  shell_.Send(FilesChanged{shell_.project(), {}, {}, {{"A", "New"}}});
  EXPECT_FALSE(shell_.HasOpenJob("New"));
  LoseBytesOf("B");
  EXPECT_TRUE(shell_.HasOpenJob("New"));
  shell_.Work();
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("left A [1]"));
  EXPECT_THAT(log, HasSubstr("root of 1: B New\n"));
}

TEST_F(SettledCooksTest, NewFilesAreInACookThatIsOpenedAgain) {
  SettleFirst();
  shell_.ChangeProject("A\nB\nLong\nNew\n");
  shell_.Send(
      FilesChanged{.catalog = shell_.project(),
                   .packages = {"New"},
                   .discovered = {{.packages = {{"New", InstigatorCategory::kCommandLineDirectory}},
                                   .request = 1}}});
  EXPECT_EQ(shell_.TakeLog(), "");
  LoseBytesOf("B");
  shell_.Work();
  EXPECT_TRUE(shell_.Says("root of 1: A B New\n")) << shell_.TakeLog();
}

TEST_F(SettledCooksTest, ClearedPackagesAreLookedForBeforeTheirRootsArePublished) {
  shell_.hold_looks = true;
  SettleFirst();
  shell_.Send(PackagesCleared{{"A", "B"}});
  ASSERT_EQ(shell_.looks_for_lost.size(), 1u);
  EXPECT_EQ(shell_.looks_for_lost[0].packages.size(), 2u);
  shell_.Send(WholeRoot(first_));
  EXPECT_FALSE(shell_.Says("publish"));
  shell_.Send(LostFound{.look = shell_.looks_for_lost[0].look, .lost = {}, .error = ""});
  EXPECT_THAT(shell_.TakeLog(), AllOf(HasSubstr("publish 0 of 1"), HasSubstr("ended [1]")));
}

TEST_F(SettledCooksTest, LostBytesThatAnotherCookMakesAgainOpenACookThatNamesThem) {
  shell_.hold_looks = true;
  SettleFirst();
  shell_.Request({"A"}, {.request = 2});
  ASSERT_EQ(shell_.roots.size(), 1u);
  RootBuilt built = WholeRoot(shell_.roots.front());
  built.lost = {{.package = shell_.Id("A"), .path = "A", .digest = Digest::Of("A")}};
  shell_.Send(built);
  EXPECT_TRUE(shell_.HasOpenJob("A")) << "for the second cook";
  shell_.TakeLog();
  const auto look = std::ranges::find_if(shell_.looks_for_lost,
                                         [](const LookForLost& one) { return one.request == 1; });
  ASSERT_NE(look, shell_.looks_for_lost.end());
  LostFound found{.look = look->look, .lost = {}, .error = ""};
  found.lost = {{.package = shell_.Id("A"),
                 .path = "A",
                 .digest = Digest::Of("A"),
                 .result = ResultIn(first_, shell_.Id("A"))}};
  shell_.Send(found);
  shell_.Send(WholeRoot(first_));
  EXPECT_FALSE(shell_.Says("publish 0 of 1")) << "the roots lack bytes";
  shell_.Saved("A");
  EXPECT_TRUE(shell_.Says("root of 1: A B")) << shell_.TakeLog();
}

// B is looked up for the second cook before A joins that cook.
TEST_F(SettledCooksTest, AnInputThatIsOutdatedIsNotReadByAnotherCook) {
  shell_.Request({"A", "B"}, {.request = 1});
  shell_.Saved("A");
  shell_.Report(HarnessJob(shell_.JobOf("B")), WorkerReport::Needs{"A", 0});
  shell_.Saved("B");
  ASSERT_EQ(shell_.roots.size(), 1u) << shell_.TakeLog();
  Change({"A"});
  shell_.hold_look_ups = true;
  shell_.Request({"B"}, {.request = 2});
  ASSERT_FALSE(shell_.look_ups.empty());
  for (const LookUp::Item& item : shell_.look_ups) EXPECT_TRUE(item.cooked.empty());
}

TEST(SettledPlatformsTest, OnlyThePlatformsThatSomebodyWantsAreMadeAgain) {
  CoreHarness shell("A\n", SettledOptions(2));
  shell.hold_roots = true;
  shell.Request({"A"}, {.request = 1, .platforms = 0b01});
  shell.Saved("A");
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Request({"A"}, {.request = 2, .platforms = 0b10});
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  EXPECT_EQ(shell.JobOf("A").start.platforms, 0b10u);
  shell.TakeLog();
  // The first cook needs its platform after all.
  RootBuilt built = WholeRoot(shell.roots.front());
  built.lost = {{.package = shell.Id("A"), .path = "A", .digest = Digest::Of("a")}};
  shell.Send(built);
  for (int i = 0; i < 3; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("root of 1: A\n"), HasSubstr("root of 2: A\n")));
}

TEST(SettledPlatformsTest, ACookThatIsOpenedAgainKnowsItsResultsByTheirNewNumbers) {
  CoreHarness shell("A\nB\n", SettledOptions(2));
  shell.hold_stages = shell.hold_looks = true;
  shell.Request({"A", "B"}, {.request = 1, .is_staged = true});
  shell.Work();
  ASSERT_EQ(shell.stages.size(), 1u) << shell.TakeLog();
  shell.TakeLog();
  shell.Send(PlatformsChanged{.mapping = {1, 0}, .platform_count = 2});
  shell.Send(RootsStaged{.loss = "pc: A", .round = shell.stages.back().round, .request = 1});
  ASSERT_EQ(shell.looks_for_lost.size(), 1u);
  LostFound found{.look = shell.looks_for_lost[0].look, .lost = {}, .error = ""};
  for (const auto& [package, result] : shell.looks_for_lost[0].packages) {
    if (package == shell.Id("A"))
      found.lost.push_back(
          {.package = package, .path = "A", .digest = Digest::Of("A"), .result = result});
  }
  shell.Send(found);
  EXPECT_TRUE(shell.HasOpenJob("A"));
  EXPECT_FALSE(shell.HasOpenJob("B"));
  EXPECT_FALSE(shell.Says("done B")) << shell.TakeLog();
}

}  // namespace
}  // namespace galley::director
