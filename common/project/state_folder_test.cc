#include "common/project/state_folder.h"

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::project {
namespace {

class StateFolderTest : public ::testing::Test {
 protected:
  StateFolderTest() : root_(*MakeTemporaryDirectory(::testing::TempDir(), "state-")) {}
  ~StateFolderTest() override { RemoveAll(root_).IgnoreError(); }

  const std::string root_;
};

TEST_F(StateFolderTest, VersionControlLeavesTheFolderAlone) {
  ASSERT_TRUE(MakeStateFolder(root_).ok());
  EXPECT_EQ(*ReadFile(JoinPath(root_, ".galley/.gitignore")), "*\n");
}

TEST_F(StateFolderTest, APersonsOwnGitignoreStays) {
  ASSERT_TRUE(CreateDirectories(JoinPath(root_, ".galley")).ok());
  const std::string file = JoinPath(root_, ".galley/.gitignore");
  ASSERT_TRUE(WriteFileAtomic(file, "store\n").ok());
  ASSERT_TRUE(MakeStateFolder(root_).ok());
  EXPECT_EQ(*ReadFile(file), "store\n");
}

}  // namespace
}  // namespace galley::project
