#include "common/store/local/reported_present.h"

#include <vector>

#include "gtest/gtest.h"

namespace galley::store {
namespace {

class ReportedPresentTest : public testing::Test {
 protected:
  bool IsCondemned(const Digest& digest) {
    const base::SharedLock lock(present_.mutex());
    return present_.IsCondemned(digest);
  }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  ReportedPresent present_{[this] { return now_; }};
  const Digest one_ = Digest::Of("one"), other_ = Digest::Of("other");
};

TEST_F(ReportedPresentTest, WhatIsToldIsKnownSinceThen) {
  present_.Tell(std::vector{one_});
  EXPECT_TRUE(present_.WasTold(one_, now_));
  EXPECT_FALSE(present_.WasTold(other_, now_));
  EXPECT_EQ(present_.begun(), now_);
}

TEST_F(ReportedPresentTest, WhatIsCondemnedStaysSoUntilAllIsPardoned) {
  {
    const base::ExclusiveLock lock(present_.mutex());
    present_.Condemn(std::vector{one_});
  }
  EXPECT_TRUE(IsCondemned(one_));
  EXPECT_FALSE(IsCondemned(other_));
  present_.PardonAll();
  EXPECT_FALSE(IsCondemned(one_));
}

}  // namespace
}  // namespace galley::store
