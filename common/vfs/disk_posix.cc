#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "common/vfs/disk.h"

namespace galley::vfs {
namespace {

Fault FaultOf(int error, const std::string& path) {
  int code = GALLEY_VFS_IO;
  if (error == ENOENT || error == ENOTDIR) code = GALLEY_VFS_ABSENT;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) code = GALLEY_VFS_NO_SPACE;
  return {code, path + ": " + std::generic_category().message(error)};
}

static_assert(sizeof(off_t) == 8, "compile with _FILE_OFFSET_BITS=64");

class PosixFile final : public OpenFile {
 public:
  PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { ::close(descriptor_); }

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
  bool Lock() override { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

 private:
  const int descriptor_;
  const std::string path_;
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
    return FaultOf(errno, path);
  }
  Outcome MakeFolder(const std::string& path) override {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      struct stat facts {};
      const bool is_made = ::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST;
      const int error = errno;
      const bool is_there =
          is_made || (::stat(part.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode));
      if (!is_there) return Fault{GALLEY_VFS_IO, FaultOf(error, part).text};
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
                     .is_folder = S_ISDIR(facts.st_mode)};
  }
  void Touch(const std::string& path, int64_t used_s) override {
    timespec times[2] = {{.tv_sec = static_cast<time_t>(used_s), .tv_nsec = 0},
                         {.tv_sec = static_cast<time_t>(used_s), .tv_nsec = 0}};
    static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), times, 0));
  }

 private:
  static Result<std::unique_ptr<OpenFile>> Open(const std::string& path, int flags) {
    int descriptor = -1;
    do {
      descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0666);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return FaultOf(errno, path);
    return std::unique_ptr<OpenFile>(std::make_unique<PosixFile>(descriptor, path));
  }
};

}  // namespace

Disk& SystemDisk() {
  static PosixDisk disk;
  return disk;
}

}  // namespace galley::vfs
