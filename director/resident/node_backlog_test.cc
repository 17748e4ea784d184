#include "director/resident/node_backlog.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class NodeBacklogTest : public testing::Test {
 protected:
  NodeBacklog::Entry EntryOf(size_t number) const {
    return {.platform = "linux", .package = std::to_string(number)};
  }
  // A cook brings results.
  void Bring(size_t count) {
    for (size_t i = 0; i < count; ++i) backlog_.Add(EntryOf(brought_++), now_);
  }
  size_t TakeNow() { return backlog_.Take(now_).size(); }

  absl::Time now_ = absl::UnixEpoch();
  size_t brought_ = 0;
  NodeBacklog backlog_;
};

TEST_F(NodeBacklogTest, TheNodesOfASmallCookAreMadeAtOnceInTheirOrder) {
  EXPECT_EQ(backlog_.due_at(), absl::InfiniteFuture());
  EXPECT_THAT(backlog_.Take(now_), IsEmpty());
  Bring(2);
  EXPECT_LE(backlog_.due_at(), now_);
  EXPECT_THAT(backlog_.Take(now_), ElementsAre(EntryOf(0), EntryOf(1)));
  EXPECT_EQ(backlog_.due_at(), absl::InfiniteFuture());
}

TEST_F(NodeBacklogTest, WhatComesSoonAfterwardsWaitsForTheNextGrowth) {
  Bring(1);
  EXPECT_EQ(TakeNow(), 1u);
  Bring(1);
  EXPECT_EQ(TakeNow(), 0u);
  EXPECT_EQ(backlog_.due_at(), now_ + NodeBacklog::kBatchInterval);
  now_ = backlog_.due_at();
  EXPECT_EQ(TakeNow(), 1u);
}

TEST_F(NodeBacklogTest, ALargeCookGetsFewNodesASecondWhileItsResultsCome) {
  size_t made = 0;
  for (int second = 0; second < 10; ++second) {
    for (int tenth = 0; tenth < 10; ++tenth) {
      Bring(1'000);
      made += TakeNow();
      EXPECT_GT(backlog_.due_at(), now_) << "nobody is woken for nothing";
      now_ += absl::Milliseconds(100);
    }
  }
  EXPECT_GE(made, NodeBacklog::kBurst + 8 * NodeBacklog::kRate);
  EXPECT_LE(made, NodeBacklog::kBurst + 10 * NodeBacklog::kRate);
}

TEST_F(NodeBacklogTest, TheRestIsMadeInBatchesWhenNoResultComesAnyMore) {
  Bring(NodeBacklog::kBurst + 2 * NodeBacklog::kBatchMax);
  EXPECT_EQ(TakeNow(), NodeBacklog::kBurst);
  now_ += NodeBacklog::kQuiet;
  EXPECT_EQ(TakeNow(), NodeBacklog::kBatchMax);
  EXPECT_EQ(TakeNow(), 0u);
  EXPECT_EQ(backlog_.due_at(), now_ + NodeBacklog::kBatchInterval);
  now_ = backlog_.due_at();
  EXPECT_EQ(TakeNow(), NodeBacklog::kBatchMax);
  EXPECT_EQ(backlog_.size(), 0u);
}

TEST_F(NodeBacklogTest, AfterALargeCookASmallOneIsAtOnceAgain) {
  Bring(10'000);
  TakeNow();
  now_ += NodeBacklog::kQuiet;
  while (backlog_.size() > 0) {
    TakeNow();
    now_ += NodeBacklog::kBatchInterval;
  }
  now_ += absl::Seconds(NodeBacklog::kBurst / NodeBacklog::kRate);
  Bring(NodeBacklog::kBurst);
  EXPECT_EQ(TakeNow(), NodeBacklog::kBurst);
}

TEST_F(NodeBacklogTest, FewThatAreLeftComeAsSoonAsThereIsRoomForThem) {
  Bring(NodeBacklog::kBurst + 1);
  EXPECT_EQ(TakeNow(), NodeBacklog::kBurst);
  EXPECT_EQ(backlog_.due_at(), now_ + NodeBacklog::kBatchInterval);
  now_ = backlog_.due_at();
  EXPECT_EQ(TakeNow(), 1u);
}

}  // namespace
}  // namespace galley::director
