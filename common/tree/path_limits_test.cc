#include "common/tree/path_limits.h"

#include "gtest/gtest.h"

namespace galley::tree {
namespace {

TEST(PathLimitsTest, ASegmentMayHave255Bytes) {
  const std::string name(255, 'n');
  EXPECT_EQ(PathFault("Game/" + name), "");
  EXPECT_EQ(PathFault("Game/" + name + "/b"), "");
  const std::string fault =
      "it has a name of 256 bytes, file systems take at most 255; give it a shorter name";
  EXPECT_EQ(PathFault("Game/" + name + "x"), fault);
  EXPECT_EQ(PathFault(name + "x/b"), fault);
  EXPECT_EQ(PathFault(""), "");
}

TEST(PathLimitsTest, APathMayHave4095Bytes) {
  std::string path(63, 'f');
  while (path.size() < 4095) path += "/" + std::string(63, 'f');
  ASSERT_EQ(path.size(), 4095u);
  EXPECT_EQ(PathFault(path), "");
  EXPECT_EQ(PathFault(path + "x"),
            "its path has 4096 bytes, systems take at most 4095; give it a shorter one");
}

}  // namespace
}  // namespace galley::tree
