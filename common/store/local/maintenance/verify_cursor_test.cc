#include "common/store/local/maintenance/verify_cursor.h"

#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

VerifyCursor Sample() {
  VerifyCursor cursor{.begun = absl::FromUnixSeconds(1'700'000'000),
                      .phase = VerifyPhase::kSegments,
                      .after = Digest::Of("a"),
                      .after_segment = 7,
                      .blobs = 3,
                      .bytes = 4};
  cursor.AddProblem("a blob");
  cursor.AddProblem("two\nlines");
  return cursor;
}

TEST(VerifyCursorTest, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadVerifyCursor(folder.path()).status()));
  ASSERT_TRUE(WriteVerifyCursor(folder.path(), Sample()).ok());
  const auto read = ReadVerifyCursor(folder.path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Sample());
  EXPECT_THAT(read->problems, testing::ElementsAre("a blob", "two lines"));
  ASSERT_TRUE(RemoveVerifyCursor(folder.path()).ok());
  EXPECT_TRUE(absl::IsNotFound(ReadVerifyCursor(folder.path()).status()));
  EXPECT_EQ(*DecodeVerifyCursor(EncodeVerifyCursor({})), VerifyCursor{});
}

TEST(VerifyCursorTest, IsNoneWhenABitOfItIsWrongOrAByteIsMissing) {
  const std::string text = EncodeVerifyCursor(Sample());
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeVerifyCursor(text.substr(0, i)).status())) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string wrong = text;
      wrong[i] = static_cast<char>(wrong[i] ^ (1 << bit));
      EXPECT_TRUE(absl::IsDataLoss(DecodeVerifyCursor(wrong).status())) << wrong;
    }
  }
}

TEST(VerifyCursorTest, ListsSoManyProblemsAndCountsTheRest) {
  VerifyCursor cursor;
  for (size_t i = 0; i < VerifyCursor::kProblemsMax + 5; ++i) cursor.AddProblem("one");
  EXPECT_EQ(cursor.problems.size(), VerifyCursor::kProblemsMax);
  EXPECT_EQ(cursor.problems_untold, 5u);
  EXPECT_EQ(*DecodeVerifyCursor(EncodeVerifyCursor(cursor)), cursor);
}

}  // namespace
}  // namespace galley::store
