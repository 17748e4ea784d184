#include "common/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace galley {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTemporaryDirectory(testing::TempDir(), "file_test_");
    ASSERT_TRUE(made.ok()) << made.status();
    dir_ = *made;
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }
  std::string dir_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string path = JoinPath(dir_, "a");
  ASSERT_TRUE(WriteFileAtomic(path, std::string("x\0y", 3), true).ok());
  EXPECT_EQ(*ReadFile(path), std::string("x\0y", 3));
  ASSERT_TRUE(WriteFileAtomic(path, "").ok());
  EXPECT_EQ(*ReadFile(path), "");
}

TEST_F(FileTest, AbsentFileIsNotFoundAndNamed) {
  auto bytes = ReadFile(JoinPath(dir_, "none"));
  EXPECT_TRUE(absl::IsNotFound(bytes.status()));
  EXPECT_NE(bytes.status().ToString().find("none"), std::string::npos);
}

TEST_F(FileTest, FifoIsRefusedWithoutHanging) {
  const std::string path = JoinPath(dir_, "fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadFile(path).status()));
}

TEST_F(FileTest, SizeLimitHolds) {
  const std::string path = JoinPath(dir_, "big");
  ASSERT_TRUE(WriteFileAtomic(path, "12345").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(ReadFile(path, 4).status()));
  EXPECT_TRUE(ReadFile(path, 5).ok());
}

TEST_F(FileTest, FailedWriteLeavesNoTemporary) {
  EXPECT_FALSE(WriteFileAtomic(JoinPath(dir_, "no/such/folder"), "x").ok());
}

TEST_F(FileTest, PathsAreJoinedAndMadeNormal) {
  EXPECT_EQ(AbsolutePath("b/../c/", "/a"), "/a/c");
  EXPECT_EQ(AbsolutePath("/x/./y", "/a"), "/x/y");
  EXPECT_EQ(JoinPath("/a/", "b"), "/a/b");
}

}  // namespace
}  // namespace galley
