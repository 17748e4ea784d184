#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "common/vfs/disk.h"

namespace galley::vfs {
namespace {

Fault FaultOf(int error, const std::string& path) {
  int code = GALLEY_VFS_IO;
  if (error == ENOENT || error == ENOTDIR) code = GALLEY_VFS_ABSENT;
  if (error == ENOSPC || error == EDQUOT) code = GALLEY_VFS_NO_SPACE;
  return {code, path + ": " + std::generic_category().message(error)};
}

static_assert(sizeof(off_t) == 8, "compile with _FILE_OFFSET_BITS=64");

// OwnLocks: which files this process has locked, for file systems that know no locks.
//
// Threads: any.
class OwnLocks {
 public:
  using Key = std::pair<dev_t, ino_t>;
  // False: it is locked already.
  bool Add(const Key& key) {
    const std::lock_guard lock(mutex_);
    return locked_.insert(key).second;
  }
  void Remove(const Key& key) {
    const std::lock_guard lock(mutex_);
    locked_.erase(key);
  }

 private:
  std::mutex mutex_;
  std::set<Key> locked_;  // guarded by mutex_
};

class PosixFile final : public OpenFile {
 public:
  PosixFile(int descriptor, std::string path, OwnLocks& locks)
      : descriptor_(descriptor), path_(std::move(path)), locks_(locks) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override {
    if (locked_) locks_.Remove(*locked_);
    ::close(descriptor_);
  }

  Result<size_t> ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(descriptor_, static_cast<char*>(buffer) + done, size - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FaultOf(errno, path_);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }
  Outcome Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return FaultOf(errno, path_);
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return std::nullopt;
  }
  Result<uint64_t> Size() const override {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0) return FaultOf(errno, path_);
    return static_cast<uint64_t>(facts.st_size);
  }
  Result<uint64_t> Id() const override {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0) return FaultOf(errno, path_);
    return static_cast<uint64_t>(facts.st_ino);
  }
  bool Lock() override {
    struct stat facts {};
    if (locked_ || ::fstat(descriptor_, &facts) != 0) return locked_.has_value();
    // Only another holder is a reason to refuse: some file systems of networks and of Android
    // answer ENOLCK, ENOTSUP, ENOSYS or EINVAL to every lock.
    const bool is_held = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const OwnLocks::Key key(facts.st_dev, facts.st_ino);
    if (is_held || !locks_.Add(key)) return false;
    locked_ = key;
    return true;
  }

 private:
  const int descriptor_;
  const std::string path_;
  OwnLocks& locks_;
  std::optional<OwnLocks::Key> locked_;
};

class PosixDisk final : public Disk {
 public:
  Result<std::unique_ptr<OpenFile>> OpenToRead(const std::string& path) override {
    return Open(path, O_RDONLY);
  }
  Result<std::unique_ptr<OpenFile>> OpenToAppend(const std::string& path) override {
    return Open(path, O_RDWR | O_CREAT | O_APPEND);
  }
  Outcome Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return std::nullopt;
    return FaultOf(errno, to);
  }
  Outcome Remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    const int error = errno;
    if ((error == EISDIR || error == EPERM) && ::rmdir(path.c_str()) == 0) return std::nullopt;
    return FaultOf(error, path);
  }
  Outcome MakeFolder(const std::string& path) override {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      if (Outcome failed = MakeOneFolder(path.substr(0, end))) return failed;
      if (end == std::string::npos) return std::nullopt;
    }
  }
  Result<std::vector<FileFacts>> List(const std::string& folder) override {
    std::vector<FileFacts> files;
    DIR* const open = ::opendir(folder.c_str());
    if (open == nullptr && errno == ENOENT) return files;
    if (open == nullptr) return FaultOf(errno, folder);
    while (const dirent* const entry = ::readdir(open)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      Result<FileFacts> facts = Look(folder + "/" + name);
      if (facts.ok()) files.push_back(*std::move(facts));  // another process may remove files
    }
    ::closedir(open);
    return files;
  }
  Result<FileFacts> Look(const std::string& path) override {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return FaultOf(errno, path);
    return FileFacts{.name = path.substr(path.rfind('/') + 1),
                     .id = static_cast<uint64_t>(facts.st_ino),
                     .size = static_cast<uint64_t>(facts.st_size),
                     .used_s = static_cast<int64_t>(facts.st_mtime),
                     .is_folder = S_ISDIR(facts.st_mode),
                     .is_other = !S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)};
  }
  void Touch(const std::string& path, int64_t used_s) override {
    timespec times[2] = {{.tv_sec = static_cast<time_t>(used_s), .tv_nsec = 0},
                         {.tv_sec = static_cast<time_t>(used_s), .tv_nsec = 0}};
    static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), times, 0));
  }

 private:
  static Fault NotAFile(const std::string& path) {
    return {kNotAFile, path + ": something else than a file is there; remove it"};
  }
  static Outcome MakeOneFolder(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0) return std::nullopt;
    const int error = errno;
    struct stat facts {};
    const bool is_there = ::stat(path.c_str(), &facts) == 0;
    if (is_there && S_ISDIR(facts.st_mode)) return std::nullopt;
    if (is_there || error == EEXIST)
      return Fault{GALLEY_VFS_IO, path + ": something else than a folder is there; remove it"};
    Fault fault = FaultOf(error, path);
    if (fault.code != GALLEY_VFS_NO_SPACE) fault.code = GALLEY_VFS_IO;
    return fault;
  }
  // A pipe must not be waited for, and a link not be followed.
  Result<std::unique_ptr<OpenFile>> Open(const std::string& path, int flags) {
    int descriptor = -1;
    do {
      descriptor =
          ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    } while (descriptor < 0 && errno == EINTR);
    // FreeBSD answers EMLINK where others answer ELOOP. A socket, and a pipe nobody reads: ENXIO.
    const bool is_refused =
        descriptor < 0 && (errno == ELOOP || errno == EMLINK || errno == EISDIR || errno == ENXIO);
    if (is_refused) return NotAFile(path);
    if (descriptor < 0) return FaultOf(errno, path);
    auto file = std::make_unique<PosixFile>(descriptor, path, locks_);
    struct stat facts {};
    if (::fstat(descriptor, &facts) != 0) return FaultOf(errno, path);
    if (!S_ISREG(facts.st_mode)) return NotAFile(path);
    return std::unique_ptr<OpenFile>(std::move(file));
  }

  OwnLocks locks_;
};

}  // namespace

Disk& SystemDisk() {
  static PosixDisk disk;
  return disk;
}

}  // namespace galley::vfs
