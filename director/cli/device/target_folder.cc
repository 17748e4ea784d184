#include "director/cli/device/target_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::device {
namespace {

constexpr const char* kPartsPrefix = ".galley-sync-part-";

bool IsRegular(const FileStat& stat) { return S_ISREG(stat.mode); }

// nullopt: nothing lies there.
absl::StatusOr<std::optional<FileStat>> LookAt(const std::string& path) {
  absl::StatusOr<FileStat> stat = StatFile(path, /*follow_links=*/false);
  if (stat.ok()) return std::optional(*stat);
  if (absl::IsNotFound(stat.status())) return std::optional<FileStat>();
  return stat.status();
}

bool HasBytes(const std::string& path, const FileStat& stat, const Digest& digest) {
  if (!IsRegular(stat) || stat.size_bytes != digest.size_bytes()) return false;
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  return bytes.ok() && Digest::Of(*bytes) == digest;
}

absl::StatusOr<FileDescriptor> LockFolder(const std::string& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return ErrnoStatus(errno, "cannot open", path);
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return folder;
  return FailedPreconditionError("{}: another sync fills this folder: wait for its end", path);
}

absl::StatusOr<SyncList> ReadList(const std::string& folder) {
  const std::string path = JoinPath(folder, kSyncListFile);
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return SyncList{};
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<SyncList> list = SyncList::Parse(*text);
  if (list.ok()) return list;
  return FailedPreconditionError(
      "{}: {}. Remove this file: the next sync takes up the files that are right, and removes "
      "nothing",
      path, MessageOf(list.status()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TargetFolder>> TargetFolder::Open(const std::string& path,
                                                                 const SyncedFrom& from) {
  RETURN_IF_ERROR(CreateDirectories(path));
  ASSIGN_OR_RETURN(FileDescriptor lock, LockFolder(path));
  ASSIGN_OR_RETURN(TemporaryFolder parts, TemporaryFolder::Make(path, kPartsPrefix));
  auto folder =
      std::unique_ptr<TargetFolder>(new TargetFolder(path, std::move(lock), std::move(parts)));
  RETURN_IF_ERROR(folder->Begin(from));
  return folder;
}

absl::Status TargetFolder::Begin(const SyncedFrom& from) {
  ASSIGN_OR_RETURN(SyncList list_before, ReadList(path_));
  if (!list_before.is_empty() && list_before.from.platform != from.platform) {
    return FailedPreconditionError(
        "{} is a copy of platform {}, and not of {}: name another folder", path_,
        list_before.from.platform, from.platform);
  }
  if (list_before.from == from) root_before_ = list_before.root;
  const base::MutexLock lock(mutex_);
  now_ = {.from = from, .root = {}, .files = std::move(list_before.files)};
  const std::string list = At(kSyncListFile);
  RETURN_IF_ERROR(WriteFileAtomic(list, now_.ToText()));
  list_file_ = FileDescriptor(::open(list.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  return list_file_.valid() ? absl::OkStatus() : ErrnoStatus(errno, "cannot open", list);
}

std::optional<SyncedFile> TargetFolder::Find(const std::string& path) const {
  const base::MutexLock lock(mutex_);
  const auto found = now_.files.find(path);
  return found == now_.files.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SyncedFile> TargetFolder::FindAsPut(const std::string& path) const {
  const std::optional<SyncedFile> file = Find(path);
  if (!file) return std::nullopt;
  const absl::StatusOr<FileStat> stat = StatFile(At(path), /*follow_links=*/false);
  const bool is_as_put = stat.ok() && IsRegular(*stat) &&
                         stat->size_bytes == file->digest.size_bytes() &&
                         stat->mtime_ns == file->mtime_ns;
  return is_as_put ? file : std::nullopt;
}

std::vector<std::string> TargetFolder::ListPaths() const {
  const base::MutexLock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, file] : now_.files) paths.push_back(path);
  return paths;
}

absl::Status TargetFolder::Append(const std::string& line) {
  return WriteAll(list_file_.get(), line, At(kSyncListFile));
}

absl::Status TargetFolder::Note(const std::string& path, const SyncedFile& file) {
  const base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(Append(FileLine(path, file)));
  now_.files.insert_or_assign(path, file);
  return absl::OkStatus();
}

// False: something that is no folder lies on the way. A link is none, as it may lead anywhere.
absl::StatusOr<bool> TargetFolder::MakeFoldersTo(const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    {
      const base::MutexLock lock(mutex_);
      if (real_folders_.contains(folder)) continue;
    }
    if (::mkdir(At(folder).c_str(), 0777) != 0 && errno != EEXIST)
      return ErrnoStatus(errno, "cannot make", At(folder));
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(At(folder), /*follow_links=*/false));
    if (!S_ISDIR(stat.mode)) return false;
    const base::MutexLock lock(mutex_);
    real_folders_.insert(folder);
  }
  return true;
}

absl::StatusOr<TargetFolder::Put> TargetFolder::PutFile(const std::string& path,
                                                        const Digest& digest, const Write& write) {
  if (path == kSyncListFile || path.starts_with(kPartsPrefix)) return Put::kBlocked;
  ASSIGN_OR_RETURN(const bool is_free, MakeFoldersTo(path));
  if (!is_free) return Put::kBlocked;
  ASSIGN_OR_RETURN(const std::optional<FileStat> there, LookAt(At(path)));
  if (there && !IsRegular(*there)) return Put::kBlocked;
  if (there && !Find(path)) {
    if (!HasBytes(At(path), *there, digest)) return Put::kBlocked;
    RETURN_IF_ERROR(Note(path, {.digest = digest, .mtime_ns = there->mtime_ns}));
    return Put::kAdopted;
  }
  return PutOver(path, digest, write);
}

absl::StatusOr<TargetFolder::Put> TargetFolder::PutOver(const std::string& path,
                                                        const Digest& digest, const Write& write) {
  std::string part;
  {
    const base::MutexLock lock(mutex_);
    part = JoinPath(parts_.path(), std::to_string(++last_part_));
  }
  const FileDescriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid()) return ErrnoStatus(errno, "cannot make", part);
  absl::Status written =
      write([&](std::string_view piece) { return WriteAll(file.get(), piece, part); });
  const absl::StatusOr<FileStat> stat = StatDescriptor(file.get(), part);
  if (written.ok()) written = stat.status();
  if (written.ok()) written = Note(path, {.digest = digest, .mtime_ns = stat->mtime_ns});
  if (written.ok() && ::rename(part.c_str(), At(path).c_str()) != 0)
    written = ErrnoStatus(errno, "cannot put in its place", At(path));
  if (written.ok()) return Put::kWritten;
  ::unlink(part.c_str());
  return written;
}

absl::StatusOr<bool> TargetFolder::RemoveFile(const std::string& path) {
  const bool is_ours = FindAsPut(path).has_value();
  ASSIGN_OR_RETURN(const std::optional<FileStat> there, LookAt(At(path)));
  if (is_ours && ::unlink(At(path).c_str()) != 0 && errno != ENOENT)
    return ErrnoStatus(errno, "cannot remove", At(path));
  {
    const base::MutexLock lock(mutex_);
    RETURN_IF_ERROR(Append(GoneLine(path)));
    now_.files.erase(path);
  }
  for (size_t slash = path.rfind('/'); is_ours && slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (::rmdir(At(path.substr(0, slash)).c_str()) != 0) break;  // it has something else
    const base::MutexLock lock(mutex_);
    real_folders_.erase(path.substr(0, slash));
  }
  return is_ours || !there;
}

absl::Status TargetFolder::Finish(const std::string& root) {
  const base::MutexLock lock(mutex_);
  now_.root = root;
  return WriteFileAtomic(At(kSyncListFile), now_.ToText());
}

uint64_t TargetFolder::CountForeign() const {
  namespace fs = std::filesystem;
  const base::MutexLock lock(mutex_);
  uint64_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator
           at(path_, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    const std::string path = at->path().lexically_relative(path_).string();
    if (path.starts_with(kPartsPrefix)) at.disable_recursion_pending();
    const bool is_folder = at->symlink_status(error).type() == fs::file_type::directory;
    if (!is_folder && path != kSyncListFile && !path.starts_with(kPartsPrefix) &&
        !now_.files.contains(path))
      ++count;
  }
  return count;
}

}  // namespace galley::device
