#include "director/shell/upload_ledger.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

Digest BlobOf(char byte, size_t size) { return Digest::Of(std::string(size, byte)); }

TEST(UploadLedgerTest, WhatIsOverTheQuotaOfAWorkerIsRefusedUntilAResultNamesWhatIsThere) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 10});
  EXPECT_TRUE(ledger.Take("a", BlobOf('1', 60)).value());
  EXPECT_FALSE(ledger.Take("a", BlobOf('1', 60)).value()) << "it is counted once";
  const absl::Status over = ledger.Take("a", BlobOf('2', 41)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(over));
  EXPECT_THAT(std::string(over.message()),
              testing::HasSubstr("a has uploaded 60 B in 1 blobs that no result of its names"));
  EXPECT_TRUE(ledger.Take("b", BlobOf('2', 41)).value()) << "each has its own";
  EXPECT_TRUE(ledger.Take("a", BlobOf('2', 40)).value());
  const Digest named[] = {BlobOf('1', 60), BlobOf('9', 1)};
  ledger.Name("b", named);
  EXPECT_EQ(ledger.bytes("a"), 100u) << "a result of another worker names nothing of it";
  ledger.Name("a", named);
  EXPECT_EQ(ledger.bytes("a"), 40u);
  EXPECT_TRUE(ledger.Take("a", BlobOf('3', 60)).value());
}

TEST(UploadLedgerTest, OneThatDidNotComeIsGivenBack) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 1});
  EXPECT_TRUE(ledger.Take("a", BlobOf('1', 60)).value());
  EXPECT_FALSE(ledger.Take("a", BlobOf('2', 1)).ok()) << "too many blobs";
  ledger.GiveBack("a", BlobOf('1', 60));
  EXPECT_TRUE(ledger.IsClean("a"));
  EXPECT_TRUE(ledger.Take("a", BlobOf('2', 1)).value());
  EXPECT_FALSE(ledger.IsClean("a"));
}

TEST(UploadLedgerTest, ASizeThatNoDiskHasIsRefused) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 10});
  const Digest huge = Digest::FromHex(std::string(64, '0'), int64_t{1} << 62).value();
  EXPECT_TRUE(absl::IsResourceExhausted(ledger.Take("a", huge).status()));
  EXPECT_TRUE(ledger.IsClean("a"));
}

TEST(UploadLedgerTest, WorkersWithoutJobsAreForgotten) {
  UploadLedger ledger({.bytes_max = 100, .blobs_max = 10});
  ASSERT_TRUE(ledger.Take("a", BlobOf('1', 60)).ok());
  ASSERT_TRUE(ledger.Take("b", BlobOf('1', 60)).ok());
  ledger.ForgetUnless([](std::string_view worker) { return worker == "b"; });
  EXPECT_TRUE(ledger.IsClean("a"));
  EXPECT_EQ(ledger.bytes("b"), 60u);
}

}  // namespace
}  // namespace galley::director
