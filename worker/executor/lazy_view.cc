#include "worker/executor/lazy_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/mount_view.h"

namespace galley::worker {
namespace {

constexpr uint32_t kModeBits = 0777;
constexpr uint64_t kBlockBytes = 4096;  // the room that even a small file takes
constexpr std::string_view kShow = "/show";
constexpr std::string_view kMounts = "/mounts/";

timespec TimeOf(int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
}

// Sets mode and times from the table. CallWatch keeps programs from writing even where the mode
// allows it.
absl::Status SetMeta(int descriptor, const content::FileEntry& file, const std::string& path) {
  const uint32_t mode = file.stat.mode & kModeBits;
  const timespec times[2] = {TimeOf(file.stat.mtime_ns), TimeOf(file.stat.mtime_ns)};
  if (::fchmod(descriptor, mode) != 0 || ::futimens(descriptor, times) != 0)
    return ErrnoStatus(errno, "set the mode and time of", path);
  return absl::OkStatus();
}

absl::Status MakeLink(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "link", path);
  return absl::OkStatus();
}

}  // namespace

LazyView::LazyView(const content::Snapshot* snapshot, std::string parent, uint64_t bytes_max)
    : snapshot_(snapshot), parent_(std::move(parent)), bytes_max_(bytes_max) {
  for (const content::Mount& mount : snapshot_->mounts())
    is_alone_.push_back(IsShownAsAWhole(snapshot_->mounts(), mount));
}

LazyView::~LazyView() { Forget(); }

void LazyView::BeginJob(ByteSource* bytes) {
  bytes_ = bytes;
  is_used_ = false;
}

void LazyView::EndJob() {
  bytes_ = nullptr;
  if (is_used_) folder_->Release(written_bytes_);
  is_used_ = false;
}

void LazyView::Forget() {
  folder_.reset();
  is_used_ = false;
  root_.clear();
  full_.clear();
  written_.clear();
  lost_.clear();
  written_bytes_ = 0;
  inodes_.clear();
}

// Called only by jobs that need the view; most jobs do not.
absl::Status LazyView::Make() {
  if (is_used_) return absl::OkStatus();
  if (folder_.has_value() && !folder_->Use()) Forget();
  is_used_ = folder_.has_value();
  if (is_used_) return absl::OkStatus();
  const absl::Status built = Build();
  if (!built.ok()) Forget();
  return built;
}

absl::Status LazyView::Build() {
  ASSIGN_OR_RETURN(ViewFolder made, ViewFolder::Make(parent_, bytes_max_));
  folder_.emplace(std::move(made));
  is_used_ = true;
  root_ = folder_->path();
  const std::vector<content::Mount>& mounts = snapshot_->mounts();
  const std::string show = root_ + std::string(kShow);
  RETURN_IF_ERROR(CreateDirectories(show));
  for (uint32_t i = 0; i < mounts.size(); ++i) {
    RETURN_IF_ERROR(CreateDirectories(MountFolder(i)));
    if (!is_alone_[i]) continue;
    RETURN_IF_ERROR(CreateDirectories(show + std::string(content::FolderOf(mounts[i].path))));
    RETURN_IF_ERROR(MakeLink(MountFolder(i), show + mounts[i].path));
  }
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(root_));
  device_ = stat.device;
  NoteInode(stat, root_);
  if (!folders_.empty() || std::ranges::find(is_alone_, false) == is_alone_.end())
    return absl::OkStatus();
  for (const content::FileEntry& file : snapshot_->files()) {
    if (is_alone_[file.mount] || !file.error.empty()) continue;
    std::string folder = file.host_path.substr(mounts[file.mount].directory.size());
    for (size_t slash = folder.rfind('/'); slash != 0 && slash != std::string::npos;
         slash = folder.rfind('/')) {
      folder.resize(slash);
      if (!folders_.emplace(file.mount, folder).second) break;
    }
  }
  return absl::OkStatus();
}

std::string LazyView::MountFolder(uint32_t mount) const {
  return fmt::format("{}{}{}", root_, kMounts, mount);
}

std::string LazyView::PathOfFile(const content::FileEntry& file) const {
  const std::string& directory = snapshot_->mounts()[file.mount].directory;
  return MountFolder(file.mount) + file.host_path.substr(directory.size());
}

void LazyView::NoteInode(const FileStat& stat, const std::string& path) {
  inodes_[stat.inode] = path;
}

std::string LazyView::PathOf(uint64_t device, uint64_t inode) const {
  if (device != device_ || root_.empty()) return "";
  const auto found = inodes_.find(inode);
  return found == inodes_.end() ? "" : found->second;
}

std::optional<LazyView::Place> LazyView::PlaceOf(std::string_view path) const {
  if (root_.empty() || !path.starts_with(root_)) return std::nullopt;
  std::string_view below = path.substr(root_.size());
  Place place;
  if (below == kShow || below.starts_with(std::string(kShow) + "/")) {
    place.is_shown = true;
    place.in_it = below.substr(kShow.size());
    place.virtual_path = place.in_it.empty() ? "/" : std::string(place.in_it);
    return place;
  }
  if (!below.starts_with(kMounts)) return std::nullopt;
  below.remove_prefix(kMounts.size());
  const auto [end, error] = std::from_chars(below.data(), below.data() + below.size(), place.mount);
  place.in_it = below.substr(static_cast<size_t>(end - below.data()));
  if (error != std::errc() || place.mount >= is_alone_.size() ||
      (!place.in_it.empty() && place.in_it[0] != '/'))
    return std::nullopt;
  const std::string& mount = snapshot_->mounts()[place.mount].path;
  place.virtual_path = (mount == "/" ? "" : mount) + std::string(place.in_it);
  if (place.virtual_path.empty()) place.virtual_path = "/";
  return place;
}

std::string LazyView::DirectorsPath(std::string_view path) const {
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value() || place->is_shown) return "";
  return snapshot_->mounts()[place->mount].directory + std::string(place->in_it);
}

const content::FileEntry* LazyView::FileAtPlace(std::string_view path) const {
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value() || place->is_shown) return nullptr;
  const content::FileEntry* const file = snapshot_->Find(place->virtual_path);
  const bool is_it = file != nullptr && file->error.empty() && file->mount == place->mount;
  return is_it ? file : nullptr;
}

absl::Status LazyView::ShowUnder(const std::string& directory) {
  RETURN_IF_ERROR(Make());
  const std::string show = root_ + std::string(kShow);
  RETURN_IF_ERROR(Fill(show));
  RETURN_IF_ERROR(CreateDirectories(directory));
  std::set<std::string> names;
  for (const content::Mount& mount : snapshot_->mounts()) {
    if (const size_t end = mount.path.find('/', 1); mount.path != "/")
      names.insert(mount.path.substr(1, end == std::string::npos ? end : end - 1));
  }
  for (std::string name : snapshot_->List("/").value_or(std::vector<std::string>())) {
    if (name.ends_with('/')) name.pop_back();
    names.insert(std::move(name));
  }
  for (const std::string& name : names) {
    struct stat info {};
    if (::lstat(JoinPath(show, name).c_str(), &info) != 0) continue;
    RETURN_IF_ERROR(MakeLink(JoinPath(show, name), JoinPath(directory, name)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LazyView::FileAt(const std::string& virtual_path) {
  RETURN_IF_ERROR(Make());
  const content::FileEntry* const file = snapshot_->Find(virtual_path);
  if (file == nullptr) return NotFoundError("there is no {}", virtual_path);
  std::string path = PathOfFile(*file);
  RETURN_IF_ERROR(FillAbove(path, MountFolder(file->mount).size()));
  RETURN_IF_ERROR(FillFile(path));
  return path;
}

// Fills all folders on the way to `path`, from the folder whose path has the length `begin`.
absl::Status LazyView::FillAbove(const std::string& path, size_t begin) {
  for (size_t slash = begin; slash != std::string::npos; slash = path.find('/', slash + 1))
    RETURN_IF_ERROR(Fill(path.substr(0, slash)));
  return absl::OkStatus();
}

absl::Status LazyView::FillFoldersOf(std::string_view virtual_path) {
  RETURN_IF_ERROR(Make());
  const std::string show = root_ + std::string(kShow);
  const std::vector<content::Mount>& mounts = snapshot_->mounts();
  for (uint32_t i = 0; i < mounts.size(); ++i) {
    if (!is_alone_[i] || !virtual_path.starts_with(mounts[i].path + "/")) continue;
    RETURN_IF_ERROR(
        FillAbove(MountFolder(i) + std::string(virtual_path.substr(mounts[i].path.size())),
                  MountFolder(i).size()));
    virtual_path = content::FolderOf(mounts[i].path);
    break;
  }
  return FillAbove(show + std::string(virtual_path), show.size());
}

absl::Status LazyView::FillFolder(const std::string& path) { return Fill(path); }

// REQUIRES: the folder around `path` is full.
absl::Status LazyView::Fill(const std::string& path) {
  RETURN_IF_ERROR(PutBackLost());
  if (full_.contains(path)) return absl::OkStatus();
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value()) return absl::OkStatus();
  // A link to a mount's folder is no folder.
  const absl::StatusOr<FileStat> stat = StatFile(path, /*follow_links=*/false);
  if (!stat.ok() || !S_ISDIR(stat->mode)) return absl::OkStatus();
  const auto names = snapshot_->List(place->virtual_path);
  if (!names.has_value()) return absl::OkStatus();
  const std::string prefix = place->virtual_path == "/" ? "/" : place->virtual_path + "/";
  for (const std::string& name : *names) {
    if (name.ends_with('/')) {
      RETURN_IF_ERROR(AddFolder(*place, path, std::string_view(name).substr(0, name.size() - 1)));
    } else if (const content::FileEntry* const file = snapshot_->Find(prefix + name);
               file != nullptr && file->error.empty()) {
      RETURN_IF_ERROR(AddFile(*place, *file));
    }
  }
  full_.insert(path);
  return absl::OkStatus();
}

absl::Status LazyView::PutBackLost() {
  while (!lost_.empty()) {
    const content::FileEntry* const file = FileAtPlace(*lost_.begin());
    if (file != nullptr) RETURN_IF_ERROR(MakeEmpty(*file));
    lost_.erase(lost_.begin());
  }
  return absl::OkStatus();
}

absl::Status LazyView::AddFolder(const Place& parent, const std::string& path,
                                 std::string_view name) {
  const std::string made = JoinPath(path, name);
  const bool is_here = parent.is_shown || is_alone_[parent.mount] ||
                       folders_.contains({parent.mount, fmt::format("{}/{}", parent.in_it, name)});
  if (!is_here) return absl::OkStatus();
  if (::mkdir(made.c_str(), 0755) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "make folder", made);
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(made, /*follow_links=*/false));
  NoteInode(stat, made);
  return absl::OkStatus();
}

absl::Status LazyView::AddFile(const Place& parent, const content::FileEntry& file) {
  if (!parent.is_shown) return file.mount == parent.mount ? MakeEmpty(file) : absl::OkStatus();
  if (is_alone_[file.mount]) return absl::OkStatus();
  return MakeLink(PathOfFile(file), root_ + std::string(kShow) + file.path);
}

absl::Status LazyView::MakeEmpty(const content::FileEntry& file) {
  const std::string path = PathOfFile(file);
  const FileDescriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!made.valid()) return ErrnoStatus(errno, "make", path);
  if (::ftruncate(made.get(), static_cast<off_t>(file.stat.size_bytes)) != 0)
    return ErrnoStatus(errno, "make", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(made.get(), path));
  NoteInode(stat, path);
  return SetMeta(made.get(), file, path);
}

absl::Status LazyView::FillFile(const std::string& path) {
  const content::FileEntry* const file = FileAtPlace(path);
  if (file == nullptr) return absl::OkStatus();
  const auto before = written_.find(path);
  if (before == written_.end()) return Write(*file, /*is_anew=*/false);
  const absl::StatusOr<FileStat> now = StatFile(path, /*follow_links=*/false);
  if (now.ok() && *now == before->second) return absl::OkStatus();
  LogWarning("{} was changed by a program that should only read it: it is put there anew",
             file->path);
  written_.erase(before);
  return Write(*file, /*is_anew=*/true);
}

// Writes the bytes of a file. `is_anew`: as a new file, since somebody may have the old file open,
// and keeps it. Otherwise the listed file stays the same file, because `cp` and other programs
// compare it.
absl::Status LazyView::Write(const content::FileEntry& file, bool is_anew) {
  const std::string place = PathOfFile(file);
  const std::string path =
      is_anew ? fmt::format("{}{}anew", root_, kMounts) : place;  // no mount has this name
  ::chmod(path.c_str(), 0600);  // an error means that open makes the file
  const FileDescriptor to(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!to.valid()) return ErrnoStatus(errno, "write", path);
  const absl::StatusOr<Digest> digest = bytes_->Stream(
      file.path, [&](std::string_view piece) { return WriteAll(to.get(), piece, path); });
  absl::Status status = digest.status();
  if (status.ok()) status = SetMeta(to.get(), file, path);
  if (status.ok() && is_anew && ::rename(path.c_str(), place.c_str()) != 0)
    status = ErrnoStatus(errno, "put", place);
  if (!status.ok()) {
    // The bytes that are there must not be read: the file becomes empty again, as it was listed.
    if (is_anew) {
      ::unlink(path.c_str());
      ::unlink(place.c_str());
    }
    if (!MakeEmpty(file).ok()) {
      ::unlink(place.c_str());
      lost_.insert(place);
    }
    return absl::IsAborted(status) ? InterruptedBy(StaleFile{file.path}) : status;
  }
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(to.get(), place));
  NoteInode(stat, place);
  written_[place] = stat;
  written_bytes_ += (file.stat.size_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  return absl::OkStatus();
}

}  // namespace galley::worker
