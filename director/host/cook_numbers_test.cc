#include "director/host/cook_numbers.h"

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(CookNumbersTest, NumbersRiseOverDirectors) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "numbers").value();
  EXPECT_EQ(LastCookNumber(state), 0u);
  EXPECT_EQ(TakeCookNumber(state, 1), 1u);
  EXPECT_EQ(TakeCookNumber(state, 1), 2u);
  EXPECT_EQ(TakeCookNumber(state, 2), 3u);
  EXPECT_EQ(TakeCookNumber(state, 9), 9u);
  EXPECT_EQ(LastCookNumber(state), 9u);
  ASSERT_TRUE(RemoveAll(state).ok());
}

TEST(CookNumbersTest, ADamagedFileCountsAsAbsent) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "numbers").value();
  ASSERT_EQ(TakeCookNumber(state, 5), 5u);
  for (const std::string text : {"", "x\n", "12", "99999999999\n", "-3\n"}) {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(state, "cooks/last"), text).ok());
    EXPECT_EQ(LastCookNumber(state), 0u) << text;
    EXPECT_EQ(TakeCookNumber(state, 5), 5u) << text;
  }
  ASSERT_TRUE(RemoveAll(state).ok());
}

}  // namespace
}  // namespace galley::director
