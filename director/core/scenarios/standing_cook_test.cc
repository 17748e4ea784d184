// Cooks that look at a difference: standing packages are in the cook, and in its roots, without
// being looked at.
#include <memory>
#include <set>
#include <string>

#include "director/core/packages/instigators.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Named final : public StandingPackages {
 public:
  explicit Named(std::set<std::string, std::less<>> names) : names_(std::move(names)) {}
  bool Has(std::string_view package) const override { return names_.contains(package); }
  bool WasInCook(std::string_view package) const override { return names_.contains(package); }

 private:
  const std::set<std::string, std::less<>> names_;
};

CookRequested WithStanding(std::set<std::string, std::less<>> names) {
  CookRequested request;
  request.standing = std::make_shared<const Named>(std::move(names));
  return request;
}

void WorkAll(CoreHarness& shell) {
  for (int i = 0; i < 4; ++i) shell.Work();
}

RootBuilt AnswerTo(const BuildRoot& effect) {
  RootBuilt built{.platform = effect.platform, .root = Digest::Of("root")};
  built.request = effect.request;
  built.round = effect.round;
  return built;
}

RootBuilt TooNarrow(const BuildRoot& effect, const std::vector<std::string>& whole) {
  RootBuilt built = AnswerTo(effect);
  built.is_too_narrow = true;
  for (const std::string& name : whole)
    built.whole.push_back({name, InstigatorCategory::kStartupPackage});
  return built;
}

TEST(StandingCookTest, AReferenceToWhatStandsIsNotFollowed) {
  CoreHarness shell("A -> S New\nS -> T\nT\nNew -> T\n");
  shell.hold_roots = true;
  shell.Request({"A"}, WithStanding({"S", "T"}));
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("done A"));
  EXPECT_THAT(log, HasSubstr("done New"));
  EXPECT_THAT(log, Not(HasSubstr("start S")));
  EXPECT_THAT(log, HasSubstr("root A New\n"));
  ASSERT_EQ(shell.roots.size(), 1u);
  EXPECT_TRUE(shell.roots.front().is_difference);
  EXPECT_EQ(shell.core().counters(0).in_cook, 2u);
  shell.Send(AnswerTo(shell.roots.front()));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended"));
}

TEST(StandingCookTest, WhereARootCannotBeMadeSoAllIsLookedAt) {
  CoreHarness shell("A -> S\nS -> T\nT\nB\n", {.platform_count = 2});
  shell.hold_roots = true;
  CookRequested request = WithStanding({"S", "T", "B"});
  request.platforms = 3;
  shell.Request({"A"}, request);
  WorkAll(shell);
  ASSERT_EQ(shell.roots.size(), 2u);
  const BuildRoot first = shell.roots[0], second = shell.roots[1];
  shell.roots.clear();
  shell.TakeLog();
  shell.Send(TooNarrow(first, {"A", "B"}));
  shell.Send(TooNarrow(second, {"A", "B"}));  // the cook is widened once
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root A B S T\n"));
  EXPECT_EQ(log.find("start S"), log.rfind("start S"));
  EXPECT_THAT(log, Not(HasSubstr("start A")));
  ASSERT_EQ(shell.roots.size(), 2u);
  for (const BuildRoot& root : std::deque<BuildRoot>(shell.roots)) {
    EXPECT_FALSE(root.is_difference);
    shell.Send(AnswerTo(root));
  }
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended"));
}

// The answer names the files as they were when the roots were begun.
TEST(StandingCookTest, AFileThatIsRenamedWhileItsRootIsMadeIsLookedAtByItsNewName) {
  CoreHarness shell("A\nS\nOld\n");
  shell.hold_roots = true;
  shell.Request({"A"}, WithStanding({"S", "Old"}));
  WorkAll(shell);
  ASSERT_EQ(shell.roots.size(), 1u);
  const BuildRoot narrow = shell.roots.front();
  shell.roots.clear();
  shell.ChangeProject("A\nS\nNew\n");
  shell.Send(FilesChanged{shell.project(), {}, {}, {{"Old", "New"}}});
  shell.Send(TooNarrow(narrow, {"A", "S", "Old"}));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A New S\n"));
}

// A package that was selected for the difference alone is not in a cook of all.
TEST(StandingCookTest, WhatNothingLeadsToLeavesWhenAllIsLookedAt) {
  CoreHarness shell("A -> N\nN\nB -> S C\nS\nC\n");
  shell.hold_roots = true;
  CookRequested request = WithStanding({"S", "B"});
  for (const char* name : {"A", "C"})
    request.selected.push_back({name, InstigatorCategory::kIterativeCook});
  shell.Request({}, request);
  WorkAll(shell);
  const BuildRoot narrow = shell.roots.front();
  shell.roots.clear();
  shell.TakeLog();
  shell.Send(TooNarrow(narrow, {"B"}));
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root B C S\n"));
  EXPECT_EQ(shell.core().counters(0).in_cook, 3u);
  std::string reasons;
  shell.core().ForEachReasonIn(0, [&](PackageId package, const InstigatorView& why) {
    reasons += shell.core().NameOf(package) + (why.referencer.valid() ? " < " : " root ") +
               std::string(CategoryName(why.category)) + "; ";
  });
  EXPECT_THAT(reasons, Not(HasSubstr("A ")));
  EXPECT_THAT(reasons, Not(HasSubstr(CategoryName(InstigatorCategory::kIterativeCook))));
  EXPECT_THAT(reasons, HasSubstr("B root "));
  shell.Send(AnswerTo(shell.roots.front()));
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended"));
}

TEST(StandingCookTest, ACookOfWhichNothingIsToBeLookedAtEndsAtOnce) {
  CoreHarness shell("A\nS\n");
  shell.Request({}, WithStanding({"A", "S"}));
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root\n"));
  EXPECT_THAT(log, HasSubstr("publish 0"));
  EXPECT_THAT(log, HasSubstr("ended"));
}

TEST(StandingCookTest, WhatStandsForOneCookIsLookedAtForAnother) {
  CoreHarness shell("A -> S\nS\n", {.workers = 1, .cooks_max = 4});
  CookRequested request = WithStanding({"S"});
  request.request = 1;
  shell.Request({"A"}, request);
  shell.Request({"A"}, {.request = 2});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("done A [1 2]"));
  EXPECT_THAT(log, HasSubstr("done S [2]"));
  EXPECT_THAT(log, HasSubstr("root of 1: A\n"));
  EXPECT_THAT(log, HasSubstr("root of 2: A S\n"));
}

TEST(StandingCookTest, AFailureThereIsToldAsInAnyCook) {
  CoreHarness shell("A -> S Gone\nS\n");
  shell.Request({"A"}, WithStanding({"S"}));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed A: "));
}

}  // namespace
}  // namespace galley::director
