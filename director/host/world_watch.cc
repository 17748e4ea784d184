#include "director/host/world_watch.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::director {
namespace {

struct Child {
  std::string name;
  bool is_link = false;
  bool is_folder = false;
};

// Returns what lies in a folder; nothing if the folder is gone, or cannot be read.
std::vector<Child> ChildrenOf(const std::string& folder) {
  std::vector<Child> children;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return children;
  while (const dirent* const entry = ::readdir(opened)) {
    Child child{.name = entry->d_name,
                .is_link = entry->d_type == DT_LNK,
                .is_folder = entry->d_type == DT_DIR};
    if (child.name == "." || child.name == "..") continue;
    if (entry->d_type == DT_UNKNOWN) {
      const absl::StatusOr<FileStat> stat =
          StatFile(JoinPath(folder, child.name), /*follow_links=*/false);
      child.is_link = stat.ok() && S_ISLNK(stat->mode);
      child.is_folder = stat.ok() && S_ISDIR(stat->mode);
    }
    children.push_back(std::move(child));
  }
  ::closedir(opened);
  return children;
}

bool IsSandbox(const std::vector<Child>& children) {
  return std::ranges::any_of(
      children, [](const Child& child) { return child.name == content::kSandboxFile; });
}

std::string RealPath(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string text = real;
  std::free(real);
  return text;
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Below(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "" : folder) + "/" + std::string(name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorldWatch>> WorldWatch::Begin(const content::ScanOptions& files,
                                                              const std::string& cookie_folder) {
  auto made = std::unique_ptr<WorldWatch>(new WorldWatch(files.mounts));
  ASSIGN_OR_RETURN(made->ignore_,
                   content::IgnoreRules::Create(files.ignore, files.excluded_directories));
  ASSIGN_OR_RETURN(made->watch_, content::FolderWatch::Open(
                                     {.cookie_folder = cookie_folder, .has_entries = true}));
  for (const content::Mount& mount : files.mounts) {
    ASSIGN_OR_RETURN(const FileStat top, StatFile(mount.directory));
    made->tops_.push_back(top);
    RETURN_IF_ERROR(made->AddBelow({.path = mount.path, .host = mount.directory}));
    if (!made->watch_->Watches(mount.directory))
      return FailedPreconditionError("{} cannot be watched", mount.directory);
  }
  return made;
}

bool WorldWatch::IsMount(const std::string& path) const {
  return std::ranges::any_of(mounts_,
                             [&](const content::Mount& mount) { return mount.path == path; });
}

// A folder that cannot be read is an odd file of the scan; its parent tells when that changes.
absl::Status WorldWatch::AddBelow(Folder top) {
  std::vector<Folder> folders = {std::move(top)};
  while (!folders.empty()) {
    const Folder folder = std::move(folders.back());
    folders.pop_back();
    const absl::Status added = watch_->Add(folder.host);
    if (absl::IsNotFound(added) || absl::IsPermissionDenied(added)) continue;
    RETURN_IF_ERROR(added);
    const std::vector<Child> children = ChildrenOf(folder.host);
    if (IsSandbox(children) && !IsMount(folder.path)) continue;
    for (const Child& child : children) {
      Folder next{.path = Below(folder.path, child.name),
                  .host = JoinPath(folder.host, child.name)};
      if (ignore_.Ignores(next.path, child.name)) continue;
      if (child.is_link) links_.insert(next.host);
      if (child.is_folder && !ignore_.ExcludesDirectory(RealPath(next.host)))
        folders.push_back(std::move(next));
    }
    if (links_.size() > kLinksMax)
      return ResourceExhaustedError("the mounts have more than {} links", kLinksMax);
  }
  return absl::OkStatus();
}

bool WorldWatch::Wait(absl::Time now, absl::Duration limit) const {
  absl::Duration left = limit;
  for (const auto& [host, when] : written_) left = std::min(left, when + kWriteQuiet - now);
  return watch_->Wait(std::max(left, absl::ZeroDuration())) || left < limit;
}

std::optional<std::vector<std::string>> WorldWatch::Take(absl::Time now) {
  const absl::StatusOr<content::FolderWatch::Changes> changes = watch_->Take();
  if (!changes.ok() || changes->is_all || !AreMountsTheSame()) return std::nullopt;
  std::set<std::string> changed;  // host paths
  for (const content::FolderWatch::Changes::Entry& entry : changes->entries) {
    if (!TakeEntry(entry, now, changed)) return std::nullopt;
  }
  TakeWritten(now, changed);
  for (const std::string& host : changed) NoteLink(host);
  // The target of a link may have changed.
  if (!changed.empty()) changed.insert(links_.begin(), links_.end());
  std::vector<std::string> paths;
  for (const std::string& host : changed) {
    for (Folder& place : PlacesOf(host)) {
      if (!ignore_.Ignores(place.path, NameOf(place.path))) paths.push_back(std::move(place.path));
    }
  }
  SortUnique(paths);
  return paths;
}

// False: changes may be missed from now on.
bool WorldWatch::TakeEntry(const content::FolderWatch::Changes::Entry& entry, absl::Time now,
                           std::set<std::string>& changed) {
  if (entry.is_being_written) {
    written_[entry.path] = now;
    return true;
  }
  written_.erase(entry.path);
  if (entry.is_folder && ignore_.ExcludesDirectory(RealPath(entry.path))) return true;
  changed.insert(entry.path);
  if (!entry.is_folder) return true;
  // The folder is watched before it is looked into.
  for (Folder& place : PlacesOf(entry.path)) {
    if (ignore_.Ignores(place.path, NameOf(place.path))) continue;
    if (!AddBelow(std::move(place)).ok()) return false;
  }
  return true;
}

void WorldWatch::TakeWritten(absl::Time now, std::set<std::string>& changed) {
  for (auto at = written_.begin(); at != written_.end();) {
    if (now < at->second + kWriteQuiet) {
      ++at;
      continue;
    }
    changed.insert(at->first);
    at = written_.erase(at);
  }
}

void WorldWatch::NoteLink(const std::string& host) {
  const absl::StatusOr<FileStat> stat = StatFile(host, /*follow_links=*/false);
  if (stat.ok() && S_ISLNK(stat->mode)) {
    links_.insert(host);
  } else {
    links_.erase(host);
  }
}

// Nobody tells when a folder above a mount gets another name.
bool WorldWatch::AreMountsTheSame() const {
  for (size_t i = 0; i < mounts_.size(); ++i) {
    const absl::StatusOr<FileStat> now = StatFile(mounts_[i].directory);
    if (!now.ok() || now->inode != tops_[i].inode || now->device != tops_[i].device ||
        !watch_->Watches(mounts_[i].directory))
      return false;
  }
  return true;
}

// Returns the place of a host path in each mount that has the path.
std::vector<WorldWatch::Folder> WorldWatch::PlacesOf(const std::string& host) const {
  std::vector<Folder> places;
  for (const content::Mount& mount : mounts_) {
    if (!content::IsUnder(host, mount.directory)) continue;
    const std::string below = host.substr(mount.directory.size());
    std::string path = (mount.path == "/" ? "" : mount.path) + below;
    if (path.empty()) path = "/";
    places.push_back({.path = std::move(path), .host = host});
  }
  return places;
}

}  // namespace galley::director
