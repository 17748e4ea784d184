#include "common/content/snapshot_files.h"

#include <sys/stat.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/content/stable_read.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

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

size_t SharedRowsMax(size_t files) { return std::max<size_t>(256, files / 64); }

void SnapshotFiles::Fill(
    std::vector<SeenFile> seen,
    const std::function<std::optional<HashedDigest>(const FileEntry&)>& known) {
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

std::optional<HashedDigest> SnapshotFiles::Taken(size_t index) const {
  const Row* const row = Replaced(index);
  if (row == nullptr) return rows->known(index);
  const base::MutexLock lock(mutex);
  return row->knowledge.known;
}

Knowledge SnapshotFiles::KnowledgeOf(size_t index) const {
  return {.seen_ns = SeenAt(index),
          .has_clash = Replaced(index) == nullptr && rows->has_clash(index),
          .known = Taken(index)};
}

std::optional<size_t> SnapshotFiles::IndexOf(std::string_view path) const {
  const size_t at = rows->LowerBound(path);
  if (at == rows->size() || rows->entry(at).path != path) return std::nullopt;
  return at;
}

// '0' follows '/'.
std::pair<size_t, size_t> SnapshotFiles::RangeIn(std::string_view folder) const {
  if (folder == "/" || folder.empty()) return {0, rows->size()};
  const std::string prefix(folder);
  return {rows->LowerBound(prefix + "/"), rows->LowerBound(prefix + "0")};
}

absl::StatusOr<size_t> SnapshotFiles::Usable(std::string_view path) const {
  const std::optional<size_t> index = IndexOf(path);
  if (!index) return NotFoundError("{} is absent", EscapeName(path));
  const FileEntry& entry = Entry(*index);
  if (!entry.error.empty()) return absl::FailedPreconditionError(entry.error);
  return *index;
}

std::optional<Digest> SnapshotFiles::Known(size_t index) const {
  const std::optional<HashedDigest> known = Taken(index);
  return known ? std::optional(known->digest) : std::nullopt;
}

absl::Status SnapshotFiles::Learn(size_t index, const Digest& digest, int64_t hashed_ns) {
  const FileEntry& entry = Entry(index);
  if (digest.size_bytes() != entry.stat.size_bytes) {
    return StaleError(entry.host_path, fmt::format("its size was {}, now {}", entry.stat.size_bytes,
                                                   digest.size_bytes()));
  }
  const HashedDigest taken{digest, hashed_ns};
  bool is_new = false;
  const Digest known = Remember(index, taken, is_new).digest;
  if (is_new) {
    ++learned;
    learned_bytes += digest.size_bytes();
  }
  if (known == digest) return absl::OkStatus();
  return StaleError(entry.host_path, "its bytes are others than those looked at before");
}

HashedDigest SnapshotFiles::Remember(size_t index, const HashedDigest& digest, bool& is_new) {
  const auto found = replaced.find(static_cast<uint32_t>(index));
  if (found == replaced.end()) return rows->Learn(index, digest, is_new);
  const base::MutexLock lock(mutex);
  std::optional<HashedDigest>& known = found->second.knowledge.known;
  is_new = !known.has_value();
  if (is_new) known = digest;
  return *known;
}

std::unique_ptr<SnapshotFiles> SnapshotFiles::Revised(const std::vector<std::string>& targets,
                                                      const std::vector<SeenFile>& seen) const {
  // A program that saves a file often writes another one beside it, which is gone afterwards.
  std::vector<std::string_view> files;
  for (const std::string& target : targets) {
    if (!IsAbsent(target)) files.push_back(target);
  }
  if (replaced.size() + files.size() > SharedRowsMax(rows->size())) return nullptr;
  const std::vector<SeenFile> shown = Overlay(head.mounts, seen).shown;
  if (shown.size() != files.size()) return nullptr;
  auto next = std::make_unique<SnapshotFiles>();
  next->replaced = CopyOfReplaced();
  for (size_t k = 0; k < shown.size(); ++k) {
    const FileEntry& now = shown[k].entry;
    const std::optional<size_t> index = IndexOf(files[k]);
    if (now.path != files[k] || !now.error.empty() || !index) return nullptr;
    const FileEntry& before = Entry(*index);
    if (!before.error.empty() || !S_ISREG(before.stat.mode) || !S_ISREG(now.stat.mode) ||
        before.host_path != now.host_path || before.mount != now.mount)
      return nullptr;
    Row row{now, {.seen_ns = shown[k].seen_ns}};
    std::optional<HashedDigest> known = Taken(*index);
    if (known && before.stat == now.stat && !IsRacy(now.stat, known->hashed_ns))
      row.knowledge.known = std::move(known);
    next->replaced.insert_or_assign(static_cast<uint32_t>(*index), std::move(row));
  }
  next->rows = rows;
  {
    const base::MutexLock lock(mutex);
    const base::MutexLock of_next(next->mutex);
    next->base = base;
    next->base_identity = base_identity;
    next->base_learned = base_learned;
  }
  return next;
}

bool SnapshotFiles::IsAbsent(std::string_view path) const {
  const auto [begin, end] = RangeIn(path);
  return begin == end && !IndexOf(path) &&
         std::ranges::none_of(head.hidden,
                              [&](const SeenFile& file) { return IsUnder(file.entry.path, path); });
}

absl::flat_hash_map<uint32_t, Row> SnapshotFiles::CopyOfReplaced() const {
  const base::MutexLock lock(mutex);
  return replaced;
}

std::vector<uint32_t> SnapshotFiles::UnlikeBase() const {
  std::vector<uint32_t> rows_of = rows->LearnedFrom(base_learned);
  for (const auto& [index, row] : replaced) rows_of.push_back(index);
  std::ranges::sort(rows_of);
  rows_of.erase(std::unique(rows_of.begin(), rows_of.end()), rows_of.end());
  return rows_of;
}

}  // namespace galley::content
