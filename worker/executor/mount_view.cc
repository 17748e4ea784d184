#include "worker/executor/mount_view.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::worker {
namespace {

namespace fs = std::filesystem;

absl::Status Link(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "link", path);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> SortedNamesIn(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names = NamesIn(directory, &error);
  if (error) return ErrnoStatus(error.value(), "list", directory);
  std::ranges::sort(names);
  return names;
}

// Makes `path` a real folder: a link to a folder becomes a folder of links to its entries, a file
// or a link to a file becomes an empty folder.
absl::Status MakeReal(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, "look at", path);
    return CreateDirectories(path);
  }
  if (S_ISDIR(info.st_mode)) return absl::OkStatus();
  std::error_code error;
  const std::string target = fs::canonical(path, error).string();
  if (error) return ErrnoStatus(error.value(), "follow", path);
  std::vector<std::string> names;
  if (fs::is_directory(target, error)) {
    ASSIGN_OR_RETURN(names, SortedNamesIn(target));
  }
  if (::unlink(path.c_str()) != 0) return ErrnoStatus(errno, "remove", path);
  RETURN_IF_ERROR(CreateDirectories(path));
  for (const std::string& name : names)
    RETURN_IF_ERROR(Link(JoinPath(target, name), JoinPath(path, name)));
  return absl::OkStatus();
}

// The place of the file, with nothing there.
absl::StatusOr<std::string> MakePlace(const std::string& directory, std::string_view virtual_path) {
  RETURN_IF_ERROR(content::ValidateVirtualPath(virtual_path));
  std::string path = directory;
  std::string_view rest = virtual_path.substr(1);
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    path = JoinPath(path, rest.substr(0, slash));
    RETURN_IF_ERROR(MakeReal(path));
    rest.remove_prefix(slash + 1);
  }
  path = JoinPath(path, rest);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != EISDIR)  // follows no link
    return ErrnoStatus(errno, "remove", path);
  return path;
}

}  // namespace

bool IsShownAsAWhole(const std::vector<content::Mount>& mounts, const content::Mount& mount) {
  return mount.path != "/" && std::ranges::none_of(mounts, [&](const content::Mount& other) {
           return &other != &mount && (content::IsUnder(other.path, mount.path) ||
                                       content::IsUnder(mount.path, other.path));
         });
}

MountView::~MountView() {
  if (root_.empty()) return;
  if (const absl::Status status = RemoveAll(root_); !status.ok())
    LogWarning("mount view {}", MessageOf(status));
}

absl::Status MountView::Build() {
  ASSIGN_OR_RETURN(const std::string root, MakeTemporaryDirectory(parent_, "view-"));
  root_ = root;
  const std::vector<content::Mount>& mounts = snapshot_->mounts();
  std::vector<bool> is_linked(mounts.size());
  for (size_t i = 0; i < mounts.size(); ++i) {
    if (!IsShownAsAWhole(mounts, mounts[i])) continue;
    const std::string path = root + mounts[i].path;
    RETURN_IF_ERROR(CreateDirectories(root + std::string(content::FolderOf(mounts[i].path))));
    RETURN_IF_ERROR(Link(mounts[i].directory, path));
    is_linked[i] = true;
  }
  std::string made;  // the last folder made; files are sorted, so neighbours share it
  for (const content::FileEntry& file : snapshot_->files()) {
    if (is_linked[file.mount] || !file.error.empty()) continue;
    const std::string folder = root + std::string(content::FolderOf(file.path));
    if (folder != made) RETURN_IF_ERROR(CreateDirectories(folder));
    made = folder;
    RETURN_IF_ERROR(Link(file.host_path, root + file.path));
  }
  return absl::OkStatus();
}

absl::Status MountView::ShowUnder(const std::string& directory) {
  if (root_.empty()) {
    if (const absl::Status status = Build(); !status.ok()) {
      if (!root_.empty()) RemoveAll(root_).IgnoreError();
      root_.clear();
      return status;
    }
  }
  RETURN_IF_ERROR(CreateDirectories(directory));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, SortedNamesIn(root_));
  for (const std::string& name : names)
    RETURN_IF_ERROR(Link(JoinPath(root_, name), JoinPath(directory, name)));
  return absl::OkStatus();
}

absl::Status MountView::PutFile(const std::string& directory, std::string_view virtual_path,
                                std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::string path, MakePlace(directory, virtual_path));
  return WriteFileAtomic(path, bytes);
}

absl::Status MountView::PutFile(const std::string& directory, std::string_view virtual_path,
                                const PieceStream& stream) {
  ASSIGN_OR_RETURN(const std::string path, MakePlace(directory, virtual_path));
  return WriteInPieces(path, stream).status();
}

}  // namespace galley::worker
