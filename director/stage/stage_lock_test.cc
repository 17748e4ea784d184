#include "director/stage/stage_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace galley::director {
namespace {

TEST(StageLockTest, TheHolderOfALockIsNamed) {
  const std::string folder = *MakeTemporaryDirectory("/tmp", "stage-lock-");
  EXPECT_EQ(LockHolder(folder), std::nullopt);
  {
    const FileDescriptor lock = LockSandbox(folder, [] { return false; }).value();
    EXPECT_EQ(LockHolder(folder),
              FileExists("/proc/locks") ? std::optional(::getpid()) : std::nullopt);
    EXPECT_EQ(LockHolder(folder + "/other"), std::nullopt);
  }
  EXPECT_EQ(LockHolder(folder), std::nullopt);
  RemoveAll(folder).IgnoreError();
}

}  // namespace
}  // namespace galley::director
