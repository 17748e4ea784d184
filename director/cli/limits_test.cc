#include "director/cli/limits.h"

#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::HasSubstr;

TEST(LimitsTest, ACookNeedsMoreForMoreWorkersAndACommandWithoutAStoreNothing) {
  EXPECT_GT(NeedsOf("cook", 64).descriptors, NeedsOf("cook", 2).descriptors);
  EXPECT_GT(NeedsOf("cook", 2).descriptors, NeedsOf("tree", 0).descriptors);
  EXPECT_EQ(NeedsOf("doctor", 0).descriptors, 0u);
}

TEST(LimitsTest, WhatIsTooLittleIsSaidWithWhatIsNeeded) {
  EXPECT_TRUE(CheckLimits("cook", {}).ok());
  const absl::Status status = CheckLimits("cook", {.descriptors = UINT64_MAX});
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("open files, and `galley cook` needs 18446744073709551615: raise the"));
}

TEST(LimitsTest, AServersConnectionsLeaveTheStoreItsDescriptors) {
  for (const uint64_t descriptors : {384u, 1024u, 4096u, 20'000u, 1u << 20}) {
    ServerShare share;
    ASSERT_TRUE(ShareDescriptors(descriptors, 0, share).ok());
    EXPECT_GE(share.connections, 32u) << descriptors;
    EXPECT_LE(share.connections + share.calls + share.uploads + 320, descriptors);
  }
  ServerShare share;
  ASSERT_TRUE(ShareDescriptors(20'000, 10'000, share).ok());
  EXPECT_EQ(share.connections, 10'000u);
  EXPECT_EQ(share.calls, 4096u);
  EXPECT_TRUE(absl::IsResourceExhausted(ShareDescriptors(1024, 1000, share)));
}

}  // namespace
}  // namespace galley::cli
