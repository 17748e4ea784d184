#include "common/base/temporary_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "gtest/gtest.h"

namespace galley {
namespace {

class TemporaryFolderTest : public ::testing::Test {
 protected:
  TemporaryFolderTest() : parent_(*MakeTemporaryDirectory(::testing::TempDir(), "parent-")) {}
  ~TemporaryFolderTest() override { RemoveAll(parent_).IgnoreError(); }
  const std::string parent_;
};

TEST_F(TemporaryFolderTest, ItGoesWithItsOwner) {
  std::string path;
  {
    const auto folder = TemporaryFolder::Make(parent_, "cook-");
    ASSERT_TRUE(folder.ok());
    path = folder->path();
    std::ofstream(path + "/file") << "x";
    EXPECT_TRUE(FileExists(path));
  }
  EXPECT_FALSE(FileExists(path));
}

TEST_F(TemporaryFolderTest, ThatOfALivingOwnerStays) {
  const auto first = TemporaryFolder::Make(parent_, "cook-");
  const auto second = TemporaryFolder::Make(parent_, "cook-");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
  EXPECT_TRUE(FileExists(first->path()));
}

TEST_F(TemporaryFolderTest, WhereThereAreNoLocksItWorksAndNobodyRemovesAnothers) {
  for (const TemporaryFolder::LockFunction none : {+[](int, int) { return errno = ENOLCK, -1; },
                                                   +[](int, int) { return errno = EBADF, -1; }}) {
    std::string path;
    {
      auto first = TemporaryFolder::Make(parent_, "cook-", none);
      ASSERT_TRUE(first.ok()) << first.status();
      const TemporaryFolder moved = *std::move(first);
      path = moved.path();
      const auto second = TemporaryFolder::Make(parent_, "cook-", none);
      ASSERT_TRUE(second.ok());
      EXPECT_NE(second->path(), path);
      EXPECT_TRUE(FileExists(path));
    }
    EXPECT_FALSE(FileExists(path));
  }
}

TEST_F(TemporaryFolderTest, WhatAKilledOwnerLeftIsRemovedByTheNext) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = TemporaryFolder::Make(parent_, "cook-");
    const std::string path = folder.ok() ? folder->path() : "none";
    std::ofstream(path + "/file") << "x" << std::flush;
    (void)!::write(ends[1], path.data(), path.size());
    ::pause();
  }
  char text[4096];
  const ssize_t size = ::read(ends[0], text, sizeof(text));
  ASSERT_GT(size, 0);
  const std::string left(text, static_cast<size_t>(size));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(FileExists(left + "/file"));
  ASSERT_TRUE(CreateDirectories(parent_ + "/other-1").ok());
  const auto next = TemporaryFolder::Make(parent_, "cook-");
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(FileExists(left));
  EXPECT_TRUE(FileExists(parent_ + "/other-1")) << "of another kind";
}

}  // namespace
}  // namespace galley
