#include "director/launch/worker_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <string_view>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kTokenSize = 64;  // hex digits

}  // namespace

std::string NewToken() {
  std::random_device random;
  std::string token;
  while (token.size() < kTokenSize) token += fmt::format("{:08x}", random());
  return token;
}

absl::StatusOr<std::string> KeptToken(const std::string& file) {
  const absl::StatusOr<FileStat> stat = StatFile(file, /*follow_links=*/false);
  if (stat.ok()) {
    if (!S_ISREG(stat->mode) || (stat->mode & 077) != 0) {
      return FailedPreconditionError(
          "{}: others than its owner may read this token: delete the file (a new one is "
          "made), or `chmod 600` it",
          file);
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    const std::string_view token = std::string_view(text).substr(0, text.find('\n'));
    if (token.size() == kTokenSize) return std::string(token);
    ::unlink(file.c_str());  // the write was cut short
  } else if (!absl::IsNotFound(stat.status())) {
    return stat.status();
  }
  const std::string token = NewToken();
  const FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.valid()) return ErrnoStatus(errno, "create", file);
  RETURN_IF_ERROR(WriteAll(made.get(), token + "\n", file));
  return token;
}

}  // namespace galley::director
