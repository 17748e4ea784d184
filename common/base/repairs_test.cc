#include "common/base/repairs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(RepairsTest, ANoteIsTakenOnceAndNotedOnce) {
  NoteRepair("a: made again");
  NoteRepair("b: moved aside");
  NoteRepair("a: made again");
  EXPECT_THAT(TakeRepairs(), testing::ElementsAre("a: made again", "b: moved aside"));
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
  NoteRepair("a: made again");
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
}

}  // namespace
}  // namespace galley
