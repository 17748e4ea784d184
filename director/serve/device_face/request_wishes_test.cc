#include "director/serve/device_face/request_wishes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RequestWishesTest, AClientSaysHowLongItWaits) {
  EXPECT_EQ(WaitOf(std::nullopt), kAnswerWait);
  EXPECT_EQ(WaitOf("wait=10"), absl::Seconds(10));
  EXPECT_EQ(WaitOf("respond-async, WAIT = 7; x=y, wait=9"), absl::Seconds(7));
  EXPECT_EQ(WaitOf("wait=0"), absl::ZeroDuration());
}

TEST(RequestWishesTest, LongWishesAreCutAndMalformedOnesIgnored) {
  EXPECT_EQ(WaitOf("wait=601"), kAnswerWaitMax);
  EXPECT_EQ(WaitOf("wait=99999999999999999999999999"), kAnswerWaitMax);
  for (const char* text : {"", "wait", "wait=", "wait=-1", "wait=1.5", "wait=\"5\"", "waits=5"})
    EXPECT_EQ(WaitOf(text), kAnswerWait) << text;
}

TEST(RequestWishesTest, KnownTagsAreThoseThatA304MayName) {
  EXPECT_THAT(KnownTagsOf("\"a\", W/\"b\"", std::nullopt), ElementsAre("a", "b"));
  EXPECT_THAT(KnownTagsOf("W/\"a-zstd\"", "zstd"), ElementsAre("a"));
  EXPECT_THAT(KnownTagsOf("W/\"a-gzip\"", "gzip"), ElementsAre("a"));
  // The next answer would be in another coding.
  EXPECT_THAT(KnownTagsOf("W/\"a-zstd\"", "gzip"), ElementsAre("a-zstd"));
  EXPECT_THAT(KnownTagsOf("W/\"a-zstd\"", std::nullopt), ElementsAre("a-zstd"));
  EXPECT_THAT(KnownTagsOf("\"a-zstd\"", "zstd"), ElementsAre("a-zstd"));
}

TEST(RequestWishesTest, NoTagsAreKnownWithoutAList) {
  for (const char* text : {"*", "a", "\"a\" b", ""})
    EXPECT_THAT(KnownTagsOf(text, std::nullopt), IsEmpty()) << text;
  EXPECT_THAT(KnownTagsOf(std::nullopt, "zstd"), IsEmpty());
}

TEST(RequestWishesTest, ManyTagsAreCut) {
  std::string many = "\"0\"";
  for (int i = 1; i < 100; ++i) many += ", \"" + std::to_string(i) + "\"";
  EXPECT_THAT(KnownTagsOf(many, std::nullopt), SizeIs(kKnownTagsMax));
}

}  // namespace
}  // namespace galley::director
