#include "worker/executor/view_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace galley::worker {
namespace {

class ViewFolderTest : public testing::Test {
 protected:
  ViewFolderTest() : parent_(*MakeTemporaryDirectory(testing::TempDir(), "views-")) {}
  ~ViewFolderTest() override { RemoveAll(parent_).IgnoreError(); }
  ViewFolder Make() { return *ViewFolder::Make(parent_, kBytesMax); }
  static bool IsThere(const ViewFolder& folder) { return FileExists(folder.path()); }

  static constexpr uint64_t kBytesMax = 100;
  const std::string parent_;
};

TEST_F(ViewFolderTest, TheOneThatWasUsedLongestAgoGoesFirst) {
  ViewFolder a = Make(), b = Make(), c = Make();
  a.Release(40);
  b.Release(40);
  ASSERT_TRUE(a.Use()) << "there is room for both";
  a.Release(40);
  c.Release(40);
  EXPECT_TRUE(IsThere(a) && IsThere(c));
  EXPECT_FALSE(IsThere(b));
  EXPECT_FALSE(b.Use()) << "its owner sees that";
  EXPECT_TRUE(a.Use() && c.Use());
}

TEST_F(ViewFolderTest, WhatAJobUsesStays) {
  ViewFolder a = Make(), b = Make();
  a.Release(90);
  ASSERT_TRUE(a.Use());
  b.Release(90);
  EXPECT_TRUE(IsThere(a));
  EXPECT_FALSE(IsThere(b));
  a.Release(101);
  EXPECT_FALSE(IsThere(a)) << "one alone may be too large";
}

TEST_F(ViewFolderTest, NothingOfItIsLeftAndNothingOfADeadProcess) {
  {
    const ViewFolder a = Make();
    ViewFolder b = Make();
    ASSERT_TRUE(CreateDirectories(parent_ + "/view-dead/x").ok());
    for (const char* file : {"/view-dead.owner", "/view-dead.busy"})
      ASSERT_TRUE(WriteFileAtomic(parent_ + file, "10").ok());
    b.Release(1);
    EXPECT_FALSE(FileExists(parent_ + "/view-dead"));
  }
  int left = 0;
  for (const auto& one : std::filesystem::directory_iterator(parent_)) {
    EXPECT_EQ(one.path().filename(), "lock");
    ++left;
  }
  EXPECT_EQ(left, 1);
}

}  // namespace
}  // namespace galley::worker
