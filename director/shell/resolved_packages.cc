#include "director/shell/resolved_packages.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/base/threads.h"
#include "common/content/name.h"
#include "common/project/project.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using project::IsSidecar;
using project::kSidecarSuffix;

absl::string_view KeyOf(std::string_view name) { return {name.data(), name.size()}; }

size_t RefreshedMax(size_t files) { return std::max(ResolvedPackages::kRefreshedMin, files / 64); }

// The package of a sidecar; any other path is the package itself.
std::string_view PackageOf(std::string_view path) {
  return IsSidecar(path) ? path.substr(0, path.size() - kSidecarSuffix.size()) : path;
}

// The number of the first file whose path is not before `path`.
size_t LowerBound(const content::FileList& files, std::string_view path) {
  size_t begin = 0;
  for (size_t end = files.size(); begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    if (files[middle].path < path) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

class NameCollector {
 public:
  NameCollector(const content::Snapshot& before, const content::Snapshot& now, size_t names_max)
      : before_(before), now_(now), names_max_(names_max) {}

  // False: there are too many names.
  bool AddPath(std::string_view path) {
    // Snapshot::Refresh looks at the folder of a file whose name cannot be a virtual path.
    while (path.size() > 1 && !content::ValidateVirtualPath(path).ok())
      path = content::FolderOf(path);
    if (!AddBelow(before_, path) || !AddBelow(now_, path)) return false;
    for (; path.size() > 1; path = content::FolderOf(path)) AddFile(path);
    return names_.size() <= names_max_;
  }

  std::vector<std::string> TakeNames() { return {names_.begin(), names_.end()}; }

 private:
  void AddFile(std::string_view path) {
    names_.emplace(PackageOf(path));
    for (const content::FileEntry* twin : now_.FindAllFolded(path))
      names_.emplace(PackageOf(twin->path));
  }

  bool AddBelow(const content::Snapshot& snapshot, std::string_view folder) {
    const std::string stem(folder == "/" ? "" : folder);
    const content::FileList files = snapshot.files();
    const size_t begin = LowerBound(files, stem + "/");
    const size_t end = LowerBound(files, stem + "0");  // '0' follows '/'
    if (end - begin > names_max_) return false;
    for (size_t i = begin; i < end; ++i) AddFile(files[i].path);
    return true;
  }

  const content::Snapshot& before_;
  const content::Snapshot& now_;
  const size_t names_max_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<std::vector<std::string>> RefreshedNames(const content::Snapshot& before,
                                                       const content::Snapshot& now,
                                                       std::span<const std::string> looked_at,
                                                       size_t names_max) {
  if (now.IsRevisionOf(before)) {
    std::set<std::string> names;  // the rest of the files differ in bytes, which nobody resolves
    for (const std::string& path : looked_at) {
      if (IsSidecar(path)) names.emplace(PackageOf(path));
    }
    if (names.size() > names_max) return std::nullopt;
    return std::vector<std::string>(names.begin(), names.end());
  }
  NameCollector names(before, now, names_max);
  for (const std::string& path : looked_at) {
    if (!names.AddPath(path)) return std::nullopt;
  }
  return names.TakeNames();
}

// Slot: a file that is resolved when somebody first asks. Shared by the successors that did not
// look at the file again.
class ResolvedPackages::Slot {
 public:
  FilePtr Get() const {
    const base::MutexLock lock(mutex_);
    return file_;
  }
  // Keeps the first file. Returns the kept one.
  FilePtr Keep(FilePtr file) {
    const base::MutexLock lock(mutex_);
    if (file_ == nullptr) file_ = std::move(file);
    return file_;
  }

 private:
  mutable base::Mutex mutex_;
  FilePtr file_ GALLEY_GUARDED_BY(mutex_);  // nullptr: not resolved yet, or no such file
};

// Asked: the files that were asked for one by one. Shared by the successors; a successor asks only
// for names that were not looked at again since.
class ResolvedPackages::Asked {
 public:
  FilePtr Get(std::string_view name) const {
    const base::MutexLock lock(mutex_);
    const auto found = files_.find(KeyOf(name));
    return found == files_.end() ? nullptr : found->second;
  }
  // Keeps the first file of a name. Returns the kept one.
  FilePtr Keep(std::string_view name, FilePtr file) {
    const base::MutexLock lock(mutex_);
    return files_.try_emplace(std::string(name), std::move(file)).first->second;
  }
  // Returns the files, with those that `refreshed` has in their place.
  std::shared_ptr<Asked> With(const Refreshed& refreshed) const {
    auto next = std::make_shared<Asked>();
    absl::flat_hash_map<std::string, FilePtr> files;
    {
      const base::MutexLock lock(mutex_);
      files = files_;
    }
    for (const auto& [name, slot] : refreshed) {
      files.erase(name);
      if (FilePtr file = slot->Get(); file != nullptr) files.emplace(name, std::move(file));
    }
    const base::MutexLock lock(next->mutex_);
    next->files_ = std::move(files);
    return next;
  }

 private:
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, FilePtr> files_ GALLEY_GUARDED_BY(mutex_);
};

const ResolvedPackage* ResolvedPackages::All::Find(std::string_view name) const {
  const auto found = std::lower_bound(names.begin(), names.end(), name);
  if (found == names.end() || *found != name) return nullptr;
  return &packages[static_cast<size_t>(found - names.begin())];
}

void ResolvedPackages::All::Add(std::string name, const ResolvedFile& file) {
  if (!file.errors.empty()) errors_of.emplace(name, file.errors);
  if (!file.package) return;
  names.push_back(std::move(name));
  packages.push_back(*file.package);
}

void ResolvedPackages::All::CollectErrors() {
  absl::flat_hash_set<std::string> told;
  for (const auto& [name, texts] : errors_of) {
    for (const std::string& text : texts) {
      if (told.insert(text).second) errors.push_back(text);
    }
  }
}

ResolvedPackages::ResolvedPackages(const content::Snapshot& snapshot, ResolveFile resolve,
                                   unsigned threads)
    : snapshot_(snapshot),
      resolve_(std::move(resolve)),
      threads_(threads),
      asked_(std::make_shared<Asked>()) {}

ResolvedPackages::~ResolvedPackages() = default;

void ResolvedPackages::TakeOver(const ResolvedPackages& before,
                                std::span<const std::string> looked_at) {
  const size_t names_max = RefreshedMax(snapshot_.files().size());
  const auto names = RefreshedNames(before.snapshot_, snapshot_, looked_at, names_max);
  if (!names) return;
  base_ = before.KnownAll();
  if (base_ == nullptr) {
    refreshed_ = before.refreshed_;
    base_ = before.base_;
    asked_ = before.asked_;
  }
  std::set<std::string> unread;
  {
    const base::MutexLock lock(before.mutex_);
    unread = before.unread_;
  }
  for (const std::string& name : *names) {
    refreshed_.insert_or_assign(name, std::make_shared<Slot>());
    unread.erase(name);
  }
  {
    const base::MutexLock lock(mutex_);
    unread_ = std::move(unread);
  }
  if (refreshed_.empty() && base_ != nullptr) return ShareAll(std::exchange(base_, nullptr));
  if (refreshed_.size() > names_max) MakeLowerLayer();
}

std::shared_ptr<const ResolvedPackages::All> ResolvedPackages::KnownAll() const {
  const base::MutexLock lock(all_mutex_);
  return all_;
}

void ResolvedPackages::ShareAll(std::shared_ptr<const All> all) {
  const base::MutexLock lock(all_mutex_);
  all_ = std::move(all);
  known_all_.store(all_.get(), std::memory_order_release);
}

// Called in TakeOver, when nobody has a pointer into the layers yet.
void ResolvedPackages::MakeLowerLayer() {
  if (base_ == nullptr) {
    asked_ = asked_->With(refreshed_);
  } else {
    ShareAll(MergeAll());
    base_ = nullptr;
  }
  refreshed_.clear();
}

const ResolvedPackage* ResolvedPackages::Find(std::string_view name) const {
  if (const All* const known = known_all_.load(std::memory_order_acquire)) return known->Find(name);
  if (base_ != nullptr && !refreshed_.contains(KeyOf(name))) return base_->Find(name);
  const FilePtr file = FindFile(name);
  return file == nullptr || !file->package ? nullptr : &*file->package;
}

// The layers hold every file that is returned. REQUIRES: there is no base, or the name was looked
// at again.
ResolvedPackages::FilePtr ResolvedPackages::FindFile(std::string_view name) const {
  const auto slot = refreshed_.find(KeyOf(name));
  FilePtr file = slot != refreshed_.end() ? slot->second->Get() : asked_->Get(name);
  if (file == nullptr) {
    file = ResolveNow(name);
    if (file == nullptr) return nullptr;
    file = slot != refreshed_.end() ? slot->second->Keep(std::move(file))
                                    : asked_->Keep(name, std::move(file));
  }
  NoteUnread(name, *file);
  return file;
}

ResolvedPackages::FilePtr ResolvedPackages::ResolveNow(std::string_view name) const {
  const content::FileEntry* const file = snapshot_.Find(name);
  if (file == nullptr || IsSidecar(name)) return nullptr;
  return std::make_shared<const ResolvedFile>(
      resolve_(*file, snapshot_.Find(fmt::format("{}{}", name, kSidecarSuffix))));
}

void ResolvedPackages::NoteUnread(std::string_view name, const ResolvedFile& file) const {
  if (!file.is_sidecar_unread) return;
  const base::MutexLock lock(mutex_);
  unread_.emplace(name);
}

bool ResolvedPackages::HasUnreadSidecars() const {
  const base::MutexLock lock(mutex_);
  return !unread_.empty();
}

const ResolvedPackages::All& ResolvedPackages::TakeAll() const {
  if (const All* const known = known_all_.load(std::memory_order_acquire)) return *known;
  const base::MutexLock lock(all_mutex_);
  if (all_ == nullptr) {
    all_ = base_ != nullptr ? MergeAll() : ResolveAll();
    known_all_.store(all_.get(), std::memory_order_release);
  }
  return *all_;
}

std::shared_ptr<const ResolvedPackages::All> ResolvedPackages::ResolveAll() const {
  const content::FileList files = snapshot_.files();
  const std::vector<ResolvedFile> resolved = ResolveFiles(files);
  auto all = std::make_shared<All>();
  for (size_t i = 0; i < resolved.size(); ++i) {
    NoteUnread(files[i].path, resolved[i]);
    all->Add(files[i].path, resolved[i]);
  }
  all->CollectErrors();
  return all;
}

std::vector<ResolvedFile> ResolvedPackages::ResolveFiles(const content::FileList& files) const {
  std::vector<ResolvedFile> resolved(files.size());
  constexpr size_t kChunk = 512;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t begin = next.fetch_add(kChunk); begin < files.size();
         begin = next.fetch_add(kChunk)) {
      const size_t end = std::min(files.size(), begin + kChunk);
      for (size_t i = begin; i < end; ++i) {
        if (IsSidecar(files[i].path)) continue;
        resolved[i] =
            resolve_(files[i], snapshot_.Find(files[i].path + std::string(kSidecarSuffix)));
      }
    }
  };
  unsigned threads = threads_ != 0 ? threads_ : std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<size_t>(threads, files.size() / (4 * kChunk) + 1));
  RunOnThreads(threads, [&](size_t) { work(); });
  return resolved;
}

// The list of the lower layer, with the files that were looked at again in their places.
std::shared_ptr<const ResolvedPackages::All> ResolvedPackages::MergeAll() const {
  std::vector<std::string> changed;
  changed.reserve(refreshed_.size());
  for (const auto& [name, slot] : refreshed_) changed.push_back(name);
  std::ranges::sort(changed);
  auto all = std::make_shared<All>();
  all->names.reserve(base_->names.size() + changed.size());
  all->packages.reserve(base_->names.size() + changed.size());
  all->errors_of = base_->errors_of;
  size_t taken = 0;
  const auto take_until = [&](size_t end) {
    const auto names = base_->names.begin();
    const auto packages = base_->packages.begin();
    const auto from = static_cast<std::ptrdiff_t>(taken), to = static_cast<std::ptrdiff_t>(end);
    all->names.insert(all->names.end(), names + from, names + to);
    all->packages.insert(all->packages.end(), packages + from, packages + to);
    taken = end;
  };
  for (std::string& name : changed) {
    const auto found = std::lower_bound(base_->names.begin(), base_->names.end(), name);
    take_until(static_cast<size_t>(found - base_->names.begin()));
    if (found != base_->names.end() && *found == name) ++taken;
    all->errors_of.erase(name);
    if (const FilePtr file = FindFile(name); file != nullptr) all->Add(std::move(name), *file);
  }
  take_until(base_->names.size());
  all->CollectErrors();
  return all;
}

}  // namespace galley::director
