#include "common/store/reapi/client/remote_verdict.h"

#include "gtest/gtest.h"

namespace galley::store {
namespace {

using Reason = RemoteVerdict::Reason;

class RemoteVerdictTest : public testing::Test {
 protected:
  // Reads, one after the other.
  void Read(absl::Duration took, uint64_t bytes, bool is_of_use = true) {
    verdict_.Took({.begin = now_, .end = now_ + took, .bytes = bytes, .is_of_use = is_of_use});
    now_ += took;
  }

  RemoteVerdict verdict_;
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(RemoteVerdictTest, AWrongBlobAmongThousandsIsNoReason) {
  for (int i = 0; i < 5000; ++i) {
    verdict_.CameRight(9);
    verdict_.CameWrong();
    if (i > 40) break;
  }
  EXPECT_EQ(verdict_.reason(), Reason::kNone) << "one in ten";
}

TEST_F(RemoteVerdictTest, FewWrongBlobsAreNoReasonHoweverFewCame) {
  for (int i = 0; i < 31; ++i) verdict_.CameWrong();
  EXPECT_EQ(verdict_.reason(), Reason::kNone);
  verdict_.CameWrong();
  EXPECT_EQ(verdict_.reason(), Reason::kWrong);
  EXPECT_EQ(verdict_.blobs_came(), 32u);
}

TEST_F(RemoteVerdictTest, MoreThanOneInFiveIsTooMany) {
  verdict_.CameRight(160);
  for (int i = 0; i < 40; ++i) verdict_.CameWrong();
  EXPECT_EQ(verdict_.reason(), Reason::kNone);
  verdict_.CameWrong();
  EXPECT_EQ(verdict_.reason(), Reason::kWrong);
  verdict_.CameRight(100'000);
  EXPECT_EQ(verdict_.reason(), Reason::kWrong) << "it is final";
}

TEST_F(RemoteVerdictTest, WhatBringsNothingIsLostAsAWhole) {
  Read(absl::Seconds(10), 100'000'000, /*is_of_use=*/false);
  EXPECT_EQ(verdict_.reason(), Reason::kNone);
  EXPECT_EQ(verdict_.LeftToLose(), absl::ZeroDuration());
  Read(absl::Milliseconds(1), 1, /*is_of_use=*/false);
  EXPECT_EQ(verdict_.reason(), Reason::kSlow);
}

TEST_F(RemoteVerdictTest, AReadMayTakeTheTimeOfItsBytes) {
  for (int i = 0; i < 1000; ++i) Read(absl::Seconds(4.5), 1'000'000);
  for (int i = 0; i < 1000; ++i) Read(absl::Milliseconds(400), 10);
  EXPECT_EQ(verdict_.lost(), absl::ZeroDuration());
}

TEST_F(RemoteVerdictTest, SlowReadsAreFoundOut) {
  int reads = 0;
  for (; verdict_.reason() == Reason::kNone && reads < 1000; ++reads) Read(absl::Seconds(2), 10);
  EXPECT_EQ(reads, 8) << "1.5 s of each is lost";
}

TEST_F(RemoteVerdictTest, AStoreThatWasOfUseMayLoseMore) {
  for (int i = 0; i < 1000; ++i) Read(absl::Milliseconds(400), 10);
  EXPECT_EQ(verdict_.LeftToLose(), absl::Seconds(110));
  Read(absl::Seconds(100), 10, /*is_of_use=*/false);
  EXPECT_EQ(verdict_.reason(), Reason::kNone);
  Read(absl::Seconds(11), 10, /*is_of_use=*/false);
  EXPECT_EQ(verdict_.reason(), Reason::kSlow);
}

TEST_F(RemoteVerdictTest, ReadsSideBySideLoseASecondOnce) {
  for (int i = 0; i < 16; ++i) {
    verdict_.Took({.begin = now_, .end = now_ + absl::Seconds(6), .bytes = 0, .is_of_use = false});
  }
  EXPECT_EQ(verdict_.lost(), absl::Seconds(6));
  EXPECT_EQ(verdict_.reason(), Reason::kNone);
}

}  // namespace
}  // namespace galley::store
