#include "worker/walls/path_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr int kLinksMax = 40;  // path_resolution(7)

}  // namespace

std::optional<std::string> LinkAt(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t count = ::readlink(path.c_str(), target.data(), target.size());
  if (count < 0) return std::nullopt;
  return std::string(target.data(), static_cast<size_t>(count));
}

absl::StatusOr<Place> PathWalk::Walk(const WaitingCall& call, int path_argument,
                                     int folder_argument, bool follows_last) const {
  ASSIGN_OR_RETURN(std::optional<std::string> path, call.ReadText(call.At(path_argument)));
  if (!path.has_value()) return Place{};
  std::string folder;
  const auto descriptor =
      folder_argument < 0 ? AT_FDCWD : static_cast<int>(call.At(folder_argument));
  if (descriptor != AT_FDCWD) {
    if (descriptor < 0) return Place{};
    folder = fmt::format("/proc/{}/fd/{}", call.process, descriptor);
  }
  // "" with AT_EMPTY_PATH names an open file. Only running it counts, since the file may have been
  // opened with O_PATH.
  if (path->empty() && folder.empty()) return Place{.is_empty = true};
  if (path->empty() && call.watched->what != WatchedCall::What::kRun)
    return Place{.is_empty = true};
  ASSIGN_OR_RETURN(Place place, WalkFrom(call, std::move(folder), *std::move(path), follows_last));
  return call.Waits() ? place : Place{};
}

absl::StatusOr<Place> PathWalk::WalkFrom(const WaitingCall& call, std::string folder,
                                         std::string path, bool follows_last) const {
  std::string at = "/";
  if (!path.starts_with('/')) {
    if (folder.empty()) folder = fmt::format("/proc/{}/cwd", call.process);
    const std::optional<std::string> begin = LinkAt(folder);
    // The descriptor is a pipe, or a deleted file.
    if (!begin.has_value() || !begin->starts_with('/')) return Place{};
    at = program_.Known(*begin);
    if (path.empty()) {
      struct stat info {};
      const bool exists = ::lstat(at.c_str(), &info) == 0;
      return Place{.path = at, .exists = exists, .is_empty = true, .mode = info.st_mode};
    }
  }
  struct stat info {};
  info.st_mode = S_IFDIR;
  int links = 0;
  std::vector<std::string> led;
  while (true) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) break;
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    const bool has_slash = end < path.size();
    path.erase(0, end);
    const bool is_last = path.find_first_not_of('/') == std::string::npos;
    if (name == ".") continue;
    if (name == "..") {
      at.erase(std::max<size_t>(at.rfind('/'), 1));
      info.st_mode = S_IFDIR;
      continue;
    }
    if (program_.IsOurs(at)) RETURN_IF_ERROR(program_.folder->FillFolder(at));
    // The link must be read for the caller, not for this process.
    if (at == "/proc" && (name == "self" || name == "thread-self"))
      name = std::to_string(call.process);
    std::string next = JoinPath(at, name);
    if (::lstat(next.c_str(), &info) != 0)
      return Place{.path = is_last ? next : "", .absent = next, .links = std::move(led)};
    if (!program_.IsOurs(next)) {
      if (std::string ours = program_.folder->PathOf(info.st_dev, info.st_ino); !ours.empty())
        next = std::move(ours);
    }
    if (S_ISLNK(info.st_mode) && (!is_last || follows_last || has_slash)) {
      const std::optional<std::string> target = LinkAt(next);
      if (!target.has_value() || ++links > kLinksMax) return Place{};
      // A descriptor's link may lead to a pipe: "pipe:[123]".
      if (at.starts_with("/proc/") && !target->starts_with('/') &&
          target->find(":[") != std::string::npos)
        return Place{};
      if (is_last && !program_.IsOurs(next)) led.push_back(next);
      path = fmt::format("{}{}{}", *target, path.empty() ? "" : "/", path);
      if (target->starts_with('/')) at.assign(1, '/');  // g++ 12 warns of = "/" (GCC bug 105651)
      info.st_mode = S_IFDIR;
      continue;
    }
    at = std::move(next);
  }
  if (program_.IsOurs(at) && S_ISDIR(info.st_mode))
    RETURN_IF_ERROR(program_.folder->FillFolder(at));
  return Place{
      .path = std::move(at), .exists = true, .mode = info.st_mode, .links = std::move(led)};
}

}  // namespace galley::worker
