#include "common/store/reapi/client/breaker.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

class BreakerTest : public testing::Test {
 protected:
  void Fail() { breaker_.Failed(now_, "refused"); }
  Breaker breaker_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
};

TEST_F(BreakerTest, ThreeFailuresInARowOpenIt) {
  Fail();
  Fail();
  breaker_.Answered();
  Fail();
  Fail();
  EXPECT_FALSE(breaker_.is_open()) << "an answer lay between them";
  Fail();
  EXPECT_TRUE(breaker_.is_open());
  EXPECT_EQ(breaker_.opened(), now_);
  EXPECT_EQ(breaker_.reason(), "refused");
}

TEST_F(BreakerTest, FailingForHalfAMinuteOpensIt) {
  Fail();
  now_ += absl::Seconds(30);
  Fail();
  EXPECT_TRUE(breaker_.is_open());
}

TEST_F(BreakerTest, ItIsProbedAtGrowingDistances) {
  for (int i = 0; i < 3; ++i) Fail();
  std::vector<int64_t> at;
  for (int second = 0; second < 300; ++second, now_ += absl::Seconds(1)) {
    if (!breaker_.TakeProbe(now_)) continue;
    at.push_back(absl::ToUnixSeconds(now_) - 1000);
    EXPECT_FALSE(breaker_.TakeProbe(now_)) << "one probe at a time";
    Fail();
  }
  EXPECT_THAT(at, testing::ElementsAre(1, 3, 7, 15, 31, 63, 123, 183, 243));
}

TEST_F(BreakerTest, AnAnswerClosesItAndAllIsAsAtFirst) {
  for (int i = 0; i < 3; ++i) Fail();
  now_ += absl::Seconds(100);
  ASSERT_TRUE(breaker_.TakeProbe(now_));
  breaker_.Answered();
  EXPECT_FALSE(breaker_.is_open());
  EXPECT_FALSE(breaker_.TakeProbe(now_ + absl::Hours(1)));
  for (int i = 0; i < 3; ++i) Fail();
  EXPECT_TRUE(breaker_.TakeProbe(now_ + absl::Seconds(1))) << "from one second again";
}

}  // namespace
}  // namespace galley::store
