#include "common/base/standard_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>

namespace galley {

absl::Status FlushStandardOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0) return absl::OkStatus();
  return absl::InternalError(
      HasStandardOutput()
          ? "standard output could not be written: not all was printed; is there space where it "
            "goes?"
          : "standard output is closed: nothing was printed; send it somewhere, to /dev/null if "
            "it is not wanted");
}

bool HasStandardOutput() { return ::fcntl(STDOUT_FILENO, F_GETFD) >= 0; }

}  // namespace galley
