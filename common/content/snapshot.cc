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
#include "common/content/file_rows.h"
#include "common/content/name.h"
#include "common/content/overlay.h"
#include "common/content/stable_read.h"
#include "common/content/stamp_table.h"
#include "common/content/table.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

// A successor shares the rows of the snapshot before it for as long as few differ: of more the cost
// of each table would grow.
size_t SharedMax(size_t files) { return std::max<size_t>(256, files / 64); }

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

bool AreOfTheSame(const TableHead& a, const TableHead& b) {
  const auto is_same = [](const Mount& one, const Mount& other) {
    return one.path == other.path && one.directory == other.directory &&
           one.priority == other.priority;
  };
  return std::equal(a.mounts.begin(), a.mounts.end(), b.mounts.begin(), b.mounts.end(), is_same) &&
         a.ignore == b.ignore && a.excluded_directories == b.excluded_directories;
}

// Gives every file of a group of names that differ only in case or Unicode form an error that names
// the others.
void MarkClashes(const FoldIndex& index, std::vector<Row>& rows) {
  const auto path_of = [&](size_t i) -> std::string_view { return rows[i].entry.path; };
  for (const std::vector<uint32_t>& group : index.Clashes(path_of)) {
    for (const uint32_t i : group) {
      FileEntry& entry = rows[i].entry;
      if (!entry.error.empty()) continue;
      const FileEntry& other = rows[group[0] == i ? group[1] : group[0]].entry;
      entry.error =
          fmt::format("{} and {} differ only in case or Unicode form ({}, {}); rename one of them",
                      entry.path, other.path, entry.host_path, other.host_path);
      rows[i].knowledge.has_clash = true;
    }
  }
}

}  // namespace

struct Snapshot::Impl {
  TableHead head;  // constant after construction; it names no base
  std::shared_ptr<FileRows> rows;
  // In place of the row with this number. Constant after construction, but for the digests.
  absl::flat_hash_map<uint32_t, Row> replaced;
  std::string digest_cache_file;
  Clock* clock = nullptr;
  // Folders and links that Scan saw: constant after construction. A successor has none.
  std::vector<SeenFolder> folders;
  absl::flat_hash_map<std::string, FileStat> links;  // the links themselves, by host path

  mutable base::Mutex mutex;  // guards the digests in `replaced`, and what follows
  // The file that holds `rows`, with what was known of them when so many were learned.
  mutable std::string base, base_identity;  // empty: there is none
  mutable size_t base_learned = 0;

  std::atomic<uint64_t> bytes_hashed = 0;
  std::atomic<uint64_t> files_hashed = 0;
  std::atomic<uint64_t> learned = 0, learned_bytes = 0;  // digests that nobody knew
  mutable std::atomic<uint64_t> written = 0;             // of these, those in the table's file
  uint64_t uncached = 0;                                 // files that the digest cache lacked

  // Lays `seen` over each other. Digests are what `known` says.
  void Fill(std::vector<SeenFile> seen,
            const std::function<std::optional<TakenDigest>(const FileEntry&)>& known) {
    Overlaid overlaid = Overlay(head.mounts, std::move(seen));
    std::vector<Row> all;
    all.reserve(overlaid.shown.size());
    for (SeenFile& file : overlaid.shown) {
      if (file.link) links.emplace(file.entry.host_path, *file.link);
      Knowledge knowledge{.seen_ns = file.seen_ns, .has_clash = false, .known = known(file.entry)};
      all.push_back({std::move(file.entry), std::move(knowledge)});
    }
    head.hidden = std::move(overlaid.hidden);
    FoldIndex folds(all.size(), [&](size_t i) -> std::string_view { return all[i].entry.path; });
    MarkClashes(folds, all);
    rows = std::make_shared<FileRows>(std::move(all), std::move(folds));
  }

  const Row* Replaced(size_t index) const {
    if (replaced.empty()) return nullptr;
    const auto found = replaced.find(static_cast<uint32_t>(index));
    return found == replaced.end() ? nullptr : &found->second;
  }
  const FileEntry& Entry(size_t index) const {
    const Row* const row = Replaced(index);
    return row != nullptr ? row->entry : rows->entry(index);
  }
  int64_t SeenAt(size_t index) const {
    const Row* const row = Replaced(index);
    return row != nullptr ? row->knowledge.seen_ns : rows->seen_ns(index);
  }
  std::optional<TakenDigest> Taken(size_t index) const {
    const Row* const row = Replaced(index);
    if (row == nullptr) return rows->known(index);
    const base::MutexLock lock(mutex);
    return row->knowledge.known;
  }
  Knowledge KnowledgeOf(size_t index) const {
    return {.seen_ns = SeenAt(index),
            .has_clash = Replaced(index) == nullptr && rows->has_clash(index),
            .known = Taken(index)};
  }

  std::optional<size_t> IndexOf(std::string_view path) const {
    const size_t at = rows->LowerBound(path);
    if (at == rows->size() || rows->entry(at).path != path) return std::nullopt;
    return at;
  }

  // The files in a folder and below it. '0' follows '/'.
  std::pair<size_t, size_t> RangeIn(std::string_view folder) const {
    if (folder == "/" || folder.empty()) return {0, rows->size()};
    const std::string prefix(folder);
    return {rows->LowerBound(prefix + "/"), rows->LowerBound(prefix + "0")};
  }

  absl::StatusOr<size_t> Usable(std::string_view path) const {
    const std::optional<size_t> index = IndexOf(path);
    if (!index) return absl::NotFoundError(fmt::format("{} is absent", EscapeName(path)));
    const FileEntry& entry = Entry(*index);
    if (!entry.error.empty()) return absl::FailedPreconditionError(entry.error);
    return *index;
  }

  std::optional<Digest> Known(size_t index) const {
    const std::optional<TakenDigest> known = Taken(index);
    return known ? std::optional(known->digest) : std::nullopt;
  }

  absl::Status Learn(size_t index, const Digest& digest, int64_t hashed_ns) {
    const FileEntry& entry = Entry(index);
    if (digest.size_bytes() != entry.stat.size_bytes) {
      return StaleError(entry.host_path, fmt::format("its size was {}, now {}",
                                                     entry.stat.size_bytes, digest.size_bytes()));
    }
    const TakenDigest taken{digest, hashed_ns};
    bool is_new = false;
    const Digest known = Remember(index, taken, is_new).digest;
    if (is_new) {
      ++learned;
      learned_bytes += digest.size_bytes();
    }
    if (known == digest) return absl::OkStatus();
    return StaleError(entry.host_path, "its bytes are others than those looked at before");
  }

  // The first digest counts.
  TakenDigest Remember(size_t index, const TakenDigest& digest, bool& is_new) {
    const auto found = replaced.find(static_cast<uint32_t>(index));
    if (found == replaced.end()) return rows->Learn(index, digest, is_new);
    const base::MutexLock lock(mutex);
    std::optional<TakenDigest>& known = found->second.knowledge.known;
    is_new = !known.has_value();
    if (is_new) known = digest;
    return *known;
  }

  // A successor that shares the rows, if all targets are files that were there, and `seen` has each
  // of them, and nothing else. Targets are sorted. Null: it must be made of all files.
  std::unique_ptr<Impl> Revised(const std::vector<std::string>& targets,
                                const std::vector<SeenFile>& seen) const {
    if (replaced.size() + targets.size() > SharedMax(rows->size())) return nullptr;
    const std::vector<SeenFile> shown = Overlay(head.mounts, seen).shown;
    if (shown.size() != targets.size()) return nullptr;
    auto next = std::make_unique<Impl>();
    next->replaced = CopyOfReplaced();
    for (size_t k = 0; k < shown.size(); ++k) {
      const FileEntry& now = shown[k].entry;
      const std::optional<size_t> index = IndexOf(targets[k]);
      if (now.path != targets[k] || !now.error.empty() || !index) return nullptr;
      const FileEntry& before = Entry(*index);
      if (!before.error.empty() || !S_ISREG(before.stat.mode) || !S_ISREG(now.stat.mode) ||
          before.host_path != now.host_path || before.mount != now.mount)
        return nullptr;
      Row row{now, {.seen_ns = shown[k].seen_ns}};
      std::optional<TakenDigest> known = Taken(*index);
      if (known && before.stat == now.stat && !IsRacy(now.stat, known->hashed_ns))
        row.knowledge.known = std::move(known);
      next->replaced.insert_or_assign(static_cast<uint32_t>(*index), std::move(row));
    }
    next->rows = rows;
    const base::MutexLock lock(mutex);
    next->base = base;
    next->base_identity = base_identity;
    next->base_learned = base_learned;
    return next;
  }

  absl::flat_hash_map<uint32_t, Row> CopyOfReplaced() const {
    const base::MutexLock lock(mutex);
    return replaced;
  }

  // The rows that the file of the base lacks, in order.
  std::vector<uint32_t> UnlikeBase() const GALLEY_REQUIRES(mutex) {
    std::vector<uint32_t> rows_of = rows->LearnedFrom(base_learned);
    for (const auto& [index, row] : replaced) rows_of.push_back(index);
    std::sort(rows_of.begin(), rows_of.end());
    rows_of.erase(std::unique(rows_of.begin(), rows_of.end()), rows_of.end());
    return rows_of;
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
  impl->head.mounts = options.mounts;
  impl->head.ignore = options.ignore;
  impl->head.excluded_directories = options.excluded_directories;
  ASSIGN_OR_RETURN(std::vector<SeenFile> seen, Walk({.mounts = impl->head.mounts,
                                                     .ignore = ignore,
                                                     .clock = *impl->clock,
                                                     .threads = options.threads,
                                                     .stop = options.stop,
                                                     .sandboxes = &impl->head.sandboxes,
                                                     .folders = &impl->folders}));
  std::sort(impl->head.sandboxes.begin(), impl->head.sandboxes.end());
  std::optional<DigestCache> cache;
  if (!options.digest_cache_file.empty()) {
    absl::StatusOr<DigestCache> loaded = DigestCache::Load(options.digest_cache_file);
    if (loaded.ok()) {
      cache = *std::move(loaded);
    } else {
      NoteHealed(fmt::format("{}; files are read and hashed again", MessageOf(loaded.status())));
    }
  }
  impl->Fill(std::move(seen), [&](const FileEntry& entry) -> std::optional<TakenDigest> {
    if (!cache) return std::nullopt;
    const std::optional<Digest> digest = cache->Find(entry.host_path, entry.stat);
    impl->uncached += !digest;
    if (!digest) return std::nullopt;
    // The cache holds nothing racy: hashed late enough is all that is known, and all that matters.
    return TakenDigest{*digest,
                       std::max(entry.stat.mtime_ns, entry.stat.ctime_ns) + kRacyWindowNanos};
  });
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Snapshot>> Snapshot::ReadTable(const std::string& file,
                                                              const Snapshot* before) {
  ASSIGN_OR_RETURN(TableFile table, TableFile::Open(file));
  auto impl = std::make_unique<Impl>();
  impl->clock = &SystemClockOnce();
  impl->head = table.head();
  impl->base = std::exchange(impl->head.base, "");
  impl->base_identity = std::exchange(impl->head.base_identity, "");
  if (impl->base.empty()) {
    impl->base = file.substr(file.rfind('/') + 1);
    impl->base_identity = impl->head.identity;
    impl->rows = std::make_shared<FileRows>(std::move(table));
  } else {
    RETURN_IF_ERROR(ReadBase(file, before, *impl));
    RETURN_IF_ERROR(Replace(table, file, *impl));
  }
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(impl)));
}

// The rows of the table that the one of `file` stands on.
absl::Status Snapshot::ReadBase(const std::string& file, const Snapshot* before, Impl& impl) {
  const auto is_same = [&](const Impl& other) {
    const base::MutexLock lock(other.mutex);
    return other.base == impl.base && other.base_identity == impl.base_identity &&
           other.base_learned == 0;
  };
  if (before != nullptr && is_same(*before->impl_)) {
    impl.rows = before->impl_->rows;
    return absl::OkStatus();
  }
  const std::string path = JoinPath(file.substr(0, file.rfind('/')), impl.base);
  absl::StatusOr<TableFile> base = TableFile::Open(path);
  if (!base.ok())
    return absl::InvalidArgumentError(
        fmt::format("{}: the table that it stands on: {}", file, MessageOf(base.status())));
  if (base->head().identity != impl.base_identity || !base->head().base.empty() ||
      !AreOfTheSame(base->head(), impl.head))
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is another table than it stands on", file, path));
  impl.rows = std::make_shared<FileRows>(*std::move(base));
  return absl::OkStatus();
}

absl::Status Snapshot::Replace(const TableFile& table, const std::string& file, Impl& impl) {
  for (size_t c = 0; c < table.chunks(); ++c) {
    absl::StatusOr<std::vector<Row>> rows = table.Read(c);
    if (!rows.ok()) return Annotate(rows.status(), file);
    for (Row& row : *rows) {
      const std::optional<size_t> index = impl.IndexOf(row.entry.path);
      if (!index)
        return absl::InvalidArgumentError(
            fmt::format("{}: the table that it stands on lacks {}", file, row.entry.path));
      impl.replaced.emplace(static_cast<uint32_t>(*index), std::move(row));
    }
  }
  return absl::OkStatus();
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
  if (!AreOfTheSame(snapshot->impl_->head, asked))
    return absl::FailedPreconditionError(fmt::format("{} is of other mounts or rules", file));
  snapshot->impl_->head.mounts = options.mounts;
  snapshot->impl_->digest_cache_file = options.digest_cache_file;
  if (options.clock != nullptr) snapshot->impl_->clock = options.clock;
  return snapshot;
}

const std::string& Snapshot::identity() const { return impl_->head.identity; }
const std::vector<Mount>& Snapshot::mounts() const { return impl_->head.mounts; }
FileList Snapshot::files() const { return FileList(*this); }
size_t FileList::size() const { return of_->impl_->rows->size(); }
const FileEntry& FileList::operator[](size_t i) const { return of_->impl_->Entry(i); }

const FileEntry* Snapshot::Find(std::string_view path) const {
  const std::optional<size_t> index = impl_->IndexOf(path);
  return index ? &impl_->Entry(*index) : nullptr;
}

const FileEntry* Snapshot::FindFolded(std::string_view path) const {
  const std::optional<size_t> index = impl_->rows->FindFolded(path);
  return index ? &impl_->Entry(*index) : nullptr;
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
  std::set<std::string> names;
  for (size_t i = begin; i < end;) {
    const std::string_view path = impl_->Entry(i).path;
    const size_t slash = path.find('/', prefix);
    if (slash == std::string_view::npos) {
      names.insert(std::string(path.substr(prefix)) +
                   (S_ISDIR(impl_->Entry(i).stat.mode) ? "/" : ""));
      ++i;
    } else {
      names.emplace(path.substr(prefix, slash + 1 - prefix));
      i = impl_->rows->LowerBound(std::string(path.substr(0, slash)) + "0");
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

std::vector<std::string> Snapshot::Matches(std::string_view root, const Glob& pattern) const {
  const auto [begin, end] = impl_->RangeIn(root);
  const size_t prefix = root == "/" ? 1 : root.size() + 1;
  std::vector<std::string> matches;
  for (size_t i = begin; i < end; ++i) {
    const std::string_view relative = std::string_view(impl_->Entry(i).path).substr(prefix);
    if (pattern.Matches(relative)) matches.emplace_back(relative);
  }
  return matches;
}

absl::StatusOr<Digest> Snapshot::DigestOf(std::string_view path, const Cancellation* stop) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  if (const std::optional<Digest> known = impl_->Known(index)) return *known;
  return Stream(
      path, [](std::string_view) {}, stop);
}

absl::StatusOr<Digest> Snapshot::Stream(std::string_view path,
                                        const std::function<void(std::string_view)>& take,
                                        const Cancellation* stop) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  const int64_t hashed_ns = impl_->NowNanos();
  DigestBuilder builder;
  RETURN_IF_ERROR(StableRead(
      impl_->Entry(index),
      [&](std::string_view piece) {
        builder.Add(piece);
        take(piece);
      },
      stop));
  const Digest digest = builder.Finish();
  impl_->Count(digest.size_bytes());
  RETURN_IF_ERROR(impl_->Learn(index, digest, hashed_ns));
  return digest;
}

std::optional<Digest> Snapshot::KnownDigest(std::string_view path) const {
  const std::optional<size_t> index = impl_->IndexOf(path);
  return index && impl_->Entry(*index).error.empty() ? impl_->Known(*index) : std::nullopt;
}

absl::StatusOr<Snapshot::Content> Snapshot::Read(std::string_view path, uint64_t size_bytes_max) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  const FileEntry& entry = impl_->Entry(index);
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

absl::Status Snapshot::CheckUsable(std::string_view path) const {
  return impl_->Usable(path).status();
}

absl::Status Snapshot::LearnDigest(std::string_view path, const Digest& digest) {
  ASSIGN_OR_RETURN(const size_t index, impl_->Usable(path));
  // When it was read is not known; not before the scan, which is the careful answer.
  return impl_->Learn(index, digest, impl_->SeenAt(index));
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

  const TableHead& head = impl_->head;
  ASSIGN_OR_RETURN(const IgnoreRules ignore,
                   IgnoreRules::Create(head.ignore, head.excluded_directories));
  std::vector<std::string> seen_sandboxes;  // not told again
  std::vector<SeenFile> seen;
  if (!targets.empty()) {
    ASSIGN_OR_RETURN(seen, Walk({.mounts = head.mounts,
                                 .ignore = ignore,
                                 .clock = *impl_->clock,
                                 .threads = 1,
                                 .targets = targets,
                                 .sandboxes = &seen_sandboxes}));
  }
  std::unique_ptr<Impl> next = impl_->Revised(targets, seen);
  const bool is_revision = next != nullptr;
  if (!is_revision) next = std::make_unique<Impl>();
  next->clock = impl_->clock;
  next->digest_cache_file = impl_->digest_cache_file;
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
  for (size_t i = 0; i < impl_->rows->size(); ++i) {
    const FileEntry& entry = impl_->Entry(i);
    if (is_target(entry.path)) continue;
    seen.push_back({entry, impl_->SeenAt(i)});
    if (impl_->KnowledgeOf(i).has_clash) seen.back().entry.error.clear();
  }
  for (const SeenFile& file : head.hidden) {
    if (!is_target(file.entry.path)) seen.push_back(file);
  }
  next->Fill(std::move(seen), [&](const FileEntry& entry) -> std::optional<TakenDigest> {
    const std::optional<size_t> old = impl_->IndexOf(entry.path);
    if (!old) return std::nullopt;
    const FileEntry& before = impl_->Entry(*old);
    std::optional<TakenDigest> known = impl_->Taken(*old);
    if (!known || before.host_path != entry.host_path || before.stat != entry.stat ||
        (is_target(entry.path) && IsRacy(entry.stat, known->hashed_ns)))
      return std::nullopt;
    return known;
  });
  return std::unique_ptr<Snapshot>(new Snapshot(std::move(next)));
}

bool Snapshot::IsRevisionOf(const Snapshot& other) const {
  return impl_->rows == other.impl_->rows;
}

absl::Status Snapshot::SaveDigestCache() const {
  if (impl_->digest_cache_file.empty()) return absl::OkStatus();
  DigestCache cache;
  for (size_t i = 0; i < impl_->rows->size(); ++i) {
    const FileEntry& entry = impl_->Entry(i);
    const std::optional<TakenDigest> known = impl_->Taken(i);
    if (known) cache.Add(entry.host_path, entry.stat, known->digest, known->hashed_ns);
  }
  return cache.Save(impl_->digest_cache_file);
}

absl::Status Snapshot::WriteTable(const std::string& file, std::string_view identity) const {
  TableHead head = impl_->head;
  head.identity = identity;
  const std::string name = file.substr(file.rfind('/') + 1);
  const size_t rows = impl_->rows->size();
  const uint64_t learned = impl_->learned;
  const size_t rows_learned = impl_->rows->learned();
  std::optional<std::vector<uint32_t>> unlike;  // these alone are written
  {
    const base::MutexLock lock(impl_->mutex);
    if (!impl_->base.empty() && impl_->base != name) unlike = impl_->UnlikeBase();
    if (unlike && unlike->size() > SharedMax(rows)) unlike.reset();
    if (unlike) {
      head.base = impl_->base;
      head.base_identity = impl_->base_identity;
    }
  }
  const bool is_whole = !unlike.has_value();
  TableWriter writer(std::move(head));
  const size_t count = is_whole ? rows : unlike->size();
  for (size_t k = 0; k < count; ++k) {
    const size_t i = is_whole ? k : (*unlike)[k];
    writer.Add(impl_->Entry(i), impl_->KnowledgeOf(i));
  }
  RETURN_IF_ERROR(WriteFileAtomic(file, writer.Finish()));
  impl_->written = learned;
  if (!is_whole) return absl::OkStatus();
  const base::MutexLock lock(impl_->mutex);
  impl_->base = name;
  impl_->base_identity = identity;
  impl_->base_learned = rows_learned;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Snapshot::Stamps() {
  // Limits of what is read here, of racy files that nobody read: with more the next check fails.
  constexpr size_t kHashedMax = 4096;
  constexpr uint64_t kHashedBytesMax = 64 << 20;
  uint64_t hashed_bytes = 0;
  if (impl_->folders.empty()) return absl::FailedPreconditionError("files were looked at twice");
  const FileList files = this->files();
  size_t hashed = 0;
  for (size_t i = 0; i < files.size() && hashed < kHashedMax; ++i) {
    const bool may_be_read = files[i].error.empty();
    if (!may_be_read || impl_->Known(i) || !IsRacy(files[i].stat, impl_->SeenAt(i))) continue;
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
    return absl::FailedPreconditionError(fmt::format("{} has no stamp", entry.host_path));
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const auto link = impl_->links.find(files[i].host_path);
    if (!add(files[i], impl_->KnowledgeOf(i), link == impl_->links.end() ? nullptr : &link->second))
      return no_stamp(files[i]);
  }
  // A file that another one hides may become a folder, which that does not hide. Nobody reads it.
  for (const SeenFile& file : impl_->head.hidden) {
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
    const FileEntry& entry = impl_->Entry(index);
    if (impl_->links.contains(entry.host_path))
      return absl::FailedPreconditionError(fmt::format("{} is a link", entry.host_path));
    const size_t slash = entry.host_path.rfind('/');
    patches.push_back({.folder = entry.host_path.substr(0, slash),
                       .name = entry.host_path.substr(slash + 1),
                       .stat = entry.stat,
                       .digest = digest,
                       .is_racy = IsRacy(entry.stat, impl_->Taken(index)->hashed_ns)});
  }
  return patches;
}

bool Snapshot::HasUnwrittenDigests() const { return impl_->learned != impl_->written; }

bool Snapshot::IsCacheBehind() const {
  constexpr uint64_t kBytes = 64 << 20;
  const uint64_t behind = impl_->learned + impl_->uncached;
  return behind > impl_->rows->size() / 100 || impl_->learned_bytes > kBytes;
}

const std::vector<std::string>& Snapshot::sandboxes() const { return impl_->head.sandboxes; }

Snapshot::Counters Snapshot::counters() const {
  return {impl_->rows->size(), impl_->bytes_hashed, impl_->files_hashed};
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
                               std::vector<std::string>* touched, const Cancellation* stop) {
  const Snapshot::Impl& old = *before.impl_;
  const Snapshot::Impl& young = *now.impl_;
  std::vector<Change> changes;
  std::vector<std::pair<std::string, Digest>> suspects;  // changed unless `now` finds this digest
  const auto compare = [&](size_t i, size_t j) {
    const FileEntry& a = old.Entry(i);
    const FileEntry& b = young.Entry(j);
    if (!a.error.empty() && a.error == b.error) return;
    if (!a.error.empty() || !b.error.empty()) {
      changes.push_back({a.path, true, true});
      return;
    }
    const bool is_same = a.stat == b.stat && a.host_path == b.host_path;
    const std::optional<TakenDigest> known = old.Taken(i);
    if (is_same && !IsRacy(a.stat, known ? known->hashed_ns : old.SeenAt(i))) return;
    if (known && b.stat.size_bytes < kHashedHereMax) {
      suspects.emplace_back(a.path, known->digest);
    } else {
      changes.push_back({a.path, true, true});
    }
  };
  if (now.IsRevisionOf(before)) {
    std::set<uint32_t> looked_at;
    for (const Snapshot::Impl* one : {&old, &young}) {
      for (const auto& [index, row] : one->replaced) looked_at.insert(index);
    }
    for (const uint32_t index : looked_at) compare(index, index);
  } else {
    const size_t old_size = old.rows->size(), young_size = young.rows->size();
    size_t i = 0;
    size_t j = 0;
    while (i < old_size || j < young_size) {
      const int order = i == old_size     ? 1
                        : j == young_size ? -1
                                          : old.Entry(i).path.compare(young.Entry(j).path);
      if (order == 0) compare(i, j);
      if (order < 0) changes.push_back({old.Entry(i).path, true, false});
      if (order > 0) changes.push_back({young.Entry(j).path, false, true});
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
  }
  std::vector<char> differs(suspects.size(), 0);
  InParallel(suspects.size(), [&](size_t k) {
    const absl::StatusOr<Digest> digest = now.DigestOf(suspects[k].first, stop);
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
