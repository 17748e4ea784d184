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

}  // namespace
}  // namespace galley::director
