#include "worker/walls/noted_looks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/errors.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

// Above this number, threads are dropped that have ended since their last call.
constexpr size_t kMakingMax = 256;

// Paths that are not noted: they differ between processes or machines, are the same everywhere, or
// only help programs to find files that are noted themselves.
constexpr std::string_view kNotNoted[] = {"/proc/", "/sys/", "/dev/", "/selinux",
                                          "/etc/ld.so.cache"};
constexpr std::string_view kTemporary[] = {"/tmp", "/var/tmp"};

bool IsThere(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Looks::Found FoundOf(uint32_t mode) {
  if (S_ISREG(mode)) return Looks::Found::kFile;
  return S_ISDIR(mode) ? Looks::Found::kFolder : Looks::Found::kOther;
}

}  // namespace

bool NotedLooks::IsOwn(std::string_view path) {
  if (IsBelow(path, program_.own)) return true;
  // A call of another thread may have made `path` or a folder around it.
  for (auto at = making_.begin(); at != making_.end();) {
    const auto making = at++;
    if (!IsBelow(path, making->second) || !IsThere(making->second)) continue;
    made_.insert(std::move(making->second));
    making_.erase(making);
  }
  for (; path.size() > 1 && !made_.empty(); path = path.substr(0, path.rfind('/'))) {
    if (made_.contains(path)) return true;
  }
  return false;
}

void NotedLooks::Makes(pid_t thread, const Place& place) {
  if (place.exists || place.path.empty() || IsOwn(place.path) || made_.size() >= Looks::kMax)
    return;
  making_.insert_or_assign(thread, place.path);
  if (making_.size() <= kMakingMax) return;
  for (auto at = making_.begin(); at != making_.end();) {
    const auto making = at++;
    if (::access(fmt::format("/proc/{}", making->first).c_str(), F_OK) != 0) End(making);
  }
}

void NotedLooks::EndCallOf(pid_t thread) {
  if (const auto before = making_.find(thread); before != making_.end()) End(before);
}

void NotedLooks::End(Making::iterator making) {
  std::string path = std::move(making->second);
  making_.erase(making);
  if (IsThere(path)) {
    made_.insert(std::move(path));
  } else {
    NoteOne(path, Looks::Found::kAbsent, false);
  }
}

const Looks& NotedLooks::All() {
  while (!making_.empty()) End(making_.begin());
  return looks_;
}

void NotedLooks::Note(const Place& place, bool is_opened) {
  Looks::Found found = place.exists ? FoundOf(place.mode) : Looks::Found::kAbsent;
  struct stat led_to {};
  if (place.exists && S_ISLNK(place.mode))
    found =
        ::stat(place.path.c_str(), &led_to) == 0 ? FoundOf(led_to.st_mode) : Looks::Found::kAbsent;
  const std::string& path = place.exists ? place.path : place.absent;
  if (!path.empty()) NoteOne(path, found, is_opened);
  for (const std::string& link : place.links) NoteOne(link, found, false);
}

void NotedLooks::NoteOne(const std::string& path, Looks::Found found, bool is_opened) {
  if (IsOwn(path)) return;
  // Files that are in our folder are on the project's machine, too; only their bytes may differ.
  if (program_.IsOurs(path) && found != Looks::Found::kAbsent && !is_opened) return;
  if (std::any_of(std::begin(kNotNoted), std::end(kNotNoted),
                  [&](std::string_view one) { return path.starts_with(one); }))
    return;
  // Everybody has these folders, or they lead to the place where the program runs.
  const bool is_everywhere =
      path.find('/', 1) == std::string::npos || IsBelow(program_.own, path) ||
      IsBelow(program_.folder->root(), path) || IsBelow(program_.tools, path) ||
      std::find(std::begin(kTemporary), std::end(kTemporary), path) != std::end(kTemporary);
  if (found == Looks::Found::kFolder && is_everywhere && !is_opened) return;
  if (looks_.found.size() >= Looks::kMax && !looks_.found.contains(path)) {
    if (error_.ok())
      error_ = FailedPreconditionError("its program looks at more than {} files", Looks::kMax);
    return;
  }
  looks_.found.try_emplace(path, found);
  if (is_opened) looks_.opened.insert(path);
}

}  // namespace galley::worker
