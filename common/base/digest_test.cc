#include "common/base/digest.h"

#include <gtest/gtest.h>

namespace galley {
namespace {

constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/3";

TEST(DigestTest, IsSha256AndSize) { EXPECT_EQ(Digest::Of("abc").ToString(), kAbc); }

TEST(DigestTest, DefaultIsTheDigestOfNothing) { EXPECT_EQ(Digest(), Digest::Of("")); }

TEST(DigestTest, TextFormRoundTrips) {
  auto digest = Digest::Parse(kAbc);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_EQ(*digest, Digest::Of("abc"));
}

TEST(DigestTest, PiecesGiveTheDigestOfTheWhole) {
  DigestBuilder builder;
  builder.Add("a");
  builder.Add("");
  builder.Add("bc");
  EXPECT_EQ(builder.Finish(), Digest::Of("abc"));
}

TEST(DigestTest, MalformedTextIsRefused) {
  const std::string hex(64, 'a');
  for (const std::string& text :
       {std::string(), hex, hex + "/", hex + "/-1", hex + "/03", hex + "/1x",
        hex + "/9223372036854775808", std::string(63, 'a') + "/1", std::string(65, 'a') + "/1",
        std::string(64, 'A') + "/1", std::string(64, 'g') + "/1", hex + "/+1", hex + "/ 1",
        hex + "/1/2"}) {
    EXPECT_FALSE(Digest::Parse(text).ok()) << text;
  }
}

TEST(DigestTest, SizeIsPartOfTheIdentity) {
  const std::string hash(64, 'a');
  EXPECT_NE(*Digest::Parse(hash + "/1"), *Digest::Parse(hash + "/2"));
}

}  // namespace
}  // namespace galley
