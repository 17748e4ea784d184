#include "director/cli/parse_time.h"

#include "gtest/gtest.h"

namespace galley::cli {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(ParseTimeTest, ATimeWithItsZoneIsTheSameEverywhere) {
  EXPECT_EQ(*ParseTime("2026-11-27T10:00:00Z", kNow),
            absl::FromCivil(absl::CivilSecond(2026, 11, 27, 10), absl::UTCTimeZone()));
  EXPECT_EQ(*ParseTime("2026-11-27T10:00:00+02:00", kNow),
            absl::FromCivil(absl::CivilSecond(2026, 11, 27, 8), absl::UTCTimeZone()));
}

TEST(ParseTimeTest, WithoutOneItIsThisMachines) {
  EXPECT_EQ(*ParseTime("2026-11-27", kNow),
            absl::FromCivil(absl::CivilSecond(2026, 11, 27), absl::LocalTimeZone()));
  EXPECT_EQ(*ParseTime("2026-11-27 10:30", kNow),
            absl::FromCivil(absl::CivilSecond(2026, 11, 27, 10, 30), absl::LocalTimeZone()));
}

TEST(ParseTimeTest, AnAgeIsBeforeNow) {
  EXPECT_EQ(*ParseTime("2h", kNow), kNow - absl::Hours(2));
  EXPECT_EQ(*ParseTime("3d", kNow), kNow - absl::Hours(72));
}

TEST(ParseTimeTest, AnythingElseIsRefused) {
  for (const char* text : {"", "yesterday", "2026-13-01", "2026-11-27T10", "5"})
    EXPECT_FALSE(ParseTime(text, kNow).ok()) << text;
}

}  // namespace
}  // namespace galley::cli
