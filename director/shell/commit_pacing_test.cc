#include "director/shell/commit_pacing.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

class CommitPacingTest : public ::testing::Test {
 protected:
  // A commit begins now, and takes `length`.
  void Commit(absl::Duration length) {
    pacing_.Begun(now_);
    pacing_.Ended(length);
  }
  // Returns the time from the start of the last commit to the start of the next commit.
  absl::Duration Wait() const { return pacing_.Next({.results = 1, .has_jobs = true}) - now_; }

  const absl::Time now_ = absl::UnixEpoch() + absl::Seconds(100);
  CommitPacing pacing_;
};

TEST_F(CommitPacingTest, TheFirstCommitIsAtOnce) {
  EXPECT_EQ(pacing_.Next({.results = 1, .has_jobs = true}), absl::InfinitePast());
}

TEST_F(CommitPacingTest, CommitsBeginTwoHundredTimesAsFarApartAsOneTakesWithinBounds) {
  Commit(absl::Milliseconds(2));
  EXPECT_EQ(Wait(), absl::Milliseconds(400));
  Commit(absl::Microseconds(10));
  EXPECT_EQ(Wait(), absl::Milliseconds(10));
  Commit(absl::Seconds(3));
  EXPECT_EQ(Wait(), absl::Seconds(1));
}

TEST_F(CommitPacingTest, WhatSomebodyWaitsForIsCommittedAtOnce) {
  Commit(absl::Milliseconds(5));
  EXPECT_EQ(pacing_.Next({.results = 1, .is_urgent = true, .has_jobs = true}),
            absl::InfinitePast());
}

TEST_F(CommitPacingTest, ALargeGroupDoesNotWait) {
  Commit(absl::Milliseconds(5));
  EXPECT_GT(pacing_.Next({.results = 511, .has_jobs = true}), now_);
  EXPECT_EQ(pacing_.Next({.results = 512, .has_jobs = true}), absl::InfinitePast());
}

TEST_F(CommitPacingTest, WhereNoJobRunsNothingIsWaitedFor) {
  Commit(absl::Milliseconds(5));
  EXPECT_EQ(pacing_.Next({.results = 1, .has_jobs = false}), absl::InfinitePast());
}

}  // namespace
}  // namespace galley::director
