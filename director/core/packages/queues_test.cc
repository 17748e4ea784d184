#include <random>
#include <set>
#include <tuple>

#include "director/core/packages/load_queue.h"
#include "director/core/packages/request_queue.h"
#include "director/core/packages/save_queue.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(RequestQueueTest, UrgentOvertakesAndEqualsComeInOrder) {
  RequestQueue queue;
  queue.Push(PackageId(5), Urgency::kNormal);
  queue.Push(PackageId(1), Urgency::kNormal);
  queue.Push(PackageId(9), Urgency::kHigh);
  queue.Push(PackageId(5), Urgency::kNormal);
  for (const uint32_t next : {9, 5, 1}) {
    EXPECT_EQ(queue.Top(), PackageId(next));
    queue.Remove(queue.Top());
  }
  EXPECT_TRUE(queue.empty());
}

TEST(LoadQueueTest, NeverLoadedComesBeforeLowerRank) {
  LoadQueue queue;
  queue.Push(PackageId(1), {.was_loaded = true, .rank = -9});
  queue.Push(PackageId(2), {.was_loaded = false, .rank = 3});
  queue.Push(PackageId(3), {.was_loaded = false, .rank = 2});
  EXPECT_EQ(queue.Top(), PackageId(3));
  queue.Push(PackageId(1), {.urgency = Urgency::kBlocking, .was_loaded = true, .rank = -9});
  EXPECT_EQ(queue.Top(), PackageId(1));
}

TEST(LoadQueueTest, WhatRunsAloneComesBehindAllOthers) {
  LoadQueue queue;
  queue.Push(PackageId(1), {.runs_alone = true, .urgency = Urgency::kBlocking});
  queue.Push(PackageId(2), {.urgency = Urgency::kLow});
  EXPECT_EQ(queue.Top(), PackageId(2));
}

TEST(LoadQueueTest, SpareOnesComeBehindAllOthersAndThoseThatRunAloneBehindThem) {
  LoadQueue queue;
  queue.Push(PackageId(1), {.runs_alone = true, .urgency = Urgency::kSpare});
  queue.Push(PackageId(2), {.urgency = Urgency::kSpare, .was_loaded = true});
  queue.Push(PackageId(3), {.runs_alone = true, .urgency = Urgency::kLow});
  EXPECT_EQ(queue.Top(), PackageId(3));
  EXPECT_EQ(queue.wanted_size(), 1u);
  queue.Remove(PackageId(3));
  EXPECT_EQ(queue.Top(), PackageId(2));
  queue.Remove(PackageId(2));
  EXPECT_EQ(queue.Top(), PackageId(1));
}

TEST(LoadQueueTest, AgreesWithASet) {
  std::mt19937 random(7);
  LoadQueue queue;
  std::set<std::tuple<bool, int, bool, int, Rank, uint32_t>> model;
  for (int i = 0; i < 5000; ++i) {
    const uint32_t id = static_cast<uint32_t>(random() % 40);
    std::erase_if(model, [&](const auto& key) { return std::get<5>(key) == id; });
    if (random() % 3 == 0) {
      queue.Remove(PackageId(id));
    } else {
      const LoadOrder order{.runs_alone = random() % 8 == 0,
                            .urgency = static_cast<Urgency>(random() % 4),
                            .was_loaded = random() % 2 == 0,
                            .length = static_cast<int>(random() % 3),
                            .rank = static_cast<Rank>(random() % 10)};
      queue.Push(PackageId(id), order);
      model.emplace(order.runs_alone, -static_cast<int>(order.urgency), order.was_loaded,
                    -order.length, order.rank, id);
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_TRUE(model.empty() || queue.Top().value() == std::get<5>(*model.begin()));
  }
}

TEST(SaveQueueTest, TheLongestChainComesFirstThenRankThenName) {
  SaveQueue queue;
  const auto all = [](uint32_t, PackageId) { return true; };
  queue.Push(PackageId(1), 1, {.chain = absl::Seconds(1), .rank = 1, .name = "b"});
  queue.Push(PackageId(2), 1, {.chain = absl::Seconds(9), .rank = 5, .name = "a"});
  queue.Push(PackageId(3), 1, {.chain = absl::Seconds(1), .rank = 1, .name = "a"});
  EXPECT_EQ(queue.BestAtMost(Urgency::kBlocking, all), PackageId(2));
  queue.Remove(PackageId(2));
  EXPECT_EQ(queue.BestAtMost(Urgency::kBlocking, all), PackageId(3));
}

TEST(SaveQueueTest, ALineWhoseResourcesAreTakenDoesNotHoldUpAnother) {
  SaveQueue queue;
  queue.Push(PackageId(1), 1, {.urgency = Urgency::kBlocking, .name = "a"});
  queue.Push(PackageId(2), 2, {.urgency = Urgency::kLow, .name = "b"});
  EXPECT_EQ(
      queue.BestAtMost(Urgency::kBlocking, [](uint32_t group, PackageId) { return group == 2; }),
      PackageId(2));
  EXPECT_FALSE(
      queue.BestAtMost(Urgency::kBlocking, [](uint32_t, PackageId) { return false; }).valid());
}

}  // namespace
}  // namespace galley::director
