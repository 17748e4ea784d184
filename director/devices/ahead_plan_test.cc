#include "director/devices/ahead_plan.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::devices {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Judgement = AheadPlan::Judgement;

class AheadPlanTest : public testing::Test {
 protected:
  void Ask(const std::string& package, std::vector<std::string> references,
           std::vector<std::string> platforms = {"pc"}) {
    plan_.Ask({.key = {package, "pc"},
               .references = std::move(references),
               .platforms = std::move(platforms)});
  }
  // "a pc"; empty: there is no candidate.
  std::string Next() {
    const std::optional<AheadKey> key = plan_.TakeNext([&](const AheadKey& one) {
      if (unfit_.contains(one.package)) return Judgement{Judgement::Kind::kDrop};
      const auto known = known_.find(one.package);
      if (known == known_.end()) return Judgement{Judgement::Kind::kCook};
      return Judgement{Judgement::Kind::kKnown, known->second};
    });
    return key ? key->package + " " + key->platform : "";
  }
  // Takes all candidates, each of which succeeds without references.
  std::vector<std::string> Rest() {
    std::vector<std::string> rest;
    for (std::string one = Next(); !one.empty(); one = Next()) {
      const size_t space = one.find(' ');
      plan_.Succeed({one.substr(0, space), one.substr(space + 1)}, {});
      rest.push_back(std::move(one));
    }
    return rest;
  }

  std::map<std::string, std::vector<std::string>> known_;  // cooked, with references
  std::set<std::string> unfit_;
  AheadPlan plan_{AheadPlanOptions()};
};

TEST_F(AheadPlanTest, TheReferencesOfTheNewestAskComeFirst) {
  Ask("town", {"b", "a"});
  Ask("cave", {"d"});
  EXPECT_THAT(Rest(), ElementsAre("d pc", "b pc", "a pc"));
}

TEST_F(AheadPlanTest, AllDirectReferencesComeBeforeTheirReferences) {
  Ask("town", {"a", "b"});
  EXPECT_EQ(Next(), "a pc");
  plan_.Succeed({"a", "pc"}, {"deep"});
  EXPECT_THAT(Rest(), ElementsAre("b pc", "deep pc"));
}

TEST_F(AheadPlanTest, ReferencesAreFollowedToADepth) {
  known_ = {{"a", {"b"}}, {"b", {"c"}}};
  Ask("town", {"a"});
  EXPECT_EQ(Next(), "c pc");
  plan_.Succeed({"c", "pc"}, {"four references away"});
  EXPECT_EQ(Next(), "");
}

TEST_F(AheadPlanTest, OtherPlatformsComeAfterAllReferencesAndStaleOnesLast) {
  plan_.AddStale({{"never-asked", "pc"}});
  Ask("edited", {});
  plan_.AddStale({{"cooked", "pc"}, {"edited", "pc"}});
  Ask("town", {"a"}, {"mobile", "pc"});
  EXPECT_THAT(Rest(),
              ElementsAre("a pc", "town mobile", "edited pc", "cooked pc", "never-asked pc"));
}

TEST_F(AheadPlanTest, WhatIsKnownIsNoCandidateButItsReferencesAre) {
  known_["a"] = {"c"};
  Ask("town", {"a", "b"});
  EXPECT_THAT(Rest(), ElementsAre("b pc", "c pc"));
}

TEST_F(AheadPlanTest, ACandidateIsOneHoweverManyReferToItAndTheBestRankCounts) {
  Ask("town", {"a", "b"});
  Ask("cave", {"b"});
  EXPECT_EQ(plan_.waiting(), 2u);
  EXPECT_THAT(Rest(), ElementsAre("b pc", "a pc"));
}

TEST_F(AheadPlanTest, WhoAsksAgainIsFirstAgain) {
  Ask("town", {"a"});
  Ask("cave", {"b"});
  Ask("town", {"a"});
  EXPECT_THAT(Rest(), ElementsAre("a pc", "b pc"));
  EXPECT_TRUE(plan_.IsIdleFor({"town", "pc"}));
  EXPECT_FALSE(plan_.IsIdleFor({"hall", "pc"}));
  Ask("town", {"a"});
  EXPECT_FALSE(plan_.has_waiting()) << "its references were taken in this world";
}

TEST_F(AheadPlanTest, WhatSomebodyAsksForIsNoCandidateAnyMore) {
  Ask("town", {"a", "b"});
  EXPECT_EQ(Next(), "a pc");
  Ask("a", {});
  Ask("b", {});
  EXPECT_EQ(plan_.open(), 0u);
  EXPECT_EQ(plan_.waiting(), 0u);
  plan_.Succeed({"a", "pc"}, {"late"});
  EXPECT_FALSE(plan_.has_waiting()) << "it was not open";
}

TEST_F(AheadPlanTest, AFailureIsNotTriedAgainUntilItChanges) {
  Ask("town", {"broken"});
  EXPECT_EQ(Next(), "broken pc");
  plan_.Fail({"broken", "pc"});
  Ask("cave", {"broken"});
  EXPECT_EQ(Next(), "");
  const std::vector<std::string> changed = {"broken"};
  plan_.Change(changed);
  Ask("hall", {"broken"});
  EXPECT_EQ(Next(), "broken pc");
}

TEST_F(AheadPlanTest, WhatIsPutBackComesAgainInItsPlace) {
  Ask("town", {"a", "b"});
  EXPECT_EQ(Next(), "a pc");
  EXPECT_EQ(Next(), "b pc");
  plan_.PutBack({"b", "pc"});
  plan_.PutBack({"a", "pc"});
  EXPECT_THAT(Rest(), ElementsAre("a pc", "b pc"));
}

TEST_F(AheadPlanTest, InANewerWorldWhatIsGoneIsDroppedAndTheRestStays) {
  Ask("town", {"a", "b"});
  const std::vector<std::string> changed = {"a"};
  plan_.Change(changed);
  unfit_ = {"a"};
  EXPECT_THAT(Rest(), ElementsAre("b pc"));
}

TEST_F(AheadPlanTest, WhenAllIsAnotherWhatWasAskedForIsStale) {
  Ask("town", {"a"});
  EXPECT_THAT(Rest(), ElementsAre("a pc"));
  plan_.ChangeAll();
  EXPECT_THAT(Rest(), ElementsAre("town pc"));
}

TEST(AheadPlanLimitTest, WhenThereAreTooManyTheNewestWin) {
  AheadPlan plan(AheadPlanOptions{.candidates_max = 3});
  plan.Ask({.key = {"old", "pc"}, .references = {"a", "b"}, .platforms = {}});
  plan.Ask({.key = {"new", "pc"}, .references = {"c", "d"}, .platforms = {}});
  EXPECT_EQ(plan.waiting(), 3u);
  const auto cook = [](const AheadKey&) { return Judgement{Judgement::Kind::kCook}; };
  for (const char* package : {"c", "d", "a"}) {
    const std::optional<AheadKey> next = plan.TakeNext(cook);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->package, package);
  }
  EXPECT_FALSE(plan.has_waiting());
}

TEST_F(AheadPlanTest, OneCallLooksAtSoManyCandidates) {
  std::vector<std::string> references;
  for (int i = 0; i < 1'000; ++i) {
    references.push_back(fmt::format("r{}", i));
    known_[references.back()] = {};
  }
  Ask("town", references);
  EXPECT_EQ(Next(), "");
  EXPECT_TRUE(plan_.has_waiting());
  EXPECT_EQ(plan_.waiting(), 1'000 - AheadPlanOptions().judged_max);
}

// Random calls, beside a model of what is known, open and failed.
class RandomCalls {
 public:
  explicit RandomCalls(uint32_t seed) : random_(seed) {}

  void Run() {
    for (int i = 0; i < 500; ++i) {
      Act();
      ASSERT_LE(plan_.waiting() + plan_.open(), 20u);
      ASSERT_EQ(plan_.open(), open_.size());
    }
  }
  // The candidates that were taken, in this order.
  const std::string& trace() const { return trace_; }

 private:
  size_t Below(size_t limit) { return random_() % limit; }
  std::string AnyPackage() { return fmt::format("p{}", Below(40)); }
  AheadKey AnyKey() { return {AnyPackage(), Below(2) == 0 ? "pc" : "mobile"}; }
  std::vector<std::string> AnyReferences() {
    std::vector<std::string> references;
    for (size_t i = Below(5); i > 0; --i) references.push_back(AnyPackage());
    return references;
  }

  void Act() {
    switch (Below(7)) {
      case 0:
      case 1: {
        const AheadKey key = AnyKey();
        known_.insert(key);
        open_.erase(key);
        plan_.Ask({.key = key, .references = AnyReferences(), .platforms = {"mobile", "pc"}});
        return;
      }
      case 2: {
        const std::vector<std::string> changed = {AnyPackage()};
        std::vector<AheadKey> stale;
        for (const char* platform : {"mobile", "pc"}) {
          const AheadKey key{changed.front(), platform};
          failed_.erase(key);
          if (known_.erase(key) > 0) stale.push_back(key);
        }
        plan_.Change(changed);
        plan_.AddStale(stale);
        return;
      }
      case 3:
      case 4:
      case 5:
        return Take();
      default:
        return End();
    }
  }
  void Take() {
    const auto key = plan_.TakeNext([&](const AheadKey& one) {
      if (known_.contains(one)) return Judgement{Judgement::Kind::kKnown, AnyReferences()};
      return Judgement{Below(10) == 0 ? Judgement::Kind::kDrop : Judgement::Kind::kCook};
    });
    if (!key) return;
    trace_ += key->package + " " + key->platform + "\n";
    EXPECT_FALSE(known_.contains(*key)) << key->package << " is known";
    EXPECT_FALSE(failed_.contains(*key)) << key->package << " has failed";
    EXPECT_TRUE(open_.insert(*key).second) << key->package << " is open";
  }
  void End() {
    if (open_.empty()) return;
    const AheadKey key = *std::next(open_.begin(), static_cast<ptrdiff_t>(Below(open_.size())));
    open_.erase(key);
    switch (Below(3)) {
      case 0:
        known_.insert(key);
        return plan_.Succeed(key, AnyReferences());
      case 1:
        failed_.insert(key);
        return plan_.Fail(key);
      default:
        return plan_.PutBack(key);
    }
  }

  std::mt19937 random_;
  AheadPlan plan_{AheadPlanOptions{.candidates_max = 20}};
  std::set<AheadKey> known_, failed_, open_;
  std::string trace_;
};

TEST(AheadPlanPropertyTest, NothingIsTakenThatIsOpenKnownOrFailedAndEqualCallsTakeEqual) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomCalls first(seed), second(seed);
    first.Run();
    second.Run();
    EXPECT_EQ(first.trace(), second.trace());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace galley::devices
