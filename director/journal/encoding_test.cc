#include "director/journal/encoding.h"

#include <string>

#include "common/tree/testing/golden.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

PlatformRecord FullRecord() {
  PlatformRecord record;
  record.recipe = Digest::Of("recipe");
  record.source = Digest::Of("source");
  record.weak_key = Digest::Of("weak");
  record.action_key = Digest::Of("action");
  record.recipe_bytes = "recipe bytes";
  record.result = std::string("result\0bytes", 12);
  record.observed = {{{record::ObservationKind::kFile, "../inc/a.glsl", ""}, "absent"},
                     {{record::ObservationKind::kList, "/Game/x", ""}, "a.png\nb/"},
                     {{record::ObservationKind::kEnv, "HOME", ""}, "unset"}};
  record.last_cook =
      LastCook{.source = "cooked",
               .time = absl::FromUnixNanos(1'700'000'000'123'456'789),
               .worker = "local-1",
               .attempt = 7,
               .load_time = absl::Milliseconds(12),
               .save_time = absl::Seconds(3),
               .changed = {{.what = "source", .before = "1", .after = "2"}, {.what = "recipe"}},
               .is_first = true,
               .cook = 12,
               .is_forced = true,
               .request_time = absl::Milliseconds(1),
               .queue_time = absl::Milliseconds(2),
               .in_hand_time = absl::Milliseconds(3),
               .attempts = 4};
  return record;
}

FailureRecord FullFailure() {
  return FailureRecord{.cook = 12,
                       .time = absl::FromUnixNanos(1'700'000'000'123'456'789),
                       .stage = "save",
                       .error = "crashed",
                       .log = "digest",
                       .cause = "package",
                       .worker = "local-2",
                       .attempt = 9,
                       .attempts = 3,
                       .own_faults = 2,
                       .infrastructure_faults = 1};
}

Published FullPublished() {
  return {.key = Digest::Of("key"), .in = PublishedIn{.sequence = 300, .root = Digest::Of("root")}};
}

JournalMeta FullMeta() {
  return JournalMeta{.project_id = "p",
                     .store_id = "s",
                     .loss_epoch = 3,
                     .term = 4,
                     .table_file = "table-9",
                     .trust_domain = "main",
                     .store_commits = 300,
                     .table_id = "t",
                     .reasons_of = "pc"};
}

std::vector<InstigatorRecord> SomeInstigators() {
  return {{.category = 0, .referencer = ""}, {.category = 7, .referencer = "/Game/a"}};
}

AttemptRecord SomeAttempt() {
  return {.worker = "local-1",
          .package = "/Game/a",
          .targets = {{.platform = 0, .name = "linux", .recipe = Digest::Of("recipe")},
                      {.platform = 2, .name = "phone", .recipe = Digest::Of("other")}},
          .generated_source = Digest::Of("generated")};
}

BlameRecord SomeBlame() {
  return {.own_faults = 2, .what = "crashed its executor", .error = "signal 11", .log = "digest"};
}

UnsentResult SomeUnsent() { return {.action_key = Digest::Of("key"), .is_dispute = true}; }

void ExpectSame(const PlatformRecord& a, const PlatformRecord& b) {
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.weak_key, b.weak_key);
  EXPECT_EQ(a.action_key, b.action_key);
  EXPECT_EQ(a.recipe_bytes, b.recipe_bytes);
  EXPECT_EQ(a.result, b.result);
  EXPECT_EQ(a.observed, b.observed);
  EXPECT_EQ(a.last_cook.source, b.last_cook.source);
  EXPECT_EQ(a.last_cook.time, b.last_cook.time);
  EXPECT_EQ(a.last_cook.worker, b.last_cook.worker);
  EXPECT_EQ(a.last_cook.attempt, b.last_cook.attempt);
  EXPECT_EQ(a.last_cook.load_time, b.last_cook.load_time);
  EXPECT_EQ(a.last_cook.save_time, b.last_cook.save_time);
  EXPECT_EQ(a.last_cook.changed, b.last_cook.changed);
  EXPECT_EQ(a.last_cook.is_first, b.last_cook.is_first);
  EXPECT_EQ(a.last_cook.cook, b.last_cook.cook);
  EXPECT_EQ(a.last_cook.is_forced, b.last_cook.is_forced);
  EXPECT_EQ(a.last_cook.request_time, b.last_cook.request_time);
  EXPECT_EQ(a.last_cook.queue_time, b.last_cook.queue_time);
  EXPECT_EQ(a.last_cook.in_hand_time, b.last_cook.in_hand_time);
  EXPECT_EQ(a.last_cook.attempts, b.last_cook.attempts);
}

TEST(JournalEncodingTest, APlatformRecordComesBackWhole) {
  ExpectSame(DecodePlatformRecord(EncodePlatformRecord(FullRecord())).value(), FullRecord());
  ExpectSame(DecodePlatformRecord(EncodePlatformRecord(PlatformRecord())).value(),
             PlatformRecord());
}

TEST(JournalEncodingTest, AMetaComesBackWhole) {
  const JournalMeta meta = DecodeMeta(EncodeMeta(FullMeta())).value();
  EXPECT_EQ(meta.project_id, "p");
  EXPECT_EQ(meta.store_id, "s");
  EXPECT_EQ(meta.loss_epoch, 3u);
  EXPECT_EQ(meta.term, 4u);
  EXPECT_EQ(meta.table_file, "table-9");
  EXPECT_EQ(meta.trust_domain, "main");
  EXPECT_EQ(meta.store_commits, 300u);
  EXPECT_EQ(meta.table_id, "t");
  EXPECT_EQ(meta.reasons_of, "pc");
}

TEST(JournalEncodingTest, AMetaFromBeforeStoreCommitsIsStillRead) {
  const JournalMeta meta = DecodeMeta("\x0a\x01p\x12\x01s\x18\x03").value();
  EXPECT_EQ(meta.store_id, "s");
  EXPECT_EQ(meta.store_commits, 0u);
}

TEST(JournalEncodingTest, AFailureComesBackWhole) {
  EXPECT_EQ(DecodeFailure(EncodeFailure(FullFailure())).value(), FullFailure());
  EXPECT_EQ(DecodeFailure(EncodeFailure(FailureRecord())).value(), FailureRecord());
  EXPECT_TRUE(absl::IsDataLoss(DecodeFailure("\x7a\x01x").status()));
}

TEST(JournalEncodingTest, APublishedKeyComesBackWithOrWithoutItsRoot) {
  const Published whole = DecodePublished(EncodePublished(FullPublished())).value();
  EXPECT_EQ(whole.key, Digest::Of("key"));
  EXPECT_EQ(whole.in, FullPublished().in);
  const Published bare = DecodePublished(EncodeDigest(Digest::Of("key"))).value();
  EXPECT_EQ(bare.key, Digest::Of("key"));
  EXPECT_EQ(bare.in, std::nullopt);
  EXPECT_TRUE(absl::IsDataLoss(DecodePublished("short").status()));
  EXPECT_TRUE(
      absl::IsDataLoss(DecodePublished(EncodeDigest(Digest::Of("key")) + "\x7a\x01x").status()));
}

TEST(JournalEncodingTest, InstigatorsComeBackInTheirOrder) {
  EXPECT_EQ(DecodeInstigators(EncodeInstigators(SomeInstigators())).value(), SomeInstigators());
}

TEST(JournalEncodingTest, ASequenceComesBackWhole) {
  for (const PublishedIn& last :
       {PublishedIn{.sequence = 300}, PublishedIn{300, {}, 0}, PublishedIn{1, {}, 7}})
    EXPECT_EQ(DecodeLastPublished(EncodeLastPublished(last)).value(), last);
}

TEST(JournalEncodingTest, AttemptsAndBlameComeBackWhole) {
  EXPECT_EQ(DecodeAttempt(EncodeAttempt(SomeAttempt())).value(), SomeAttempt());
  EXPECT_EQ(DecodeAttempt(EncodeAttempt(AttemptRecord())).value(), AttemptRecord());
  EXPECT_EQ(DecodeBlame(EncodeBlame(SomeBlame())).value(), SomeBlame());
  EXPECT_EQ(DecodeBlame(EncodeBlame(BlameRecord())).value(), BlameRecord());
  EXPECT_EQ(DecodeUnsent(EncodeUnsent(SomeUnsent())).value(), SomeUnsent());
  EXPECT_EQ(DecodeUnsent(EncodeUnsent(UnsentResult())).value(), UnsentResult());
  EXPECT_TRUE(absl::IsDataLoss(DecodeUnsent("\x7a\x01x").status()));
}

TEST(JournalEncodingTest, TheStoredBytesAreThoseOfVersion3) {
  ASSERT_EQ(kJournalFormatVersion, 3u);
  ExpectGolden("director/journal/testdata/v3.txt",
               "digest\n" + HexLines(EncodeDigest(Digest::Of("source"))) + "meta\n" +
                   HexLines(EncodeMeta(FullMeta())) + "platform record\n" +
                   HexLines(EncodePlatformRecord(FullRecord())) + "failure\n" +
                   HexLines(EncodeFailure(FullFailure())) + "published\n" +
                   HexLines(EncodePublished(FullPublished())) + "instigators\n" +
                   HexLines(EncodeInstigators(SomeInstigators())) + "published sequence\n" +
                   HexLines(EncodeLastPublished({300})) + "attempt\n" +
                   HexLines(EncodeAttempt(SomeAttempt())) + "blame\n" +
                   HexLines(EncodeBlame(SomeBlame())) + "unsent\n" +
                   HexLines(EncodeUnsent(SomeUnsent())));
}

TEST(JournalEncodingTest, EveryTruncationIsDataLossOrALesserRecord) {
  const std::string bytes = EncodePlatformRecord(FullRecord());
  size_t refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto record = DecodePlatformRecord(std::string_view(bytes).substr(0, size));
    if (record.ok()) continue;  // cut between two fields
    EXPECT_TRUE(absl::IsDataLoss(record.status())) << record.status();
    ++refused;
  }
  EXPECT_GT(refused, bytes.size() - 20);
}

TEST(JournalEncodingTest, AnUnknownFieldIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(DecodeMeta("\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodePlatformRecord("\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeInstigators("\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeLastPublished("\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeAttempt("\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeAttempt("\x1a\x03\x7a\x01x").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeBlame("\x7a\x01x").status()));
}

TEST(JournalEncodingTest, ANumberTooLargeForItsFieldIsDataLoss) {
  // The bytes are term (field 4) = 2^32.
  EXPECT_TRUE(absl::IsDataLoss(DecodeMeta("\x20\x80\x80\x80\x80\x10").status()));
}

}  // namespace
}  // namespace galley::director
