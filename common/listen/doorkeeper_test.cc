#include "common/listen/doorkeeper.h"

#include "common/listen/first_bytes.h"
#include "gmock/gmock.h"

namespace galley::listen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class DoorkeeperTest : public testing::Test {
 protected:
  Doorkeeper::Arrival Arrive(const std::string& address = "a") {
    return door_.Arrive(++last_, address, now_);
  }
  void Finished(const std::string& address = "a") {
    ASSERT_TRUE(Arrive(address).is_taken);
    door_.Speak(last_, /*is_finished=*/true, now_);
  }
  void Shaking(const std::string& address = "a") {
    ASSERT_TRUE(Arrive(address).is_taken);
    door_.Speak(last_, /*is_finished=*/false, now_);
  }

  Doorkeeper door_{{.connections_max = 4, .unfinished_per_address_max = 2}};
  Doorkeeper::Id last_ = 0;
  absl::Time now_ = absl::FromUnixSeconds(1000);
};

TEST_F(DoorkeeperTest, ASilentConnectionIsClosedAfterItsPatienceAndAnIdleOneIsNot) {
  Finished();
  now_ += absl::Seconds(1);
  Arrive();
  now_ += absl::Seconds(19);
  EXPECT_THAT(door_.Overdue(now_), IsEmpty());
  now_ += absl::Seconds(1);
  EXPECT_THAT(door_.Overdue(now_), ElementsAre(2));
  now_ += absl::Hours(1);
  EXPECT_THAT(door_.Overdue(now_), IsEmpty());
  EXPECT_EQ(door_.open(), 1u);
}

TEST_F(DoorkeeperTest, TheOldestSilentOneOfAnAddressThatHasTooManyMakesRoom) {
  Arrive("b");
  Arrive();
  Arrive();
  const auto arrival = Arrive();
  EXPECT_TRUE(arrival.is_taken);
  EXPECT_THAT(arrival.closed, Optional(2u));
  EXPECT_EQ(door_.open(), 3u);
}

TEST_F(DoorkeeperTest, WhenAllIsFullTheOldestSilentOneOfAllMakesRoom) {
  Finished();
  Finished();
  Arrive("b");
  Arrive("c");
  EXPECT_TRUE(door_.is_full());
  EXPECT_THAT(Arrive("d").closed, Optional(3u));
}

TEST_F(DoorkeeperTest, WhoSpokeIsNeverClosedAndTheNewOneIsRefused) {
  for (int i = 0; i < 4; ++i) Finished();
  EXPECT_FALSE(Arrive("b").is_taken);
  door_.Leave(1);
  EXPECT_TRUE(Arrive("b").is_taken);
}

TEST_F(DoorkeeperTest, ManyClientsBehindOneAddressAreNotRefusedForThat) {
  for (int i = 0; i < 3; ++i) Finished();  // more than may be unfinished
  EXPECT_THAT(Arrive().closed, testing::Eq(std::nullopt));
}

TEST_F(DoorkeeperTest, HalfOpenHandshakesAreBoundedForEachAddressUntilTheyAreDone) {
  Shaking();
  Shaking();
  EXPECT_FALSE(Arrive().is_taken);
  EXPECT_TRUE(Arrive("b").is_taken);
  door_.Finish(1);  // a call has come
  EXPECT_TRUE(Arrive().is_taken);
  EXPECT_EQ(door_.shaking(), 1u);
  now_ += absl::Seconds(21);  // gRPC has closed the connection, or its handshake is done
  EXPECT_THAT(door_.Overdue(now_), ElementsAre(4, 5));
  EXPECT_EQ(door_.unfinished(), 0u);
  EXPECT_EQ(door_.open(), 2u);
}

TEST_F(DoorkeeperTest, WhatLeftIsForgotten) {
  Arrive();
  Shaking();
  Finished("b");
  for (Doorkeeper::Id id = 1; id <= 4; ++id) door_.Leave(id);
  EXPECT_EQ(door_.open(), 0u);
  EXPECT_EQ(door_.unfinished(), 0u);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Arrive().is_taken);
}

TEST(FirstBytesTest, ThePrefaceAndAClientHelloAreKnownAndTheirBeginningsAreTooFew) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string hello("\x16\x03\x01\x02\x00\x01", 6);
  for (size_t size = 0; size < preface.size(); ++size)
    EXPECT_EQ(Judge(preface.substr(0, size)), FirstBytes::kTooFew) << size;
  for (size_t size = 0; size < hello.size(); ++size)
    EXPECT_EQ(Judge(hello.substr(0, size)), FirstBytes::kTooFew) << size;
  EXPECT_EQ(Judge(preface), FirstBytes::kHttp2);
  EXPECT_EQ(Judge(hello), FirstBytes::kTls);
  EXPECT_EQ(Judge("GET / HTTP/1.1\r\n"), FirstBytes::kOther);
  EXPECT_EQ(Judge("PRI * HTTP/1.1"), FirstBytes::kOther);
  EXPECT_EQ(Judge(std::string("\x16\x03\x01\x02\x00\x02", 6)), FirstBytes::kOther);
}

}  // namespace
}  // namespace galley::listen
