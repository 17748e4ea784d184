#include "common/content/snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/healed.h"
#include "common/base/mutex.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/byte_codec.h"
#include "common/content/digest_cache.h"
#include "common/content/name.h"
#include "common/content/overlay.h"
#include "common/content/stable_read.h"
#include "common/content/stamp_table.h"
#include "common/content/table.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr std::string_view kTableMagic = "GLYSNAP2";
constexpr uint64_t kTableBytesMax = uint64_t{4} << 30;

Clock& SystemClockOnce() {
  static SystemClock clock;
  return clock;
}

absl::Status CheckMounts(const std::vector<Mount>& mounts) {
  std::map<std::pair<std::string_view, int>, const Mount*> seen;
  for (const Mount& mount : mounts) {
    if (absl::Status status = ValidateVirtualPath(mount.path); !status.ok()) {
      return Annotate(status, "a mount's path");
    }
    const auto [other, is_new] = seen.try_emplace({mount.path, mount.priority}, &mount);
    if (!is_new) {
      return absl::InvalidArgumentError(fmt::format(
          "two mounts at {} have priority {}: {} and {}; give one of them a higher priority",
          mount.path, mount.priority, other->second->directory, mount.directory));
    }
  }
  return absl::OkStatus();
}

// Gives every file of a group of names that differ only in case or Unicode form an error that names
// the others.
void MarkClashes(const FoldIndex& index, FileTable& table) {
  for (const std::vector<uint32_t>& group : index.Clashes(table.files)) {
    for (const uint32_t i : group) {
      FileEntry& entry = table.files[i];
      if (!entry.error.empty()) continue;
      const FileEntry& other = table.files[group[0] == i ? group[1] : group[0]];
      entry.error =
          fmt::format("{} and {} differ only in case or Unicode form ({}, {}); rename one of them",
                      entry.path, other.path, entry.host_path, other.host_path);
      table.knowledge[i].has_clash = true;
    }
  }
}

}  // namespace

struct Snapshot::Impl {
  FileTable table;  // constant after construction, but for the digests in `knowledge`
  FoldIndex folds;
  std::string digest_cache_file;
  Clock* clock = nullptr;
  std::vector<std::string> sandboxes;  // constant after construction
  // Folders and links that Scan saw: constant after construction. A successor has none.
  std::vector<SeenFolder> folders;
  absl::flat_hash_map<std::string, FileStat> links;  // the links themselves, by host path

  mutable base::Mutex mutex;  // guards table.knowledge[].known
  std::atomic<uint64_t> bytes_hashed = 0;
  std::atomic<uint64_t> files_hashed = 0;
  std::atomic<uint64_t> learned = 0, learned_bytes = 0;  // digests that nobody knew
  mutable std::atomic<uint64_t> written = 0;             // of these, those in the table's file
  uint64_t uncached = 0;                                 // files that the digest cache lacked

  // Lays `seen` over each other. Digests are not known yet.
  void Fill(std::vector<SeenFile> seen) {
    Overlaid overlaid = Overlay(table.mounts, std::move(seen));
    table.files.reserve(overlaid.shown.size());
    table.knowledge.reserve(overlaid.shown.size());
    for (SeenFile& file : overlaid.shown) {
      if (file.link) links.emplace(file.entry.host_path, *file.link);
      table.files.push_back(std::move(file.entry));
      table.knowledge.push_back(Knowledge{.seen_ns = file.seen_ns});
    }
    table.hidden = std::move(overlaid.hidden);
    folds = FoldIndex(table.files);
    MarkClashes(folds, table);
  }

  std::optional<size_t> IndexOf(std::string_view path) const {
    const auto at = std::lower_bound(
        table.files.begin(), table.files.end(), path,
        [](const FileEntry& entry, std::string_view key) { return entry.path < key; });
    if (at == table.files.end() || at->path != path) return std::nullopt;
    return static_cast<size_t>(at - table.files.begin());
  }

  // The first file at or behind `path`.
  size_t LowerBound(std::string_view path) const {
    const auto at = std::lower_bound(
        table.files.begin(), table.files.end(), path,
        [](const FileEntry& entry, std::string_view key) { return entry.path < key; });
    return static_cast<size_t>(at - table.files.begin());
  }

  // The files in a folder and below it. '0' follows '/'.
  std::pair<size_t, size_t> RangeIn(std::string_view folder) const {
    if (folder == "/" || folder.empty()) return {0, table.files.size()};
    const std::string prefix(folder);
    return {LowerBound(prefix + "/"), LowerBound(prefix + "0")};
  }

  absl::StatusOr<size_t> Usable(std::string_view path) const {
    const std::optional<size_t> index = IndexOf(path);
    if (!index) return absl::NotFoundError(fmt::format("{} is absent", EscapeName(path)));
    const FileEntry& entry = table.files[*index];
    if (!entry.error.empty()) return absl::FailedPreconditionError(entry.error);
    return *index;
  }

  std::optional<Digest> Known(size_t index) const {
    const base::MutexLock lock(mutex);
    const std::optional<TakenDigest>& known = table.knowledge[index].known;
    return known ? std::optional(known->digest) : std::nullopt;
  }

  absl::Status Learn(size_t index, const Digest& digest, int64_t hashed_ns) {
    const FileEntry& entry = table.files[index];
    if (digest.size_bytes() != entry.stat.size_bytes) {
      return StaleError(entry.host_path, fmt::format("its size was {}, now {}",
                                                     entry.stat.size_bytes, digest.size_bytes()));
    }
    const base::MutexLock lock(mutex);
    std::optional<TakenDigest>& known = table.knowledge[index].known;
    if (!known) {
      known = TakenDigest{digest, hashed_ns};
      ++learned;
      learned_bytes += digest.size_bytes();
    }
    if (known->digest == digest) return absl::OkStatus();
    return StaleError(entry.host_path, "its bytes are others than those looked at before");
  }

  int64_t NowNanos() const { return absl::ToUnixNanos(clock->Now()); }

  void Count(uint64_t bytes) {
    bytes_hashed += bytes;
    ++files_hashed;
  }
};

Snapshot::Snapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Snapshot::~Snapshot() = default;

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::Scan(const ScanOptions& options) {
  RETURN_IF_ERROR(CheckMounts(options.mounts));
  ASSIGN_OR_RETURN(const IgnoreRules ignore,
                   IgnoreRules::Create(options.ignore, options.excluded_directories));
  auto impl = std::make_unique<Impl>();
  impl->clock = options.clock != nullptr ? options.clock : &SystemClockOnce();
  impl->digest_cache_file = options.digest_cache_file;
  impl->table.mounts = options.mounts;
  impl->table.ignore = options.ignore;
  impl->table.excluded_directories = options.excluded_directories;
  ASSIGN_OR_RETURN(std::vector<SeenFile> seen, Walk({.mounts = impl->table.mounts,
                                                     .ignore = ignore,
                                                     .clock = *impl->clock,
                                                     .threads = options.threads,
                                                     .sandboxes = &impl->sandboxes,
                                                     .folders = &impl->folders}));
  std::sort(impl->sandboxes.begin(), impl->sandboxes.end());
  impl->Fill(std::move(seen));
  if (options.digest_cache_file.empty())
    return std::unique_ptr<Snapshot>(new Snapshot(std::move(impl)));

  const absl::StatusOr<DigestCache> cache = DigestCache::Load(options.digest_cache_file);
  if (!cache.ok()) {
    NoteHealed(fmt::format("{}; files are read and hashed again", MessageOf(cache.status())));
  } else {
    for (size_t i = 0; i < impl->table.files.size(); ++i) {
      const FileEntry& entry = impl->table.files[i];
      const std::optional<Digest> digest = cache->Find(entry.host_path, entry.stat);
      // The cache holds nothing racy: hashed late enough is all that is known, and all that
      // matters.
      impl->uncached += !digest;
      if (digest) {
        impl->table.knowledge[i].known = TakenDigest{
            *digest, std::max(entry.stat.mtime_ns, entry.stat.ctime_ns) + kRacyWindowNanos};
      }
    }
  }
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::ReadTable(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file, kTableBytesMax));
  const absl::StatusOr<std::string_view> payload = Unseal(kTableMagic, bytes);
  if (!payload.ok()) return Annotate(payload.status(), file);
  absl::StatusOr<FileTable> table = DecodeTable(*payload);
  if (!table.ok()) return Annotate(table.status(), file);
  auto impl = std::make_unique<Impl>();
  impl->clock = &SystemClockOnce();
  impl->table = *std::move(table);
  impl->folds = FoldIndex(impl->table.files);
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::FromTable(const std::string& file,
                                                              const ScanOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Snapshot> snapshot, ReadTable(file));
  const FileTable& table = snapshot->impl_->table;
  const auto is_same = [](const Mount& a, const Mount& b) {
    return a.path == b.path && a.directory == b.directory && a.priority == b.priority;
  };
  if (!std::equal(table.mounts.begin(), table.mounts.end(), options.mounts.begin(),
                  options.mounts.end(), is_same) ||
      table.ignore != options.ignore || table.excluded_directories != options.excluded_directories)
    return absl::FailedPreconditionError(fmt::format("{} is of other mounts or rules", file));
  snapshot->impl_->table.mounts = options.mounts;
  snapshot->impl_->digest_cache_file = options.digest_cache_file;
  if (options.clock != nullptr) snapshot->impl_->clock = options.clock;
  return snapshot;
}

const std::string& Snapshot::identity() const { return impl_->table.identity; }
const std::vector<Mount>& Snapshot::mounts() const { return impl_->table.mounts; }
std::span<const FileEntry> Snapshot::files() const { return impl_->table.files; }

const FileEntry* Snapshot::Find(std::string_view path) const {
  const std::optional<size_t> index = impl_->IndexOf(path);
  return index ? &impl_->table.files[*index] : nullptr;
}

const FileEntry* Snapshot::FindFolded(std::string_view path) const {
  return impl_->folds.Find(impl_->table.files, path);
}

EntryKind Snapshot::Kind(std::string_view path) const {
  if (const FileEntry* entry = Find(path)) {
    return S_ISDIR(entry->stat.mode) ? EntryKind::kFolder : EntryKind::kFile;
  }
  const auto [begin, end] = impl_->RangeIn(path);
  return begin < end ? EntryKind::kFolder : EntryKind::kAbsent;
}

std::optional<std::vector<std::string>> Snapshot::List(std::string_view folder) const {
  const auto [begin, end] = impl_->RangeIn(folder);
  if (begin == end) {
    if (Kind(folder) == EntryKind::kFolder) return std::vector<std::string>();
    return std::nullopt;
  }
  const size_t prefix = folder == "/" ? 1 : folder.size() + 1;
  const std::vector<FileEntry>& files = impl_->table.files;
  std::set<std::string> names;
  for (size_t i = begin; i < end;) {
    const std::string_view path = files[i].path;
    const size_t slash = path.find('/', prefix);
    if (slash == std::string_view::npos) {
      names.insert(std::string(path.substr(prefix)) + (S_ISDIR(files[i].stat.mode) ? "/" : ""));
      ++i;
    } else {
      names.emplace(path.substr(prefix, slash + 1 - prefix));
      i = impl_->LowerBound(std::string(path.substr(0, slash)) + "0");
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

std::vector<std::string> Snapshot::Matches(std::string_view root, const Glob& pattern) const {
  const auto [begin, end] = impl_->RangeIn(root);
  const size_t prefix = root == "/" ? 1 : root.size() + 1;
  std::vector<std::string> matches;
  for (size_t i = begin; i < end; ++i) {
    const std::string_view relative = std::string_view(impl_->table.files[i].path).substr(prefix);
    if (pattern.Matches(relative)) matches.emplace_back(relative);
  }
  return matches;
}

absl::StatusOr<Digest> Snapshot::DigestOf(std::string_view path) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  if (const std::optional<Digest> known = impl_->Known(index)) return *known;
  const FileEntry& entry = impl_->table.files[index];
  const int64_t hashed_ns = impl_->NowNanos();
  DigestBuilder builder;
  RETURN_IF_ERROR(StableRead(entry, [&](std::string_view piece) { builder.Add(piece); }));
  const Digest digest = builder.Finish();
  impl_->Count(digest.size_bytes());
  RETURN_IF_ERROR(impl_->Learn(index, digest, hashed_ns));
  return digest;
}

std::optional<Digest> Snapshot::KnownDigest(std::string_view path) const {
  const std::optional<size_t> index = impl_->IndexOf(path);
  return index && impl_->table.files[*index].error.empty() ? impl_->Known(*index) : std::nullopt;
}

absl::StatusOr<Snapshot::Content> Snapshot::Read(std::string_view path, uint64_t size_bytes_max) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  const FileEntry& entry = impl_->table.files[index];
  if (entry.stat.size_bytes > size_bytes_max) {
    return absl::ResourceExhaustedError(fmt::format("{} has {} bytes, the limit is {}",
                                                    entry.host_path, entry.stat.size_bytes,
                                                    size_bytes_max));
  }
  const int64_t hashed_ns = impl_->NowNanos();
  std::string bytes;
  bytes.reserve(entry.stat.size_bytes);
  RETURN_IF_ERROR(StableRead(entry, [&](std::string_view piece) { bytes.append(piece); }));
  Content content;
  content.digest = Digest::Of(bytes);
  content.bytes = MakeBlob(std::move(bytes));
  impl_->Count(content.digest.size_bytes());
  RETURN_IF_ERROR(impl_->Learn(index, content.digest, hashed_ns));
  return content;
}

absl::Status Snapshot::LearnDigest(std::string_view path, const Digest& digest) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  // When it was read is not known; not before the scan, which is the careful answer.
  return impl_->Learn(index, digest, impl_->table.knowledge[index].seen_ns);
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::Refresh(
    std::span<const std::string> paths) const {
  std::vector<std::string> targets;
  for (const std::string& path : paths) {
    if (!path.starts_with('/')) {
      return absl::InvalidArgumentError(fmt::format("`{}` is no virtual path", EscapeName(path)));
    }
    // A file without a valid name is looked at with its folder.
    std::string_view target = path;
    while (target != "/" && !ValidateVirtualPath(target).ok()) target = FolderOf(target);
    targets.emplace_back(target);
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  const auto is_target = [&](std::string_view path) {
    for (std::string_view at = path;; at = FolderOf(at)) {
      if (std::binary_search(targets.begin(), targets.end(), at)) return true;
      if (at.size() <= 1) return false;
    }
  };

  const FileTable& before = impl_->table;
  auto next = std::make_unique<Impl>();
  next->clock = impl_->clock;
  next->digest_cache_file = impl_->digest_cache_file;
  next->table.mounts = before.mounts;
  next->table.ignore = before.ignore;
  next->table.excluded_directories = before.excluded_directories;
  ASSIGN_OR_RETURN(const IgnoreRules ignore,
                   IgnoreRules::Create(before.ignore, before.excluded_directories));
  next->sandboxes = impl_->sandboxes;
  std::vector<std::string> seen_sandboxes;  // not told again
  std::vector<SeenFile> seen;
  if (!targets.empty()) {
    ASSIGN_OR_RETURN(seen, Walk({.mounts = next->table.mounts,
                                 .ignore = ignore,
                                 .clock = *next->clock,
                                 .threads = 1,
                                 .targets = targets,
                                 .sandboxes = &seen_sandboxes}));
    // On the way to a target a folder may have shown an error of its own; it was in the table
    // already, or is new.
    std::erase_if(seen, [&](const SeenFile& file) {
      return !is_target(file.entry.path) && Find(file.entry.path) != nullptr;
    });
  }
  for (size_t i = 0; i < before.files.size(); ++i) {
    if (is_target(before.files[i].path)) continue;
    seen.push_back({before.files[i], before.knowledge[i].seen_ns});
    if (before.knowledge[i].has_clash) seen.back().entry.error.clear();
  }
  for (const SeenFile& file : before.hidden) {
    if (!is_target(file.entry.path)) seen.push_back(file);
  }
  next->Fill(std::move(seen));

  const base::MutexLock lock(impl_->mutex);
  for (size_t i = 0; i < next->table.files.size(); ++i) {
    const FileEntry& entry = next->table.files[i];
    const std::optional<size_t> old = impl_->IndexOf(entry.path);
    if (!old || before.files[*old].host_path != entry.host_path) continue;
    const std::optional<TakenDigest>& known = before.knowledge[*old].known;
    if (!known || before.files[*old].stat != entry.stat) continue;
    if (is_target(entry.path) && IsRacy(entry.stat, known->hashed_ns)) continue;
    next->table.knowledge[i].known = known;
  }
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(next)));
}

absl::Status Snapshot::SaveDigestCache() const {
  if (impl_->digest_cache_file.empty()) return absl::OkStatus();
  DigestCache cache;
  {
    const base::MutexLock lock(impl_->mutex);
    for (size_t i = 0; i < impl_->table.files.size(); ++i) {
      const FileEntry& entry = impl_->table.files[i];
      const std::optional<TakenDigest>& known = impl_->table.knowledge[i].known;
      if (known) cache.Add(entry.host_path, entry.stat, known->digest, known->hashed_ns);
    }
  }
  return cache.Save(impl_->digest_cache_file);
}

absl::Status Snapshot::WriteTable(const std::string& file, std::string_view identity) const {
  std::string payload;
  {
    const base::MutexLock lock(impl_->mutex);
    payload = EncodeTable(impl_->table, identity);
    impl_->written = impl_->learned.load();
  }
  return WriteFileAtomic(file, Seal(kTableMagic, payload));
}

absl::StatusOr<std::string> Snapshot::Stamps() {
  // Limits of what is read here, of racy files that nobody read: with more the next check fails.
  constexpr size_t kHashedMax = 4096;
  constexpr uint64_t kHashedBytesMax = 64 << 20;
  uint64_t hashed_bytes = 0;
  if (impl_->folders.empty()) return absl::FailedPreconditionError("files were looked at twice");
  std::vector<FileEntry>& files = impl_->table.files;
  size_t hashed = 0;
  for (size_t i = 0; i < files.size() && hashed < kHashedMax; ++i) {
    const bool may_be_read = files[i].error.empty();
    if (!may_be_read || impl_->Known(i) ||
        !IsRacy(files[i].stat, impl_->table.knowledge[i].seen_ns))
      continue;
    if ((hashed_bytes += files[i].stat.size_bytes) > kHashedBytesMax) break;
    ++hashed;
    (void)DigestOf(files[i].path);  // one that changed is found to differ
  }
  StampTableBuilder builder;
  absl::flat_hash_map<std::string_view, uint32_t> folder_of;
  for (const SeenFolder& folder : impl_->folders) {
    if (folder.stat.mode == 0)
      return absl::FailedPreconditionError(
          fmt::format("{} changed while it was looked at", folder.host_path));
    folder_of[folder.host_path] =
        builder.Add({.host_path = folder.host_path,
                     .stat = folder.stat,
                     .names = folder.names,
                     .is_link = folder.is_link,
                     .is_racy = IsRacy(folder.stat, folder.seen_ns),
                     .unless = folder.is_sandbox ? std::string(kSandboxFile) : ""});
  }
  const auto add = [&](const FileEntry& entry, const Knowledge& knowledge,
                       const FileStat* own_stat) {
    const size_t slash = entry.host_path.rfind('/');
    const auto folder = folder_of.find(std::string_view(entry.host_path).substr(0, slash));
    if (folder == folder_of.end() || S_ISDIR(entry.stat.mode) || entry.stat.mode == 0) return false;
    // (A link that cannot be followed has its own stat in its entry; it may lead somewhere.)
    std::optional<FileStat> target;
    if (own_stat != nullptr)
      target =
          S_ISLNK(entry.stat.mode) ? StatFile(entry.host_path).value_or(FileStat()) : entry.stat;
    builder.Add(folder->second,
                {.name = std::string_view(entry.host_path).substr(slash + 1),
                 .stat = own_stat != nullptr ? *own_stat : entry.stat,
                 .link_target = target,
                 .digest = knowledge.known ? std::optional(knowledge.known->digest) : std::nullopt,
                 .is_racy = IsRacy(entry.stat, knowledge.known ? knowledge.known->hashed_ns
                                                               : knowledge.seen_ns)});
    return true;
  };
  const base::MutexLock lock(impl_->mutex);
  const auto no_stamp = [](const FileEntry& entry) {
    return absl::FailedPreconditionError(fmt::format("{} has no stamp", entry.host_path));
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const auto link = impl_->links.find(files[i].host_path);
    if (!add(files[i], impl_->table.knowledge[i],
             link == impl_->links.end() ? nullptr : &link->second))
      return no_stamp(files[i]);
  }
  // A file that another one hides may become a folder, which that does not hide. Nobody reads it.
  for (const SeenFile& file : impl_->table.hidden) {
    if (!add(file.entry, Knowledge{.seen_ns = INT64_MAX}, file.link ? &*file.link : nullptr))
      return no_stamp(file.entry);
  }
  return builder.Finish();
}

absl::StatusOr<std::vector<StampPatch>> Snapshot::StampsOf(std::span<const std::string> paths) {
  std::vector<StampPatch> patches;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
    ASSIGN_OR_RETURN(const Digest digest, DigestOf(path));
    const FileEntry& entry = impl_->table.files[index];
    if (impl_->links.contains(entry.host_path))
      return absl::FailedPreconditionError(fmt::format("{} is a link", entry.host_path));
    const size_t slash = entry.host_path.rfind('/');
    const base::MutexLock lock(impl_->mutex);
    patches.push_back(
        {.folder = entry.host_path.substr(0, slash),
         .name = entry.host_path.substr(slash + 1),
         .stat = entry.stat,
         .digest = digest,
         .is_racy = IsRacy(entry.stat, impl_->table.knowledge[index].known->hashed_ns)});
  }
  return patches;
}

bool Snapshot::HasUnwrittenDigests() const { return impl_->learned != impl_->written; }

bool Snapshot::IsCacheBehind() const {
  constexpr uint64_t kBytes = 64 << 20;
  const uint64_t behind = impl_->learned + impl_->uncached;
  return behind > impl_->table.files.size() / 100 || impl_->learned_bytes > kBytes;
}

const std::vector<std::string>& Snapshot::sandboxes() const { return impl_->sandboxes; }

Snapshot::Counters Snapshot::counters() const {
  return {impl_->table.files.size(), impl_->bytes_hashed, impl_->files_hashed};
}

namespace {

// Runs `look(i)` for every i below `count` on a few threads.
void InParallel(size_t count, const std::function<void(size_t)>& look) {
  constexpr size_t kEachMin = 16;
  const size_t cores = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::atomic<size_t> next = 0;
  RunOnThreads(std::min(cores, count / kEachMin), [&](size_t) {
    for (size_t i = next++; i < count; i = next++) look(i);
  });
}

}  // namespace

std::vector<Change> Difference(const Snapshot& before, Snapshot& now,
                               std::vector<std::string>* touched) {
  const FileTable& old = before.impl_->table;
  const FileTable& young = now.impl_->table;
  std::vector<Change> changes;
  std::vector<std::pair<std::string, Digest>> suspects;  // changed unless `now` finds this digest
  const auto compare = [&](size_t i, size_t j) {
    const FileEntry& a = old.files[i];
    const FileEntry& b = young.files[j];
    if (!a.error.empty() && a.error == b.error) return;
    if (!a.error.empty() || !b.error.empty()) {
      changes.push_back({a.path, true, true});
      return;
    }
    const bool is_same = a.stat == b.stat && a.host_path == b.host_path;
    const Knowledge& knowledge = old.knowledge[i];
    const int64_t looked_ns = knowledge.known ? knowledge.known->hashed_ns : knowledge.seen_ns;
    if (is_same && !IsRacy(a.stat, looked_ns)) return;
    if (knowledge.known) {
      suspects.emplace_back(a.path, knowledge.known->digest);
    } else {
      changes.push_back({a.path, true, true});
    }
  };
  {
    const base::MutexLock lock(before.impl_->mutex);
    size_t i = 0;
    size_t j = 0;
    while (i < old.files.size() || j < young.files.size()) {
      const int order = i == old.files.size()     ? 1
                        : j == young.files.size() ? -1
                                                  : old.files[i].path.compare(young.files[j].path);
      if (order == 0) compare(i, j);
      if (order < 0) changes.push_back({old.files[i].path, true, false});
      if (order > 0) changes.push_back({young.files[j].path, false, true});
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
  }
  std::vector<char> differs(suspects.size(), 0);
  InParallel(suspects.size(), [&](size_t k) {
    const absl::StatusOr<Digest> digest = now.DigestOf(suspects[k].first);
    differs[k] = !digest.ok() || *digest != suspects[k].second;
  });
  for (size_t k = 0; k < suspects.size(); ++k) {
    if (differs[k]) {
      changes.push_back({suspects[k].first, true, true});
    } else if (touched != nullptr) {
      touched->push_back(suspects[k].first);
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.path < b.path; });
  return changes;
}

}  // namespace galley::content
