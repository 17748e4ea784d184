#include "common/base/human_bytes.h"

#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(SizeTest, SizesHaveUnits) {
  EXPECT_EQ(*ParseSize("512"), 512u);
  EXPECT_EQ(*ParseSize("4GiB"), 4ull << 30);
  EXPECT_EQ(*ParseSize("1.5 MiB"), 3u << 19);
  EXPECT_EQ(*ParseSize("2KB"), 2000u);
  for (const char* text : {"", "GiB", "4 G", "-1", "1e3", "99999999TiB", "1.2.3"})
    EXPECT_FALSE(ParseSize(text).ok()) << text;
}

}  // namespace
}  // namespace galley
