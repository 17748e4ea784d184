#include "director/shell/stored_reads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::Eq;
using testing::Optional;
using testing::SizeIs;

std::vector<record::Observed> Files(size_t count) {
  return std::vector<record::Observed>(
      count, {{record::ObservationKind::kFile, "inc.txt", ""}, "a value"});
}

TEST(StoredReadsTest, TheNewestOfAPackageAndPlatformCounts) {
  StoredReads reads;
  EXPECT_THAT(reads.Find("/Game/a", "windows"), Eq(std::nullopt));
  reads.Put("/Game/a", "windows", Files(3));
  reads.Put("/Game/a", "windows", Files(2));
  EXPECT_THAT(reads.Find("/Game/a", "windows"), Optional(SizeIs(2)));
  EXPECT_THAT(reads.Find("/Game/a", "android"), Eq(std::nullopt));
}

TEST(StoredReadsTest, OfTooManyTheOldestAreForgotten) {
  StoredReads reads(2'000);
  for (int i = 0; i < 100; ++i) {
    reads.Put("/Game/same", "windows", Files(1));
    reads.Put("/Game/" + std::to_string(i), "windows", Files(2));
  }
  EXPECT_THAT(reads.Find("/Game/0", "windows"), Eq(std::nullopt));
  EXPECT_THAT(reads.Find("/Game/98", "windows"), Optional(SizeIs(2)));
  EXPECT_THAT(reads.Find("/Game/99", "windows"), Optional(SizeIs(2)));
  reads.Put("/Game/huge", "windows", Files(1'000));
  EXPECT_THAT(reads.Find("/Game/huge", "windows"), Eq(std::nullopt));
  reads.Put("/Game/a", "windows", Files(2));
  EXPECT_THAT(reads.Find("/Game/a", "windows"), Optional(SizeIs(2)));
}

}  // namespace
}  // namespace galley::director
