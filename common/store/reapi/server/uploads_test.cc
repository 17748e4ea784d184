#include "common/store/reapi/server/uploads.h"

#include <memory>
#include <string>
#include <vector>

#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/reapi/server/testing/resource_names.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::HasSubstr;

class HandClock final : public Clock {
 public:
  absl::Time Now() override { return now; }
  absl::Time Monotonic() override { return now; }
  absl::Time now = absl::FromUnixSeconds(1000);
};

class UploadsTest : public testing::Test {
 protected:
  static std::string Name(const Digest& digest, std::string_view id = "id") {
    return FormatResourceName({.upload_id = std::string(id), .digest = digest});
  }
  static std::string PackedName(const Digest& digest) {
    return FormatResourceName(
        {.upload_id = "id", .compressor = Compressor::kZstd, .digest = digest});
  }
  std::unique_ptr<CallHandler> NewWrite(const std::string& caller = "me") {
    return uploads_.NewWrite(Caller{.name = caller});
  }
  static Step Send(CallHandler& write, const std::string& name, size_t offset,
                   std::string_view data, bool finish = false) {
    google::bytestream::WriteRequest request;
    request.set_resource_name(name);
    request.set_write_offset(static_cast<int64_t>(offset));
    request.set_finish_write(finish);
    request.set_data(std::string(data));
    return write.OnMessage(request.SerializeAsString());
  }
  static int64_t Committed(const Step& step) {
    EXPECT_TRUE(step.status.ok()) << step.status;
    EXPECT_TRUE(step.reply.has_value());
    if (!step.reply.has_value()) return -2;
    return Parsed<google::bytestream::WriteResponse>(*step.reply).committed_size();
  }
  ReapiCore::Reply Query(const std::string& name, const std::string& caller = "me") {
    google::bytestream::QueryWriteStatusRequest request;
    request.set_resource_name(name);
    return uploads_.QueryWriteStatus(request.SerializeAsString(), Caller{.name = caller});
  }
  int64_t Held(const std::string& name) {
    const auto status = ParsedReply<google::bytestream::QueryWriteStatusResponse>(Query(name));
    EXPECT_FALSE(status.complete());
    return status.committed_size();
  }

  MemoryStore store_;
  HandClock clock_;
  Uploads uploads_{store_, ReapiOptions{}, clock_, {.open_max = 4, .of_one_max = 3}};
  const std::string bytes_ = "twelve bytes";
  const Digest digest_ = Digest::Of(bytes_);
};

TEST_F(UploadsTest, ABlobComesInMessages) {
  const auto write = NewWrite();
  EXPECT_EQ(Send(*write, Name(digest_), 0, "twelve").next, Step::Next::kRead);
  EXPECT_EQ(Send(*write, "", 6, " bytes").next, Step::Next::kRead);  // the name may be left out
  EXPECT_EQ(store_.FindMissing(std::span(&digest_, 1))->size(), 1u);
  const Step last = Send(*write, Name(digest_), 12, "", true);
  EXPECT_EQ(Committed(last), 12);
  EXPECT_TRUE(last.commit.has_value());  // durable before the answer
  EXPECT_EQ(GetBytes(store_, digest_), bytes_);
  EXPECT_EQ(uploads_.open(), 0u);
}

TEST_F(UploadsTest, WhatIsHereIsAnsweredAtOnce) {
  PutBytes(store_, bytes_);
  // The message is the first of a stream that would continue; and the blob may be another call's
  // and not durable yet.
  const Step step = Send(*NewWrite(), Name(digest_), 0, "tw");
  EXPECT_EQ(Committed(step), 12);
  EXPECT_TRUE(step.commit.has_value());
  EXPECT_EQ(Committed(Send(*NewWrite(), Name(digest_), 6, "")), 12);
  EXPECT_EQ(Committed(Send(*NewWrite(), PackedName(digest_), 0, "")), -1);
  EXPECT_EQ(Committed(Send(*NewWrite(), Name(Digest()), 0, "", true)), 0);
  EXPECT_EQ(uploads_.open(), 0u);
  const auto status =
      ParsedReply<google::bytestream::QueryWriteStatusResponse>(Query(Name(digest_, "any id")));
  EXPECT_TRUE(status.complete());
  EXPECT_EQ(status.committed_size(), 12);
}

TEST_F(UploadsTest, ABrokenStreamIsTakenUpWhereItBroke) {
  EXPECT_TRUE(absl::IsNotFound(Query(Name(digest_)).status()));
  auto write = NewWrite();
  Send(*write, Name(digest_), 0, "twel");
  EXPECT_EQ(Held(Name(digest_)), 4);
  write.reset();
  EXPECT_EQ(Held(Name(digest_)), 4);
  write = NewWrite();
  EXPECT_EQ(Committed(Send(*write, Name(digest_), 4, "ve bytes", true)), 12);
  EXPECT_EQ(GetBytes(store_, digest_), bytes_);
}

TEST_F(UploadsTest, WhoBeginsAgainBeginsAgain) {
  Send(*NewWrite(), Name(digest_), 0, "junk");
  EXPECT_EQ(Committed(Send(*NewWrite(), Name(digest_), 0, bytes_, true)), 12);
}

TEST_F(UploadsTest, AHalfClosedStreamIsToldHowMuchCame) {
  const auto write = NewWrite();
  Send(*write, Name(digest_), 0, "twel");
  EXPECT_EQ(Committed(write->OnHalfClose()), 4);
  EXPECT_EQ(Held(Name(digest_)), 4);
  EXPECT_TRUE(absl::IsInvalidArgument(NewWrite()->OnHalfClose().status));
}

TEST_F(UploadsTest, WrongOffsetsAndNamesAreRefusedAndSpoilNothing) {
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), Name(digest_), 3, "lve").status));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Send(*NewWrite(), Name(digest_), static_cast<size_t>(-1), "x").status));
  auto write = NewWrite();
  Send(*write, Name(digest_), 0, "twel");
  for (const size_t offset : {size_t{0}, size_t{3}, size_t{5}})
    EXPECT_TRUE(absl::IsInvalidArgument(Send(*write, "", offset, "ve").status)) << offset;
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*write, Name(digest_, "other"), 4, "ve").status));
  write.reset();
  write = NewWrite();
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*write, Name(digest_), 5, "e bytes").status));
  EXPECT_EQ(Committed(Send(*NewWrite(), Name(digest_), 4, "ve bytes", true)), 12);
  EXPECT_TRUE(
      absl::IsInvalidArgument(Send(*NewWrite(), "blobs/" + digest_.ToString(), 0, "").status));
  EXPECT_TRUE(absl::IsInvalidArgument(Query("blobs/" + digest_.ToString()).status()));
}

TEST_F(UploadsTest, BytesThatAreNotTheDigestsAreDropped) {
  const std::string name = Name(digest_);
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), name, 0, "twelve_bytes", true).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), name, 0, "twelve", true).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), name, 0, "thirteen bytes").status));
  EXPECT_EQ(uploads_.open(), 0u);
  EXPECT_TRUE(absl::IsNotFound(Query(name).status()));
  // The upload continues with other data.
  Send(*NewWrite(), name, 0, "TWELVE");
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), name, 6, " bytes", true).status));
  EXPECT_TRUE(absl::IsNotFound(Query(name).status()));
  EXPECT_EQ(store_.FindMissing(std::span(&digest_, 1))->size(), 1u);
}

TEST_F(UploadsTest, ARightHashWithAWrongSizeLeavesTheGoodBlob) {
  PutBytes(store_, bytes_);
  const Digest wrong = *Digest::FromHash(digest_.hash(), 5);
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), Name(wrong), 0, "twelv", true).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), Name(wrong), 0, bytes_, true).status));
  EXPECT_EQ(GetBytes(store_, digest_), bytes_);
}

TEST_F(UploadsTest, APackedUploadCountsItsOwnBytes) {
  const std::string packed = ZstdCompress(bytes_), name = PackedName(digest_);
  const auto write = NewWrite();
  Send(*write, name, 0, packed.substr(0, 5));
  EXPECT_TRUE(absl::IsInvalidArgument(Send(*write, "", 3, packed.substr(5)).status));
  const Step last = Send(*write, "", 5, packed.substr(5), true);
  EXPECT_EQ(Committed(last), static_cast<int64_t>(packed.size()));
  EXPECT_EQ(GetBytes(store_, digest_), bytes_);
}

// The upload continues at an uncompressed offset, with a new frame; the committed size counts both
// frames.
TEST_F(UploadsTest, APackedUploadIsTakenUpWithANewFrame) {
  const std::string name = PackedName(digest_);
  Send(*NewWrite(), name, 0, ZstdCompress(bytes_.substr(0, 6)));
  EXPECT_EQ(Held(name), 6);
  const std::string rest = ZstdCompress(bytes_.substr(6));
  const auto write = NewWrite();
  Send(*write, name, 6, rest.substr(0, 3));
  EXPECT_EQ(Committed(Send(*write, name, 9, rest.substr(3), true)),
            static_cast<int64_t>(6 + rest.size()));
  EXPECT_EQ(GetBytes(store_, digest_), bytes_);
}

TEST_F(UploadsTest, PackedBytesThatAreWrongAreDropped) {
  const std::string name = PackedName(digest_), packed = ZstdCompress(bytes_);
  const std::string bomb = ZstdCompress(std::string(size_t{64} << 20, '\0'));
  for (const std::string& data :
       {std::string("no zstd"), packed + "junk", packed.substr(0, packed.size() - 1), bomb,
        packed + ZstdCompress("").substr(0, 5),  // the whole blob, and a frame that ends too early
        ZstdCompress(bytes_ + "x"), ZstdCompress("twelve"), std::string()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Send(*NewWrite(), name, 0, data, true).status))
        << data.size();
    EXPECT_EQ(uploads_.open(), 0u);
  }
}

TEST_F(UploadsTest, TheNewerOfTwoStreamsGoesOn) {
  const auto older = NewWrite(), newer = NewWrite();
  Send(*older, Name(digest_), 0, "twelve");
  Send(*newer, Name(digest_), 6, " by");
  EXPECT_TRUE(absl::IsAborted(Send(*older, "", 6, " bytes", true).status));
  EXPECT_EQ(Committed(Send(*newer, "", 9, "tes", true)), 12);
}

TEST_F(UploadsTest, CallersDoNotMeet) {
  const auto mine = NewWrite("me"), yours = NewWrite("you");
  Send(*mine, Name(digest_), 0, "twelve");
  Send(*yours, Name(digest_), 0, "junk");
  EXPECT_EQ(ParsedReply<google::bytestream::QueryWriteStatusResponse>(Query(Name(digest_), "you"))
                .committed_size(),
            4);
  EXPECT_EQ(Committed(Send(*mine, "", 6, " bytes", true)), 12);
}

TEST_F(UploadsTest, WhatIsIdleOrNeverEndsIsReclaimed) {
  const auto idle = NewWrite(), slow = NewWrite();
  Send(*idle, Name(Digest::Of("idle"), "1"), 0, "i");
  for (int i = 0; i < 61; ++i) {
    EXPECT_TRUE(Send(*slow, Name(digest_), 0, "").status.ok());
    EXPECT_EQ(uploads_.open(), i < 2 ? 2u : 1u) << i;
    clock_.now += absl::Seconds(59);
    uploads_.Sweep();
  }
  EXPECT_TRUE(Send(*slow, Name(digest_), 0, "").status.ok());  // an hour less a second
  EXPECT_EQ(uploads_.open(), 1u);
  clock_.now += absl::Seconds(2);
  uploads_.Sweep();
  EXPECT_EQ(uploads_.open(), 0u);
  EXPECT_TRUE(absl::IsAborted(Send(*slow, "", 0, bytes_, true).status));
  EXPECT_TRUE(absl::IsAborted(Send(*idle, "", 1, "dle", true).status));
  EXPECT_TRUE(absl::IsNotFound(Query(Name(digest_)).status()));
}

TEST_F(UploadsTest, AFurtherUploadTakesThePlaceOfTheLongestParked) {
  const auto name = [](int i) { return Name(Digest::Of(std::to_string(i)), "id"); };
  std::vector<std::unique_ptr<CallHandler>> mine;
  for (int i = 0; i < 3; ++i) {
    mine.push_back(NewWrite());
    EXPECT_TRUE(Send(*mine.back(), name(i), 0, "").status.ok());
    clock_.now += absl::Seconds(1);
  }
  const Step refused = Send(*NewWrite(), name(3), 0, "");
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status)) << refused.status;
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(refused.status, "RetryInfo").retry_delay().seconds(),
            1);
  mine[1].reset();  // parked
  mine[0].reset();
  EXPECT_TRUE(Send(*NewWrite(), name(3), 0, "").status.ok());
  EXPECT_TRUE(absl::IsNotFound(Query(name(0)).status()));
  EXPECT_TRUE(Query(name(1)).ok());

  // There is a limit for all callers together, too: one place is left.
  const auto yours = NewWrite("you"), theirs = NewWrite("they"), more = NewWrite("more");
  EXPECT_TRUE(Send(*yours, name(4), 0, "").status.ok());
  EXPECT_TRUE(Send(*theirs, name(5), 0, "").status.ok());
  EXPECT_TRUE(absl::IsNotFound(Query(name(1)).status()));
  EXPECT_EQ(uploads_.open(), 4u);
}

TEST_F(UploadsTest, WhatIsTooLargeIsRefusedBeforeItComes) {
  const Digest huge = *Digest::FromHash(digest_.hash(), (uint64_t{64} << 30) + 1);
  const Step refused = Send(*NewWrite(), Name(huge), 0, "x");
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status));
  EXPECT_THAT(refused.status.message(), HasSubstr("at most"));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Send(*NewWrite(), Name(*Digest::FromHash(digest_.hash(), Digest::kSizeMax)), 0, "x").status));
}

}  // namespace
}  // namespace galley::store
