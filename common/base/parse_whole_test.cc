#include "common/base/parse_whole.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace galley {
namespace {

TEST(ParseWholeTest, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseWhole<uint32_t>("12"), 12u);
  EXPECT_EQ(ParseWhole<int64_t>("-3"), -3);
  EXPECT_EQ(ParseWhole<uint64_t>("ff", 16), 255u);
  for (const char* text : {"", " 1", "1 ", "1x", "x", "+1", "-1", "1.0"})
    EXPECT_EQ(ParseWhole<uint32_t>(text), std::nullopt) << text;
}

TEST(ParseWholeTest, ANumberMustFitItsType) {
  EXPECT_EQ(ParseWhole<uint16_t>("65535"), 65'535);
  EXPECT_EQ(ParseWhole<uint16_t>("65536"), std::nullopt);
}

}  // namespace
}  // namespace galley
