#include "worker/session/last_slot.h"

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

TEST(LastSlotTest, OneHoldsItUntilItGivesItBackOrEnds) {
  const std::string folder = *MakeTemporaryDirectory(::testing::TempDir(), "last-slot-");
  const std::string path = folder + "/lock";
  LastSlot first;
  EXPECT_TRUE(first.Take(path));
  EXPECT_TRUE(first.Take(path)) << "it has it already";
  {
    LastSlot second;
    EXPECT_FALSE(second.Take(path));
    EXPECT_FALSE(second.is_held());
    first.Release();
    EXPECT_TRUE(second.Take(path));
    EXPECT_FALSE(first.Take(path));
  }
  EXPECT_TRUE(first.Take(path));
  RemoveAll(folder).IgnoreError();
}

TEST(LastSlotTest, WhereNoLockCanBeHadItCountsAsHeld) {
  LastSlot slot;
  EXPECT_TRUE(slot.Take("/nonexistent/folder/lock"));
  EXPECT_FALSE(slot.is_held());
}

}  // namespace
}  // namespace galley::worker
