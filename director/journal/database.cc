#include "director/journal/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "director/journal/encoding.h"
#include "director/journal/seal.h"
#include "fmt/format.h"
#include "rocksdb/convenience.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;

// A director may replace files after we have read its manifest and before we open the files that it
// names.
constexpr int kReadOnlyAttemptsMax = 5;

rocksdb::Options DatabaseOptions() {
  rocksdb::Options options = rocks::SharedOptions();
  options.create_if_missing = true;
  options.write_buffer_size = 32 << 20;
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  const bool has_lz4 = std::ranges::find(supported, rocksdb::kLZ4Compression) != supported.end();
  // Files that are soon merged with others are not compressed: tables as they are flushed, and the
  // level below.
  const auto compression = has_lz4 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
  options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kNoCompression, compression};
  return options;
}

absl::StatusOr<std::unique_ptr<rocksdb::DB>> OpenForReading(const std::string& state_directory) {
  const std::string directory = JournalDirectory(state_directory);
  if (!FileExists(JoinPath(directory, "CURRENT")))
    return NotFoundError("there is no journal in {}", directory);
  rocksdb::Status status;
  for (int attempt = 0; attempt < kReadOnlyAttemptsMax; ++attempt) {
    rocksdb::DB* database = nullptr;
    rocksdb::Options options = DatabaseOptions();
    options.create_if_missing = false;
    options.max_open_files = -1;  // all from the start, because a cook may remove some meanwhile
    status = rocksdb::DB::OpenForReadOnly(options, directory, &database);
    if (status.ok()) return std::unique_ptr<rocksdb::DB>(database);
  }
  const absl::Status told =
      rocks::ToReadStatus(status, fmt::format("opening {} for reading", directory));
  return absl::IsDataLoss(told)
             ? Annotate(told, "the journal is damaged, and the next cook begins a new one")
             : told;
}

// OK and an empty text: the version is right. A text: why the database must be moved aside. An
// error says nothing of the journal.
absl::StatusOr<std::string> CheckVersion(rocksdb::DB& database, bool may_write) {
  std::string version;
  const rocksdb::Status status =
      database.Get(rocksdb::ReadOptions(), rocks::ToSlice(kVersionKey), &version);
  const std::string wanted = fmt::format("{}", kJournalFormatVersion);
  if (status.ok() && version == wanted) return std::string();
  if (status.ok())
    return fmt::format("it has format version {}, this program writes {}", EscapeControl(version),
                       wanted);
  if (rocks::IsOfMachine(status)) return rocks::ToReadStatus(status, "reading the version");
  if (!status.IsNotFound()) return fmt::format("its version cannot be read: {}", status.ToString());
  const std::unique_ptr<rocksdb::Iterator> any(database.NewIterator(rocksdb::ReadOptions()));
  any->SeekToFirst();
  if (rocks::IsOfMachine(any->status()))
    return rocks::ToReadStatus(any->status(), "reading the journal");
  if (any->Valid() || !any->status().ok() || !may_write)
    return std::string("it has no format version");
  rocksdb::WriteOptions synced;
  synced.sync = true;
  RETURN_IF_ERROR(rocks::ToStatus(database.Put(synced, rocks::ToSlice(kVersionKey), wanted),
                                  "beginning the journal"));
  return std::string();
}

// Returns true when the folder holds only a database of ours: nobody put another file there.
bool IsOnlyOurs(const std::string& directory) {
  bool has_database = false;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!IsJournalFileName(name) || !at->is_regular_file(error)) return false;
    has_database |= name.starts_with("MANIFEST-") || name.ends_with(".sst");
  }
  return !error && has_database;
}

absl::Status RemoveMark(const std::string& state_directory) {
  const std::string mark = DamagedMark(state_directory);
  RETURN_IF_ERROR(EnsureWritableFile(mark));
  if (::unlink(mark.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove", mark);
  return absl::OkStatus();
}

// The new name must not look like a file of RocksDB, which would try to remove LOG.broken-1.
absl::Status MoveFolderAside(const std::string& directory, const std::string& name) {
  std::string aside;
  for (int n = 1; aside.empty() || FileExists(aside); ++n)
    aside = JoinPath(directory, fmt::format("moved-{}.broken-{}", name, n));
  const std::string folder = JoinPath(directory, name);
  if (::rename(folder.c_str(), aside.c_str()) != 0) return ErrnoStatus(errno, "move", folder);
  NoteRepair(fmt::format("{}: it is a folder; it was moved aside to {}", folder, aside));
  return absl::OkStatus();
}

// RocksDB cannot replace a folder that lies in the place of one of its files.
absl::Status MoveFoldersAside(const std::string& directory) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (at->is_directory(error) && IsJournalFileName(name)) folders.push_back(std::move(name));
  }
  for (const std::string& folder : folders) RETURN_IF_ERROR(MoveFolderAside(directory, folder));
  return absl::OkStatus();
}

// A file mode that forbids reading is no damage of the file's bytes.
absl::Status PutModesRight(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && IsJournalFileName(at->path().filename().string()))
      files.push_back(at->path().string());
  }
  for (const std::string& file : files) RETURN_IF_ERROR(EnsureWritableFile(file));
  return absl::OkStatus();
}

// Says whether something other than a folder lies at the database's path.
bool IsInTheWay(const std::string& directory) {
  const absl::StatusOr<FileStat> stat = StatFile(directory);
  return stat.ok() && !S_ISDIR(stat->mode);
}

}  // namespace

absl::Status CheckSpace(const std::string& directory, const JournalOptions& options,
                        uint64_t bytes) {
  ASSIGN_OR_RETURN(const uint64_t free,
                   options.free_bytes ? options.free_bytes() : FreeBytesAt(directory));
  // A batch is written to the log, later to a table.
  if (free >= options.free_bytes_min && free - options.free_bytes_min >= 2 * bytes)
    return absl::OkStatus();
  return ResourceExhaustedError(
      "no space for the journal in {}: {} bytes free, {} needed; make room and try again",
      directory, free, options.free_bytes_min + 2 * bytes);
}

std::string DamagedMark(const std::string& state_directory) {
  return JoinPath(state_directory, "journal.damaged");
}

std::string JournalDirectory(const std::string& state_directory) {
  return JoinPath(state_directory, "journal");
}

void MarkDamaged(const std::string& state_directory) {
  const absl::Status status = WriteFileAtomic(DamagedMark(state_directory), "");
  if (!status.ok()) LogWarning("journal: {}", MessageOf(status));
}

absl::Status MoveAside(const std::string& state_directory, std::string_view reason) {
  const std::string directory = JournalDirectory(state_directory);
  if (FileExists(directory)) {
    ASSIGN_OR_RETURN(const std::string aside, rocks::MoveAside(directory, &IsOnlyOurs));
    NoteRepair(
        fmt::format("{}: {}; it was moved aside to {} and a new one was begun: every package is "
                    "looked up again, and results that a remote store was still to get are not "
                    "sent",
                    directory, reason, aside));
  }
  return RemoveMark(state_directory);
}

absl::StatusOr<std::unique_ptr<rocksdb::DB>> OpenDatabase(const std::string& state_directory,
                                                          const JournalOptions& options) {
  if (options.read_only) {
    ASSIGN_OR_RETURN(std::unique_ptr<rocksdb::DB> database, OpenForReading(state_directory));
    ASSIGN_OR_RETURN(const std::string reason, CheckVersion(*database, false));
    if (reason.empty()) return database;
    return FailedPreconditionError("{}: {}", JournalDirectory(state_directory), reason);
  }
  RETURN_IF_ERROR(CreateDirectories(state_directory));
  RETURN_IF_ERROR(CheckSpace(state_directory, options, 0));
  if (FileExists(DamagedMark(state_directory)))
    RETURN_IF_ERROR(MoveAside(state_directory, "damaged records were found in it"));
  const std::string directory = JournalDirectory(state_directory);
  if (IsInTheWay(directory)) RETURN_IF_ERROR(MoveAside(state_directory, "it is no folder"));
  RETURN_IF_ERROR(PutModesRight(directory));
  if (const absl::Status sealed = CheckSeal(directory); absl::IsDataLoss(sealed)) {
    RETURN_IF_ERROR(MoveAside(state_directory, MessageOf(sealed)));
  } else {
    RETURN_IF_ERROR(sealed);
  }
  RETURN_IF_ERROR(RemoveSeal(directory));
  RETURN_IF_ERROR(MoveFoldersAside(directory));
  for (const bool is_last_attempt : {false, true}) {
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(DatabaseOptions(), directory, &opened);
    std::unique_ptr<rocksdb::DB> database(opened);
    std::string reason = status.ToString();
    if (status.ok()) {
      ASSIGN_OR_RETURN(reason, CheckVersion(*database, true));
      if (reason.empty()) {
        if (const absl::Status sealed = WriteOpenSeal(directory); !sealed.ok())
          LogWarning("journal: {}", MessageOf(sealed));
        return database;
      }
    } else if (rocks::IsOfMachine(status)) {
      return rocks::ToReadStatus(status, fmt::format("opening {}", directory));
    }
    if (is_last_attempt)
      return InternalError("a new journal in {} cannot be begun: {}", directory, reason);
    database.reset();
    RETURN_IF_ERROR(MoveAside(state_directory, reason));
  }
  return absl::InternalError("not reached");
}

}  // namespace galley::director
