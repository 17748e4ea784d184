#include "director/stage/stage_lock.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "fmt/format.h"

namespace galley::director {
namespace {

TEST(StageLockTest, TheHolderOfALockIsNamed) {
  const std::string folder = *MakeTemporaryDirectory("/tmp", "stage-lock-");
  EXPECT_EQ(LockHolder(folder), std::nullopt);
  {
    const FileDescriptor lock = LockSandbox(folder, [] { return false; }).value();
    const auto stat = StatFile(folder);
    ASSERT_TRUE(stat.ok());
    std::ostringstream locks;
    locks << std::ifstream("/proc/locks").rdbuf();
    // Some file systems show other numbers there.
    const std::string place =
        fmt::format("{:02x}:{:02x}:{} ", major(stat->device), minor(stat->device), stat->inode);
    const bool is_listed = locks.str().find(place) != std::string::npos;
    EXPECT_EQ(LockHolder(folder), is_listed ? std::optional(::getpid()) : std::nullopt);
    EXPECT_EQ(LockHolder(folder + "/other"), std::nullopt);
  }
  EXPECT_EQ(LockHolder(folder), std::nullopt);
  RemoveAll(folder).IgnoreError();
}

}  // namespace
}  // namespace galley::director
