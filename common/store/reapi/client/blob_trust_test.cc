#include "common/store/reapi/client/blob_trust.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kLarge = 1000;

class BlobTrustTest : public testing::Test {
 protected:
  static Digest Small(int number) { return Digest::Of("small " + std::to_string(number)); }
  static Digest Large(int number) {
    return Digest::Of(std::string(kLarge + 1, 'x') + std::to_string(number));
  }
  std::vector<Digest> Doubted(const Digest& digest) { return trust_.Doubted({&digest, 1}); }
  std::vector<Digest> ToReadBack(const Digest& digest) { return trust_.ToReadBack({&digest, 1}); }
  void Sent(const Digest& digest) { trust_.Sent({&digest, 1}); }
  void GiveUp() {
    for (int i = 1000; !trust_.has_given_up(); ++i) trust_.CameWrong(Small(i));
  }

  BlobTrust trust_{kLarge};
};

TEST_F(BlobTrustTest, WhatIsWrongIsSentAgainAndNothingElse) {
  trust_.CameWrong(Small(1));
  EXPECT_TRUE(trust_.IsKnownWrong(Small(1)));
  EXPECT_THAT(Doubted(Small(1)), ElementsAre(Small(1)));
  EXPECT_THAT(Doubted(Small(2)), IsEmpty());
}

TEST_F(BlobTrustTest, OfAStoreThatIsGivenUpNothingIsBelievedThatWasNotSent) {
  GiveUp();
  EXPECT_THAT(Doubted(Small(2)), ElementsAre(Small(2)));
  Sent(Small(2));
  EXPECT_THAT(Doubted(Small(2)), IsEmpty());
}

TEST_F(BlobTrustTest, ASlowStoreIsBelieved) {
  trust_.ReadTook({.begin = absl::UnixEpoch(),
                   .end = absl::UnixEpoch() + absl::Minutes(1),
                   .bytes = 0,
                   .is_of_use = false});
  EXPECT_TRUE(trust_.has_given_up());
  EXPECT_THAT(Doubted(Small(2)), IsEmpty());
}

TEST_F(BlobTrustTest, TheFirstAreReadBackAndTheOthersAreAsThose) {
  for (int i = 0; i < 20; ++i) trust_.CameWrong(Small(i));
  std::vector<Digest> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(Small(i));
  EXPECT_THAT(trust_.Doubted(sent), SizeIs(20));
  const std::vector<Digest> read_back = trust_.ToReadBack(sent);
  EXPECT_THAT(read_back, SizeIs(16));
  for (const Digest& digest : read_back) trust_.ReadBack(digest, true);
  trust_.Sent(sent);
  EXPECT_EQ(trust_.counts().blobs_repaired, 20u);
  EXPECT_EQ(trust_.counts().blobs_kept_wrong, 0u);
  EXPECT_FALSE(trust_.IsKnownWrong(Small(19)));
  EXPECT_THAT(ToReadBack(Small(21)), IsEmpty());
}

TEST_F(BlobTrustTest, WhereNoneIsTakenNoMoreOfThatKindAreSent) {
  for (int i = 0; i < 3; ++i) {
    trust_.CameWrong(Small(i));
    trust_.CameWrong(Large(i));
  }
  EXPECT_THAT(Doubted(Large(0)), SizeIs(1));
  EXPECT_THAT(ToReadBack(Large(0)), SizeIs(1));
  trust_.ReadBack(Large(0), false);
  Sent(Large(0));
  EXPECT_THAT(Doubted(Large(1)), IsEmpty());
  EXPECT_THAT(Doubted(Small(1)), SizeIs(1)) << "small ones go by another call";
  trust_.ReadBack(Small(1), true);
  Sent(Small(1));
  EXPECT_EQ(trust_.counts().blobs_repaired, 1u);
  EXPECT_EQ(trust_.counts().blobs_kept_wrong, 2u) << "of the large ones that were made again";
}

TEST_F(BlobTrustTest, WhatCouldNotBeReadBackStaysWrong) {
  trust_.CameWrong(Small(1));
  EXPECT_THAT(Doubted(Small(1)), SizeIs(1));
  Sent(Small(1));
  EXPECT_TRUE(trust_.IsKnownWrong(Small(1)));
  EXPECT_EQ(trust_.counts().blobs_repaired, 0u);
}

TEST_F(BlobTrustTest, ReadsThatAreUnderWayEndWithTheVerdict) {
  int ended = 0;
  const Cancellation::Hook hook(&trust_.given_up(), [&] { ++ended; });
  GiveUp();
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace galley::store
