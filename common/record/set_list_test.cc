#include "common/record/set_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/record/observation.h"
#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"

namespace galley::record {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::ElementsAre;
using testing::IsEmpty;

std::string Set(const std::string& path) {
  const std::vector<Observed> observed = {{{ObservationKind::kFile, path, ""}, "absent"}};
  return EncodeSet(SetOf(observed));
}

const tree::ReadBlob kNoBlobs = [](const Digest&) -> absl::StatusOr<Blob> {
  return absl::NotFoundError("not there");
};

TEST(SetListTest, EncodingIsTheGolden) {
  ExpectGolden("common/record/testdata/set_list.hex",
               HexLines(EncodeSetList({EncodeSet(SetOf(SampleObserved())), Set("a")}).bytes));
}

TEST(SetListTest, ComesBackAsItWentInline) {
  EXPECT_THAT(*DecodeSetList(EncodeSetList({Set("b"), Set("a")}).bytes, kNoBlobs),
              ElementsAre(Set("b"), Set("a")));
  EXPECT_THAT(*DecodeSetList(EncodeSetList({}).bytes, kNoBlobs), IsEmpty());
}

TEST(SetListTest, ComesBackFromABlobWhereTheServerTookItOut) {
  const SetListResult encoded = EncodeSetList({Set("b"), Set("a")});
  reapi::ActionResult message;
  ASSERT_TRUE(message.ParseFromString(encoded.bytes));
  EXPECT_EQ(message.execution_metadata().worker(), "galley");
  message.mutable_output_files(0)->clear_contents();
  const auto read = [&](const Digest& digest) -> absl::StatusOr<Blob> {
    EXPECT_EQ(digest, Digest::Of(encoded.list));
    return MakeBlob(encoded.list);
  };
  EXPECT_THAT(*DecodeSetList(message.SerializeAsString(), read), ElementsAre(Set("b"), Set("a")));
  EXPECT_TRUE(absl::IsNotFound(DecodeSetList(message.SerializeAsString(), kNoBlobs).status()));
}

TEST(SetListTest, TheOldestGoFirst) {
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back(Set(std::to_string(i)));
  const auto sixteen = *DecodeSetList(EncodeSetList(many).bytes, kNoBlobs);
  many.resize(kSetListCountMax);
  EXPECT_EQ(sixteen, many);
  const auto large = [](char c) { return Set(std::string(400'000, c)); };
  EXPECT_THAT(*DecodeSetList(EncodeSetList({large('c'), large('b'), large('a')}).bytes, kNoBlobs),
              ElementsAre(large('c'), large('b')));
}

TEST(SetListTest, WhatIsNoSetIsLeftOut) {
  EXPECT_THAT(*DecodeSetList(EncodeSetList({"junk", Set("a")}).bytes, kNoBlobs),
              ElementsAre(Set("a")));
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSetList("", kNoBlobs).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(DecodeSetList(EncodeResult(SampleResult()), kNoBlobs).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSetList("\x12\x05x", kNoBlobs).status()));
}

}  // namespace
}  // namespace galley::record
