#include "common/record/revocation.h"

#include "gtest/gtest.h"

namespace galley::record {
namespace {

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }

Provenance MadeAt(int64_t seconds) {
  return {.worker = "far-3", .machine = "node7", .started = At(1), .taken = At(seconds)};
}

TEST(RevocationTest, AWorkerIsNamedByItselfByItsMachineOrByBoth) {
  const Provenance made = MadeAt(50);
  for (const char* name : {"far-3", "node7", "far-3@node7"})
    EXPECT_TRUE(IsRevoked(made, Revocation{.worker = name, .until = At(100)})) << name;
  for (const char* name :
       {"far", "far-30", "node8", "far-3@node8", "far-4@node7", "far-3node7", ""})
    EXPECT_FALSE(IsRevoked(made, Revocation{.worker = name, .until = At(100)})) << name;
}

TEST(RevocationTest, WhatWasTakenBeforeOrAfterIsLetBe) {
  const Revocation by{.worker = "far-3", .since = At(50), .until = At(100)};
  EXPECT_FALSE(IsRevoked(MadeAt(49), by));
  EXPECT_TRUE(IsRevoked(MadeAt(50), by));
  EXPECT_TRUE(IsRevoked(MadeAt(100), by));
  EXPECT_FALSE(IsRevoked(MadeAt(101), by)) << "it was mended, and works again";
}

TEST(RevocationTest, OfAnOlderResultTheBeginningOfItsCookCounts) {
  Provenance made = MadeAt(0);
  made.started = At(60);
  made.taken = absl::InfinitePast();
  EXPECT_TRUE(IsRevoked(made, Revocation{.worker = "far-3", .since = At(50), .until = At(100)}));
  EXPECT_FALSE(IsRevoked(made, Revocation{.worker = "far-3", .since = At(70), .until = At(100)}));
}

TEST(RevocationTest, TheFileSaysThemAgain) {
  const std::vector<Revocation> all = {
      {.worker = "far-3", .until = At(100)},
      {.worker = "a name with blanks@node7", .since = At(50), .until = At(200)}};
  const auto read = DecodeRevocations(EncodeRevocations(all));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, all);
  EXPECT_TRUE(DecodeRevocations(EncodeRevocations({}))->empty());
}

TEST(RevocationTest, AFileThatWasEditedIsDamaged) {
  std::string text =
      EncodeRevocations(std::vector<Revocation>{{.worker = "far-3", .until = At(1)}});
  text[text.find("far-3")] = 'b';
  EXPECT_TRUE(absl::IsDataLoss(DecodeRevocations(text).status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeRevocations("").status()));
}

}  // namespace
}  // namespace galley::record
