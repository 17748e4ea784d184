#include "worker/session/collection.h"

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using What = CollectionStep::What;

constexpr CollectionStep kNone;
constexpr CollectionStep kSoft{What::kSoft, CollectReason::kSoftLimit};
constexpr CollectionStep kHard{What::kFull, CollectReason::kHardLimit};
constexpr CollectionStep kRestart{What::kRestart, CollectReason::kHardLimit};
constexpr CollectionStep kIdle{What::kFull, CollectReason::kIdle};
constexpr CollectionStep kCount{What::kFull, CollectReason::kPackageCount};
constexpr uint64_t kJob = 1'000'000;  // a job's limit, too large to lower any other

class CollectionTest : public ::testing::Test {
 protected:
  CollectionStep Next(uint64_t resident_bytes, uint64_t job_bytes = kJob) const {
    return collection_.Next(now_, resident_bytes, job_bytes);
  }
  void Job() { collection_.JobEnded(now_); }

  absl::Time now_ = absl::UnixEpoch();
  Collection collection_{{.soft_bytes = 100,
                          .hard_bytes = 200,
                          .packages_max = 10,
                          .idle = absl::Seconds(5),
                          .idle_bytes_min = 20}};
};

TEST_F(CollectionTest, BelowItsLimitsAnExecutorIsLeftAlone) {
  Job();
  EXPECT_EQ(Next(100), kNone);
  EXPECT_EQ(Next(101), kSoft);
  EXPECT_EQ(Next(200), kSoft);
  EXPECT_EQ(Next(201), kHard);
}

TEST_F(CollectionTest, OneThatRanNoJobIsLeftAloneWhateverItHolds) {
  EXPECT_EQ(Next(10'000), kNone);
  Job();
  EXPECT_EQ(Next(10'000), kHard);
  collection_.Started();
  EXPECT_EQ(Next(10'000), kNone) << "a restart would not help, and would be for ever";
}

TEST_F(CollectionTest, ASoftCollectionComesAgainOnlyAfterItGrewByAQuarterOfTheLimit) {
  Job();
  ASSERT_EQ(Next(150), kSoft);
  collection_.Collected(What::kSoft, 140);
  EXPECT_EQ(Next(140), kNone);
  Job();
  EXPECT_EQ(Next(165), kNone);
  EXPECT_EQ(Next(166), kSoft);
  collection_.Collected(What::kSoft, 20);
  EXPECT_EQ(Next(100), kNone) << "never below the limit";
  EXPECT_EQ(Next(101), kSoft);
}

TEST_F(CollectionTest, AFullCollectionThatDoesNotHelpIsFollowedByARestart) {
  Job();
  ASSERT_EQ(Next(300), kHard);
  collection_.Collected(What::kFull, 250);
  EXPECT_EQ(Next(250), kRestart);
  collection_.Started();
  EXPECT_EQ(Next(30), kNone);
}

TEST_F(CollectionTest, AFullCollectionThatHelpedIsTriedFirstTheNextTimeToo) {
  Job();
  collection_.Collected(What::kFull, 50);
  EXPECT_EQ(Next(50), kNone);
  Job();
  EXPECT_EQ(Next(300), kHard);
}

// The limits are so small that every executor is above them after its first job.
TEST_F(CollectionTest, WhatYoungExecutorsHoldIsNoReasonToReplaceThem) {
  int full = 0, restarts = 0, told = 0;
  for (int job = 0; job < 100; ++job) {
    Job();
    if (Next(330).what == What::kFull) {
      ++full;
      collection_.Collected(What::kFull, 300);
      told += collection_.TellFloor();
    }
    if (Next(300) == kRestart) {
      ++restarts;
      collection_.Started();
    }
  }
  EXPECT_EQ(restarts, 1) << "the first time, to see whether it helps";
  EXPECT_EQ(told, 1);
  EXPECT_LE(full, 12) << "those for the package count";
  Job();
  EXPECT_EQ(Next(376), kHard) << "a quarter more than a young one";
  collection_.Collected(What::kFull, 376);
  EXPECT_EQ(Next(376), kRestart);
}

TEST_F(CollectionTest, OneLargeJobIsNotTakenForWhatAllHold) {
  Job();
  ASSERT_EQ(Next(900), kHard);
  collection_.Collected(What::kFull, 800);
  ASSERT_EQ(Next(800), kRestart);
  collection_.Started();
  Job();
  collection_.Collected(What::kFull, 30);  // the collection has another reason
  EXPECT_FALSE(collection_.TellFloor());
  Job();
  EXPECT_EQ(Next(201), kHard);
}

TEST_F(CollectionTest, ASmallJobLowersTheLimits) {
  Job();
  EXPECT_EQ(Next(60, 1'000), kNone);
  EXPECT_EQ(Next(60, 200), kSoft) << "a quarter of what it may use";
  EXPECT_EQ(Next(60, 119), kHard) << "half of what it may use";
  collection_.Collected(What::kFull, 60);
  EXPECT_EQ(Next(60, 119), kRestart);
  EXPECT_EQ(Next(60, 1'000), kNone);
}

TEST_F(CollectionTest, AfterSoManyPackagesAllIsCollected) {
  for (int i = 0; i < 9; ++i) Job();
  EXPECT_EQ(Next(50), kNone);
  Job();
  EXPECT_EQ(Next(50), kCount);
  collection_.Collected(What::kSoft, 50);
  EXPECT_EQ(Next(50), kCount) << "a soft collection does not count";
  collection_.Collected(What::kFull, 50);
  EXPECT_EQ(Next(50), kNone);
}

TEST_F(CollectionTest, AnIdleExecutorIsCollectedOnce) {
  Job();
  EXPECT_EQ(collection_.IdleAt(), now_ + absl::Seconds(5));
  now_ += absl::Seconds(5) - absl::Nanoseconds(1);
  EXPECT_EQ(Next(50, 0), kNone);
  now_ += absl::Nanoseconds(1);
  EXPECT_EQ(Next(50, 0), kIdle);
  EXPECT_EQ(Next(50, kJob), kNone) << "it is not idle";
  EXPECT_EQ(Next(19, 0), kNone) << "too small to bother";
  collection_.Collected(What::kFull, 50);
  EXPECT_EQ(Next(50, 0), kNone);
  EXPECT_EQ(collection_.IdleAt(), absl::InfiniteFuture());
  Job();
  EXPECT_EQ(collection_.IdleAt(), now_ + absl::Seconds(5));
}

TEST_F(CollectionTest, OneThatRanNoJobIsNotIdle) {
  EXPECT_EQ(collection_.IdleAt(), absl::InfiniteFuture());
}

TEST(CollectionLimitsTest, TheyAreAQuarterAndAHalfOfWhatAJobMayUse) {
  EXPECT_EQ(LimitsFor(400).soft_bytes, 100u);
  EXPECT_EQ(LimitsFor(400).hard_bytes, 200u);
}

TEST(CollectReasonTest, EachHasAName) {
  EXPECT_EQ(NameOf(CollectReason::kSoftLimit), "soft_limit");
  EXPECT_EQ(NameOf(CollectReason::kHardLimit), "hard_limit");
  EXPECT_EQ(NameOf(CollectReason::kPackageCount), "package_count");
  EXPECT_EQ(NameOf(CollectReason::kIdle), "idle");
}

}  // namespace
}  // namespace galley::worker
