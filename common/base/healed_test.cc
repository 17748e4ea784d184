#include "common/base/healed.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(HealedTest, ANoteIsTakenOnceAndNotedOnce) {
  NoteHealed("a: made again");
  NoteHealed("b: moved aside");
  NoteHealed("a: made again");
  EXPECT_THAT(TakeHealed(), testing::ElementsAre("a: made again", "b: moved aside"));
  EXPECT_THAT(TakeHealed(), testing::IsEmpty());
  NoteHealed("a: made again");
  EXPECT_THAT(TakeHealed(), testing::IsEmpty());
}

}  // namespace
}  // namespace galley
