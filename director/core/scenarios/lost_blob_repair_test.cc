// Bytes that the store lost during a cook, told by hand (CoreHarness).
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LostFound NothingIn(const LookForLost& look) {
  return {.look = look.look, .lost = {}, .error = ""};
}

// A look's answer: this package's result lost its output.
LostFound LostOf(const LookForLost& look, PackageId package) {
  LostFound found = NothingIn(look);
  for (const auto& [id, result] : look.packages) {
    if (id == package)
      found.lost.push_back(
          {.package = id, .path = "A.ktx2", .digest = Digest::Of("a"), .result = result});
  }
  return found;
}

class LostBlobRepairTest : public ::testing::Test {
 protected:
  explicit LostBlobRepairTest(CookOptions options = {.platform_count = 2})
      : shell_("A -> B\nB\nC\n", options) {
    shell_.hold_stages = shell_.hold_looks = true;
  }
  void CookAll() {
    shell_.Request({"A", "B", "C"}, {.is_staged = true});
    shell_.Work();
    ASSERT_EQ(shell_.stages.size(), 1u) << shell_.TakeLog();
    shell_.TakeLog();
  }
  void Lacks(const std::string& what) {
    shell_.Send(RootsStaged{.loss = what, .round = shell_.stages.back().round});
  }

  CoreHarness shell_;
};

TEST_F(LostBlobRepairTest, ACookIsOverWhenItsRootsAreStaged) {
  CookAll();
  EXPECT_FALSE(shell_.Says("ended"));
  Lacks("");
  EXPECT_EQ(shell_.TakeLog(), "ended\n");
}

TEST_F(LostBlobRepairTest, WhatStagingLacksIsMadeAgainOnceAndStagedInTheSameCook) {
  CookAll();
  Lacks("pc: A.ktx2");
  ASSERT_EQ(shell_.looks_for_lost.size(), 1u);
  EXPECT_EQ(shell_.looks_for_lost[0].packages.size(), 6u) << "all results of the cook";
  shell_.Send(LostOf(shell_.looks_for_lost[0], shell_.Id("A")));
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  EXPECT_FALSE(shell_.HasOpenJob("B"));
  EXPECT_FALSE(shell_.HasOpenJob("C"));
  shell_.Work();
  ASSERT_EQ(shell_.stages.size(), 2u) << shell_.TakeLog();
  EXPECT_TRUE(shell_.Says("publish 1\nstage\n"));
  // An answer to the first question comes late.
  shell_.Send(RootsStaged{.loss = "", .round = shell_.stages[0].round});
  EXPECT_FALSE(shell_.Says("ended"));
  Lacks("");
  EXPECT_TRUE(shell_.Says("ended\n"));
  EXPECT_EQ(shell_.core().counters().results_cooked, 6u) << "of each the last one counts";
}

// A folder of the tree is lost: it is put again when the roots are built again.
TEST_F(LostBlobRepairTest, RootsAreBuiltAgainThoughNoPackageLostAnything) {
  CookAll();
  Lacks("pc: reading the tree");
  shell_.Send(NothingIn(shell_.looks_for_lost.back()));
  ASSERT_EQ(shell_.stages.size(), 2u) << shell_.TakeLog();
  EXPECT_GT(shell_.stages[1].round, shell_.stages[0].round);
  Lacks("");
  EXPECT_TRUE(shell_.Says("ended\n"));
}

TEST_F(LostBlobRepairTest, WhatCannotBeStagedHoweverOftenIsTheMachinesError) {
  CookAll();
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(shell_.Says("ended"));
    Lacks("pc: reading the tree");
    shell_.Send(NothingIn(shell_.looks_for_lost.back()));
  }
  EXPECT_TRUE(shell_.Says(
      "ended: the roots are published, and cannot be staged: pc: reading the tree: see what else"))
      << shell_.TakeLog();
}

class LosingTwiceTest : public LostBlobRepairTest {
 protected:
  LosingTwiceTest() : LostBlobRepairTest({.platform_count = 1, .lost_rounds_max = 2}) {}
};

TEST_F(LosingTwiceTest, WhatIsLostAgainAndAgainEndsTheCookAndOthersAreNotCountedForIt) {
  CookAll();
  for (const char* package : {"A", "C", "A"}) {
    Lacks("pc: A.ktx2");
    shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id(package)));
    EXPECT_TRUE(shell_.HasOpenJob(package));
    EXPECT_FALSE(shell_.Says("ended"));
    shell_.Work();
  }
  Lacks("pc: A.ktx2");
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("A")));
  EXPECT_TRUE(shell_.Says("2 times: A.ktx2 (" + Digest::Of("a").ToString() + "): see what else"))
      << shell_.TakeLog();
}

TEST_F(LostBlobRepairTest, WhatAWorkerMissedIsLookedForWhileTheCookGoesOn) {
  shell_.Request({"A", "B", "C"}, {.is_staged = true});
  shell_.Saved("B", 0);
  shell_.Saved("B", 1);
  shell_.Send(LossSeen{});
  shell_.Send(LossSeen{});  // looked for once, and once more behind it
  ASSERT_EQ(shell_.looks_for_lost.size(), 1u);
  EXPECT_EQ(shell_.looks_for_lost[0].packages.size(), 2u);
  shell_.Saved("A", 0);
  shell_.Saved("A", 1);
  shell_.Saved("C", 0);
  shell_.Saved("C", 1);
  EXPECT_FALSE(shell_.Says("root")) << "nothing is built while somebody looks";
  shell_.Send(LostOf(shell_.looks_for_lost[0], shell_.Id("B")));
  ASSERT_EQ(shell_.looks_for_lost.size(), 2u);
  EXPECT_EQ(shell_.looks_for_lost[1].packages.size(), 4u) << "of B there is nothing to lose";
  shell_.Send(NothingIn(shell_.looks_for_lost[1]));
  shell_.Work();
  EXPECT_EQ(shell_.stages.size(), 1u) << shell_.TakeLog();
}

// The package was changed, or its bytes lost, and it is being made again already.
TEST_F(LostBlobRepairTest, AnAnswerAboutAResultThatIsNotTheOneAnyMoreSaysNothing) {
  shell_.Request({"A", "B", "C"}, {.is_staged = true});
  shell_.Saved("B", 0);
  shell_.Saved("B", 1);
  shell_.Send(LossSeen{});
  const LostFound answer = LostOf(shell_.looks_for_lost.back(), shell_.Id("B"));
  shell_.Send(FilesChanged{shell_.project(), {"B"}, {}});
  shell_.Work();
  const uint64_t cooked = shell_.core().counters().results_cooked;
  shell_.Send(answer);
  shell_.Work();
  EXPECT_EQ(shell_.core().counters().results_cooked, cooked);
  EXPECT_EQ(shell_.stages.size(), 1u) << shell_.TakeLog();
}

TEST_F(LostBlobRepairTest, WhatChangedWhileItWasStagedBelongsToTheRootsThatAreBuiltAgain) {
  CookAll();
  shell_.Send(FilesChanged{shell_.project(), {"C"}, {}});
  EXPECT_FALSE(shell_.HasOpenJob("C"));
  Lacks("pc: A.ktx2");
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("A")));
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  EXPECT_TRUE(shell_.HasOpenJob("C"));
}

TEST_F(LostBlobRepairTest, AnInterruptIsNotTooLateWhileItIsMadeAgain) {
  CookAll();
  Lacks("pc: A.ktx2");
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("A")));
  shell_.Send(CancelRequested{});
  EXPECT_TRUE(shell_.Says("ended interrupted")) << shell_.TakeLog();
}

// A person presses Ctrl-C once.
TEST_F(LostBlobRepairTest, AnInterruptWhileSomebodyLooksEndsTheCookWithTheAnswer) {
  CookAll();
  Lacks("pc: A.ktx2");
  shell_.Send(CancelRequested{});
  EXPECT_FALSE(shell_.Says("ended"));
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("A")));
  EXPECT_FALSE(shell_.HasOpenJob("A"));
  EXPECT_TRUE(shell_.Says("ended interrupted")) << shell_.TakeLog();
}

// The interrupt is too late to publish nothing; the cook says that the sandboxes are not whole.
TEST_F(LostBlobRepairTest, AnInterruptWhileRootsAreStagedEndsTheCookOnlyWhereTheyLackSomething) {
  CookAll();
  shell_.Send(CancelRequested{});
  EXPECT_FALSE(shell_.Says("ended"));
  Lacks("pc: A.ktx2");
  EXPECT_TRUE(shell_.looks_for_lost.empty());
  EXPECT_TRUE(shell_.Says("ended interrupted")) << shell_.TakeLog();
}

TEST_F(LostBlobRepairTest, AFailureOfWhatIsMadeAgainStopsNothingThoughOthersWouldFailFast) {
  shell_.Request({"A", "B", "C"}, {.fail_fast = true, .is_staged = true});
  shell_.Work();
  Lacks("pc: A.ktx2");
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("A")));
  shell_.Failed("A", WorkerReport::Fault::kRefused, "its source is wrong now");
  shell_.Work();
  EXPECT_TRUE(shell_.Says("failed A"));
  ASSERT_EQ(shell_.stages.size(), 2u) << "the root without it is published and staged";
  Lacks("");
  EXPECT_TRUE(shell_.Says("ended\n")) << shell_.TakeLog();
}

TEST_F(LostBlobRepairTest, NothingIsPublishedWhileSomebodyLooks) {
  shell_.hold_roots = true;
  shell_.Request({"A", "B", "C"}, {.is_staged = true});
  shell_.Work();
  ASSERT_EQ(shell_.roots.size(), 2u);
  shell_.Send(LossSeen{});
  const auto build = [&] {
    for (const BuildRoot& root : std::exchange(shell_.roots, {})) shell_.Send(WholeRoot(root));
  };
  build();
  EXPECT_FALSE(shell_.Says("publish")) << shell_.TakeLog();
  shell_.Send(NothingIn(shell_.looks_for_lost.back()));
  EXPECT_TRUE(shell_.Says("publish"));
  EXPECT_EQ(shell_.stages.size(), 1u);
}

TEST_F(LostBlobRepairTest, WhatTheRootLacksIsLookedForInTheWhole) {
  shell_.hold_roots = true;
  shell_.Request({"A", "B", "C"}, {.is_staged = true});
  shell_.Work();
  ASSERT_EQ(shell_.roots.size(), 2u);
  RootBuilt built{.platform = shell_.roots.front().platform};
  built.platform_set = shell_.roots.front().platform_set;
  built.lost = {{.package = shell_.Id("A"), .path = "A.ktx2", .digest = Digest::Of("a")}};
  shell_.Send(built);
  EXPECT_TRUE(shell_.HasOpenJob("A"));
  EXPECT_FALSE(shell_.HasOpenJob("C"));
  ASSERT_EQ(shell_.looks_for_lost.size(), 1u);
  shell_.Send(LostOf(shell_.looks_for_lost[0], shell_.Id("C")));
  EXPECT_TRUE(shell_.HasOpenJob("C"));
}

// The lost output may be the source of what the generator lists: nobody could cook that.
TEST(LostGeneratorTest, WhatAGeneratorListsWaitsUntilTheGeneratorIsMadeAgain) {
  CoreHarness shell("G : a\n");
  shell.hold_stages = shell.hold_looks = true;
  shell.Request({"G"}, {.is_staged = true});
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  ASSERT_EQ(shell.stages.size(), 1u) << shell.TakeLog();
  shell.Send(RootsStaged{.loss = "pc: A.ktx2", .round = shell.stages.back().round});
  shell.Send(LostOf(shell.looks_for_lost.back(), shell.Id("G")));
  EXPECT_TRUE(shell.HasOpenJob("G"));
  EXPECT_FALSE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G");
  EXPECT_TRUE(shell.HasOpenJob("G/_gen/a"));
  shell.Saved("G/_gen/a");
  EXPECT_EQ(shell.stages.size(), 2u) << shell.TakeLog();
}

class LosingAlwaysTest : public LostBlobRepairTest {
 protected:
  LosingAlwaysTest() : LostBlobRepairTest({.platform_count = 1, .lost_rounds_in_all_max = 2}) {}
};

TEST_F(LosingAlwaysTest, ThereIsAnEndToItThoughEachTimeAnotherPackageIsLost) {
  CookAll();
  for (const char* package : {"A", "B"}) {
    Lacks("pc: x");
    shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id(package)));
    EXPECT_FALSE(shell_.Says("ended"));
    shell_.Work();
  }
  Lacks("pc: x");
  shell_.Send(LostOf(shell_.looks_for_lost.back(), shell_.Id("C")));
  EXPECT_TRUE(shell_.Says("ended: the store dropped")) << shell_.TakeLog();
}

TEST_F(LostBlobRepairTest, AStoreThatCannotBeLookedAtEndsTheCook) {
  CookAll();
  Lacks("pc: A.ktx2");
  shell_.Send(
      LostFound{.look = shell_.looks_for_lost.back().look, .lost = {}, .error = "no such owner"});
  EXPECT_TRUE(shell_.Says("ended: looking for what the store lost: no such owner"));
}

}  // namespace
}  // namespace galley::director
