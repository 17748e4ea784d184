#include "director/mount/mount_point.h"

#include <dirent.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "absl/strings/str_split.h"
#include "common/base/child_process.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::mount {
namespace {

constexpr std::string_view kType = "fuse.galley";

std::optional<std::string> RealPathOf(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

// The real path of a folder that cannot be looked at itself, by the folder above it.
std::string RealPathBeside(const std::string& path) {
  std::string plain = AbsolutePath(path);
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  const size_t slash = plain.rfind('/');
  const auto above = RealPathOf(slash == 0 ? "/" : plain.substr(0, slash));
  return above ? JoinPath(*above, plain.substr(slash + 1)) : plain;
}

// Undoes the \ooo of /proc/self/mountinfo.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// The type of what is mounted last at the folder; nullopt: nothing is. Source: proc(5).
std::optional<std::string> MountedAt(const std::string& folder) {
  std::optional<std::string> type;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    size_t dash = 6;
    while (dash < fields.size() && fields[dash] != "-") ++dash;
    if (dash + 1 < fields.size() && Unescaped(fields[4]) == folder) type = fields[dash + 1];
  }
  return type;
}

bool IsIn(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

absl::Status Unmount(const std::string& folder) {
  if (::umount2(folder.c_str(), MNT_DETACH) == 0) return absl::OkStatus();
  const int reason = errno;
  auto helper = ChildProcess::Start({.argv = {"/usr/bin/fusermount3", "-u", "-z", folder}});
  if (helper.ok() && helper->Wait().ok()) return absl::OkStatus();
  return UnavailableError(
      "{} is the mount of a process that is gone, and cannot be taken away: {}; run `fusermount3 "
      "-u "
      "-z {}`, or `umount -l` as root",
      folder, std::strerror(reason), folder);
}

}  // namespace

absl::StatusOr<bool> CleanStaleMount(const std::string& folder) {
  const std::string path = RealPathBeside(folder);
  const std::optional<std::string> type = MountedAt(path);
  if (!type) return false;
  // The kernel may still know attributes of a mount whose process is gone; it does not know this.
  struct statfs figures {};
  const bool is_gone = ::statfs(path.c_str(), &figures) != 0 && errno == ENOTCONN;
  if (*type == kType && is_gone) {
    RETURN_IF_ERROR(Unmount(path));
    return true;
  }
  if (*type == kType) {
    return FailedPreconditionError(
        "{} is the mount point of a `galley mount` that runs: end it first (Ctrl-C, or SIGTERM)",
        path);
  }
  return false;  // any other file system may be mounted upon
}

absl::StatusOr<std::string> CheckMountPoint(const std::string& folder,
                                            const std::vector<ForbiddenFolder>& forbidden) {
  const std::optional<std::string> real = RealPathOf(folder);
  struct stat stat {};
  if (!real || ::stat(real->c_str(), &stat) != 0) {
    return FailedPreconditionError("{} cannot be mounted upon: {}; make the folder first", folder,
                                   std::strerror(errno));
  }
  if (!S_ISDIR(stat.st_mode)) return FailedPreconditionError("{} is no folder", *real);
  for (const ForbiddenFolder& one : forbidden) {
    const std::string other = RealPathOf(one.path).value_or(one.path);
    if (!IsIn(*real, other) && !IsIn(other, *real)) continue;
    return FailedPreconditionError("{} {} {} ({}): name a folder elsewhere", *real,
                                   IsIn(*real, other) ? "lies in" : "lies around", one.what, other);
  }
  for (std::string above = *real; above.size() > 1; above.resize(above.rfind('/'))) {
    if (::access(JoinPath(above, kMarkerFile).c_str(), F_OK) == 0) {
      return FailedPreconditionError(
          "{} lies in a sandbox of cooked files ({}): name a folder "
          "elsewhere",
          *real, above);
    }
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(real->c_str()), &::closedir);
  if (names == nullptr)
    return FailedPreconditionError("{} cannot be read: {}", *real, std::strerror(errno));
  while (const dirent* entry = ::readdir(names.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    return FailedPreconditionError(
        "{} is not empty, and nobody could see what is in it: name an "
        "empty folder",
        *real);
  }
  return *real;
}

}  // namespace galley::mount
