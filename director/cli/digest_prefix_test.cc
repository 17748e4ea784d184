#include "director/cli/digest_prefix.h"

#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Digest WithHex(std::string_view begin, uint64_t size) {
  std::string hex(begin);
  hex.resize(2 * Digest::kHashSize, '0');
  return *Digest::FromHex(hex, static_cast<int64_t>(size));
}

class DigestPrefixTest : public testing::Test {
 protected:
  absl::StatusOr<Digest> Find(std::string_view text) {
    DigestPrefix prefix(text);
    prefix.Offer(first_, "root windows#1");
    prefix.Offer(second_, "log of /Game/a.png");
    prefix.Offer(second_, "the same again");
    return prefix.Found("`galley roots` lists them");
  }
  std::string Error(std::string_view text) {
    const absl::Status status = Find(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  const Digest first_ = WithHex("abc1", 5), second_ = WithHex("abd2", 77);
};

TEST_F(DigestPrefixTest, AUniquePrefixIsEnough) {
  EXPECT_EQ(*Find("abc"), first_);
  EXPECT_EQ(*Find("abd2"), second_);
  EXPECT_EQ(*Find("abd2.."), second_) << "as it was printed short";
  EXPECT_EQ(*Find("abd2..."), second_);
  EXPECT_EQ(*Find(second_.hex()), second_);
  EXPECT_EQ(*Find(second_.hex() + "/"), second_);
  EXPECT_EQ(*Find(second_.hex() + "/7"), second_);
}

TEST_F(DigestPrefixTest, AnAmbiguousOneNamesTheCandidates) {
  EXPECT_EQ(Error("ab"), "ab is ambiguous, give more digits:\n  " + first_.ToString() +
                             " (root windows#1)\n  " + second_.ToString() +
                             " (log of /Game/a.png)");
  DigestPrefix many("a");
  for (char c = '0'; c <= '9'; ++c) many.Offer(WithHex(std::string("a") + c, 1), "x");
  EXPECT_THAT(std::string(many.Found("").status().message()), HasSubstr("\n  and 5 more"));
}

TEST_F(DigestPrefixTest, WhatIsNoneIsToldFromWhatIsUnknown) {
  EXPECT_THAT(Error("abe"), HasSubstr("no known digest begins with abe (`galley roots`"));
  EXPECT_THAT(Error(second_.hex() + "/8"), HasSubstr("no known digest"));
  for (const char* text : {"", "x", "ABC", "ab/5", "..", "abc ", "pin:abc"})
    EXPECT_THAT(Error(text), HasSubstr("expected <64 hex digits>/<size>")) << text;
}

}  // namespace
}  // namespace galley::cli
