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
#include "common/base/errors.h"
#include "common/base/mutex.h"
#include "common/base/racy.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/byte_codec.h"
#include "common/content/digest_cache.h"
#include "common/content/file_rows.h"
#include "common/content/name.h"
#include "common/content/overlay.h"
#include "common/content/snapshot_files.h"
#include "common/content/stable_read.h"
#include "common/content/stamp_table.h"
#include "common/content/table.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

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
      return InvalidArgumentError(
          "two mounts at {} have priority {}: {} and {}; give one of them a higher priority",
          mount.path, mount.priority, other->second->directory, mount.directory);
    }
  }
  return absl::OkStatus();
}

bool AreOfTheSame(const TableHead& a, const TableHead& b) {
  const auto is_same = [](const Mount& one, const Mount& other) {
    return one.path == other.path && one.directory == other.directory &&
           one.priority == other.priority;
  };
  return std::ranges::equal(a.mounts, b.mounts, is_same) && a.ignore == b.ignore &&
         a.excluded_directories == b.excluded_directories;
}

// TableName: the name of a table, beside others, and its identity.
struct TableName {
  std::string file, identity;
};

// The rows of the table `on`, which the one of `file` stands on.
absl::Status ReadBase(const std::string& file, const TableName& on, const SnapshotFiles* before,
                      SnapshotFiles& files) {
  const auto is_same = [&](const SnapshotFiles& other) {
    const base::MutexLock lock(other.mutex);
    return other.base == on.file && other.base_identity == on.identity && other.base_learned == 0;
  };
  if (before != nullptr && is_same(*before)) {
    files.rows = before->rows;
    return absl::OkStatus();
  }
  const std::string path = JoinPath(file.substr(0, file.rfind('/')), on.file);
  absl::StatusOr<TableFile> base = TableFile::Open(path);
  if (!base.ok())
    return InvalidArgumentError("{}: the table that it stands on: {}", file,
                                MessageOf(base.status()));
  if (base->head().identity != on.identity || !base->head().base.empty() ||
      !AreOfTheSame(base->head(), files.head))
    return InvalidArgumentError("{}: {} is another table than it stands on", file, path);
  files.rows = std::make_shared<FileRows>(*std::move(base));
  return absl::OkStatus();
}

absl::Status ReplaceRows(const TableFile& table, const std::string& file, SnapshotFiles& files) {
  for (size_t c = 0; c < table.chunks(); ++c) {
    absl::StatusOr<std::vector<Row>> rows = table.Read(c);
    if (!rows.ok()) return Annotate(rows.status(), file);
    for (Row& row : *rows) {
      const std::optional<size_t> index = files.IndexOf(row.entry.path);
      if (!index)
        return InvalidArgumentError("{}: the table that it stands on lacks {}", file,
                                    row.entry.path);
      files.replaced.emplace(static_cast<uint32_t>(*index), std::move(row));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Snapshot::Snapshot(std::unique_ptr<SnapshotFiles> files) : files_(std::move(files)) {}
Snapshot::~Snapshot() = default;

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::Scan(const ScanOptions& options) {
  RETURN_IF_ERROR(CheckMounts(options.mounts));
  ASSIGN_OR_RETURN(const IgnoreRules ignore,
                   IgnoreRules::Create(options.ignore, options.excluded_directories));
  auto files = std::make_unique<SnapshotFiles>();
  files->clock = options.clock != nullptr ? options.clock : &SystemClockOnce();
  files->digest_cache_file = options.digest_cache_file;
  files->head.mounts = options.mounts;
  files->head.ignore = options.ignore;
  files->head.excluded_directories = options.excluded_directories;
  ASSIGN_OR_RETURN(std::vector<SeenFile> seen, Walk({.mounts = files->head.mounts,
                                                     .ignore = ignore,
                                                     .clock = *files->clock,
                                                     .threads = options.threads,
                                                     .stop = options.stop,
                                                     .sandboxes = &files->head.sandboxes,
                                                     .folders = &files->folders}));
  std::ranges::sort(files->head.sandboxes);
  std::optional<DigestCache> cache;
  if (!options.digest_cache_file.empty()) {
    absl::StatusOr<DigestCache> loaded = DigestCache::Load(options.digest_cache_file);
    if (loaded.ok()) {
      cache = *std::move(loaded);
    } else {
      NoteRepair(fmt::format("{}; files are read and hashed again", MessageOf(loaded.status())));
    }
  }
  files->Fill(std::move(seen), [&](const FileEntry& entry) -> std::optional<HashedDigest> {
    if (!cache) return std::nullopt;
    const std::optional<Digest> digest = cache->Find(entry.host_path, entry.stat);
    files->uncached += !digest;
    if (!digest) return std::nullopt;
    // The cache holds nothing racy: hashed late enough is all that is known, and all that matters.
    return HashedDigest{*digest,
                        std::max(entry.stat.mtime_ns, entry.stat.ctime_ns) + kRacyWindowNanos};
  });
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(files)));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::ReadTable(const std::string& file,
                                                              const Snapshot* before) {
  ASSIGN_OR_RETURN(TableFile table, TableFile::Open(file));
  auto files = std::make_unique<SnapshotFiles>();
  files->clock = &SystemClockOnce();
  files->head = table.head();
  TableName on{.file = std::exchange(files->head.base, ""),
               .identity = std::exchange(files->head.base_identity, "")};
  if (on.file.empty()) {
    on = {.file = file.substr(file.rfind('/') + 1), .identity = files->head.identity};
    files->rows = std::make_shared<FileRows>(std::move(table));
  } else {
    RETURN_IF_ERROR(ReadBase(file, on, before == nullptr ? nullptr : before->files_.get(), *files));
    RETURN_IF_ERROR(ReplaceRows(table, file, *files));
  }
  {
    const base::MutexLock lock(files->mutex);
    files->base = std::move(on.file);
    files->base_identity = std::move(on.identity);
  }
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(files)));
}

absl::StatusOr<std::string> Snapshot::BaseOfTable(const std::string& file) {
  // Not all of the table is read here: whoever takes it for the base of a cook reads it.
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(file));
  ASSIGN_OR_RETURN(const TableFile table,
                   TableFile::FromBytes(mapped.bytes(), /*is_trusted=*/true));
  return table.head().base;
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::FromTable(const std::string& file,
                                                              const ScanOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Snapshot> snapshot, ReadTable(file));
  TableHead asked;
  asked.mounts = options.mounts;
  asked.ignore = options.ignore;
  asked.excluded_directories = options.excluded_directories;
  if (!AreOfTheSame(snapshot->files_->head, asked))
    return FailedPreconditionError("{} is of other mounts or rules", file);
  snapshot->files_->head.mounts = options.mounts;
  snapshot->files_->digest_cache_file = options.digest_cache_file;
  if (options.clock != nullptr) snapshot->files_->clock = options.clock;
  return snapshot;
}

const std::string& Snapshot::identity() const { return files_->head.identity; }
const std::vector<Mount>& Snapshot::mounts() const { return files_->head.mounts; }
FileList Snapshot::files() const { return FileList(*this); }
size_t FileList::size() const { return of_->files_->rows->size(); }
const FileEntry& FileList::operator[](size_t i) const { return of_->files_->Entry(i); }

const FileEntry* Snapshot::Find(std::string_view path) const {
  const std::optional<size_t> index = files_->IndexOf(path);
  return index ? &files_->Entry(*index) : nullptr;
}

const FileEntry* Snapshot::FindFolded(std::string_view path) const {
  const std::optional<size_t> index = files_->rows->FindFolded(path);
  return index ? &files_->Entry(*index) : nullptr;
}

std::vector<const FileEntry*> Snapshot::FindAllFolded(std::string_view path) const {
  std::vector<const FileEntry*> found;
  for (const size_t index : files_->rows->FindAllFolded(path))
    found.push_back(&files_->Entry(index));
  return found;
}

EntryKind Snapshot::Kind(std::string_view path) const {
  if (const FileEntry* entry = Find(path)) {
    return S_ISDIR(entry->stat.mode) ? EntryKind::kFolder : EntryKind::kFile;
  }
  const auto [begin, end] = files_->RangeIn(path);
  return begin < end ? EntryKind::kFolder : EntryKind::kAbsent;
}

std::optional<std::vector<std::string>> Snapshot::List(std::string_view folder) const {
  const auto [begin, end] = files_->RangeIn(folder);
  if (begin == end) {
    if (Kind(folder) == EntryKind::kFolder) return std::vector<std::string>();
    return std::nullopt;
  }
  const size_t prefix = folder == "/" ? 1 : folder.size() + 1;
  std::set<std::string> names;
  for (size_t i = begin; i < end;) {
    const std::string_view path = files_->Entry(i).path;
    const size_t slash = path.find('/', prefix);
    if (slash == std::string_view::npos) {
      names.insert(std::string(path.substr(prefix)) +
                   (S_ISDIR(files_->Entry(i).stat.mode) ? "/" : ""));
      ++i;
    } else {
      names.emplace(path.substr(prefix, slash + 1 - prefix));
      i = files_->rows->LowerBound(std::string(path.substr(0, slash)) + "0");
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

std::vector<std::string> Snapshot::Matches(std::string_view root, const Glob& pattern) const {
  const auto [begin, end] = files_->RangeIn(root);
  const size_t prefix = root == "/" ? 1 : root.size() + 1;
  std::vector<std::string> matches;
  for (size_t i = begin; i < end; ++i) {
    const std::string_view relative = std::string_view(files_->Entry(i).path).substr(prefix);
    if (pattern.Matches(relative)) matches.emplace_back(relative);
  }
  return matches;
}

absl::StatusOr<Digest> Snapshot::DigestOf(std::string_view path, const Cancellation* stop) {
  ASSIGN_OR_RETURN(const size_t index, files_->Usable(path));
  if (const std::optional<Digest> known = files_->Known(index)) return *known;
  return Stream(
      path, [](std::string_view) {}, stop);
}

absl::StatusOr<Digest> Snapshot::Stream(std::string_view path,
                                        const std::function<void(std::string_view)>& take,
                                        const Cancellation* stop) {
  ASSIGN_OR_RETURN(const size_t index, files_->Usable(path));
  const int64_t hashed_ns = files_->NowNanos();
  DigestBuilder builder;
  RETURN_IF_ERROR(StableRead(
      files_->Entry(index),
      [&](std::string_view piece) {
        builder.Add(piece);
        take(piece);
      },
      stop));
  const Digest digest = builder.Finish();
  files_->Count(digest.size_bytes());
  RETURN_IF_ERROR(files_->Learn(index, digest, hashed_ns));
  return digest;
}

std::optional<Digest> Snapshot::KnownDigest(std::string_view path) const {
  const std::optional<size_t> index = files_->IndexOf(path);
  return index && files_->Entry(*index).error.empty() ? files_->Known(*index) : std::nullopt;
}

absl::StatusOr<Snapshot::Content> Snapshot::Read(std::string_view path, uint64_t size_bytes_max) {
  ASSIGN_OR_RETURN(const size_t index, files_->Usable(path));
  const FileEntry& entry = files_->Entry(index);
  if (entry.stat.size_bytes > size_bytes_max) {
    return ResourceExhaustedError("{} has {} bytes, the limit is {}", entry.host_path,
                                  entry.stat.size_bytes, size_bytes_max);
  }
  const int64_t hashed_ns = files_->NowNanos();
  std::string bytes;
  bytes.reserve(entry.stat.size_bytes);
  RETURN_IF_ERROR(StableRead(entry, [&](std::string_view piece) { bytes.append(piece); }));
  Content content;
  content.digest = Digest::Of(bytes);
  content.bytes = MakeBlob(std::move(bytes));
  files_->Count(content.digest.size_bytes());
  RETURN_IF_ERROR(files_->Learn(index, content.digest, hashed_ns));
  return content;
}

absl::Status Snapshot::CheckUsable(std::string_view path) const {
  return files_->Usable(path).status();
}

absl::Status Snapshot::LearnDigest(std::string_view path, const Digest& digest) {
  ASSIGN_OR_RETURN(const size_t index, files_->Usable(path));
  // When it was read is not known; not before the scan, which is the careful answer.
  return files_->Learn(index, digest, files_->SeenAt(index));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::Refresh(
    std::span<const std::string> paths) const {
  std::vector<std::string> targets;
  for (const std::string& path : paths) {
    if (!path.starts_with('/')) {
      return InvalidArgumentError("`{}` is no virtual path", EscapeName(path));
    }
    // A file without a valid name is looked at with its folder.
    std::string_view target = path;
    while (target != "/" && !ValidateVirtualPath(target).ok()) target = FolderOf(target);
    targets.emplace_back(target);
  }
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  const auto is_target = [&](std::string_view path) {
    for (std::string_view at = path;; at = FolderOf(at)) {
      if (std::binary_search(targets.begin(), targets.end(), at)) return true;
      if (at.size() <= 1) return false;
    }
  };

  const TableHead& head = files_->head;
  ASSIGN_OR_RETURN(const IgnoreRules ignore,
                   IgnoreRules::Create(head.ignore, head.excluded_directories));
  std::vector<std::string> seen_sandboxes;  // not told again
  std::vector<SeenFile> seen;
  if (!targets.empty()) {
    ASSIGN_OR_RETURN(seen, Walk({.mounts = head.mounts,
                                 .ignore = ignore,
                                 .clock = *files_->clock,
                                 .threads = 1,
                                 .targets = targets,
                                 .sandboxes = &seen_sandboxes}));
  }
  std::unique_ptr<SnapshotFiles> next = files_->Revised(targets, seen);
  const bool is_revision = next != nullptr;
  if (!is_revision) next = std::make_unique<SnapshotFiles>();
  next->clock = files_->clock;
  next->digest_cache_file = files_->digest_cache_file;
  next->head = {.identity = "",
                .base = "",
                .base_identity = "",
                .mounts = head.mounts,
                .ignore = head.ignore,
                .excluded_directories = head.excluded_directories,
                .sandboxes = head.sandboxes,
                .hidden = {}};
  if (is_revision) {
    next->head.hidden = head.hidden;
    return std::unique_ptr<Snapshot>(new Snapshot(std::move(next)));
  }
  // On the way to a target a folder may have shown an error of its own; it was in the table
  // already, or is new.
  std::erase_if(seen, [&](const SeenFile& file) {
    return !is_target(file.entry.path) && Find(file.entry.path) != nullptr;
  });
  for (size_t i = 0; i < files_->rows->size(); ++i) {
    const FileEntry& entry = files_->Entry(i);
    if (is_target(entry.path)) continue;
    seen.push_back({entry, files_->SeenAt(i)});
    if (files_->KnowledgeOf(i).has_clash) seen.back().entry.error.clear();
  }
  for (const SeenFile& file : head.hidden) {
    if (!is_target(file.entry.path)) seen.push_back(file);
  }
  next->Fill(std::move(seen), [&](const FileEntry& entry) -> std::optional<HashedDigest> {
    const std::optional<size_t> old = files_->IndexOf(entry.path);
    if (!old) return std::nullopt;
    const FileEntry& before = files_->Entry(*old);
    std::optional<HashedDigest> known = files_->Taken(*old);
    if (!known || before.host_path != entry.host_path || before.stat != entry.stat ||
        (is_target(entry.path) && IsRacy(entry.stat, known->hashed_ns)))
      return std::nullopt;
    return known;
  });
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(next)));
}

bool Snapshot::IsRevisionOf(const Snapshot& other) const {
  return files_->rows == other.files_->rows;
}

absl::Status Snapshot::SaveDigestCache() const {
  if (files_->digest_cache_file.empty()) return absl::OkStatus();
  DigestCache cache;
  for (size_t i = 0; i < files_->rows->size(); ++i) {
    const FileEntry& entry = files_->Entry(i);
    const std::optional<HashedDigest> known = files_->Taken(i);
    if (known) cache.Add(entry.host_path, entry.stat, known->digest, known->hashed_ns);
  }
  return cache.Save(files_->digest_cache_file);
}

absl::Status Snapshot::WriteTable(const std::string& file, std::string_view identity) const {
  TableHead head = files_->head;
  head.identity = identity;
  const std::string name = file.substr(file.rfind('/') + 1);
  const size_t rows = files_->rows->size();
  const uint64_t learned = files_->learned;
  const size_t rows_learned = files_->rows->learned();
  std::optional<std::vector<uint32_t>> unlike;  // these alone are written
  {
    const base::MutexLock lock(files_->mutex);
    if (!files_->base.empty() && files_->base != name) unlike = files_->UnlikeBase();
    if (unlike && unlike->size() > SharedRowsMax(rows)) unlike.reset();
    if (unlike) {
      head.base = files_->base;
      head.base_identity = files_->base_identity;
    }
  }
  const bool is_whole = !unlike.has_value();
  TableWriter writer(std::move(head));
  const size_t count = is_whole ? rows : unlike->size();
  for (size_t k = 0; k < count; ++k) {
    const size_t i = is_whole ? k : (*unlike)[k];
    writer.Add(files_->Entry(i), files_->KnowledgeOf(i));
  }
  RETURN_IF_ERROR(WriteFileAtomic(file, writer.Finish()));
  files_->written = learned;
  if (!is_whole) return absl::OkStatus();
  const base::MutexLock lock(files_->mutex);
  files_->base = name;
  files_->base_identity = identity;
  files_->base_learned = rows_learned;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Snapshot::Stamps() {
  // Limits of what is read here, of racy files that nobody read: with more the next check fails.
  constexpr size_t kHashedMax = 4096;
  constexpr uint64_t kHashedBytesMax = 64 << 20;
  uint64_t hashed_bytes = 0;
  if (files_->folders.empty()) return absl::FailedPreconditionError("files were looked at twice");
  const FileList files = this->files();
  size_t hashed = 0;
  for (size_t i = 0; i < files.size() && hashed < kHashedMax; ++i) {
    const bool may_be_read = files[i].error.empty();
    if (!may_be_read || files_->Known(i) || !IsRacy(files[i].stat, files_->SeenAt(i))) continue;
    if ((hashed_bytes += files[i].stat.size_bytes) > kHashedBytesMax) break;
    ++hashed;
    (void)DigestOf(files[i].path);  // one that changed is found to differ
  }
  StampTableBuilder builder;
  absl::flat_hash_map<std::string_view, uint32_t> folder_of;
  for (const SeenFolder& folder : files_->folders) {
    if (folder.stat.mode == 0)
      return FailedPreconditionError("{} changed while it was looked at", folder.host_path);
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
    // A link that cannot be followed has its own stat in its entry; it may lead somewhere.
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
  const auto no_stamp = [](const FileEntry& entry) {
    return FailedPreconditionError("{} has no stamp", entry.host_path);
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const auto link = files_->links.find(files[i].host_path);
    if (!add(files[i], files_->KnowledgeOf(i),
             link == files_->links.end() ? nullptr : &link->second))
      return no_stamp(files[i]);
  }
  // A file that another one hides may become a folder, which that does not hide. Nobody reads it.
  for (const SeenFile& file : files_->head.hidden) {
    if (!add(file.entry, Knowledge{.seen_ns = INT64_MAX}, file.link ? &*file.link : nullptr))
      return no_stamp(file.entry);
  }
  return builder.Finish();
}

absl::StatusOr<std::vector<StampPatch>> Snapshot::StampsOf(std::span<const std::string> paths) {
  std::vector<StampPatch> patches;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const size_t index, files_->Usable(path));
    ASSIGN_OR_RETURN(const Digest digest, DigestOf(path));
    const FileEntry& entry = files_->Entry(index);
    if (files_->links.contains(entry.host_path))
      return FailedPreconditionError("{} is a link", entry.host_path);
    const size_t slash = entry.host_path.rfind('/');
    patches.push_back({.folder = entry.host_path.substr(0, slash),
                       .name = entry.host_path.substr(slash + 1),
                       .stat = entry.stat,
                       .digest = digest,
                       .is_racy = IsRacy(entry.stat, files_->Taken(index)->hashed_ns)});
  }
  return patches;
}

bool Snapshot::HasUnwrittenDigests() const { return files_->learned != files_->written; }

bool Snapshot::IsCacheBehind() const {
  constexpr uint64_t kBytes = 64 << 20;
  const uint64_t behind = files_->learned + files_->uncached;
  return behind > files_->rows->size() / 100 || files_->learned_bytes > kBytes;
}

const std::vector<std::string>& Snapshot::sandboxes() const { return files_->head.sandboxes; }

Snapshot::Counters Snapshot::counters() const {
  return {files_->rows->size(), files_->bytes_hashed, files_->files_hashed};
}

}  // namespace galley::content
