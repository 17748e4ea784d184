#include "common/store/owner/socket_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr uint64_t kFileBytesMax = 4096;

std::optional<std::string> ReadSocketPath(const std::string& directory) {
  const absl::StatusOr<std::string> text =
      ReadFile(JoinPath(directory, "store.sock.path"), kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  const std::string path = text->substr(0, text->find('\n'));
  const bool is_whole = *text == EncodeSocketPath(path) || *text == path + "\n";
  return is_whole && path.ends_with("/store.sock") ? std::optional(path) : std::nullopt;
}

}  // namespace

bool FitsSocket(std::string_view folder) {
  return folder.size() +
             std::max(kSocketBindingName.size(), std::string_view("/store.sock").size()) <=
         kSocketPathBytesMax;
}

std::vector<std::string> ShortSocketFolders(std::string_view directory) {
  const std::string name =
      fmt::format("galley-{}-{}", ::getuid(), Digest::Of(directory).hex().substr(0, 16));
  std::vector<std::string> folders;
  const char* runtime = ::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') folders.push_back(JoinPath(runtime, name));
  folders.push_back(JoinPath("/tmp", name));
  folders.push_back(JoinPath(fmt::format("/run/user/{}", ::getuid()), name));
  std::erase_if(folders, [](const std::string& folder) { return !FitsSocket(folder); });
  return folders;
}

absl::Status CheckSocketFolder(const std::string& folder) {
  struct stat s {};
  if (::lstat(folder.c_str(), &s) != 0) return ErrnoStatus(errno, "stat", folder);
  if (S_ISDIR(s.st_mode) && s.st_uid == ::getuid() && (s.st_mode & 077) == 0)
    return absl::OkStatus();
  return PermissionDeniedError("{} should be a folder of this user with mode 0700: remove it",
                               folder);
}

std::string EncodeSocketPath(std::string_view path) {
  return fmt::format("{}\nsum {}\n", path, Digest::Of(path).hex());
}

std::string SocketPath(const std::string& directory) {
  if (const auto path = ReadSocketPath(directory); path.has_value()) return *path;
  const std::string inside = JoinPath(directory, "store.sock");
  if (FitsSocket(directory)) return inside;
  for (const std::string& folder : ShortSocketFolders(directory)) {
    std::string path = JoinPath(folder, "store.sock");
    if (CheckSocketFolder(folder).ok() && FileExists(path)) return path;
  }
  return inside;
}

}  // namespace galley::store
