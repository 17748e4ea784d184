#include "director/devices/device_world.h"

#include <gtest/gtest.h>

#include "director/devices/testing/sample_world.h"

namespace galley::devices {
namespace {

const DeviceWorld kFrenchWorld = {
    .project = "3f9a2c11", .platform = "linux", .cultures = {"de", "fr"}, .identity = Digest()};

TEST(DeviceWorldTest, TheFileIsTextThatAPersonCanRead) {
  EXPECT_EQ(EncodeDeviceWorld(kFrenchWorld),
            "galley-world 2\n"
            "project 3f9a2c11\n"
            "platform linux\n"
            "culture de\n"
            "culture fr\n"
            "identity e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/0\n");
}

TEST(DeviceWorldTest, AFileNamesItsWorld) {
  for (const DeviceWorld& world : {kFrenchWorld, SampleWorld(1)}) {
    const auto decoded = DecodeDeviceWorld(EncodeDeviceWorld(world));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, world);
  }
}

TEST(DeviceWorldTest, TwoWorldsHaveDifferentFiles) {
  DeviceWorld others[4] = {kFrenchWorld, kFrenchWorld, kFrenchWorld, kFrenchWorld};
  others[0].project = "other";
  others[1].platform = "windows";
  others[2].cultures = {"de"};
  others[3].identity = Digest::Of("other files");
  for (const DeviceWorld& other : others)
    EXPECT_NE(DigestOfWorld(other), DigestOfWorld(kFrenchWorld));
}

TEST(DeviceWorldTest, OtherFilesAreRefused) {
  const std::string text = EncodeDeviceWorld(kFrenchWorld);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return DecodeDeviceWorld(other.replace(at, from.size(), to)).status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeDeviceWorld("").status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(replaced("culture de\nculture fr", "culture fr\nculture de")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("culture fr", "culture de")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("platform linux\n", "")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("platform linux", "platform ")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("platform linux", "platform li\tnux")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("platform linux", "platform \xff")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("855/0\n", "855/00\n")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("855/0\n", "855/0")));
  EXPECT_TRUE(absl::IsInvalidArgument(replaced("855/0\n", "855/0\nmore 1\n")));
  EXPECT_TRUE(
      absl::IsInvalidArgument(DecodeDeviceWorld(text + std::string(kWorldBytesMax, 'x')).status()));
}

TEST(DeviceWorldTest, AnotherVersionIsSaidToBeOne) {
  std::string text = EncodeDeviceWorld(kFrenchWorld);
  text.replace(text.find(" 2\n"), 3, " 1\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeDeviceWorld(text).status()));
}

}  // namespace
}  // namespace galley::devices
