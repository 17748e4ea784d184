#include "common/http/content_coding.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::http {
namespace {

std::string_view Choice(std::string_view accept_encoding) {
  return NameOf(ChooseContentCoding(accept_encoding));
}

TEST(ContentCodingTest, ZstdComesBeforeGzip) {
  EXPECT_EQ(Choice("deflate, gzip, br, zstd"), "zstd");  // curl of Debian 12
  EXPECT_EQ(Choice("gzip, deflate, br"), "gzip");
  EXPECT_EQ(Choice("deflate, br"), "identity");
  EXPECT_EQ(Choice("identity"), "identity");
  EXPECT_EQ(Choice("identity, gzip"), "gzip");
}

TEST(ContentCodingTest, WithoutAnAcceptEncodingTheBytesAreSentAsTheyAre) {
  EXPECT_EQ(ChooseContentCoding(std::nullopt), ContentCoding::kIdentity);
  EXPECT_EQ(Choice(""), "identity");
  EXPECT_EQ(Choice(" , "), "identity");
}

TEST(ContentCodingTest, AWeightOf0Refuses) {
  for (const char* zero : {"0", "0.", "0.0", "0.00", "0.000"}) {
    const std::string weight = std::string(";q=") + zero;
    EXPECT_EQ(Choice("zstd" + weight + ", gzip"), "gzip") << zero;
    EXPECT_EQ(Choice("zstd" + weight + ", gzip" + weight), "identity") << zero;
  }
}

TEST(ContentCodingTest, OtherWeightsDoNotChangeTheOrder) {
  for (const char* value : {"gzip;q=1, zstd;q=0.001", "zstd;q=1", "zstd;q=1.", "zstd;q=1.000",
                            "zstd;Q=0.5", "zstd ; q=0.5", "identity;q=1, zstd;q=0.1"})
    EXPECT_EQ(Choice(value), "zstd") << value;
}

TEST(ContentCodingTest, AMalformedWeightRefuses) {
  for (const char* weight :
       {"", "q", "q=", "q=2", "q=1.1", "q=1.001", "q=0.0001", "q=1.0000", "q=-1", "q=.5", "q=0,5",
        "q=abc", "q =1", "q= 1", "level=9", "q=1;x", "q=0x1", "q=00", "q=01"}) {
    EXPECT_EQ(Choice(std::string("zstd;") + weight), "identity") << weight;
  }
}

TEST(ContentCodingTest, AStarStandsForTheCodingsThatAreNotListed) {
  EXPECT_EQ(Choice("*"), "zstd");
  EXPECT_EQ(Choice("gzip, *;q=0.1"), "zstd");
  EXPECT_EQ(Choice("zstd;q=0, *"), "gzip");
  EXPECT_EQ(Choice("zstd;q=0, gzip;q=0, *"), "identity");
  EXPECT_EQ(Choice("*;q=0"), "identity");
  EXPECT_EQ(Choice("*;q=0, gzip"), "gzip");
  EXPECT_EQ(Choice("zstd;q=0.5, *;q=0"), "zstd");
}

TEST(ContentCodingTest, IdentityIsSentEvenWhereItIsRefused) {
  EXPECT_EQ(Choice("identity;q=0"), "identity");
  EXPECT_EQ(Choice("identity;q=0, br"), "identity");
  EXPECT_EQ(Choice("identity;q=0, gzip"), "gzip");
}

TEST(ContentCodingTest, NamesAreComparedWithoutCase) {
  EXPECT_EQ(Choice("ZSTD"), "zstd");
  EXPECT_EQ(Choice("X-GZip"), "gzip");
  EXPECT_EQ(Choice("zstandard, gzipped"), "identity");
}

TEST(ContentCodingTest, ARefusalAmongSeveralMentionsHolds) {
  EXPECT_EQ(Choice("zstd, zstd;q=0"), "identity");
  EXPECT_EQ(Choice("zstd;q=0, zstd"), "identity");
  EXPECT_EQ(Choice("gzip, x-gzip;q=0"), "identity");
}

}  // namespace
}  // namespace galley::http
