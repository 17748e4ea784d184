#include "common/base/rate.h"

#include <gtest/gtest.h>

namespace galley {
namespace {

class FakeClock final : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time Monotonic() override { return now; }
  absl::Time now = absl::UnixEpoch();
};

class TokenBucketTest : public testing::Test {
 protected:
  FakeClock clock_;
  TokenBucket bucket_{{.per_second = 100, .burst = 50}, clock_};
};

TEST_F(TokenBucketTest, ABurstPassesAtOnceAndWhatFollowsAtTheRate) {
  EXPECT_EQ(bucket_.Take(30), absl::ZeroDuration());
  EXPECT_EQ(bucket_.Take(20), absl::ZeroDuration());
  EXPECT_EQ(bucket_.Take(10), absl::Milliseconds(100));
  EXPECT_EQ(bucket_.Take(10), absl::Milliseconds(200));
  clock_.now += absl::Milliseconds(200);
  EXPECT_EQ(bucket_.Take(10), absl::Milliseconds(100));
}

TEST_F(TokenBucketTest, MoreThanTheBurstIsTakenAndWaitedFor) {
  EXPECT_EQ(bucket_.Take(1050), absl::Seconds(10));
  clock_.now += absl::Seconds(10);
  EXPECT_EQ(bucket_.Take(1), absl::Milliseconds(10));
}

TEST_F(TokenBucketTest, APauseFillsItNoFurtherThanTheBurst) {
  bucket_.Take(50);
  clock_.now += absl::Hours(1);
  EXPECT_EQ(bucket_.Take(50), absl::ZeroDuration());
  EXPECT_EQ(bucket_.Take(50), absl::Milliseconds(500));
}

// The average over a long time is the rate, whoever takes how much.
TEST_F(TokenBucketTest, NeverMoreThanTheRateAllows) {
  uint64_t taken = 0;
  const absl::Time begin = clock_.now;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const uint64_t amount = i * 7919 % 60;
    clock_.now += bucket_.Take(amount);
    taken += amount;
    clock_.now += absl::Microseconds(i * 104'729 % 100'000);
    // Taken beyond the rate: the burst, and the take that is larger than the burst.
    ASSERT_LE(static_cast<double>(taken),
              100 * absl::ToDoubleSeconds(clock_.now - begin) + 50 + 60);
  }
  EXPECT_GT(static_cast<double>(taken), 0.9 * 100 * absl::ToDoubleSeconds(clock_.now - begin));
}

}  // namespace
}  // namespace galley
