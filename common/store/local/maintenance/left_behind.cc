#include "common/store/local/maintenance/left_behind.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/folder_names.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/sweeper.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kUnadoptedAge = absl::Hours(24);
constexpr size_t kLookUpsMax = 4096;
// The time of a file is that of a coarse clock, and may be set meanwhile.
constexpr absl::Duration kClockDoubt = absl::Minutes(1);

bool IsGone(const std::error_code& error) { return error == std::errc::no_such_file_or_directory; }

absl::Status VisitBlobFiles(
    const std::string& directory,
    const std::function<absl::Status(const Digest&, const FileStat&)>& visit) {
  std::error_code error;
  for (fs::directory_iterator folder(JoinPath(directory, "files"), error), end;
       !error && folder != end; folder.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator at(folder->path(), inner); !inner && at != end;
         at.increment(inner)) {
      const std::optional<Digest> digest = ParseBlobFileName(at->path().filename().string());
      if (!digest.has_value() || BlobFilePath(directory, *digest) != at->path().string()) continue;
      const absl::StatusOr<FileStat> stat = StatFile(at->path().string(), /*follow_links=*/false);
      if (!stat.ok() || !S_ISREG(stat->mode)) continue;
      RETURN_IF_ERROR(visit(*digest, *stat));
    }
    if (inner && !IsGone(inner) && inner != std::errc::not_a_directory)
      return ErrnoStatus(inner.value(), "read folder", folder->path().string());
  }
  if (error && !IsGone(error))
    return ErrnoStatus(error.value(), "read folder", JoinPath(directory, "files"));
  return absl::OkStatus();
}

// The process that writes it, by its name; 0: none says so.
pid_t WriterOf(std::string_view name) {
  pid_t pid = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data(), last, pid);
  return error == std::errc() && pid > 0 && end != last && *end == '.' ? pid : 0;
}

bool IsAlive(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

uint64_t BytesIn(const fs::path& path, absl::Time& written) {
  uint64_t bytes = 0;
  const auto add = [&](const std::string& file) {
    const absl::StatusOr<FileStat> stat = StatFile(file, /*follow_links=*/false);
    if (!stat.ok()) return;
    if (S_ISREG(stat->mode)) bytes += stat->size_bytes;
    written = std::max(written, absl::FromUnixNanos(stat->mtime_ns));
  };
  add(path.string());
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error))) {
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
         at.increment(error))
      add(at->path().string());
  }
  return bytes;
}

}  // namespace

std::vector<TemporaryLeft> TemporaryFiles(const StoreState& store) {
  std::vector<TemporaryLeft> left;
  const std::string folder = TemporaryDirectory(store.folder.directory);
  for (const std::string& name : NamesIn(folder)) {
    const pid_t writer = WriterOf(name);
    if (writer == 0) continue;
    TemporaryLeft one{.path = JoinPath(folder, name), .is_live = IsAlive(writer)};
    one.size_bytes = BytesIn(one.path, one.written);
    left.push_back(std::move(one));
  }
  return left;
}

absl::StatusOr<std::vector<LargeFile>> UnadoptedFiles(StoreParts& store) {
  std::vector<LargeFile> unadopted, some;
  const auto look = [&]() -> absl::Status {
    std::vector<Digest> digests;
    for (const LargeFile& file : some) digests.push_back(file.digest);
    ASSIGN_OR_RETURN(const auto found, store.reader.Look(digests));
    for (size_t i = 0; i < some.size(); ++i) {
      const bool is_adopted = found[i].has_value() && found[i]->segment == 0;
      if (!is_adopted) unadopted.push_back(some[i]);
    }
    some.clear();
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      VisitBlobFiles(store.folder.directory, [&](const Digest& digest, const FileStat& stat) {
        some.push_back({.digest = digest,
                        .size_bytes = stat.size_bytes,
                        .written = absl::FromUnixNanos(stat.mtime_ns)});
        return some.size() < kLookUpsMax ? absl::OkStatus() : look();
      }));
  RETURN_IF_ERROR(look());
  return unadopted;
}

// Most cooks end well, and nobody collects: what the notes of the dead say is then known.
void RemoveOldWriterNotes(StoreParts& store) {
  const absl::StatusOr<std::vector<WriterNote>> notes = ReadWriterNotes(store.folder.directory);
  if (!notes.ok()) return;
  for (const WriterNote& note : *notes) {
    if (note.is_live) continue;
    const std::vector<Digest> files(note.files.begin(), note.files.end());
    const auto found = store.reader.Look(files);
    if (!found.ok()) return;
    // A process that was killed before it gave the file its name left no note.
    bool says_something = false;
    for (size_t i = 0; i < files.size(); ++i)
      says_something |=
          !(*found)[i].has_value() && FileExists(BlobFilePath(store.folder.directory, files[i]));
    if (!says_something) ::unlink(note.path.c_str());
  }
}

namespace {

// Some segment has no header any more: if it was the owner's, what it adopted is not known.
absl::StatusOr<bool> IndexCoversAllSegments(StoreState& store) {
  ASSIGN_OR_RETURN(const auto segments, store.index.With(&Index::Segments));
  return std::ranges::none_of(segments, [](const auto& segment) {
    return segment.second.writer == SegmentWriterKind::kWorker && segment.second.is_abandoned &&
           !segment.second.is_cut;
  });
}

}  // namespace

LeftBehind::LeftBehind(StoreParts& store, const Holders& holders, const Coverage& coverage)
    : store_(store),
      holders_(holders),
      coverage_(coverage),
      day_ago_(store.folder.options.now() - kUnadoptedAge) {}

absl::Status LeftBehind::Find(const std::function<bool(const Digest&)>& is_needed) {
  for (TemporaryLeft& one : TemporaryFiles(store_)) {
    if (IsOlderThanAll(one.written) && (!one.is_live || one.written < day_ago_))
      temporary_.push_back(std::move(one));
  }
  ASSIGN_OR_RETURN(const bool covers_all, IndexCoversAllSegments(store_));
  if (!covers_all) return absl::OkStatus();
  // The files first: who comes to rely on one from here on changes its time, or is in the notes.
  ASSIGN_OR_RETURN(const std::vector<LargeFile> unadopted, UnadoptedFiles(store_));
  ASSIGN_OR_RETURN(notes_, ReadWriterNotes(store_.folder.directory));
  std::set<Digest> by_living, by_dead;
  bool are_living_known = true;
  for (const WriterNote& note : notes_) {
    (note.is_live ? by_living : by_dead).insert(note.files.begin(), note.files.end());
    are_living_known &= note.is_whole || !note.is_live;
  }
  // Some process that lives may rely on any of them: only their age counts.
  if (!are_living_known) by_dead.clear();
  for (const LargeFile& file : unadopted) {
    const bool may_be_reported = by_living.contains(file.digest) || !IsOlderThanAll(file.written);
    const bool is_left = by_dead.contains(file.digest) || file.written < day_ago_;
    if (!may_be_reported && is_left && !is_needed(file.digest)) {
      files_.push_back(file);
    } else {
      staying_.insert(file.digest);
    }
  }
  return absl::OkStatus();
}

// Written before anybody who lives, and uses the store, began to.
bool LeftBehind::IsOlderThanAll(absl::Time written) const {
  return holders_.names.empty() ||
         (!holders_.hold_all && written < holders_.oldest_write - kClockDoubt);
}

uint64_t LeftBehind::bytes() const {
  uint64_t bytes = 0;
  for (const LargeFile& file : files_) bytes += file.size_bytes;
  for (const TemporaryLeft& one : temporary_) bytes += one.size_bytes;
  return bytes;
}

absl::Status LeftBehind::Remove(const GcOptions& options) {
  for (const TemporaryLeft& one : temporary_) RETURN_IF_ERROR(RemoveAll(one.path));
  std::vector<LargeFile> removed;
  for (const LargeFile& file : std::exchange(files_, {})) {
    RETURN_IF_ERROR(CheckCancelled(options));
    ASSIGN_OR_RETURN(const bool has_gone, RemoveUnlessWanted(file));
    if (has_gone) removed.push_back(file);
    if (!has_gone) staying_.insert(file.digest);
  }
  files_ = std::move(removed);
  for (const WriterNote& note : notes_) {
    const bool says_more =
        std::ranges::any_of(note.files, [&](const auto& file) { return staying_.contains(file); });
    if (!note.is_live && !says_more) ::unlink(note.path.c_str());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LeftBehind::RemoveUnlessWanted(const LargeFile& file) {
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  RETURN_IF_ERROR(store_.index.StillCovers(coverage_));
  ASSIGN_OR_RETURN(const auto found, store_.reader.Look(std::span(&file.digest, 1)));
  if (found[0].has_value() && found[0]->segment == 0) return false;
  const std::string path = BlobFilePath(store_.folder.directory, file.digest);
  const std::string aside = CollectedFilePath(store_.folder.directory, file.digest);
  if (::rename(path.c_str(), aside.c_str()) != 0) {
    if (errno == ENOENT) return false;
    return ErrnoStatus(errno, "move", path);
  }
  const absl::StatusOr<FileStat> stat = StatFile(aside);
  if (!stat.ok() || absl::FromUnixNanos(stat->mtime_ns) != file.written) {
    RETURN_IF_ERROR(RestoreCollectedFile(store_.folder.directory, file.digest));
    return false;
  }
  if (::unlink(aside.c_str()) != 0) return ErrnoStatus(errno, "remove", aside);
  return true;
}

}  // namespace galley::store
