#include "worker/session/disk_room.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::HasSubstr;

constexpr DiskSpace kLarge{
    .free_bytes = 1ull << 30, .bytes = 1ull << 40, .free_inodes = 1'000'000, .inodes = 10'000'000};

TEST(DiskRoomTest, ADiskWithRoomLacksNothing) { EXPECT_EQ(LackOf("/x", kLarge), ""); }

TEST(DiskRoomTest, AFullDiskIsNamedWithItsFolder) {
  DiskSpace space = kLarge;
  space.free_bytes = 0;
  EXPECT_THAT(LackOf("/scratch", space), HasSubstr("no space left on the disk of /scratch"));
  space.free_bytes = kLeastBytes - 1;
  EXPECT_THAT(LackOf("/scratch", space), HasSubstr("no space left on the disk of /scratch"));
  space.free_bytes = kLeastBytes;
  EXPECT_EQ(LackOf("/scratch", space), "");
}

TEST(DiskRoomTest, SoIsOneWithoutInodes) {
  DiskSpace space = kLarge;
  space.free_inodes = 0;
  EXPECT_THAT(LackOf("/scratch", space), HasSubstr("no files can be made"));
  space.inodes = 0;
  EXPECT_EQ(LackOf("/scratch", space), "") << "it has no number of them";
}

TEST(DiskRoomTest, AndOneThatMayOnlyBeRead) {
  DiskSpace space = kLarge;
  space.is_read_only = true;
  EXPECT_THAT(LackOf("/scratch", space), HasSubstr("may only be read"));
}

TEST(DiskRoomTest, ASmallDiskNeedNotHaveWhatItCannotHave) {
  EXPECT_EQ(
      LackOf("/x", {.free_bytes = 4 << 20, .bytes = 8 << 20, .free_inodes = 50, .inodes = 60}), "");
}

TEST(DiskRoomTest, AFolderThatIsNotThereLacksNothing) {
  EXPECT_EQ(LackOfRoom({"", "no/such/folder"}), "");
}

}  // namespace
}  // namespace galley::worker
