#include "director/resident/cook_shelf.h"

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(CookShelfTest, TheLastHundredCooksAreKept) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "shelf").value();
  for (const uint32_t term : {1u, 2u}) {
    CookShelf shelf(state);
    for (size_t i = 0; i < 60; ++i) {
      const CookShelf::Begun begun = shelf.Begin(term);
      EXPECT_EQ(begun.number, (term - 1) * 60 + i + 1);
      begun.log->End(v1::CookReport(), "");
    }
  }
  const CookShelf shelf(state);
  EXPECT_TRUE(absl::IsNotFound(shelf.Find(20).status()));
  EXPECT_TRUE(shelf.Find(21).ok());
  EXPECT_TRUE(shelf.Find(120).ok());
  EXPECT_TRUE(absl::IsNotFound(shelf.Find(121).status()));
  ASSERT_TRUE(RemoveAll(state).ok());
}

TEST(CookShelfTest, AnAskIsKeptUntilItIsDroppedAndADamagedOneIsLeftOut) {
  const std::string state = MakeTemporaryDirectory(testing::TempDir(), "shelf").value();
  CookShelf shelf(state);
  v1::CookAsk ask;
  ask.set_output_directory("/out");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(shelf.Keep(shelf.Begin(1).number, ask).ok());
  shelf.Drop(1);
  EXPECT_FALSE(shelf.IsKept(1));
  ASSERT_TRUE(WriteFileAtomic(JoinPath(state, "cooks/2.ask"), "galley-cook-ask 1\nrubbish").ok());
  const auto kept = CookShelf(state).Kept();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].first, 3u);
  EXPECT_EQ(kept[0].second.output_directory(), "/out");
  EXPECT_FALSE(shelf.IsKept(2));
  // What an earlier director told of it is gone.
  shelf.BeginAgain(3)->End(v1::CookReport(), "");
  EXPECT_TRUE(shelf.Find(3).ok());
  ASSERT_TRUE(RemoveAll(state).ok());
}

}  // namespace
}  // namespace galley::director
