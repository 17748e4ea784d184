#include "common/base/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace galley {
namespace {

// The exit code of a child that closes these descriptors, has them opened, and then opens a file:
// the file's number.
int NextNumberAfterClosing(std::initializer_list<int> closed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(3);
    for (const int fd : closed) ::close(fd);
    OpenStandardDescriptors();
    for (const int fd : closed) {
      if (::write(fd, "x", 1) != -1) ::_exit(100);
    }
    ::_exit(::open("/", O_RDONLY));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardDescriptorsTest, AreThereWhateverACallerClosed) {
  EXPECT_EQ(NextNumberAfterClosing({}), 3);
  EXPECT_EQ(NextNumberAfterClosing({1}), 3);
  EXPECT_EQ(NextNumberAfterClosing({1, 2}), 3);
  EXPECT_EQ(NextNumberAfterClosing({0, 2}), 3);
  EXPECT_EQ(NextNumberAfterClosing({0, 1, 2}), 3);
}

}  // namespace
}  // namespace galley
