#include "director/mount/mount_point.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::mount {
namespace {

using testing::HasSubstr;

class MountPointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "mount_point_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = std::filesystem::canonical(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Make(const std::string& path) {
    std::filesystem::create_directories(folder_ / path);
    return folder_ / path;
  }
  // Why the folder is refused; empty: it is not.
  std::string Why(const std::string& folder) {
    const auto checked = CheckMountPoint(folder, {{Make("game/content"), "the mount /Game"}});
    return checked.ok() ? "" : MessageOf(checked.status());
  }

  std::filesystem::path folder_;
};

TEST_F(MountPointTest, AnEmptyFolderElsewhereIsTaken) {
  EXPECT_EQ(Why(Make("mnt")), "");
  EXPECT_EQ(Why(Make("game/other")), "");
  EXPECT_EQ(Why(Make("game/content2")), "") << "the beginning of the name is no folder";
  std::filesystem::create_symlink(folder_ / "mnt", folder_ / "link");
  EXPECT_EQ(CheckMountPoint(folder_ / "link", {}).value(), folder_ / "mnt");
}

TEST_F(MountPointTest, OtherPlacesAreRefusedWithTheReason) {
  EXPECT_THAT(Why(Make("game/content")), HasSubstr("lies in the mount /Game"));
  EXPECT_THAT(Why(Make("game/content/in")), HasSubstr("lies in the mount /Game"));
  EXPECT_THAT(Why(folder_ / "game"), HasSubstr("lies around the mount /Game"));
  EXPECT_THAT(Why(folder_ / "none"), HasSubstr("make the folder first"));
  std::filesystem::create_symlink(folder_ / "game/content", folder_ / "link");
  EXPECT_THAT(Why(folder_ / "link"), HasSubstr("lies in the mount /Game"));
  std::ofstream(Make("full") + "/file") << "a person's";
  EXPECT_THAT(Why(folder_ / "full"), HasSubstr("is not empty"));
  EXPECT_THAT(Why(folder_ / "full/file"), HasSubstr("is no folder"));
  std::ofstream(Make("sandbox/in") + "/../.galley-sandbox") << "";
  EXPECT_THAT(Why(folder_ / "sandbox/in"), HasSubstr("lies in a sandbox"));
}

TEST_F(MountPointTest, NothingIsCleanedWhereNothingIsMounted) {
  EXPECT_FALSE(CleanStaleMount(Make("mnt")).value());
  EXPECT_FALSE(CleanStaleMount(folder_ / "none").value());
}

}  // namespace
}  // namespace galley::mount
