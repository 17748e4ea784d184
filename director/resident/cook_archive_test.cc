#include "director/resident/cook_archive.h"

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(CookArchiveTest, TheLastHundredCooksAreKept) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "archive").value();
  for (const uint32_t term : {1u, 2u}) {
    CookArchive archive(state);
    for (size_t i = 0; i < 60; ++i) {
      const CookArchive::Begun begun = archive.Begin(term);
      EXPECT_EQ(begun.number, (term - 1) * 60 + i + 1);
      begun.log->End(v1::CookReport(), "");
    }
  }
  const CookArchive archive(state);
  EXPECT_TRUE(absl::IsNotFound(archive.Find(20).status()));
  EXPECT_TRUE(archive.Find(21).ok());
  EXPECT_TRUE(archive.Find(120).ok());
  EXPECT_TRUE(absl::IsNotFound(archive.Find(121).status()));
  ASSERT_TRUE(RemoveAll(state).ok());
}

TEST(CookArchiveTest, AnAskIsKeptUntilItIsDroppedAndADamagedOneIsLeftOut) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "archive").value();
  CookArchive archive(state);
  v1::CookAsk ask;
  ask.set_output_directory("/out");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(archive.Keep(archive.Begin(1).number, ask).ok());
  archive.Drop(1);
  EXPECT_FALSE(archive.IsKept(1));
  ASSERT_TRUE(WriteFileAtomic(JoinPath(state, "cooks/2.ask"), "galley-cook-ask 1\nrubbish").ok());
  const auto kept = CookArchive(state).Kept();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].first, 3u);
  EXPECT_EQ(kept[0].second.output_directory(), "/out");
  EXPECT_FALSE(archive.IsKept(2));
  // The events that an earlier director told are gone.
  archive.BeginAgain(3)->End(v1::CookReport(), "");
  EXPECT_TRUE(archive.Find(3).ok());
  ASSERT_TRUE(RemoveAll(state).ok());
}

}  // namespace
}  // namespace galley::director
