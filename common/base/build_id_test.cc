#include "common/base/build_id.h"

#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(BuildIdTest, AProgramHasOneIdOfItsOwn) {
  EXPECT_GE(BuildId().size(), 16u);
  EXPECT_EQ(BuildId(), BuildId());
}

}  // namespace
}  // namespace galley
