#include "common/wire/convert.h"

#include "gtest/gtest.h"

namespace galley::wire {
namespace {

TEST(ConvertTest, ADigestComesBackAsItWas) {
  const Digest digest = Digest::Of("barrel");
  v1::Digest proto;
  ToProto(digest, &proto);
  EXPECT_EQ(*FromProto(proto), digest);
}

TEST(ConvertTest, AShortHashIsRefused) {
  v1::Digest proto;
  proto.set_hash("00ff");
  EXPECT_EQ(FromProto(proto).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ConvertTest, AnObservationComesBackAsItWas) {
  const record::Observed observed{
      .what = {.kind = record::ObservationKind::kGlob, .subject = "/Game", .detail = "*.json"},
      .value = "a.json\n"};
  v1::Observed proto;
  ToProto(observed, &proto);
  EXPECT_EQ(*FromProto(proto), observed);
}

TEST(ConvertTest, AnUnknownKindOfObservationIsRefused) {
  v1::Observed proto;
  proto.set_kind(77);
  EXPECT_EQ(FromProto(proto).status().code(), absl::StatusCode::kInvalidArgument);
  proto.set_kind(0);
  EXPECT_EQ(FromProto(proto).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ConvertTest, ABlobKeepsItsPlace) {
  v1::BlobWritten proto;
  ToProto(Digest::Of("x"), {.segment = 7, .offset = 99}, &proto);
  const auto blob = FromProto(proto);
  ASSERT_TRUE(blob.ok());
  EXPECT_EQ(blob->digest, Digest::Of("x"));
  EXPECT_EQ(blob->location, (store::BlobLocation{.segment = 7, .offset = 99}));
}

}  // namespace
}  // namespace galley::wire
