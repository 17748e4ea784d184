#include "director/host/stage_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::director {
namespace {

using testing::HasSubstr;

TEST(StageWaitTest, SaysItAtOnceAndAgainAfterHalfAMinute) {
  const absl::Time begin = absl::UnixEpoch();
  StageWait wait("/none/pc");
  EXPECT_EQ(wait.LineAt(begin), "waiting for another process that stages to /none/pc");
  EXPECT_EQ(wait.LineAt(begin + absl::Milliseconds(100)), "");
  EXPECT_EQ(wait.LineAt(begin + absl::Milliseconds(29'999)), "");
  EXPECT_THAT(wait.LineAt(begin + absl::Seconds(30)), HasSubstr("/none/pc"));
  EXPECT_EQ(wait.LineAt(begin + absl::Seconds(59)), "");
  EXPECT_THAT(wait.LineAt(begin + absl::Seconds(61)), HasSubstr("/none/pc"));
}

}  // namespace
}  // namespace galley::director
