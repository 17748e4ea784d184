#include "common/store/local/reported_present.h"

#include <vector>

#include "gtest/gtest.h"

namespace galley::store {
namespace {

class ReportedPresentTest : public testing::Test {
 protected:
  bool IsCondemned(const Digest& digest) {
    const base::SharedLock lock(told_.mutex());
    return told_.IsCondemned(digest);
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  ReportedPresent told_{[this] { return now_; }};
  const Digest one_ = Digest::Of("one"), other_ = Digest::Of("other");
};

TEST_F(ReportedPresentTest, WhatIsToldIsKnownSinceThen) {
  told_.Tell(std::vector{one_});
  EXPECT_TRUE(told_.WasTold(one_, now_));
  EXPECT_FALSE(told_.WasTold(other_, now_));
  EXPECT_EQ(told_.begun(), now_);
}

TEST_F(ReportedPresentTest, WhatIsCondemnedStaysSoUntilAllIsPardoned) {
  {
    const base::ExclusiveLock lock(told_.mutex());
    told_.Condemn(std::vector{one_});
  }
  EXPECT_TRUE(IsCondemned(one_));
  EXPECT_FALSE(IsCondemned(other_));
  told_.PardonAll();
  EXPECT_FALSE(IsCondemned(one_));
}

}  // namespace
}  // namespace galley::store
