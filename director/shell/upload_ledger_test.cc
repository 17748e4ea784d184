#include "director/shell/upload_ledger.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

Digest BlobOf(char byte, size_t size) { return Digest::Of(std::string(size, byte)); }

// A worker may have 100 bytes in 10 blobs.
class UploadLedgerTest : public testing::Test {
 protected:
  UploadLedger ledger_{{.bytes_max = 100, .blobs_max = 10}};
};

TEST_F(UploadLedgerTest, WhatIsOverTheQuotaOfAWorkerIsRefusedUntilAResultNamesWhatIsThere) {
  EXPECT_TRUE(ledger_.Take("a", BlobOf('1', 60)).value());
  EXPECT_FALSE(ledger_.Take("a", BlobOf('1', 60)).value()) << "it is counted once";
  const absl::Status over = ledger_.Take("a", BlobOf('2', 41)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(over));
  EXPECT_THAT(std::string(over.message()),
              testing::HasSubstr("a has uploaded 60 B in 1 blob that no result of its names"));
  EXPECT_TRUE(ledger_.Take("b", BlobOf('2', 41)).value()) << "each has its own";
  EXPECT_TRUE(ledger_.Take("a", BlobOf('2', 40)).value());
  const Digest named[] = {BlobOf('1', 60), BlobOf('9', 1)};
  ledger_.Name("b", named);
  EXPECT_EQ(ledger_.bytes("a"), 100u) << "a result of another worker names nothing of it";
  ledger_.Name("a", named);
  EXPECT_EQ(ledger_.bytes("a"), 40u);
  EXPECT_TRUE(ledger_.Take("a", BlobOf('3', 60)).value());
}

TEST_F(UploadLedgerTest, OneThatDidNotComeIsGivenBack) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 1});
  EXPECT_TRUE(ledger.Take("a", BlobOf('1', 60)).value());
  EXPECT_FALSE(ledger.Take("a", BlobOf('2', 1)).ok()) << "too many blobs";
  ledger.GiveBack("a", BlobOf('1', 60));
  EXPECT_TRUE(ledger.IsClean("a"));
  EXPECT_TRUE(ledger.Take("a", BlobOf('2', 1)).value());
  EXPECT_FALSE(ledger.IsClean("a"));
}

// The worker has the attempts 1 and 2 when the blob comes for one of them.
TEST_F(UploadLedgerTest, WhatNoResultNamesIsGivenBackWhenAllAttemptsOfThatTimeAreOver) {
  ledger_.Begin("a", 1);
  ledger_.Begin("a", 2);
  ASSERT_TRUE(ledger_.Take("a", BlobOf('1', 60)).ok());
  ledger_.Begin("a", 3);
  ASSERT_TRUE(ledger_.Take("a", BlobOf('3', 30)).ok());
  ledger_.End("a", 2);
  ledger_.End("b", 1);
  EXPECT_EQ(ledger_.bytes("a"), 90u) << "it may be of attempt 1";
  ledger_.End("a", 1);
  EXPECT_EQ(ledger_.bytes("a"), 30u) << "the other one may be of attempt 3";
  ledger_.End("a", 3);
  EXPECT_TRUE(ledger_.IsClean("a"));
}

TEST_F(UploadLedgerTest, ALongDayOfFailedAttemptsCostsNothing) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 3});
  for (AttemptId attempt = 1; attempt < 1'000; ++attempt) {
    ledger.Begin("a", attempt);
    ASSERT_TRUE(ledger.Take("a", Digest::Of(std::to_string(attempt) + std::string(45, 'x'))).ok())
        << attempt;
    if (attempt > 1) ledger.End("a", attempt - 1);
  }
}

TEST_F(UploadLedgerTest, AnAttemptOfWhichNobodyWillReportIsOver) {
  ledger_.Begin("a", 1);
  ASSERT_TRUE(ledger_.Take("a", BlobOf('1', 60)).ok());
  ledger_.EndUnless([](AttemptId attempt) { return attempt == 1; });
  EXPECT_EQ(ledger_.bytes("a"), 60u);
  ledger_.EndUnless([](AttemptId) { return false; });
  EXPECT_TRUE(ledger_.IsClean("a"));
}

TEST_F(UploadLedgerTest, WhatComesWhenNoAttemptIsUnderWayIsNotGivenBack) {
  ledger_.Begin("a", 1);
  ledger_.End("a", 1);
  ASSERT_TRUE(ledger_.Take("a", BlobOf('1', 60)).ok());
  ledger_.EndUnless([](AttemptId) { return false; });
  ledger_.Begin("a", 2);
  ledger_.End("a", 2);
  EXPECT_EQ(ledger_.bytes("a"), 60u);
  EXPECT_FALSE(ledger_.Take("a", BlobOf('2', 60)).ok());
}

TEST_F(UploadLedgerTest, ASizeThatNoDiskHasIsRefused) {
  const Digest huge = Digest::FromHex(std::string(64, '0'), int64_t{1} << 62).value();
  EXPECT_TRUE(absl::IsResourceExhausted(ledger_.Take("a", huge).status()));
  EXPECT_TRUE(ledger_.IsClean("a"));
}

TEST_F(UploadLedgerTest, WorkersWithoutJobsAreForgotten) {
  ASSERT_TRUE(ledger_.Take("a", BlobOf('1', 60)).ok());
  ASSERT_TRUE(ledger_.Take("b", BlobOf('1', 60)).ok());
  ledger_.ForgetUnless([](std::string_view worker) { return worker == "b"; });
  EXPECT_TRUE(ledger_.IsClean("a"));
  EXPECT_EQ(ledger_.bytes("b"), 60u);
}

}  // namespace
}  // namespace galley::director
