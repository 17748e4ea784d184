#include "worker/walls/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::worker {
namespace {

using testing::ElementsAre;

constexpr std::string_view kTable =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "22 27 0:21 / /proc rw - proc proc rw\n"
    "40 27 254:1 / /data rw shared:7 master:1 - xfs /dev/vdb rw\n"
    "41 27 254:1 /my\\040game/content /srv/content rw - xfs /dev/vdb rw\n"
    "42 27 254:1 /my\\040game /home/u/game ro - xfs /dev/vdb rw\n"
    "43 40 0:50 / /data/my\\040game/content/gen rw - tmpfs tmpfs rw\n"
    "44 27 0:50 / /mnt/gen rw - tmpfs tmpfs rw\n"
    "45 40 254:0 /home/u/art /data/my\\040game/content/art rw - ext4 /dev/vda rw\n"
    "46 27 254:1 /other /srv/other rw - xfs /dev/vdb rw\n"
    "47 27 254:1 /gone//deleted /srv/gone rw - xfs /dev/vdb rw\n"
    "48 40 0:21 / /data/my\\040game/root/proc rw - proc proc rw\n"
    "nonsense\n";

bool AlwaysSame(const std::string&, const std::string&) { return true; }

TEST(MountTableTest, LinesAreReadWithTheirEscapes) {
  const std::vector<MountLine> mounts = ParseMountTable(kTable);
  ASSERT_EQ(mounts.size(), 10u);  // without the removed folder and the unreadable line
  EXPECT_EQ(mounts[3].root, "/my game/content");
  EXPECT_EQ(mounts[3].point, "/srv/content");
  EXPECT_EQ(mounts[2].type, "xfs");
  EXPECT_EQ(mounts[5].device, "0:50");
}

TEST(MountTableTest, AFolderIsReachedThroughBindMountsOfItOfItsParentsAndOfItsParts) {
  EXPECT_THAT(
      PathsTo({"/data/my game"}, ParseMountTable(kTable), AlwaysSame),
      ElementsAre("/data/my game", "/home/u/art", "/home/u/game", "/mnt/gen", "/srv/content"));
}

TEST(MountTableTest, AFolderBelowABindMountIsReachedWhereItReallyLies) {
  EXPECT_THAT(PathsTo({"/srv/content/a"}, ParseMountTable(kTable), AlwaysSame),
              ElementsAre("/data/my game/content/a", "/home/u/game/content/a", "/srv/content/a"));
}

TEST(MountTableTest, PathsThatLeadElsewhereAreLeftOut) {
  const auto is_same = [](const std::string& path, const std::string&) {
    return path == "/home/u/game";
  };
  EXPECT_THAT(PathsTo({"/data/my game"}, ParseMountTable(kTable), is_same),
              ElementsAre("/data/my game", "/home/u/game"));
}

TEST(MountTableTest, AFolderBelowAnotherIsNotNamed) {
  EXPECT_THAT(PathsTo({"/data/x/y", "/data/x", "/data/x-y"}, {}, AlwaysSame),
              ElementsAre("/data/x", "/data/x-y"));
}

TEST(MountTableTest, TheWholeMachineThatIsMountedInAProjectStaysAsItIs) {
  const auto mounts = ParseMountTable(
      "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 254:0 / /p/root rw - ext4 /dev/vda rw\n");
  EXPECT_THAT(PathsTo({"/p"}, mounts, AlwaysSame), ElementsAre("/p"));
}

TEST(MountTableTest, OurOwnTableHasARoot) {
  const auto mounts = ReadMountTable();
  EXPECT_TRUE(std::any_of(mounts.begin(), mounts.end(),
                          [](const MountLine& mount) { return mount.point == "/"; }));
}

}  // namespace
}  // namespace galley::worker
