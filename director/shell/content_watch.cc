#include "director/shell/content_watch.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::director {
namespace {

std::string FolderOfHost(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Returns the names in a folder, sorted; empty: the folder is gone.
std::set<std::string> NamesOf(const std::string& folder) {
  std::set<std::string> names;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return names;
  while (const dirent* const entry = ::readdir(opened)) names.insert(entry->d_name);
  ::closedir(opened);
  names.erase(".");
  names.erase("..");
  return names;
}

absl::Time ChangeTimeOf(const FileStat& stat) { return absl::FromUnixNanos(stat.ctime_ns); }

}  // namespace

absl::StatusOr<std::unique_ptr<ContentWatch>> ContentWatch::Begin(WorldPtr world, Options options) {
  auto made = std::unique_ptr<ContentWatch>(new ContentWatch(std::move(world), std::move(options)));
  ASSIGN_OR_RETURN(made->watch_,
                   content::FolderWatch::Open({.cookie_folder = made->options_.cookie_folder}));
  for (const std::string& folder : made->Folders()) {
    const absl::Status added = made->watch_->Add(folder);
    if (!added.ok() && !absl::IsNotFound(added)) return added;
  }
  return made;
}

std::vector<std::string> ContentWatch::Folders() const {
  std::set<std::string> folders;
  for (const content::Mount& mount : world_->snapshot->mounts()) folders.insert(mount.directory);
  for (const content::FileEntry& file : world_->snapshot->files()) {
    // Folders that hold nothing but folders are in the content as well.
    for (std::string folder = FolderOfHost(file.host_path);
         !folder.empty() && folders.insert(folder).second;)
      folder = FolderOfHost(folder);
  }
  const auto is_content = [this](const std::string& folder) {
    const auto& mounts = world_->snapshot->mounts();
    return std::ranges::any_of(mounts, [&](const content::Mount& mount) {
      return folder == mount.directory || folder.starts_with(mount.directory + "/");
    });
  };
  std::erase_if(folders, [&](const std::string& folder) { return !is_content(folder); });
  return {folders.begin(), folders.end()};
}

std::string ContentWatch::VirtualPath(const std::string& host_path) const {
  const content::Mount* in = nullptr;
  for (const content::Mount& mount : world_->snapshot->mounts()) {
    if (host_path.starts_with(mount.directory + "/") &&
        (in == nullptr || mount.directory.size() > in->directory.size()))
      in = &mount;
  }
  if (in == nullptr) return host_path;
  const std::string below = host_path.substr(in->directory.size());
  return in->path == "/" ? below : in->path + below;
}

void ContentWatch::Compare(const std::string& folder, std::vector<ContentChange>& changes) const {
  std::map<std::string, const content::FileEntry*> before;
  for (const content::FileEntry& file : world_->snapshot->files()) {
    if (FolderOfHost(file.host_path) == folder) before[file.host_path] = &file;
  }
  for (const std::string& name : NamesOf(folder)) {
    const std::string path = JoinPath(folder, name);
    const auto known = before.find(path);
    const bool was_there = known != before.end();
    const absl::StatusOr<FileStat> now = StatFile(path, /*follow_links=*/was_there);
    const auto& excluded = options_.excluded;
    if (!now.ok() || std::ranges::find(excluded, path) != excluded.end()) continue;
    const std::string virtual_path = VirtualPath(path);
    if (was_there) {
      if (*now != known->second->stat)
        changes.push_back({.path = virtual_path, .what = "changed", .when = ChangeTimeOf(*now)});
      before.erase(known);
    } else if (!S_ISDIR(now->mode) || !watch_->Watches(path)) {
      // A file that [scan] ignores may have been there before; the change time tells.
      changes.push_back({.path = virtual_path, .what = "is new", .when = ChangeTimeOf(*now)});
    }
  }
  const absl::StatusOr<FileStat> itself = StatFile(folder);
  const absl::Time gone_at = itself.ok() ? ChangeTimeOf(*itself) : absl::InfinitePast();
  for (const auto& [path, file] : before)
    changes.push_back({.path = file->path, .what = "is gone", .when = gone_at});
}

absl::StatusOr<std::vector<ContentChange>> ContentWatch::Look() {
  ASSIGN_OR_RETURN(const content::FolderWatch::Changes taken, watch_->Take());
  std::set<std::string> changed(changed_.begin(), changed_.end());
  changed.insert(taken.folders.begin(), taken.folders.end());
  if (taken.is_all) {
    for (const std::string& folder : Folders()) changed.insert(folder);
  }
  changed_.assign(changed.begin(), changed.end());
  std::vector<ContentChange> changes;
  for (const std::string& folder : changed_) Compare(folder, changes);
  std::ranges::sort(changes, [](const auto& a, const auto& b) {
    return std::tie(a.path, a.what) < std::tie(b.path, b.what);
  });
  return changes;
}

}  // namespace galley::director
