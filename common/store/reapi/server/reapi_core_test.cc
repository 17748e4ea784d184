#include "common/store/reapi/server/reapi_core.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The codes of google.rpc.Code.
constexpr int kInvalidArgument = 3, kNotFound = 5;

class ReapiCoreTest : public testing::Test {
 protected:
  reapi::FindMissingBlobsResponse FindMissing(const std::vector<Digest>& digests) {
    reapi::FindMissingBlobsRequest request;
    for (const Digest& digest : digests) SetWire(digest, request.add_blob_digests());
    return ParsedReply<reapi::FindMissingBlobsResponse>(
        core_.FindMissingBlobs(request.SerializeAsString()));
  }
  static void Add(const Digest& digest, std::string data, reapi::BatchUpdateBlobsRequest& to,
                  reapi::Compressor::Value compressor = reapi::Compressor::IDENTITY) {
    auto& blob = *to.add_requests();
    SetWire(digest, blob.mutable_digest());
    blob.set_data(std::move(data));
    blob.set_compressor(compressor);
  }
  reapi::BatchUpdateBlobsResponse Update(const reapi::BatchUpdateBlobsRequest& request) {
    return ParsedReply<reapi::BatchUpdateBlobsResponse>(
        core_.BatchUpdateBlobs(request.SerializeAsString()));
  }
  reapi::BatchReadBlobsResponse Read(const std::vector<Digest>& digests, bool takes_zstd = false) {
    reapi::BatchReadBlobsRequest request;
    for (const Digest& digest : digests) SetWire(digest, request.add_digests());
    if (takes_zstd) request.add_acceptable_compressors(reapi::Compressor::ZSTD);
    return ParsedReply<reapi::BatchReadBlobsResponse>(
        core_.BatchReadBlobs(request.SerializeAsString()));
  }

  MemoryStore store_;
  ReapiCore core_{store_, ReapiOptions{.batch_bytes_max = 10'000}, Caller{}};
};

TEST_F(ReapiCoreTest, TellsWhatItCanDo) {
  const auto reply = ParsedReply<reapi::ServerCapabilities>(core_.GetCapabilities(""));
  const reapi::CacheCapabilities& cache = reply.cache_capabilities();
  EXPECT_THAT(cache.digest_functions(), ElementsAre(reapi::DigestFunction::SHA256));
  EXPECT_TRUE(cache.action_cache_update_capabilities().update_enabled());
  EXPECT_EQ(cache.max_batch_total_size_bytes(), 10'000);
  EXPECT_EQ(cache.max_cas_blob_size_bytes(), int64_t{64} << 30);
  EXPECT_EQ(cache.symlink_absolute_path_strategy(), reapi::SymlinkAbsolutePathStrategy::ALLOWED);
  EXPECT_THAT(cache.supported_compressors(), ElementsAre(reapi::Compressor::ZSTD));
  EXPECT_THAT(cache.supported_batch_update_compressors(), ElementsAre(reapi::Compressor::ZSTD));
  EXPECT_FALSE(cache.split_blob_support() || cache.splice_blob_support());
  EXPECT_FALSE(reply.has_execution_capabilities());
  EXPECT_EQ(reply.low_api_version().major(), 2);
  EXPECT_EQ(reply.low_api_version().minor(), 0);
  EXPECT_EQ(reply.high_api_version().minor(), 12);
  ReapiCore reader(store_, ReapiOptions{}, Caller{.may_write_results = false});
  EXPECT_FALSE(ParsedReply<reapi::ServerCapabilities>(reader.GetCapabilities(""))
                   .cache_capabilities()
                   .action_cache_update_capabilities()
                   .update_enabled());
}

TEST_F(ReapiCoreTest, WhatIsMissingIsToldOnceAndInOrder) {
  const Digest here = PutBytes(store_, "here"), one = Digest::Of("one"), two = Digest::Of("two");
  const auto reply = FindMissing({two, here, one, two, Digest()});
  ASSERT_EQ(reply.missing_blob_digests_size(), 2);
  EXPECT_EQ(FromWire(reply.missing_blob_digests(0)), two);
  EXPECT_EQ(FromWire(reply.missing_blob_digests(1)), one);
}

TEST_F(ReapiCoreTest, ABatchIsStoredAndHasToBeDurable) {
  reapi::BatchUpdateBlobsRequest request;
  const std::string bytes(3000, 'x');
  Add(Digest::Of("a"), "a", request);
  Add(Digest::Of(bytes), ZstdCompress(bytes), request, reapi::Compressor::ZSTD);
  Add(Digest(), "", request);
  Add(Digest(), ZstdCompress(""), request, reapi::Compressor::ZSTD);
  const auto answer = core_.BatchUpdateBlobs(request.SerializeAsString());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->commit.has_value());
  const auto reply = Parsed<reapi::BatchUpdateBlobsResponse>(answer->reply);
  ASSERT_EQ(reply.responses_size(), 4);
  for (const auto& response : reply.responses()) {
    EXPECT_TRUE(response.has_status());
    EXPECT_EQ(response.status().code(), 0) << response.status().message();
  }
  EXPECT_EQ(FromWire(reply.responses(1).digest()), Digest::Of(bytes));
  EXPECT_EQ(GetBytes(store_, Digest::Of("a")), "a");
  EXPECT_EQ(GetBytes(store_, Digest::Of(bytes)), bytes);
}

TEST_F(ReapiCoreTest, EachBlobOfABatchHasAStatusOfItsOwn) {
  const std::string bytes(3000, 'x');
  const Digest one_more = *Digest::FromHash(Digest::Of(bytes).hash(), 3001);
  const Digest one_less = *Digest::FromHash(Digest::Of(bytes).hash(), 2999);
  reapi::BatchUpdateBlobsRequest request;
  Add(Digest::Of("a"), "b", request);
  Add(one_more, bytes, request);
  Add(one_less, ZstdCompress(bytes), request, reapi::Compressor::ZSTD);
  Add(one_more, ZstdCompress(bytes), request, reapi::Compressor::ZSTD);
  Add(Digest::Of("c"), "no zstd", request, reapi::Compressor::ZSTD);
  Add(Digest(), "more than nothing", request);
  Add(Digest::Of("good"), "good", request);
  const auto reply = Update(request);
  ASSERT_EQ(reply.responses_size(), 7);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(reply.responses(i).status().code(), kInvalidArgument) << i;
  EXPECT_EQ(reply.responses(6).status().code(), 0);
  EXPECT_EQ(GetBytes(store_, Digest::Of("good")), "good");
}

// The size is a part of the name: a client with a wrong size changes nothing for others.
TEST_F(ReapiCoreTest, ARightHashWithAWrongSizeLeavesTheGoodBlob) {
  const std::string bytes(3000, 'x');
  const Digest good = PutBytes(store_, bytes);
  const Digest wrong = *Digest::FromHash(good.hash(), 17);
  reapi::BatchUpdateBlobsRequest request;
  Add(wrong, bytes, request);
  EXPECT_EQ(Update(request).responses(0).status().code(), kInvalidArgument);
  EXPECT_EQ(FindMissing({wrong, good}).missing_blob_digests_size(), 1);
  const auto read = Read({wrong, good});
  EXPECT_EQ(read.responses(0).status().code(), kNotFound);
  EXPECT_EQ(read.responses(1).data(), bytes);
  EXPECT_EQ(GetBytes(store_, good), bytes);
}

// 64 MiB of zeros are 2 KiB on the wire: bytes beyond the declared size are never made.
TEST_F(ReapiCoreTest, ABombIsCutAtTheDeclaredSize) {
  const std::string zeros(size_t{64} << 20, '\0');
  reapi::BatchUpdateBlobsRequest request;
  Add(*Digest::FromHash(Digest::Of(zeros).hash(), 5000), ZstdCompress(zeros), request,
      reapi::Compressor::ZSTD);
  const auto reply = Update(request);
  EXPECT_EQ(reply.responses(0).status().code(), kInvalidArgument);
}

TEST_F(ReapiCoreTest, ABatchAboveTheLimitIsRefusedAsAWhole) {
  const std::string half(5'000, 'h'), other(5'000, 'o');
  reapi::BatchUpdateBlobsRequest request;
  Add(Digest::Of(half), half, request);
  Add(Digest::Of(other), other, request);
  EXPECT_EQ(Update(request).responses_size(), 2);  // exactly as much as is allowed
  Add(Digest::Of("a"), "a", request);
  const auto refused = core_.BatchUpdateBlobs(request.SerializeAsString());
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_THAT(refused.status().message(), HasSubstr("10000"));
  EXPECT_EQ(FindMissing({Digest::Of("a")}).missing_blob_digests_size(), 1);
  // Sizes whose sum no number can hold.
  reapi::BatchUpdateBlobsRequest huge;
  for (int i = 0; i < 3; ++i)
    Add(*Digest::FromHash(Digest::Of("x").hash(), Digest::kSizeMax), "x", huge);
  EXPECT_TRUE(absl::IsInvalidArgument(core_.BatchUpdateBlobs(huge.SerializeAsString()).status()));

  reapi::BatchReadBlobsRequest read;
  SetWire(Digest::Of(half), read.add_digests());
  SetWire(Digest::Of(other), read.add_digests());
  EXPECT_TRUE(core_.BatchReadBlobs(read.SerializeAsString()).ok());
  SetWire(Digest::Of("a"), read.add_digests());
  EXPECT_TRUE(absl::IsInvalidArgument(core_.BatchReadBlobs(read.SerializeAsString()).status()));
}

TEST_F(ReapiCoreTest, ABatchIsReadWithAStatusForEach) {
  const Digest here = PutBytes(store_, "here"), absent = Digest::Of("absent"),
               rotten = PutBytes(store_, "rotten");
  store_.Corrupt(rotten);
  const auto reply = Read({absent, here, rotten, Digest()});
  ASSERT_EQ(reply.responses_size(), 4);
  EXPECT_EQ(reply.responses(0).status().code(), kNotFound);
  EXPECT_EQ(FromWire(reply.responses(1).digest()), here);
  EXPECT_EQ(reply.responses(1).data(), "here");
  EXPECT_EQ(reply.responses(1).status().code(), 0);
  // Found wrong and quarantined: for a client the blob is absent.
  EXPECT_EQ(reply.responses(2).status().code(), kNotFound);
  EXPECT_EQ(reply.responses(2).data(), "");
  EXPECT_EQ(reply.responses(3).status().code(), 0);
}

TEST_F(ReapiCoreTest, WhatGetsSmallerIsPackedForThoseWhoTakeIt) {
  const std::string text(3000, 'x');
  std::string noise;
  for (int i = 0; noise.size() < 3000; ++i) noise += Digest::Of(std::to_string(i)).hash();
  const Digest packs = PutBytes(store_, text), stays = PutBytes(store_, noise),
               small = PutBytes(store_, std::string(1000, 's'));
  const auto plain = Read({packs, stays, small});
  for (const auto& response : plain.responses())
    EXPECT_EQ(response.compressor(), reapi::Compressor::IDENTITY);
  const auto reply = Read({packs, stays, small}, /*takes_zstd=*/true);
  EXPECT_EQ(reply.responses(0).compressor(), reapi::Compressor::ZSTD);
  EXPECT_EQ(ZstdDecompress(reply.responses(0).data(), 3000).value(), text);
  EXPECT_EQ(reply.responses(1).compressor(), reapi::Compressor::IDENTITY);
  EXPECT_EQ(reply.responses(1).data(), noise);
  EXPECT_EQ(reply.responses(2).compressor(), reapi::Compressor::IDENTITY);
}

TEST_F(ReapiCoreTest, OneInstanceIsServedWhenOneIsNamed) {
  ReapiCore one(store_, ReapiOptions{.instance = "main"}, Caller{});
  ReapiCore narrow(store_, ReapiOptions{}, Caller{.instances = {"main", "main/y"}});
  reapi::FindMissingBlobsRequest find;
  reapi::BatchUpdateBlobsRequest update;
  reapi::BatchReadBlobsRequest read;
  reapi::GetCapabilitiesRequest capabilities;
  const auto all = [&](ReapiCore& core, const std::string& instance) {
    find.set_instance_name(instance);
    update.set_instance_name(instance);
    read.set_instance_name(instance);
    capabilities.set_instance_name(instance);
    return std::vector<absl::Status>{
        core.FindMissingBlobs(find.SerializeAsString()).status(),
        core.BatchUpdateBlobs(update.SerializeAsString()).status(),
        core.BatchReadBlobs(read.SerializeAsString()).status(),
        core.GetCapabilities(capabilities.SerializeAsString()).status()};
  };
  for (const absl::Status& status : all(one, "main")) EXPECT_TRUE(status.ok()) << status;
  for (const absl::Status& status : all(narrow, "main/y")) EXPECT_TRUE(status.ok()) << status;
  for (const char* other : {"", "other", "main/x"}) {
    for (const absl::Status& status : all(one, other))
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << other << ": " << status;
    for (const absl::Status& status : all(narrow, other))
      EXPECT_TRUE(absl::IsPermissionDenied(status)) << other << ": " << status;
  }
}

}  // namespace
}  // namespace galley::store
