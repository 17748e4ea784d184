#include "director/core/breaker.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Duration kNow = absl::Seconds(100);
const WorkerId kWorker(1), kOther(2);
const PackageId kTown(1), kMesh(2);

// A fault of an own package each time.
Breaker::Fault Any(uint32_t package) {
  return {.worker = kWorker, .package = PackageId(package), .is_only = true};
}

Breaker Opened() {
  Breaker breaker;
  for (uint32_t i = 0; i < Breaker::kFaultsMax; ++i) breaker.AddFault(Any(i), kNow);
  return breaker;
}

TEST(BreakerTest, ThreeFaultsInARowOpenIt) {
  Breaker breaker;
  EXPECT_FALSE(breaker.AddFault(Any(1), kNow));
  EXPECT_FALSE(breaker.AddFault(Any(2), kNow));
  EXPECT_TRUE(breaker.MayTake(kNow));
  EXPECT_TRUE(breaker.AddFault(Any(3), kNow));
  EXPECT_FALSE(breaker.MayTake(kNow));
  EXPECT_FALSE(breaker.AddFault(Any(4), kNow)) << "it is told once";
}

TEST(BreakerTest, ASuccessBetweenThemBeginsAnew) {
  Breaker breaker;
  for (uint32_t i = 0; i < 9; ++i) {
    EXPECT_FALSE(breaker.AddFault(Any(i), kNow)) << i;
    if (i % 2 == 1) breaker.AddSuccess(kNow);
  }
}

TEST(BreakerTest, AfterThePauseOneJobIsTried) {
  Breaker breaker = Opened();
  EXPECT_FALSE(breaker.MayTake(kNow + Breaker::kFirstPause - absl::Milliseconds(1)));
  const absl::Duration later = kNow + Breaker::kFirstPause;
  EXPECT_TRUE(breaker.MayTake(later));
  EXPECT_TRUE(breaker.NoteGiven(7));
  EXPECT_FALSE(breaker.MayTake(later));
  EXPECT_FALSE(breaker.NoteGiven(8)) << "one that was given before it was held";
  EXPECT_FALSE(breaker.NoteEnded(8));
  EXPECT_FALSE(breaker.MayTake(later));
}

TEST(BreakerTest, ASuccessThenClosesIt) {
  Breaker breaker = Opened();
  EXPECT_FALSE(breaker.AddSuccess(kNow)) << "of a job from before";
  EXPECT_TRUE(breaker.is_open());
  const absl::Duration later = kNow + Breaker::kFirstPause;
  breaker.NoteGiven(7);
  EXPECT_TRUE(breaker.AddSuccess(later));
  breaker.NoteEnded(7);
  EXPECT_TRUE(breaker.MayTake(later));
  EXPECT_FALSE(breaker.AddFault(Any(1), later)) << "three are needed again";
}

TEST(BreakerTest, OneThatSaysNothingOfTheMachineIsFollowedByTheNext) {
  Breaker breaker = Opened();
  const absl::Duration later = kNow + Breaker::kFirstPause;
  breaker.NoteGiven(7);
  EXPECT_TRUE(breaker.NoteEnded(7));
  EXPECT_TRUE(breaker.is_open());
  EXPECT_TRUE(breaker.MayTake(later));
}

TEST(BreakerTest, EachFurtherFaultDoublesThePauseUpToALimit) {
  Breaker breaker = Opened();
  absl::Duration at = kNow;
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
  breaker.AddSuccess(kNow);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kWorker, .package = kTown, .is_only = true}, kNow));
  EXPECT_TRUE(breaker.AddFault({.worker = kWorker, .package = kMesh, .is_only = true}, kNow));
}

TEST(BreakerTest, WhereNothingEverWorkedOnePackageIsEnough) {
  Breaker breaker;
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kWorker, .package = kTown, .is_only = true}, kNow));
  EXPECT_TRUE(breaker.AddFault({.worker = kWorker, .package = kTown, .is_only = true}, kNow));
}

TEST(BreakerTest, WhatNoPackageExplainsIsEnoughInAnyCase) {
  Breaker breaker;
  breaker.AddSuccess(kNow);
  for (int i = 0; i < 2; ++i)
    breaker.AddFault({.worker = kWorker, .package = PackageId(), .is_only = true}, kNow);
  EXPECT_TRUE(
      breaker.AddFault({.worker = kWorker, .package = PackageId(), .is_only = true}, kNow));
}

TEST(BreakerTest, OneOfSeveralWorkersSaysNothingOfTheMachine) {
  Breaker breaker;
  for (uint32_t i = 0; i < 20; ++i)
    EXPECT_FALSE(breaker.AddFault({.worker = kWorker, .package = PackageId(i)}, kNow));
  EXPECT_TRUE(breaker.AddFault({.worker = kOther, .package = kTown}, kNow));
}

}  // namespace
}  // namespace galley::director
