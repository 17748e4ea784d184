#include "director/standing/watched_tables.h"

#include <algorithm>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/patched_file.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Beyond this many names all are forgotten: then each table is checked whole, once.
constexpr size_t kTablesMax = 256;

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

}  // namespace

absl::StatusOr<content::StampCheck> WatchedTables::Check(const std::string& name,
                                                         const std::string& id,
                                                         const OpenFunction& open,
                                                         Cancellation* stop, size_t changes_max,
                                                         bool is_kept) {
  if (watch_ == nullptr) {
    ASSIGN_OR_RETURN(const content::StampTable table, open());
    return table.Check({.stop = stop, .changes_max = changes_max});
  }
  const base::MutexLock lock(mutex_);
  TakeChanges();
  const auto found = tables_.find(name);
  if (found != tables_.end() && found->second->id == id) CatchUp(*found->second, open);
  if (found != tables_.end() && found->second->id == id && found->second->is_checked &&
      AreTopsTheSame(*found->second)) {
    content::StampCheck check = CheckDirty(*found->second, stop, changes_max);
    if (is_kept) Renewed(name, check);
    return check;
  }
  if (found != tables_.end()) tables_.erase(found);
  if (tables_.size() >= kTablesMax) tables_.clear();
  ASSIGN_OR_RETURN(content::StampTable table, open());
  auto known = std::make_unique<Known>(std::move(table));
  known->id = id;
  content::StampCheck check = CheckAll(*known, stop, changes_max);
  if (!known->is_checked) return check;
  tables_[name] = std::move(known);
  if (is_kept) Renewed(name, check);
  return check;
}

// Expects the table that the caller writes now at the next check, with the findings of `check` for
// all folders.
void WatchedTables::Renewed(const std::string& name, const content::StampCheck& check) {
  if (!check.holds || check.renewed.empty()) return;
  tables_.at(name)->id = content::PatchedFile::IdOf(check.renewed);
  tables_.at(name)->is_behind = true;
}

// Later findings are noted in the new table, and not in the table before it.
void WatchedTables::CatchUp(Known& known, const OpenFunction& open) {
  if (!known.is_behind) return;
  absl::StatusOr<content::StampTable> table = open();
  known.is_checked &= table.ok() && known.table.IsLaidOutAs(*table);
  if (!known.is_checked) return;
  known.table = *std::move(table);
  known.is_behind = false;
}

void WatchedTables::MarkDirty(Known& known, uint32_t folder) {
  if (known.is_dirty[folder]) return;
  known.is_dirty[folder] = true;
  known.dirty.push_back(folder);
}

void WatchedTables::TakeChanges() {
  const absl::StatusOr<content::FolderWatch::Changes> changes = watch_->Take();
  if (!changes.ok() || changes->is_all) {
    LogInfo(
        "watch: all files are looked at once: {}",
        changes.ok() ? "events were lost, or file systems mounted" : MessageOf(changes.status()));
    for (auto& [name, known] : tables_) known->is_checked = false;
    return;
  }
  for (auto& [name, known] : tables_) {
    for (const std::string& folder : changes->folders) {
      const auto at = known->folders.find(folder);
      if (at == known->folders.end()) continue;
      MarkDirty(*known, at->second);
      // A folder that was moved or deleted is not watched any more.
      if (!watch_->Watches(folder)) known->is_checked = false;
    }
  }
}

bool WatchedTables::CannotWatch(const std::string& why) {
  const base::MutexLock lock(state_mutex_);
  if (why_not_ != why) LogInfo("watch: all files are looked at in each cook: {}", why);
  why_not_ = why;
  return false;
}

// Watches before the table is checked, so that every later change is told.
bool WatchedTables::WatchAll(Known& known) {
  const std::vector<std::string_view> folders = known.table.Folders();
  known.is_dirty.assign(folders.size(), false);
  for (uint32_t i = 0; i < folders.size(); ++i) {
    if (folders[i].empty() || known.folders.emplace(std::string(folders[i]), i).second) continue;
    return CannotWatch(fmt::format("{} is below two mounts", folders[i]));
  }
  if (known.table.HasLinkedFolders()) return CannotWatch("a folder is a link to another one");
  for (const auto& [folder, number] : known.folders) {
    if (const absl::Status added = watch_->Add(folder); !added.ok())
      return CannotWatch(std::string(added.message()));
  }
  for (const auto& [folder, number] : known.folders) {
    if (known.folders.contains(std::string(ParentOf(folder)))) continue;
    const absl::StatusOr<FileStat> stat = StatFile(folder);
    if (!stat.ok()) return false;
    known.tops.emplace_back(folder, *stat);
    if (const auto below = content::MountsBelow(folder); !below.empty())
      return CannotWatch(fmt::format("{} is mounted below {}", below.front(), folder));
  }
  const base::MutexLock lock(state_mutex_);
  why_not_.clear();
  return true;
}

bool WatchedTables::AreTopsTheSame(const Known& known) const {
  return std::ranges::all_of(known.tops, [](const auto& top) {
    const absl::StatusOr<FileStat> now = StatFile(top.first);
    return now.ok() && now->inode == top.second.inode && now->device == top.second.device;
  });
}

content::StampCheck WatchedTables::CheckAll(Known& known, Cancellation* stop, size_t changes_max) {
  const bool is_watched = WatchAll(known);
  content::StampCheck check =
      known.table.Check({.stop = stop, .finds_elsewhere = true, .changes_max = changes_max});
  known.elsewhere = std::move(check.elsewhere);
  for (const content::FileInTable& one : known.elsewhere) known.elsewhere_files.insert(one.file);
  known.is_checked = is_watched && (check.holds || !check.patches.empty());
  if (!known.is_checked) return check;
  for (const content::StampPatch& patch : check.patches)
    MarkDirty(known, known.folders.at(patch.folder));
  return check;
}

// Folders that are found to differ stay dirty.
content::StampCheck WatchedTables::CheckDirty(Known& known, Cancellation* stop,
                                              size_t changes_max) {
  content::StampCheck check = known.table.Check({.stop = stop,
                                                 .finds_elsewhere = true,
                                                 .folders = &known.dirty,
                                                 .files = &known.elsewhere,
                                                 .changes_max = changes_max});
  if (!check.holds) return check;
  for (const content::FileInTable& one : check.elsewhere) {
    if (known.elsewhere_files.insert(one.file).second) known.elsewhere.push_back(one);
  }
  for (const uint32_t folder : known.dirty) known.is_dirty[folder] = false;
  known.dirty.clear();
  return check;
}

void WatchedTables::Replace(const std::string& name, const std::string& id,
                            content::StampTable by) {
  const base::MutexLock lock(mutex_);
  const auto found = tables_.find(name);
  if (found == tables_.end() || found->second->id != id) return;
  Known& known = *found->second;
  if (!known.table.IsLaidOutAs(by)) {
    tables_.erase(found);
    return;
  }
  known.id = by.id();
  known.is_behind = false;
  known.table = std::move(by);
}

std::string WatchedTables::State() const {
  if (watch_ == nullptr) return "nothing is watched";
  const base::MutexLock lock(state_mutex_);
  if (!why_not_.empty()) return fmt::format("all files are looked at in each cook: {}", why_not_);
  if (watch_->size() == 0) return "the folders are watched from the first cook on";
  return fmt::format("{} watched", watch_->size() == 1
                                       ? "1 folder is"
                                       : fmt::format("{} folders are", watch_->size()));
}

}  // namespace galley::director
