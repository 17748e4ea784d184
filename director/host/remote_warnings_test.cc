#include "director/host/remote_warnings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RemoteWarningsTest, AStoreThatWasRightIsNotSpokenOf) {
  EXPECT_THAT(RemoteWarnings({.url = "grpc://cas", .blobs_came = 7}, ""), IsEmpty());
}

TEST(RemoteWarningsTest, AFewWrongBlobsAreCounted) {
  EXPECT_THAT(
      RemoteWarnings({.url = "grpc://cas", .blobs_came = 700, .blobs_wrong = 3}, ""),
      ElementsAre("3 blobs of the remote store grpc://cas had wrong bytes and were not used"));
  EXPECT_THAT(
      RemoteWarnings({.url = "grpc://cas", .blobs_came = 700, .blobs_wrong = 1}, ""),
      ElementsAre("1 blob of the remote store grpc://cas had wrong bytes and was not used"));
}

TEST(RemoteWarningsTest, TheVerdictIsSaidWithItsNumbersAndWhatWasRepaired) {
  EXPECT_THAT(
      RemoteWarnings({.url = "grpc://cas",
                      .blobs_came = 40,
                      .blobs_wrong = 32,
                      .given_up = store::RemoteState::GivenUp::kWrongBlobs,
                      .blobs_repaired = 31,
                      .blobs_kept_wrong = 1},
                     ""),
      ElementsAre("32 of 40 blobs of the remote store grpc://cas had wrong bytes and were "
                  "not used: the cook went on without it; 31 of them were made again, and "
                  "are right there now",
                  HasSubstr("1 blob of the remote store grpc://cas stays wrong: it was made")));
}

TEST(RemoteWarningsTest, TooSlowIsSaidOnceWithItsCost) {
  EXPECT_THAT(RemoteWarnings({.url = "grpc://cas",
                              .given_up = store::RemoteState::GivenUp::kSlow,
                              .lost = absl::Seconds(12),
                              .calls_failed = 9},
                             ""),
              ElementsAre(HasSubstr("cost 12 s; the cook went on without it")));
}

TEST(RemoteWarningsTest, DownIsSaidBeforeSlow) {
  EXPECT_THAT(RemoteWarnings({.url = "grpc://cas",
                              .reason = "Read: refused",
                              .given_up = store::RemoteState::GivenUp::kSlow},
                             "down since 14:05"),
              ElementsAre("the remote store grpc://cas is down since 14:05, the cook went on "
                          "without it: Read: refused"));
}

TEST(RemoteWarningsTest, ARemoteThatIsDownIsToldWithTheTimeOfDay) {
  const absl::Time now = absl::FromUnixSeconds(14 * 3600 + 7 * 60);
  const absl::Time monotonic = absl::UnixEpoch() + absl::Hours(1000);
  const auto text = [&](const store::RemoteState& state) {
    return RemoteDownText(state, monotonic, now, absl::UTCTimeZone());
  };
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({.is_down = true, .down_since = monotonic - absl::Minutes(2)}),
            "down since 14:05");
  EXPECT_EQ(text({.is_down = true, .down_since = absl::InfinitePast()}), "down");
}

}  // namespace
}  // namespace galley::director
