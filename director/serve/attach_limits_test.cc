#include "director/serve/attach_limits.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

class AttachLimitsTest : public ::testing::Test {
 protected:
  // Returns how many of `count` workers may attach.
  int Come(int count, const std::string& address = "10.0.0.7") {
    int taken = 0;
    for (int i = 0; i < count; ++i) taken += limits_.Take(address, now_) == std::nullopt;
    return taken;
  }

  AttachLimits limits_;
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(AttachLimitsTest, AThousandBehindOneAddressMayComeAtOnce) { EXPECT_EQ(Come(1'000), 1'000); }

TEST_F(AttachLimitsTest, AFloodIsLimitedAndAnotherAddressIsNot) {
  int taken = 0;
  for (int second = 0; second < 60; ++second) {
    taken += Come(180);
    now_ += absl::Seconds(1);
  }
  EXPECT_LT(taken, 3'000) << "of 10,800 in a minute";
  EXPECT_EQ(Come(10, "10.0.0.8"), 10);
}

TEST_F(AttachLimitsTest, WhoComesTooSoonIsToldWhenAndIsTakenThen) {
  Come(1'500);
  const auto first = limits_.Take("10.0.0.7", now_), second = limits_.Take("10.0.0.7", now_);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(*first, absl::Milliseconds(50));
  EXPECT_EQ(*second, absl::Milliseconds(100)) << "each later than the one before";
  now_ += *second;
  EXPECT_EQ(Come(2), 2);
}

TEST_F(AttachLimitsTest, NobodyIsToldToWaitForLong) {
  Come(20'000);
  EXPECT_EQ(limits_.Take("10.0.0.7", now_), absl::Seconds(30));
}

TEST_F(AttachLimitsTest, OneLineAMinuteSaysHowManyWereToldToWait) {
  EXPECT_EQ(limits_.TellRefused("10.0.0.7", now_), std::nullopt);
  Come(1'505);
  EXPECT_EQ(limits_.TellRefused("10.0.0.7", now_), 5u);
  Come(3);
  EXPECT_EQ(limits_.TellRefused("10.0.0.7", now_), std::nullopt);
  now_ += absl::Minutes(1);
  EXPECT_EQ(limits_.TellRefused("10.0.0.7", now_), 3u);
}

TEST_F(AttachLimitsTest, SoManyAddressesAreToldApart) {
  AttachLimits limits({.burst = 1, .addresses_max = 2});
  for (const char* address : {"a", "b", "c"}) {
    EXPECT_EQ(limits.Take(address, now_), std::nullopt);
    now_ += absl::Microseconds(1);
  }
  EXPECT_NE(limits.Take("c", now_), std::nullopt);
  EXPECT_EQ(limits.Take("a", now_), std::nullopt) << "it was forgotten";
}

TEST(AddressOfPeerTest, LeavesThePortOut) {
  EXPECT_EQ(AddressOfPeer("ipv4:10.0.0.7:41234"), "10.0.0.7");
  EXPECT_EQ(AddressOfPeer("ipv6:%5B2001:db8::1%5D:80"), "[2001:db8::1]");
  EXPECT_EQ(AddressOfPeer("ipv6:[::1]:80"), "[::1]");
  EXPECT_EQ(AddressOfPeer("unix:"), "this machine");
}

}  // namespace
}  // namespace galley::director
