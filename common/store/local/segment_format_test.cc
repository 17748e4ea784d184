#include "common/store/local/segment_format.h"

#include "common/base/hex.h"
#include "common/store/local/log_records.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

const SegmentHeader kHeader{.writer = SegmentWriterKind::kWorker,
                            .number = 2,
                            .store_id = "000102030405060708090a0b0c0d0e0f"};

RecordHeader HelloHeader() {
  return {.kind = RecordKind::kBlob,
          .payload_bytes = 5,
          .key = Digest::Of("hello"),
          .payload_checksum = Checksum("hello")};
}

// The worked example of docs/store.md. These bytes never change.
TEST(SegmentFormatTest, TheWorkedExampleIsWhatIsWritten) {
  EXPECT_EQ(HexEncode(EncodeSegmentHeader(kHeader)),
            "47414c4c4559534701000000020000000200000000000000000102030405060708090a0b0c0d0e0f000000"
            "00000000000000000000000000e87c28031cc4dcf0");
  EXPECT_EQ(HexEncode(EncodeRecordHeader(HelloHeader(), 2, 64)),
            "4752454301000000050000000000000000000000000000002cf24dba5fb0a30e26e83b2ac5b9e29e1b161e"
            "5c1fa7425e73043362938b98240500000000000000fddc625c55e85595ce28aaa6cdef9682");
}

TEST(SegmentFormatTest, ReadsWhatItWrote) {
  EXPECT_EQ(*DecodeSegmentHeader(EncodeSegmentHeader(kHeader), 2), kHeader);
  EXPECT_EQ(*DecodeRecordHeader(EncodeRecordHeader(HelloHeader(), 2, 64), 2, 64), HelloHeader());
}

TEST(SegmentFormatTest, ARecordSaysWhenItWasWritten) {
  RecordHeader header = HelloHeader();
  header.written_s = 0x0102030405060708;
  const std::string bytes = EncodeRecordHeader(header, 2, 64);
  EXPECT_EQ(HexEncode(bytes.substr(16, 8)), "0807060504030201");
  EXPECT_EQ(*DecodeRecordHeader(bytes, 2, 64), header);
}

TEST(SegmentFormatTest, RefusesEveryFlippedBit) {
  const std::string segment = EncodeSegmentHeader(kHeader),
                    record = EncodeRecordHeader(HelloHeader(), 2, 64);
  for (size_t bit = 0; bit < 8 * segment.size(); ++bit) {
    std::string wrong = segment;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(DecodeSegmentHeader(wrong, 2).ok()) << bit;
  }
  for (size_t bit = 0; bit < 8 * record.size(); ++bit) {
    std::string wrong = record;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(DecodeRecordHeader(wrong, 2, 64).ok()) << bit;
  }
}

TEST(SegmentFormatTest, ARecordIsValidOnlyWhereItWasWritten) {
  const std::string record = EncodeRecordHeader(HelloHeader(), 2, 64);
  EXPECT_FALSE(DecodeRecordHeader(record, 3, 64).ok());
  EXPECT_FALSE(DecodeRecordHeader(record, 2, 72).ok());
  EXPECT_FALSE(DecodeRecordHeader(record.substr(0, 79), 2, 64).ok());
}

TEST(LogRecordsTest, ReadWhatTheyWrote) {
  const std::vector<LocatedBlob> blobs = {{Digest::Of("a"), {.segment = 1, .offset = 64}},
                                          {Digest::Of("b"), {}}};
  EXPECT_EQ(*DecodeAdopted(EncodeAdopted(blobs)), blobs);
  const Loss loss{.epoch = 7, .blobs = {Digest::Of("a")}};
  EXPECT_EQ(DecodeLoss(EncodeLoss(loss))->epoch, 7u);
  EXPECT_EQ(DecodeLoss(EncodeLoss(loss))->blobs, loss.blobs);
  const PublishedRoot root{.project_id = "p",
                           .platform = "windows",
                           .sequence = 3,
                           .root = Digest::Of("r"),
                           .by_the_book = true,
                           .time = absl::FromUnixSeconds(9),
                           .snapshot = Digest::Of("s")};
  const PublishedRoot read = *DecodePublished(EncodePublished(root));
  EXPECT_EQ(read.platform, "windows");
  EXPECT_EQ(read.sequence, 3u);
  EXPECT_EQ(read.root, root.root);
  EXPECT_EQ(read.snapshot, root.snapshot);
  EXPECT_EQ(read.time, root.time);
}

TEST(LogRecordsTest, AnotherProgramsResultIsFoundByItsInstanceAndAction) {
  const PutActionResult put{
      .instance = "team/a", .action = Digest::Of("x"), .result = "any bytes", .peer = "someone"};
  const std::string bytes = EncodeActionResult(put);
  const absl::StatusOr<PutActionResult> read = DecodeActionResult(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->instance, put.instance);
  EXPECT_EQ(read->action, put.action);
  EXPECT_EQ(read->result, put.result);
  EXPECT_EQ(read->peer, put.peer);
  // The key is stored, so it never changes.
  EXPECT_EQ(ActionResultKey("team/a", put.action), Digest::Of(bytes.substr(0, 8 + 34 + 2)));
  EXPECT_NE(ActionResultKey("team/b", put.action), ActionResultKey("team/a", put.action));
  EXPECT_FALSE(DecodeActionResult("").ok()) << "no action";
}

TEST(LogRecordsTest, RefuseWhatIsCutOff) {
  const std::string adopted = EncodeAdopted(std::vector<LocatedBlob>{{Digest::Of("a"), {}}});
  EXPECT_FALSE(DecodeAdopted(adopted.substr(1)).ok());
  EXPECT_FALSE(DecodeDigests("short").ok());
  EXPECT_FALSE(DecodeLoss("short").ok());
  EXPECT_FALSE(DecodePublished("").ok());
}

}  // namespace
}  // namespace galley::store
