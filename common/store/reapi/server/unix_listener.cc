#include "common/store/reapi/server/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr int kTries = 3;

// nullopt: a path that is too long for a socket.
std::optional<sockaddr_un> SocketAddress(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whether somebody listens there; also who has no room or no leave for us.
bool IsAnswered(const std::string& path) {
  const std::optional<sockaddr_un> address = SocketAddress(path);
  const FileDescriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!address || !client.valid()) return false;
  const bool is_met =
      ::connect(client.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0;
  return is_met || (errno != ECONNREFUSED && errno != ENOENT);
}

absl::Status TakenError(const std::string& path) {
  return UnavailableError(
      "unix:{} cannot be listened on: another server listens there: end it, or take another path",
      path);
}

// Removes the socket of a server that is dead. Another may put its own there meanwhile: what was
// moved aside is asked once more, and given back when it lives.
absl::Status RemoveStale(const std::string& path, const std::string& aside) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) {
    return FailedPreconditionError(
        "unix:{}: expected a socket or nothing: remove what is there, or take another path", path);
  }
  if (IsAnswered(path)) return TakenError(path);
  if (::rename(path.c_str(), aside.c_str()) != 0)
    return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, "remove", path);
  const bool is_alive = IsAnswered(aside);
  if (is_alive && ::link(aside.c_str(), path.c_str()) != 0)
    return ErrnoStatus(errno, "give back", path);
  ::unlink(aside.c_str());
  return is_alive ? TakenError(path) : absl::OkStatus();
}

std::string WhyNotAtPath(const std::string& path) {
  const std::optional<sockaddr_un> address = SocketAddress(path);
  if (!address) return "the path is too long for a socket";
  const FileDescriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server.valid() ||
      ::bind(server.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0)
    return std::strerror(errno);
  ::unlink(path.c_str());
  return "";
}

}  // namespace

std::string PathOfUnixAddress(std::string_view address) {
  address.remove_prefix(kUnix.size());
  if (address.starts_with("//")) address.remove_prefix(2);
  return std::string(address);
}

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Prepare(std::string path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  // Short: a socket's path has 107 bytes.
  std::string bind_path = fmt::format("{}.{:08x}", folder, std::random_device()());
  RETURN_IF_ERROR(RemoveStale(path, bind_path + "~"));
  if (const std::string why = WhyNotAtPath(bind_path); !why.empty())
    return UnavailableError("unix:{} cannot be listened on: {}", path, why);
  return std::unique_ptr<UnixListener>(new UnixListener(std::move(path), std::move(bind_path)));
}

absl::Status UnixListener::Publish() {
  struct stat own {};
  if (::lstat(bind_path_.c_str(), &own) != 0) return ErrnoStatus(errno, "look at", bind_path_);
  for (int i = 0; i < kTries; ++i) {
    if (::link(bind_path_.c_str(), path_.c_str()) == 0) {
      device_ = own.st_dev;
      inode_ = own.st_ino;
      ::unlink(bind_path_.c_str());
      return absl::OkStatus();
    }
    if (errno != EEXIST) return ErrnoStatus(errno, "make", path_);
    RETURN_IF_ERROR(RemoveStale(path_, bind_path_ + "~"));
  }
  return TakenError(path_);
}

UnixListener::~UnixListener() {
  ::unlink(bind_path_.c_str());
  struct stat found {};
  if (inode_ != 0 && ::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_ &&
      found.st_dev == device_)
    ::unlink(path_.c_str());
}

}  // namespace galley::store
