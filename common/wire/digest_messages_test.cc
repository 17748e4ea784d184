#include "common/wire/digest_messages.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace galley::wire {
namespace {

// The class that protobuf makes of a message with these two fields.
template <typename Size>
class Message {
 public:
  void set_hash(std::string hash) { hash_ = std::move(hash); }
  void set_size_bytes(Size size_bytes) { size_bytes_ = size_bytes; }
  const std::string& hash() const { return hash_; }
  Size size_bytes() const { return size_bytes_; }

 private:
  std::string hash_;
  Size size_bytes_ = 0;
};

TEST(DigestMessagesTest, ADigestComesBackFromEitherForm) {
  const Digest digest = Digest::Of("barrel");
  Message<int64_t> hex;
  SetHexDigest(digest, &hex);
  EXPECT_EQ(hex.hash(), digest.hex());
  EXPECT_EQ(*HexDigestOf(hex), digest);
  Message<uint64_t> raw;
  SetRawDigest(digest, &raw);
  EXPECT_EQ(raw.hash(), digest.hash());
  EXPECT_EQ(*RawDigestOf(raw), digest);
}

TEST(DigestMessagesTest, WhatIsNoDigestIsRefused) {
  Message<int64_t> hex;
  EXPECT_TRUE(absl::IsInvalidArgument(HexDigestOf(hex).status()));
  SetHexDigest(Digest::Of("barrel"), &hex);
  hex.set_size_bytes(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(HexDigestOf(hex).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(RawDigestOf(Message<uint64_t>()).status()));
}

}  // namespace
}  // namespace galley::wire
