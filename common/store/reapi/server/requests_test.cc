// Requests as protobuf writes them are read; requests that a hostile peer writes are refused.
#include "common/store/reapi/server/requests.h"

#include <string>
#include <utility>
#include <vector>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/wire_format.h"
#include "common/store/reapi/server/testing/resource_names.h"
#include "gmock/gmock.h"
#include "google/bytestream/bytestream.pb.h"
#include "gtest/gtest.h"

namespace galley::store {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::ElementsAre;
using testing::HasSubstr;

const Digest kOne = Digest::Of("one"), kTwo = Digest::Of("two");

void Set(const Digest& digest, reapi::Digest& wire) {
  wire.set_hash(digest.hex());
  wire.set_size_bytes(static_cast<int64_t>(digest.size_bytes()));
}

std::string DigestMessage(std::string_view hash, int64_t size_bytes) {
  reapi::Digest digest;
  digest.set_hash(std::string(hash));
  digest.set_size_bytes(size_bytes);
  return digest.SerializeAsString();
}

std::string Field(uint32_t number, std::string_view bytes) {
  WireWriter writer;
  writer.Element(number, bytes);
  return writer.Take();
}

std::string Number(uint32_t number, uint64_t value) {
  WireWriter writer;
  writer.Varint(number, value);
  return writer.Take();
}

TEST(RequestsTest, FindMissingHasDigests) {
  reapi::FindMissingBlobsRequest wire;
  wire.set_instance_name("team/a");
  Set(kOne, *wire.add_blob_digests());
  Set(kTwo, *wire.add_blob_digests());
  wire.set_digest_function(reapi::DigestFunction::SHA256);
  const std::string bytes = wire.SerializeAsString();
  const auto request = DecodeFindMissing(bytes);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->instance, "team/a");
  EXPECT_THAT(request->digests, ElementsAre(kOne, kTwo));
}

TEST(RequestsTest, BatchUpdateHasBytes) {
  reapi::BatchUpdateBlobsRequest wire;
  auto& first = *wire.add_requests();
  Set(kOne, *first.mutable_digest());
  first.set_data("one");
  auto& second = *wire.add_requests();
  Set(kTwo, *second.mutable_digest());
  second.set_data("packed");
  second.set_compressor(reapi::Compressor::ZSTD);
  const std::string bytes = wire.SerializeAsString();
  const auto request = DecodeBatchUpdate(bytes);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->blobs.size(), 2u);
  EXPECT_EQ(request->blobs[0].digest, kOne);
  EXPECT_EQ(request->blobs[0].data, "one");
  EXPECT_EQ(request->blobs[0].compressor, Compressor::kIdentity);
  EXPECT_EQ(request->blobs[1].data, "packed");
  EXPECT_EQ(request->blobs[1].compressor, Compressor::kZstd);
}

TEST(RequestsTest, BatchReadSaysWhatItTakesInEitherForm) {
  reapi::BatchReadBlobsRequest wire;
  Set(kOne, *wire.add_digests());
  EXPECT_FALSE(DecodeBatchRead(wire.SerializeAsString())->takes_zstd);
  const std::string digests = wire.SerializeAsString();
  wire.add_acceptable_compressors(reapi::Compressor::DEFLATE);
  EXPECT_FALSE(DecodeBatchRead(wire.SerializeAsString())->takes_zstd);
  wire.add_acceptable_compressors(reapi::Compressor::ZSTD);
  EXPECT_TRUE(DecodeBatchRead(wire.SerializeAsString())->takes_zstd);
  EXPECT_TRUE(DecodeBatchRead(digests + Number(3, 1))->takes_zstd);
  EXPECT_FALSE(DecodeBatchRead(digests + Number(3, 3))->takes_zstd);
  EXPECT_TRUE(DecodeBatchRead(digests + Field(3, std::string("\x81\x00", 2)))->takes_zstd);
  EXPECT_FALSE(DecodeBatchRead(digests + Field(3, "\x81\x01"))->takes_zstd);  // 129
}

TEST(RequestsTest, GetTreeHasARootAndAPage) {
  reapi::GetTreeRequest wire;
  Set(kOne, *wire.mutable_root_digest());
  wire.set_page_size(7);
  wire.set_page_token("token");
  const std::string bytes = wire.SerializeAsString();
  const auto request = DecodeGetTree(bytes);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->root, kOne);
  EXPECT_EQ(request->page_size, 7);
  EXPECT_EQ(request->page_token, "token");
}

TEST(RequestsTest, ActionResultsAreAskedForAndGiven) {
  reapi::GetActionResultRequest get;
  get.set_instance_name("i");
  Set(kOne, *get.mutable_action_digest());
  get.set_inline_stdout(true);
  get.add_inline_output_files("a/b");
  const std::string get_bytes = get.SerializeAsString();
  const auto asked = DecodeGetActionResult(get_bytes);
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(asked->action, kOne);
  EXPECT_TRUE(asked->inline_stdout);
  EXPECT_FALSE(asked->inline_stderr);
  EXPECT_THAT(asked->inline_output_files, ElementsAre("a/b"));

  reapi::UpdateActionResultRequest update;
  Set(kTwo, *update.mutable_action_digest());
  update.mutable_action_result()->set_exit_code(3);
  const std::string update_bytes = update.SerializeAsString();
  const auto given = DecodeUpdateActionResult(update_bytes);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->action, kTwo);
  EXPECT_EQ(given->result, update.action_result().SerializeAsString());
  update.mutable_action_result()->Clear();  // a result of defaults is a result
  EXPECT_EQ(DecodeUpdateActionResult(update.SerializeAsString())->result, "");
}

TEST(RequestsTest, StreamsHaveNamesAndOffsets) {
  google::bytestream::ReadRequest read;
  read.set_resource_name(FormatResourceName({.digest = kOne}));
  read.set_read_offset(2);
  read.set_read_limit(-1);
  const auto asked = DecodeRead(read.SerializeAsString());
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(asked->name.digest, kOne);
  EXPECT_EQ(asked->offset, 2);
  EXPECT_EQ(asked->limit, -1);

  google::bytestream::WriteRequest write;
  write.set_write_offset(9);
  write.set_finish_write(true);
  write.set_data("bytes");
  const std::string bytes = write.SerializeAsString();
  const auto given = DecodeWrite(bytes);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->name, "");
  EXPECT_EQ(given->offset, 9);
  EXPECT_TRUE(given->finish);
  EXPECT_EQ(given->data, "bytes");
}

TEST(RequestsTest, FieldsOfLaterVersionsAreSkipped) {
  const std::string later = Number(99, 7) + Field(1000, "x") + Field(1000, "y");
  EXPECT_TRUE(DecodeGetCapabilities(later).ok());
  EXPECT_TRUE(DecodeFindMissing(Field(2, DigestMessage(kOne.hex(), 3)) + later).ok());
}

TEST(RequestsTest, DigestsThatAreNoneAreRefused) {
  const std::pair<std::string, std::string> digests[] = {
      {"no digest", ""},
      {"no hash", DigestMessage("", 3)},
      {"63 digits", DigestMessage(kOne.hex().substr(1), 3)},
      {"65 digits", DigestMessage(kOne.hex() + "a", 3)},
      {"upper case", DigestMessage(std::string(64, 'A'), 3)},
      {"no hex digits", DigestMessage(std::string(64, 'g'), 3)},
      {"size -1", DigestMessage(kOne.hex(), -1)},
      {"another hash than that of no bytes", DigestMessage(kOne.hex(), 0)},
      {"a hash of another type", Number(1, 7)},
  };
  for (const auto& [what, digest] : digests) {
    const std::string action = Field(2, digest);
    for (const absl::Status& status :
         {DecodeFindMissing(Field(2, digest)).status(),
          DecodeBatchUpdate(Field(2, Field(1, digest))).status(),
          DecodeBatchRead(Field(2, digest)).status(), DecodeGetTree(Field(2, digest)).status(),
          DecodeGetActionResult(action).status(),
          DecodeUpdateActionResult(action + Field(3, "")).status()}) {
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << what << ": " << status;
    }
  }
}

TEST(RequestsTest, WhatIsMissingTwiceOrOfAnotherTypeIsRefused) {
  const std::string one = Field(2, DigestMessage(kOne.hex(), 3));
  const std::pair<std::string, absl::Status> refused[] = {
      {"a cut message", DecodeFindMissing(one.substr(0, 20)).status()},
      {"a group", DecodeFindMissing("\x0b").status()},
      {"a list of 2^31 that is not there",
       DecodeBatchRead(one + "\x1a\x80\x80\x80\x80\x08").status()},
      {"a number of 11 bytes",
       DecodeBatchRead(one + Field(3, std::string(10, '\xff') + "\x01")).status()},
      {"half a number", DecodeBatchRead(one + Field(3, "\x81")).status()},
      {"a fixed number", DecodeBatchRead(one + std::string("\x1d\1\0\0\0", 5)).status()},
      {"instance as number", DecodeFindMissing(Number(1, 1)).status()},
      {"instance twice", DecodeFindMissing(Field(1, "a") + Field(1, "a")).status()},
      {"instance of keywords", DecodeFindMissing(Field(1, "uploads")).status()},
      {"digests as number", DecodeFindMissing(Number(2, 1)).status()},
      {"another function", DecodeFindMissing(one + Number(3, 9)).status()},
      {"another function of a batch", DecodeBatchUpdate(Number(5, 3)).status()},
      {"another function of a reading batch", DecodeBatchRead(one + Number(4, 2)).status()},
      {"another function of a tree", DecodeGetTree(one + Number(5, 2)).status()},
      {"another function of a result", DecodeGetActionResult(one + Number(6, 2)).status()},
      {"another function of an update",
       DecodeUpdateActionResult(one + Field(3, "") + Number(5, 2)).status()},
      {"a blob without digest", DecodeBatchUpdate(Field(2, Field(2, "data"))).status()},
      {"data twice", DecodeBatchUpdate(Field(2, Field(1, DigestMessage(kOne.hex(), 3)) +
                                                    Field(2, "a") + Field(2, "b")))
                         .status()},
      {"a compressor that is not spoken",
       DecodeBatchUpdate(Field(2, Field(1, DigestMessage(kOne.hex(), 3)) + Number(3, 2))).status()},
      {"no root", DecodeGetTree("").status()},
      {"two roots", DecodeGetTree(one + one).status()},
      {"a page of -1", DecodeGetTree(one + Number(3, UINT64_MAX)).status()},
      {"a page of 2^31", DecodeGetTree(one + Number(3, uint64_t{1} << 31)).status()},
      {"no action", DecodeGetActionResult("").status()},
      {"a flag of 2", DecodeGetActionResult(one + Number(3, 2)).status()},
      {"a path that is no UTF-8", DecodeGetActionResult(one + Field(5, "\xff")).status()},
      {"no result", DecodeUpdateActionResult(one).status()},
      {"two results", DecodeUpdateActionResult(one + Field(3, "") + Field(3, "")).status()},
      {"a read without name", DecodeRead("").status()},
      {"a read of a write's name",
       DecodeRead(Field(1, "uploads/u/blobs/" + kOne.ToString())).status()},
      {"a write's data twice", DecodeWrite(Field(10, "a") + Field(10, "b")).status()},
      {"a name that is no UTF-8", DecodeWrite(Field(1, "\xff")).status()},
      {"another name that is no UTF-8", DecodeQueryWriteStatus(Field(1, "\xff")).status()},
  };
  for (const auto& [what, status] : refused)
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << what << ": " << status;
}

// 10,000 messages within each other: only known fields are looked into, and never deeper than a
// blob's digest.
TEST(RequestsTest, DepthIsNotFollowed) {
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested = Field(2, nested);
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeBatchUpdate(nested).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeFindMissing(nested).status()));
  EXPECT_TRUE(DecodeGetCapabilities(nested).ok());
}

}  // namespace
}  // namespace galley::store
