#include "common/base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace galley {

void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one. Printing still fails, and the failure is seen.
    if (::open("/dev/null", O_RDONLY) != fd) std::abort();
  }
}

}  // namespace galley
