#include "worker/executor/lazy_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/executor/input_provider.h"

namespace galley::worker {
namespace {

constexpr uint32_t kModeBits = 0777;

timespec TimeOf(int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
}

// As the table says of the file. (Who may write it by its mode may not all the same: CallWatch.)
absl::Status SetMeta(int descriptor, const content::FileEntry& file, const std::string& path) {
  const uint32_t mode = file.stat.mode & kModeBits;
  const timespec times[2] = {TimeOf(file.stat.mtime_ns), TimeOf(file.stat.mtime_ns)};
  if (::fchmod(descriptor, mode) != 0 || ::futimens(descriptor, times) != 0)
    return ErrnoStatus(errno, "set the mode and time of", path);
  return absl::OkStatus();
}

}  // namespace

LazyView::~LazyView() { Drop(); }

void LazyView::BeginJob(ByteSource* bytes) {
  bytes_ = bytes;
  if (written_bytes_ > kKeptBytesMax) Drop();
}

void LazyView::Drop() {
  if (root_.empty()) return;
  if (const absl::Status status = RemoveAll(root_); !status.ok())
    LogWarning("view {}", MessageOf(status));
  root_.clear();
  full_.clear();
  written_.clear();
  written_bytes_ = 0;
}

absl::Status LazyView::Make() {
  if (!root_.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string made, MakeTemporaryDirectory(parent_, "view-"));
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(made.c_str(), nullptr), &::free);
  if (real == nullptr) return ErrnoStatus(errno, "follow", made);
  root_ = real.get();
  return absl::OkStatus();
}

std::string LazyView::VirtualOf(std::string_view path) const {
  const std::string_view below = path.substr(root_.size());
  return below.empty() ? "/" : std::string(below);
}

absl::Status LazyView::ShowUnder(const std::string& directory) {
  RETURN_IF_ERROR(Make());
  RETURN_IF_ERROR(Fill("/"));
  RETURN_IF_ERROR(CreateDirectories(directory));
  for (std::string name : snapshot_->List("/").value_or(std::vector<std::string>())) {
    if (name.ends_with('/')) name.pop_back();
    const std::string path = JoinPath(directory, name);
    if (::symlink(JoinPath(root_, name).c_str(), path.c_str()) != 0)
      return ErrnoStatus(errno, "link", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LazyView::FileAt(const std::string& virtual_path) {
  RETURN_IF_ERROR(Make());
  if (snapshot_->Find(virtual_path) == nullptr)
    return absl::NotFoundError(fmt::format("there is no {}", virtual_path));
  RETURN_IF_ERROR(FillFoldersOf(virtual_path));
  RETURN_IF_ERROR(FillFile(root_ + virtual_path));
  return root_ + virtual_path;
}

absl::Status LazyView::FillFoldersOf(std::string_view virtual_path) {
  RETURN_IF_ERROR(Fill("/"));
  for (size_t slash = virtual_path.find('/', 1); slash != std::string_view::npos;
       slash = virtual_path.find('/', slash + 1))
    RETURN_IF_ERROR(Fill(std::string(virtual_path.substr(0, slash))));
  return absl::OkStatus();
}

absl::Status LazyView::FillFolder(const std::string& path) { return Fill(VirtualOf(path)); }

// REQUIRES: the folder around it is full.
absl::Status LazyView::Fill(const std::string& folder) {
  if (full_.contains(folder)) return absl::OkStatus();
  const auto names = snapshot_->List(folder);
  if (!names.has_value()) return absl::OkStatus();
  const std::string prefix = folder == "/" ? "/" : folder + "/";
  for (const std::string& name : *names) {
    const std::string path = prefix + name;
    if (name.ends_with('/')) {
      const std::string made = root_ + path;
      if (::mkdir(made.c_str(), 0755) != 0 && errno != EEXIST)
        return ErrnoStatus(errno, "make folder", made);
      continue;
    }
    const content::FileEntry* const file = snapshot_->Find(path);
    if (file != nullptr && file->error.empty()) RETURN_IF_ERROR(MakeEmpty(*file));
  }
  full_.insert(folder);
  return absl::OkStatus();
}

absl::Status LazyView::MakeEmpty(const content::FileEntry& file) const {
  const std::string path = root_ + file.path;
  const FileDescriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!made.valid()) return ErrnoStatus(errno, "make", path);
  if (::ftruncate(made.get(), static_cast<off_t>(file.stat.size_bytes)) != 0)
    return ErrnoStatus(errno, "make", path);
  return SetMeta(made.get(), file, path);
}

absl::Status LazyView::FillFile(const std::string& path) {
  const std::string virtual_path = VirtualOf(path);
  const content::FileEntry* const file = snapshot_->Find(virtual_path);
  if (file == nullptr || !file->error.empty()) return absl::OkStatus();
  const auto before = written_.find(virtual_path);
  if (before != written_.end()) {
    const absl::StatusOr<FileStat> now = StatFile(path, /*follow_links=*/false);
    if (now.ok() && *now == before->second) return absl::OkStatus();
    LogWarning("{} was changed by a program that should only read it: it is written anew",
               virtual_path);
    written_.erase(before);
  }
  return Write(virtual_path);
}

absl::Status LazyView::Write(const std::string& virtual_path) {
  const content::FileEntry& file = *snapshot_->Find(virtual_path);
  const std::string path = root_ + virtual_path;
  ::chmod(path.c_str(), 0600);  // (gone: it is made)
  const FileDescriptor to(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!to.valid()) return ErrnoStatus(errno, "write", path);
  const absl::StatusOr<Digest> digest = bytes_->Stream(
      virtual_path, [&](std::string_view piece) { return WriteAll(to.get(), piece, path); });
  absl::Status status = digest.status();
  if (status.ok()) status = SetMeta(to.get(), file, path);
  if (!status.ok()) {
    ::ftruncate(to.get(), static_cast<off_t>(file.stat.size_bytes));
    return absl::IsAborted(status) ? InterruptedBy(StaleFile{virtual_path}) : status;
  }
  ASSIGN_OR_RETURN(written_[virtual_path], StatDescriptor(to.get(), path));
  written_bytes_ += file.stat.size_bytes;
  return absl::OkStatus();
}

}  // namespace galley::worker
