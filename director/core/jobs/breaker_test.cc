#include "director/core/jobs/breaker.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Duration kWhenFailed = absl::Seconds(100);
const WorkerId kBadWorker(1), kOther(2);
const PackageId kTownPackage(1), kMeshPackage(2);

// A fault of an own package each time.
Breaker::Fault Any(uint32_t package) {
  return {.worker = kBadWorker, .package = PackageId(package), .is_only = true};
}

Breaker Opened() {
  Breaker breaker;
  for (uint32_t i = 0; i < Breaker::kFaultsMax; ++i) breaker.AddFault(Any(i), kWhenFailed);
  return breaker;
}

TEST(BreakerTest, ThreeFaultsInARowOpenIt) {
  Breaker breaker;
  EXPECT_FALSE(breaker.AddFault(Any(1), kWhenFailed));
  EXPECT_FALSE(breaker.AddFault(Any(2), kWhenFailed));
  EXPECT_TRUE(breaker.MayTake(kWhenFailed));
  EXPECT_TRUE(breaker.AddFault(Any(3), kWhenFailed));
  EXPECT_FALSE(breaker.MayTake(kWhenFailed));
  EXPECT_FALSE(breaker.AddFault(Any(4), kWhenFailed)) << "it is told once";
}

TEST(BreakerTest, ASuccessBetweenThemBeginsAnew) {
  Breaker breaker;
  for (uint32_t i = 0; i < 9; ++i) {
    EXPECT_FALSE(breaker.AddFault(Any(i), kWhenFailed)) << i;
    if (i % 2 == 1) breaker.AddSuccess(kWhenFailed);
  }
}

TEST(BreakerTest, AfterThePauseOneJobIsTried) {
  Breaker breaker = Opened();
  EXPECT_FALSE(breaker.MayTake(kWhenFailed + Breaker::kFirstPause - absl::Milliseconds(1)));
  const absl::Duration later = kWhenFailed + Breaker::kFirstPause;
  EXPECT_TRUE(breaker.MayTake(later));
  EXPECT_TRUE(breaker.NoteGiven(7));
  EXPECT_FALSE(breaker.MayTake(later));
  EXPECT_FALSE(breaker.NoteGiven(8)) << "one that was given before it was held";
  EXPECT_FALSE(breaker.NoteEnded(8));
  EXPECT_FALSE(breaker.MayTake(later));
}

TEST(BreakerTest, ASuccessThenClosesIt) {
  Breaker breaker = Opened();
  EXPECT_FALSE(breaker.AddSuccess(kWhenFailed)) << "of a job from before";
  EXPECT_TRUE(breaker.is_open());
  const absl::Duration later = kWhenFailed + Breaker::kFirstPause;
  breaker.NoteGiven(7);
  EXPECT_TRUE(breaker.AddSuccess(later));
  EXPECT_FALSE(breaker.is_open());
  breaker.NoteEnded(7);
  EXPECT_TRUE(breaker.MayTake(later));
  EXPECT_FALSE(breaker.AddFault(Any(1), later)) << "three are needed again";
}

TEST(BreakerTest, OneThatSaysNothingOfTheMachineIsFollowedByTheNext) {
  Breaker breaker = Opened();
  const absl::Duration later = kWhenFailed + Breaker::kFirstPause;
  breaker.NoteGiven(7);
  EXPECT_TRUE(breaker.NoteEnded(7));
  EXPECT_TRUE(breaker.is_open());
  EXPECT_TRUE(breaker.MayTake(later));
}

TEST(BreakerTest, EachFurtherFaultDoublesThePauseUpToALimit) {
  Breaker breaker = Opened();
  absl::Duration at = kWhenFailed;
  absl::Duration pause = Breaker::kFirstPause;
  for (int i = 0; i < 10; ++i) {
    at += pause;
    EXPECT_TRUE(breaker.MayTake(at)) << i;
    EXPECT_FALSE(breaker.AddFault(Any(1), at));
    EXPECT_FALSE(breaker.AddFault(Any(2), at)) << "of a job from before: not doubled again";
    pause = std::min(2 * pause, Breaker::kLongestPause);
    EXPECT_FALSE(breaker.MayTake(at + pause - absl::Milliseconds(1))) << i;
  }
  EXPECT_EQ(pause, Breaker::kLongestPause);
  breaker.EndPause(at);
  EXPECT_TRUE(breaker.MayTake(at)) << "somebody may have mended it";
}

TEST(BreakerTest, FaultsOfOnePackageSayNothingOfAMachineThatWorked) {
  Breaker breaker;
  breaker.AddSuccess(kWhenFailed);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kBadWorker, .package = kTownPackage, .is_only = true},
                                  kWhenFailed));
  EXPECT_TRUE(breaker.AddFault({.worker = kBadWorker, .package = kMeshPackage, .is_only = true},
                               kWhenFailed));
}

TEST(BreakerTest, WhereNothingEverWorkedOnePackageIsEnough) {
  Breaker breaker;
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kBadWorker, .package = kTownPackage, .is_only = true},
                                  kWhenFailed));
  EXPECT_TRUE(breaker.AddFault({.worker = kBadWorker, .package = kTownPackage, .is_only = true},
                               kWhenFailed));
}

TEST(BreakerTest, WhatNoPackageExplainsIsEnoughInAnyCase) {
  Breaker breaker;
  breaker.AddSuccess(kWhenFailed);
  for (int i = 0; i < 2; ++i)
    breaker.AddFault({.worker = kBadWorker, .package = PackageId(), .is_only = true}, kWhenFailed);
  EXPECT_TRUE(breaker.AddFault({.worker = kBadWorker, .package = PackageId(), .is_only = true},
                               kWhenFailed));
}

TEST(BreakerTest, OneOfSeveralWorkersSaysNothingOfTheMachine) {
  Breaker breaker;
  for (uint32_t i = 0; i < 20; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kBadWorker, .package = PackageId(i)}, kWhenFailed));
  EXPECT_TRUE(breaker.AddFault({.worker = kOther, .package = kTownPackage}, kWhenFailed));
}

}  // namespace
}  // namespace galley::director
