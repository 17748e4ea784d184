#include "director/resident/session_renewal.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Time kBegin = absl::UnixEpoch();

TEST(SessionRenewalTest, WithoutACookItIsDueNowAndThen) {
  SessionRenewal renewal(kBegin);
  EXPECT_FALSE(renewal.IsDue(kBegin + absl::Minutes(59), false));
  const absl::Time first = kBegin + absl::Hours(1);
  EXPECT_TRUE(renewal.IsDue(first, false));
  EXPECT_FALSE(renewal.IsDue(first + absl::Minutes(14), false));
  EXPECT_TRUE(renewal.IsDue(first + absl::Minutes(15), false));
}

TEST(SessionRenewalTest, ACookPutsItOff) {
  SessionRenewal renewal(kBegin);
  const absl::Time cooked = kBegin + absl::Hours(5);
  EXPECT_FALSE(renewal.IsDue(cooked, true));
  EXPECT_FALSE(renewal.IsDue(cooked + absl::Minutes(59), false));
  EXPECT_TRUE(renewal.IsDue(cooked + absl::Hours(1), false));
}

}  // namespace
}  // namespace galley::director
