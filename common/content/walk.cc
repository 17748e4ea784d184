#include "common/content/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/base/errors.h"
#include "common/base/from_stat.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The folders that lead to a folder, to notice a link that leads back.
struct Ancestor {
  std::shared_ptr<const Ancestor> parent;
  uint64_t device = 0;
  uint64_t inode = 0;
};

struct Folder {
  uint32_t mount = 0;
  std::string path;       // virtual
  std::string host_path;  // as shown in messages and opened
  std::string real_path;  // without links
  std::shared_ptr<const Ancestor> ancestors;
  int links = 0;         // links to folders on the way here
  bool is_link = false;  // it is one itself
};

int64_t NowNanos(Clock& clock) { return absl::ToUnixNanos(clock.Now()); }

std::optional<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

bool HasAncestor(const Ancestor* ancestor, const FileStat& stat) {
  for (; ancestor != nullptr; ancestor = ancestor->parent.get()) {
    if (ancestor->device == stat.device && ancestor->inode == stat.inode) return true;
  }
  return false;
}

std::string_view OddKind(uint32_t mode) {
  if (S_ISFIFO(mode)) return "a pipe (FIFO)";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISCHR(mode)) return "a character device";
  return "neither a file nor a folder";
}

class Walker {
 public:
  explicit Walker(const WalkOptions& options) : options_(options) {}

  absl::StatusOr<std::vector<SeenFile>> Run() {
    for (uint32_t i = 0; i < options_.mounts.size(); ++i) RETURN_IF_ERROR(PushMount(i));
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const unsigned count = options_.targets.empty()
                               ? (options_.threads > 0 ? options_.threads : std::min(cores, 8u))
                               : 1;
    std::vector<std::vector<SeenFile>> seen(count);
    RunOnThreads(count, [this, &seen](size_t i) { Work(seen[i]); });
    if (IsStopped()) return absl::CancelledError("the files are not looked at to the end");
    if (files_ > kFilesMax) {
      return ResourceExhaustedError(
          "the mounts hold more than {} files; do links to folders multiply them?", kFilesMax);
    }
    std::vector<SeenFile> all = std::move(seen[0]);
    for (unsigned i = 1; i < count; ++i)
      std::move(seen[i].begin(), seen[i].end(), std::back_inserter(all));
    return all;
  }

 private:
  bool IsStopped() const { return options_.stop != nullptr && options_.stop->is_cancelled(); }

  absl::Status PushMount(uint32_t index) {
    const Mount& mount = options_.mounts[index];
    const absl::StatusOr<FileStat> stat = StatFile(mount.directory);
    const std::optional<std::string> real = RealPath(mount.directory);
    if (!stat.ok() || !real || !S_ISDIR(stat->mode)) {
      return InvalidArgumentError("mount {}: {} is not a folder{}", mount.path, mount.directory,
                                  stat.ok() ? "" : " (" + MessageOf(stat.status()) + ")");
    }
    roots_.push_back(*real);
    if (!MayHoldTarget(mount.path) || options_.ignore.ExcludesDirectory(*real))
      return absl::OkStatus();
    auto self = std::make_shared<Ancestor>(Ancestor{nullptr, stat->device, stat->inode});
    const absl::StatusOr<FileStat> link = StatFile(mount.directory, /*follow_links=*/false);
    Push({index, mount.path, mount.directory, *real, std::move(self), 0,
          link.ok() && S_ISLNK(link->mode)});
    return absl::OkStatus();
  }

  // True when a target is `path`, in it or above it.
  bool MayHoldTarget(std::string_view path) const {
    return options_.targets.empty() ||
           std::ranges::any_of(options_.targets, [&](const std::string& target) {
             return IsUnder(target, path) || IsUnder(path, target);
           });
  }

  void Push(Folder folder) GALLEY_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    queue_.push_back(std::move(folder));
    ready_.NotifyOne();
  }

  void Work(std::vector<SeenFile>& seen) GALLEY_EXCLUDES(mutex_) {
    while (std::optional<Folder> folder = Pop()) {
      LookInto(*folder, seen);
      const base::MutexLock lock(mutex_);
      if (--busy_ == 0 && queue_.empty()) ready_.NotifyAll();
    }
  }

  // The next folder; nullopt when none is left and none can come.
  std::optional<Folder> Pop() GALLEY_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    while (queue_.empty() && busy_ > 0) ready_.Wait(mutex_);
    if (queue_.empty() || files_ > kFilesMax || IsStopped()) {
      ready_.NotifyAll();
      return std::nullopt;
    }
    Folder folder = std::move(queue_.back());
    queue_.pop_back();
    ++busy_;
    return folder;
  }

  void LookInto(const Folder& folder, std::vector<SeenFile>& seen) {
    FileDescriptor file(::open(folder.host_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::unique_ptr<DIR, DirectoryCloser> directory;
    if (file.valid()) {
      directory.reset(::fdopendir(file.get()));
      if (directory) file.Release();
    }
    if (!directory) {
      if (errno != ENOENT) return AddError(folder, "cannot read the folder", errno, seen);
      return Note({.host_path = folder.host_path});  // gone since it was listed
    }
    const int fd = ::dirfd(directory.get());
    if (const std::optional<std::set<std::string>> names = NamesToTargets(folder)) {
      if (::faccessat(fd, kSandboxFile.data(), F_OK, AT_SYMLINK_NOFOLLOW) == 0 && Leaves(folder))
        return;
      for (const std::string& name : *names) LookAt(folder, fd, name, seen);
      return;
    }
    SeenFolder looked{.host_path = folder.host_path,
                      .seen_ns = NowNanos(options_.clock),
                      .is_link = folder.is_link};
    struct stat raw {};
    if (::fstat(fd, &raw) == 0) looked.stat = FromStat(raw);
    std::vector<std::string> names;
    bool is_sandbox = false;
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      is_sandbox |= name == kSandboxFile;
      errno = 0;
    }
    if (errno != 0) {
      AddError(folder, "cannot read the whole folder", errno, seen);
      return;
    }
    looked.names = HashOfNames({names.begin(), names.end()});
    is_sandbox = is_sandbox || IsMountOfGalley(folder, looked.stat, fd);
    looked.is_sandbox = is_sandbox && Leaves(folder);
    if (looked.is_sandbox) return Note(std::move(looked));
    bool is_whole = true;
    for (const std::string& name : names) {
      if (IsStopped()) return;
      is_whole &= LookAt(folder, fd, name, seen);
    }
    if (!is_whole) looked.stat = FileStat();
    Note(std::move(looked));
  }

  // A mount of cooked files (`galley mount`) has the file of sandboxes, and does not list it.
  static bool IsMountOfGalley(const Folder& folder, const FileStat& stat, int fd) {
    const Ancestor* const above =
        folder.ancestors == nullptr ? nullptr : folder.ancestors->parent.get();
    return above != nullptr && above->device != stat.device &&
           ::faccessat(fd, kSandboxFile.data(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  void Note(SeenFolder folder) GALLEY_EXCLUDES(mutex_) {
    if (options_.folders == nullptr) return;
    const base::MutexLock lock(mutex_);
    options_.folders->push_back(std::move(folder));
  }

  // A folder that is a sandbox is not looked into. A folder that a mount names is looked into,
  // whatever it is.
  bool Leaves(const Folder& folder) GALLEY_EXCLUDES(mutex_) {
    if (options_.sandboxes == nullptr || folder.path == options_.mounts[folder.mount].path)
      return false;
    const base::MutexLock lock(mutex_);
    options_.sandboxes->push_back(folder.host_path);
    return true;
  }

  // The next segments on the way to the targets; nullopt when a target is this folder or above it:
  // then all is looked at.
  std::optional<std::set<std::string>> NamesToTargets(const Folder& folder) const {
    if (options_.targets.empty()) return std::nullopt;
    std::set<std::string> names;
    for (const std::string& target : options_.targets) {
      if (IsUnder(folder.path, target)) return std::nullopt;
      if (!IsUnder(target, folder.path)) continue;
      const size_t begin = folder.path.size() + 1;
      names.insert(target.substr(begin, target.find('/', begin) - begin));
    }
    return names;
  }

  // False: it is gone since it was listed.
  bool LookAt(const Folder& folder, int fd, const std::string& name, std::vector<SeenFile>& seen) {
    SeenFile file;
    file.seen_ns = NowNanos(options_.clock);
    file.entry.path = folder.path + "/" + name;
    file.entry.host_path = JoinPath(folder.host_path, name);
    file.entry.mount = folder.mount;
    if (options_.ignore.Ignores(file.entry.path, name)) return true;
    struct stat raw {};
    if (::fstatat(fd, name.c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return false;
      file.entry.error =
          fmt::format("{}: cannot be looked at: {}", ShownHost(file.entry), std::strerror(errno));
    } else {
      file.entry.stat = FromStat(raw);
      if (S_ISLNK(raw.st_mode)) file.link = file.entry.stat;
      if (!Classify(folder, fd, name, file.entry)) return true;
    }
    Add(std::move(file), seen);
    return true;
  }

  // False when there is nothing to add: a folder (which is queued), or something that vanished.
  bool Classify(const Folder& folder, int fd, const std::string& name, FileEntry& entry) {
    if (absl::Status status = ValidateVirtualPath(entry.path); !status.ok()) {
      entry.path = folder.path + "/" + EscapeName(name);
      entry.error =
          fmt::format("the name of {} cannot be used: {}", ShownHost(entry), MessageOf(status));
      return true;
    }
    Folder below{folder.mount,     entry.path,  entry.host_path, folder.real_path + "/" + name,
                 folder.ancestors, folder.links};
    if (S_ISLNK(entry.stat.mode) && !options_.follow_links) {
      entry.error = fmt::format("{} is a link; only regular files are taken", entry.host_path);
      return true;
    }
    if (S_ISLNK(entry.stat.mode)) {
      if (!FollowLink(folder, entry, below)) return true;
      below.is_link = true;
    }
    if (S_ISDIR(entry.stat.mode)) {
      if (options_.ignore.ExcludesDirectory(below.real_path)) return false;
      below.ancestors = std::make_shared<Ancestor>(
          Ancestor{folder.ancestors, entry.stat.device, entry.stat.inode});
      Push(std::move(below));
      return false;
    }
    if (!S_ISREG(entry.stat.mode)) {
      entry.error = fmt::format("{} is {}; only regular files are taken", entry.host_path,
                                OddKind(entry.stat.mode));
    } else if ((entry.stat.mode & 0444) != 0444 &&
               ::faccessat(fd, name.c_str(), R_OK, AT_EACCESS) != 0) {
      entry.error = fmt::format("{} cannot be read: {}", entry.host_path, std::strerror(errno));
    }
    return true;
  }

  // Replaces the entry's stat by that of what the link leads to. False when it leads to nothing
  // usable: the entry has an error.
  bool FollowLink(const Folder& folder, FileEntry& entry, Folder& below) const {
    const std::optional<std::string> real = RealPath(entry.host_path);
    if (!real) {
      const int reason = errno;
      entry.error =
          fmt::format("the link {} leads {}", entry.host_path,
                      reason == ELOOP    ? std::string("in a loop")
                      : reason == ENOENT ? std::string("nowhere: its target is absent")
                                         : fmt::format("nowhere: {}", std::strerror(reason)));
      return false;
    }
    if (!IsUnder(*real, roots_[folder.mount])) {
      entry.error = fmt::format("the link {} leads out of its mount, to {}", entry.host_path,
                                EscapeName(*real));
      return false;
    }
    const absl::StatusOr<FileStat> target = StatFile(*real);
    if (!target.ok()) {
      entry.error = fmt::format("the link {}: {}", entry.host_path, MessageOf(target.status()));
      return false;
    }
    if (options_.ignore.ExcludesDirectory(*real)) {
      entry.error = fmt::format("the link {} leads to {}, which is never content", entry.host_path,
                                EscapeName(*real));
      return false;
    }
    if (S_ISDIR(target->mode)) {
      if (HasAncestor(folder.ancestors.get(), *target)) {
        entry.error =
            fmt::format("the link {} leads to a folder that contains it (a loop)", entry.host_path);
        return false;
      }
      if (++below.links > kFolderLinksMax) {
        entry.error = fmt::format(
            "the link {} is the {}th link to a folder on one path; at most {} are followed",
            entry.host_path, below.links, kFolderLinksMax);
        return false;
      }
    }
    entry.stat = *target;
    below.real_path = *real;
    return true;
  }

  void AddError(const Folder& folder, std::string_view what, int reason,
                std::vector<SeenFile>& seen) {
    SeenFile file;
    file.seen_ns = NowNanos(options_.clock);
    file.entry.path = folder.path;
    file.entry.host_path = folder.host_path;
    file.entry.mount = folder.mount;
    file.entry.stat.mode = S_IFDIR;
    file.entry.error = fmt::format("{}: {}: {}", folder.host_path, what, std::strerror(reason));
    Add(std::move(file), seen);
  }

  void Add(SeenFile file, std::vector<SeenFile>& seen) {
    if (++files_ <= kFilesMax) seen.push_back(std::move(file));
  }

  static std::string ShownHost(const FileEntry& entry) { return EscapeName(entry.host_path); }

  const WalkOptions& options_;
  std::vector<std::string> roots_;  // real paths of the mounts; constant once threads run
  std::atomic<size_t> files_ = 0;

  base::Mutex mutex_;
  base::CondVar ready_;
  std::deque<Folder> queue_ GALLEY_GUARDED_BY(mutex_);
  unsigned busy_ GALLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace

absl::StatusOr<std::vector<SeenFile>> Walk(const WalkOptions& options) {
  return Walker(options).Run();
}

}  // namespace galley::content
