// The small nouns of the core, each against its header.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "director/core/jobs/grants.h"
#include "director/core/packages/agenda.h"
#include "director/core/packages/blame.h"
#include "director/core/packages/instigators.h"
#include "director/core/packages/lifecycle.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/request_queue.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/packages/save_queue.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(AgendaTest, UrgentComesFirstAndEqualsAsTheyCame) {
  Agenda agenda;
  agenda.Push(Urgency::kNormal, {AgendaItem::Kind::kBegin, PackageId(1)});
  agenda.Push(Urgency::kNormal, {AgendaItem::Kind::kWake, PackageId(2)});
  agenda.Push(Urgency::kBlocking, {AgendaItem::Kind::kExplore, PackageId(3), 5});
  EXPECT_EQ(agenda.Pop().platform, 5u);
  EXPECT_EQ(agenda.Pop().package, PackageId(1));
  EXPECT_EQ(agenda.Pop().kind, AgendaItem::Kind::kWake);
  EXPECT_TRUE(agenda.empty());
  agenda.Push(Urgency::kLow, {AgendaItem::Kind::kBegin, PackageId(1)});
  agenda.Clear();
  EXPECT_TRUE(agenda.empty());
}

TEST(RequestQueueTest, AgreesWithASet) {
  std::mt19937 random(11);
  RequestQueue queue;
  std::set<std::tuple<int, int, uint32_t>> model;
  int arrivals = 0;
  for (int i = 0; i < 5000; ++i) {
    const uint32_t id = static_cast<uint32_t>(random() % 40);
    const auto there = std::find_if(model.begin(), model.end(),
                                    [&](const auto& key) { return std::get<2>(key) == id; });
    const int arrival = there == model.end() ? arrivals : std::get<1>(*there);
    if (random() % 4 == 0) {
      queue.Remove(PackageId(id));
      if (there != model.end()) model.erase(there);
    } else if (random() % 3 == 0 && !model.empty()) {
      ASSERT_EQ(queue.Top().value(), std::get<2>(*model.begin()));
      queue.Remove(queue.Top());
      model.erase(model.begin());
    } else {
      const Urgency urgency = static_cast<Urgency>(random() % 4);
      if (there != model.end()) model.erase(there);
      queue.Push(PackageId(id), urgency);
      model.emplace(-static_cast<int>(urgency), arrival, id);
      arrivals += arrival == arrivals;
    }
    ASSERT_EQ(queue.size(), model.size());
  }
}

TEST(SaveQueueTest, AgreesWithASetForEachLine) {
  std::mt19937 random(13);
  const std::vector<std::string> names = {"a", "b", "c"};
  SaveQueue queue;
  // By id; the group comes last.
  std::map<uint32_t, std::tuple<int, absl::Duration, Rank, std::string, uint32_t, uint32_t>> model;
  for (int i = 0; i < 5000; ++i) {
    const uint32_t id = static_cast<uint32_t>(random() % 30),
                   group = static_cast<uint32_t>(random() % 3);
    if (random() % 3 == 0) {
      queue.Remove(PackageId(id));
      model.erase(id);
    } else {
      const SaveOrder order{static_cast<Urgency>(random() % 4), absl::Seconds(random() % 4),
                            static_cast<Rank>(random() % 4), names[random() % 3]};
      queue.Push(PackageId(id), group, order);
      model[id] = {-static_cast<int>(order.urgency), -order.chain, order.rank,
                   std::string(order.name),          id,           group};
    }
    const uint32_t taken = static_cast<uint32_t>(random() % 3);
    PackageId best;
    for (const auto& [other, key] : model) {
      if (std::get<5>(key) != taken && (!best.valid() || key < model.at(best.value())))
        best = PackageId(other);
    }
    ASSERT_EQ(queue.BestAtMost(Urgency::kBlocking,
                               [&](uint32_t line, PackageId) { return line != taken; }),
              best);
    ASSERT_EQ(queue.size(), model.size());
  }
}

TEST(BlameTest, OwnFaultsAndThoseOfTheInfrastructureAreCountedApart) {
  Blame blame;
  EXPECT_EQ(blame.AddOwnFault(PackageId(1), {.worker = WorkerId(7)}), 1u);
  EXPECT_EQ(blame.AddInfrastructureFault(PackageId(1)), 1u);
  EXPECT_EQ(blame.AddOwnFault(PackageId(1), {.worker = WorkerId(8)}), 2u);
  EXPECT_EQ(blame.AddOwnFault(PackageId(2), {.worker = WorkerId(9)}), 1u);
  EXPECT_EQ(blame.AddOwnFault(PackageId(1), {.worker = WorkerId(7)}), 3u);
  EXPECT_EQ(blame.WorkersOf(PackageId(1)), std::vector<WorkerId>({WorkerId(7), WorkerId(8)}));
  EXPECT_TRUE(blame.HasFailedOn(PackageId(1), WorkerId(8)));
  EXPECT_FALSE(blame.HasFailedOn(PackageId(2), WorkerId(8)));
  EXPECT_TRUE(blame.WorkersOf(PackageId(3)).empty());
  blame = Blame();
  EXPECT_EQ(blame.AddOwnFault(PackageId(1), {.worker = WorkerId(7)}), 1u);
}

TEST(BackOffTest, ItDoublesFromATenthOfASecondToFiveSeconds) {
  EXPECT_EQ(BackOff(1), absl::Milliseconds(100));
  EXPECT_EQ(BackOff(2), absl::Milliseconds(200));
  EXPECT_EQ(BackOff(6), absl::Milliseconds(3200));
  EXPECT_EQ(BackOff(7), absl::Seconds(5));
  EXPECT_EQ(BackOff(4'000'000'000u), absl::Seconds(5));
}

TEST(GrantsTest, AGroupIsWhatAJobAsksForAndNothingIsAlwaysFree) {
  Grants grants({{"gpu", 1}, {"licence", 2}, {"none", 0}});
  uint32_t gpu = 0, both = 0, same = 0, empty = 9;
  std::string why;
  ASSERT_TRUE(grants.GroupOf({{"gpu", 1}}, &gpu, &why));
  ASSERT_TRUE(grants.GroupOf({{"licence", 1}, {"gpu", 1}}, &both, &why));
  ASSERT_TRUE(grants.GroupOf({{"gpu", 1}, {"licence", 1}}, &same, &why));
  ASSERT_TRUE(grants.GroupOf({}, &empty, &why));
  EXPECT_EQ(both, same);
  EXPECT_EQ(empty, 0u);
  grants.Acquire(1, both, WorkerId(0));
  EXPECT_FALSE(grants.IsFree(gpu));
  EXPECT_TRUE(grants.IsFree(empty));
  grants.Release(1);
  grants.Release(1);
  EXPECT_TRUE(grants.IsFree(gpu));
  EXPECT_FALSE(grants.GroupOf({{"licence", 3}}, &gpu, &why));
  EXPECT_EQ(why,
            "its rule asks for 3 of the resource 'licence', and [resources] has 2 of it for the "
            "whole farm");
  EXPECT_FALSE(grants.GroupOf({{"none", 1}}, &gpu, &why));
}

TEST(GrantsTest, WorkersOfAMachineShareWhatItHas) {
  Grants grants({{"licence", 3}});
  uint32_t gpu = 0, licence = 0;
  std::string why;
  ASSERT_TRUE(grants.GroupOf({{"gpu", 1}}, &gpu, &why));
  ASSERT_TRUE(grants.GroupOf({{"licence", 1}}, &licence, &why));
  const WorkerId a(0), b(1), c(2), d(3);
  grants.SetOffer(a, "m1", {{"gpu", 2}});
  grants.SetOffer(b, "m1", {{"gpu", 2}});
  grants.SetOffer(c, "m2", {{"gpu", 1}, {"licence", 1}});
  grants.SetOffer(d, "m3", {});
  EXPECT_FALSE(grants.IsFreeAt(gpu, d)) << "it says nothing of what is of machines";
  EXPECT_TRUE(grants.IsFreeAt(licence, d)) << "nor of what is of the farm";
  EXPECT_FALSE(grants.CanEver(gpu, {})) << "and has never any";
  grants.Acquire(1, gpu, a);
  grants.Acquire(2, gpu, b);
  EXPECT_FALSE(grants.IsFreeAt(gpu, a) || grants.IsFreeAt(gpu, b));
  EXPECT_TRUE(grants.IsFree(gpu));
  grants.Acquire(3, gpu, c);
  EXPECT_FALSE(grants.IsFree(gpu)) << "no machine has any left";
  EXPECT_EQ(grants.MissingAt(gpu, a), 1u);
  grants.Acquire(4, licence, c);
  EXPECT_FALSE(grants.IsFreeAt(licence, c)) << "its machine may hold one of the farm's three";
  EXPECT_TRUE(grants.IsFree(licence));
  grants.Forget(a);
  grants.Release(1);
  EXPECT_TRUE(grants.IsFreeAt(gpu, b)) << "what a lost worker held is free, too";
  grants.Acquire(5, licence, d);
  grants.Acquire(6, licence, d);
  EXPECT_FALSE(grants.IsFree(licence));
}

TEST(GrantsTest, WhatNoMachineHasIsNotSaidToBeTaken) {
  Grants grants({});
  uint32_t gpu = 0;
  std::string why;
  ASSERT_TRUE(grants.GroupOf({{"gpu", 2}}, &gpu, &why));
  EXPECT_TRUE(grants.IsComposite(gpu));
  EXPECT_TRUE(grants.IsFree(gpu)) << "nobody is there";
  grants.SetOffer(WorkerId(0), "m1", {{"gpu", 1}});
  EXPECT_TRUE(grants.IsFree(gpu)) << "nobody ever has enough: to say so is not for grants";
}

TEST(InstigatorsTest, UrgencyIsThatOfTheCookAndInANightlyOneWhatIsAskedForComesFirst) {
  const auto nightly = [](InstigatorCategory why) { return UrgencyOf(CookClass::kNightly, why); };
  EXPECT_EQ(nightly(InstigatorCategory::kCookMap), Urgency::kAsked);
  EXPECT_EQ(nightly(InstigatorCategory::kHardDependency), Urgency::kNormal);
  EXPECT_EQ(nightly(InstigatorCategory::kCookOnTheFly), Urgency::kBlocking);
  EXPECT_EQ(nightly(InstigatorCategory::kSpeculative), Urgency::kLow);
  for (const InstigatorCategory why :
       {InstigatorCategory::kCookMap, InstigatorCategory::kHardDependency}) {
    EXPECT_EQ(UrgencyOf(CookClass::kNow, why), Urgency::kBlocking);
    EXPECT_EQ(UrgencyOf(CookClass::kCommit, why), Urgency::kHigh);
    EXPECT_EQ(UrgencyOf(CookClass::kAhead, why), Urgency::kLow);
  }
  EXPECT_EQ(CategoryName(InstigatorCategory::kStartupPackage), "StartupPackage");
  EXPECT_EQ(CategoryName(InstigatorCategory::kCulture), "Culture");
  EXPECT_EQ(CategoryName(InstigatorCategory::kUnsolicited), "Unsolicited");
}

TEST(PackageTableTest, PackagesNeverMoveAndIdsAreDense) {
  PackageTable packages;
  const PackageId first = packages.FindOrAdd("/Game/0");
  const PackageData* const address = &packages[first];
  for (uint32_t i = 1; i < 5000; ++i)
    ASSERT_EQ(packages.FindOrAdd("/Game/" + std::to_string(i)), PackageId(i));
  EXPECT_EQ(&packages[first], address);
  EXPECT_EQ(address->name, "/Game/0");
  EXPECT_EQ(packages.FindOrAdd("/Game/4999"), PackageId(4999));
  EXPECT_EQ(packages.size(), 5000u);
  EXPECT_FALSE(packages.Find("/Game/5000").valid());
  EXPECT_FALSE(packages.Has(PackageId(5000)));
  EXPECT_FALSE(packages.Has(PackageId()));
}

// The bytes include a package's share of the table's index and what Ranks and Edges keep for it,
// but not a long name.
TEST(PackageTableTest, APackageInNoCookTakesAtMost180Bytes) {
  PackageTable packages;
  constexpr uint32_t kCount = 100'000;
  for (uint32_t i = 0; i < kCount; ++i) packages.FindOrAdd("/Game/" + std::to_string(i));
  Edges edges;
  edges.Grow(kCount);
  Ranks ranks(edges);
  ranks.Grow(kCount);
  const double bytes = static_cast<double>(packages.bytes() + ranks.bytes()) / kCount +
                       sizeof(uint16_t) + sizeof(PlatformMask);
  EXPECT_LE(bytes - sizeof(std::string), 180);
}

TEST(PackageTableTest, TheGeneratorOfANameIsWhatStandsBeforeItsLastGen) {
  EXPECT_EQ(GeneratorName("/Game/a.level/_gen/c.level"), "/Game/a.level");
  EXPECT_EQ(GeneratorName("/Game/a/_gen/b/_gen/c"), "/Game/a/_gen/b");
  EXPECT_EQ(GeneratorName("/Game/a.level"), "");
}

TEST(PackageStateTest, EveryWayInGoesThroughRequest) {
  for (const State to : {State::kLoad, State::kSave, State::kSaveStalled})
    EXPECT_FALSE(IsLegalEdge(State::kIdle, to));
  EXPECT_TRUE(IsLegalEdge(State::kIdle, State::kRequest));
  EXPECT_FALSE(IsLegalEdge(State::kRequest, State::kSaveStalled));
  for (const State state :
       {State::kIdle, State::kRequest, State::kLoad, State::kSave, State::kSaveStalled})
    EXPECT_FALSE(IsLegalEdge(state, state));
  for (const State from : {State::kRequest, State::kLoad, State::kSave, State::kSaveStalled})
    EXPECT_TRUE(IsLegalEdge(from, State::kIdle));
}

class LifecycleTest : public testing::Test {
 protected:
  PackageId Enter(const std::string& name, PlatformMask platforms) {
    const PackageId id = packages_.FindOrAdd(name);
    ranks_.Grow(packages_.size());
    lifecycle_.Claim(id, 1, platforms, Phase::kToLookUp);
    lifecycle_.SetState(id, State::kRequest, "test");
    packages_[id].work->has_begun = true;
    lifecycle_.Refresh(id);
    return id;
  }
  PackageTable packages_;
  Edges edges_;
  Ranks ranks_{edges_};
  Costs costs_;
  CoreCounts counts_{costs_};
  Notes notes_;
  Claimants claimants_{packages_, counts_, notes_};
  Counters& counters_ =
      claimants_.Begin(0, {.request = 1, .platforms = ~PlatformMask{0}}).tally.counters;
  absl::Time now_ = absl::UnixEpoch();
  Lifecycle lifecycle_{packages_, ranks_, claimants_, now_};
};

TEST_F(LifecycleTest, CountersFollowThePhases) {
  const PackageId a = Enter("A", 5);
  EXPECT_EQ(counters_.in_cook, 1u);
  EXPECT_EQ(counters_.results_wanted, 2u);
  packages_[a].slots[0].result = packages_[a].slots[2].result = std::make_shared<ResultView>();
  lifecycle_.SetPhase(a, 0, Phase::kDone, ResultSource::kUpToDate);
  lifecycle_.SetPhase(a, 2, Phase::kDone, ResultSource::kCooked);
  EXPECT_EQ(counters_.results_up_to_date, 1u);
  EXPECT_EQ(counters_.results_cooked, 1u);
  lifecycle_.SetPhase(a, 2, Phase::kFailed);
  EXPECT_EQ(counters_.results_cooked, 0u);
  EXPECT_EQ(counters_.results_failed, 1u);
  lifecycle_.Refresh(a);
  lifecycle_.CheckInvariants();
  lifecycle_.SetState(a, State::kIdle, "test");
  lifecycle_.SetOutcome(a, Outcome::kFailed);
  lifecycle_.SetOutcome(a, Outcome::kFailed);
  EXPECT_EQ(counters_.failed, 1u);
  lifecycle_.Withdraw(a);
  EXPECT_EQ(counters_.in_cook + counters_.failed + counters_.results_wanted +
                counters_.results_failed + counters_.results_up_to_date,
            0u);
  lifecycle_.CheckInvariants();
}

TEST_F(LifecycleTest, APackageIsInTheQueueOfItsState) {
  const PackageId a = Enter("A", 1);
  EXPECT_TRUE(lifecycle_.queues().requests().Contains(a));
  packages_[a].work->waits_for_generator = true;
  lifecycle_.Refresh(a);
  EXPECT_FALSE(lifecycle_.queues().requests().Contains(a));
  lifecycle_.SetState(a, State::kLoad, "test");
  EXPECT_TRUE(lifecycle_.queues().loads().Contains(a));
  lifecycle_.SetState(a, State::kSaveStalled, "test");
  EXPECT_TRUE(lifecycle_.queues().saves().Contains(a));
  EXPECT_FALSE(lifecycle_.queues().loads().Contains(a));
  lifecycle_.CheckInvariants();
  lifecycle_.SetState(a, State::kIdle, "test");
  EXPECT_TRUE(lifecycle_.queues().saves().empty());
  EXPECT_EQ(packages_[a].work, nullptr);
}

TEST_F(LifecycleTest, OneThatBacksOffIsLoadedWhenItsTimeHasCome) {
  const PackageId a = Enter("A", 1);
  packages_[a].work->not_before = absl::UnixEpoch() + absl::Seconds(3);
  lifecycle_.SetState(a, State::kLoad, "test");
  EXPECT_TRUE(lifecycle_.queues().HasWantedBackingOff());
  lifecycle_.Release(absl::UnixEpoch() + absl::Seconds(2));
  EXPECT_TRUE(lifecycle_.queues().loads().empty());
  lifecycle_.Release(absl::UnixEpoch() + absl::Seconds(3));
  EXPECT_TRUE(lifecycle_.queues().loads().Contains(a));
  EXPECT_FALSE(lifecycle_.queues().HasWantedBackingOff());
  lifecycle_.CheckInvariants();
}

}  // namespace
}  // namespace galley::director
