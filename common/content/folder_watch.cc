#include "common/content/folder_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB |
                             IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

// statfs(2): local file systems, of which the kernel knows all changes.
bool IsLocal(uint64_t type) {
  constexpr std::array<uint64_t, 8> kLocal = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // xfs
      0x9123683E,  // btrfs
      0x01021994,  // tmpfs
      0x858458F6,  // ramfs
      0xF2F52010,  // f2fs
      0x2FC12FC1,  // zfs
      0x794C7630,  // overlayfs (nobody may write to its lower folders)
  };
  return std::ranges::find(kLocal, type) != kLocal.end();
}

// "\040" is a space in /proc/self/mountinfo.
std::string Unescaped(std::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                (text[i + 3] - '0'));
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

// A line of /proc/self/mountinfo: "36 35 98:0 /root/of/mount /mount/point rw,noatime ...".
std::set<MountedAt> ReadMounts() {
  std::set<MountedAt> mounts;
  const absl::StatusOr<std::string> text = ReadFile("/proc/self/mountinfo", 64 << 20);
  if (!text.ok()) return mounts;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string number, parent, device, root, point;
    if (fields >> number >> parent >> device >> root >> point)
      mounts.emplace(Unescaped(point), std::move(line));
  }
  return mounts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderWatch>> FolderWatch::Open(Options options) {
  auto watch = std::unique_ptr<FolderWatch>(new FolderWatch(std::move(options)));
  RETURN_IF_ERROR(watch->Start());
  return watch;
}

absl::Status FolderWatch::Start() {
  RETURN_IF_ERROR(MakeOwnFolder(options_.cookie_folder));
  inotify_ = FileDescriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_.valid()) return UnavailableError("inotify_init1: {}", std::strerror(errno));
  mounts_ = FileDescriptor(::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC));
  {
    const base::MutexLock lock(mutex_);
    mounted_ = ReadMounts();
    cookie_watch_ =
        ::inotify_add_watch(inotify_.get(), options_.cookie_folder.c_str(), IN_CREATE | IN_ONLYDIR);
    if (cookie_watch_ < 0) {
      return UnavailableError("{}: {}", options_.cookie_folder, std::strerror(errno));
    }
  }
  return Take().status();
}

absl::Status FolderWatch::Add(const std::string& folder) {
  const base::MutexLock lock(mutex_);
  const auto known = folders_.find(folder);
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0) return ErrnoStatus(errno, "look at", folder);
  if (!IsLocal(static_cast<uint64_t>(system.f_type))) {
    return FailedPreconditionError(
        "{} is on a file system (type {:#x}) that does not tell of all changes", folder,
        static_cast<uint64_t>(system.f_type));
  }
  // The watch is asked for again each time: the path may lead to another folder by now, and nobody
  // said so.
  const bool is_too_many = known == folders_.end() && folders_.size() >= options_.folders_max;
  const int watch = is_too_many ? (errno = ENOSPC, -1)
                                : ::inotify_add_watch(inotify_.get(), folder.c_str(),
                                                      kEvents | IN_ONLYDIR | IN_EXCL_UNLINK);
  if (watch < 0 && errno == ENOSPC) {
    return ResourceExhaustedError(
        "the kernel watches no more folders than the {} that are watched now: raise "
        "fs.inotify.max_user_watches (sysctl)",
        folders_.size());
  }
  if (watch < 0) return ErrnoStatus(errno, "watch", folder);
  if (known != folders_.end()) {
    if (known->second == watch) return absl::OkStatus();
    ::inotify_rm_watch(inotify_.get(), known->second);
    by_watch_.erase(known->second);
    folders_.erase(known);
  }
  if (const auto other = by_watch_.find(watch); other != by_watch_.end()) {
    // A link or a mount gives one folder two paths, or the folder was moved here.
    const absl::StatusOr<FileStat> there = StatFile(other->second), here = StatFile(folder);
    if (there.ok() && here.ok() && there->inode == here->inode && there->device == here->device)
      return FailedPreconditionError("{} and {} are one folder", other->second, folder);
    folders_.erase(other->second);
  }
  by_watch_[watch] = folder;
  folders_[folder] = watch;
  return absl::OkStatus();
}

bool FolderWatch::Watches(std::string_view folder) const {
  const base::MutexLock lock(mutex_);
  return folders_.contains(folder);
}

size_t FolderWatch::size() const {
  const base::MutexLock lock(mutex_);
  return folders_.size();
}

absl::Status FolderWatch::WriteCookie() {
  cookie_ = fmt::format("{}", ++cookies_);
  const std::string path = JoinPath(options_.cookie_folder, cookie_);
  const FileDescriptor file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.valid()) return UnavailableError("{}: {}", path, std::strerror(errno));
  ::unlink(path.c_str());
  return absl::OkStatus();
}

absl::StatusOr<FolderWatch::Changes> FolderWatch::Take() {
  const base::MutexLock lock(mutex_);
  Changes changes;
  RETURN_IF_ERROR(WriteCookie());
  const absl::Time until = absl::Now() + options_.cookie_max;
  while (!Read(changes)) {
    const absl::Duration left = until - absl::Now();
    pollfd ready{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
    if (left <= absl::ZeroDuration() ||
        ::poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1) == 0) {
      if (left > absl::ZeroDuration()) continue;
      return absl::UnavailableError("the system tells nothing of what changes in folders");
    }
  }
  // POLLERR says that something was mounted, or unmounted, since the last time.
  pollfd mounts{.fd = mounts_.get(), .events = POLLPRI, .revents = 0};
  if (!mounts_.valid() || (::poll(&mounts, 1, 0) > 0 && HasOtherMounts())) changes.is_all = true;
  std::ranges::sort(changes.folders);
  changes.folders.erase(std::unique(changes.folders.begin(), changes.folders.end()),
                        changes.folders.end());
  for (auto& [path, entry] : entries_) changes.entries.push_back(std::move(entry));
  entries_.clear();
  return changes;
}

// Mounts elsewhere, as `galley mount` and the machine's other users make them, change nothing here.
// Near ones are at, above or below a watched folder, whose path may lead through links.
bool FolderWatch::HasOtherMounts() {
  std::set<MountedAt> now = ReadMounts();
  std::vector<MountedAt> differing;
  std::ranges::set_symmetric_difference(now, mounted_, std::back_inserter(differing));
  mounted_ = std::move(now);
  if (mounted_.empty()) return true;  // nobody knows
  // A mount that is replaced may look as the one before, and one that came and went elsewhere looks
  // like nothing. At a watched folder and above it the user compares inodes.
  const bool is_replaced = differing.empty();
  if (is_replaced) differing.assign(mounted_.begin(), mounted_.end());
  const std::vector<std::string> tops = RealTops();
  return std::ranges::any_of(differing, [&](const MountedAt& one) {
    const std::string& point = one.first;
    return std::ranges::any_of(tops, [&](const std::string& top) {
      return is_replaced ? point != top && IsUnder(point, top)
                         : IsUnder(point, top) || IsUnder(top, point);
    });
  });
}

// The watched folders that lie in no other one, as the kernel names them.
std::vector<std::string> FolderWatch::RealTops() const {
  std::vector<std::string> tops;
  for (const auto& [folder, watch] : folders_) {
    if (folders_.contains(std::string_view(folder).substr(0, folder.rfind('/')))) continue;
    char* const real = ::realpath(folder.c_str(), nullptr);
    tops.emplace_back(real == nullptr ? folder : real);
    std::free(real);
  }
  return tops;
}

bool FolderWatch::Wait(absl::Duration limit) const {
  pollfd ready{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(limit))) > 0;
}

// True: the cookie came, or events were lost.
bool FolderWatch::Read(Changes& changes) {
  alignas(inotify_event) std::array<char, 64 << 10> buffer;
  bool is_done = false;
  while (true) {
    const ssize_t count = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (count <= 0) return is_done;
    for (ssize_t at = 0; at < count;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      const char* const name = buffer.data() + at + sizeof(event);
      at += static_cast<ssize_t>(sizeof(event) + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changes.is_all = is_done = true;
        continue;
      }
      if (event.wd == cookie_watch_) {
        is_done |= event.len > 0 && cookie_ == name;
        continue;
      }
      const auto watched = by_watch_.find(event.wd);
      if (watched == by_watch_.end()) continue;
      const std::string folder = watched->second;
      changes.folders.push_back(folder);
      if (options_.has_entries) {
        const bool is_of_folder = event.len == 0;
        NoteEntry(is_of_folder ? folder : JoinPath(folder, name),
                  is_of_folder ? event.mask | IN_ISDIR : event.mask);
      }
      if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) != 0)
        Drop(folder, changes);
    }
  }
}

// A file that is made by a link or a rename is never closed: then only the kind of event tells.
void FolderWatch::NoteEntry(const std::string& path, uint32_t mask) {
  Changes::Entry& entry = entries_[path];
  entry.path = path;
  entry.is_folder = (mask & IN_ISDIR) != 0;
  const bool is_written = (mask & (IN_CREATE | IN_MODIFY)) != 0;
  const bool is_over = (mask & (IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)) != 0;
  if (is_written || is_over) entry.is_being_written = is_written && !entry.is_folder;
}

// `folder` and the folders below it are not at their paths any more: their watches end.
void FolderWatch::Drop(const std::string& folder, Changes& changes) {
  const std::string below = folder + "/";
  for (auto at = folders_.lower_bound(folder); at != folders_.end();) {
    if (at->first != folder && !at->first.starts_with(below)) {
      if (at->first > below && !at->first.starts_with(folder)) break;
      ++at;
      continue;
    }
    changes.folders.push_back(at->first);
    ::inotify_rm_watch(inotify_.get(), at->second);
    by_watch_.erase(at->second);
    at = folders_.erase(at);
  }
}

std::vector<std::string> MountsBelow(const std::string& folder) {
  std::vector<std::string> below;
  for (const auto& [point, line] : ReadMounts()) {
    if (point.starts_with(folder + "/")) below.push_back(point);
  }
  std::ranges::sort(below);
  return below;
}

}  // namespace galley::content
