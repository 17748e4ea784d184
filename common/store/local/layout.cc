#include "common/store/local/layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "common/base/hex.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_reader.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kSegmentSuffix = ".seg";
constexpr size_t kStoreIdBytes = 16;
constexpr std::string_view kCollectedPrefix = "gc.";

absl::StatusOr<std::vector<std::string>> ListNames(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.c_str()), &::closedir);
  if (handle == nullptr) return ErrnoStatus(errno, "open folder", folder);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(handle.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return ErrnoStatus(errno, "read folder", folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view TrimLine(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

// By the folder, or the one that it would be made in.
bool IsOnReadOnlyDisk(const std::string& directory) {
  std::string existing = directory;
  struct statvfs fs {};
  while (::statvfs(existing.c_str(), &fs) != 0) {
    const size_t slash = existing.rfind('/');
    if (slash == std::string::npos || slash == 0) return false;
    existing.resize(slash);
  }
  return (fs.f_flag & ST_RDONLY) != 0;
}

absl::Status ExplainUnwritable(const absl::Status& status, const std::string& directory) {
  if (IsOnReadOnlyDisk(directory)) {
    return absl::PermissionDeniedError(
        fmt::format("the store {} is on a read-only file system: remount it to be written (mount "
                    "-o remount,rw; if the kernel made it so after an error, check the disk "
                    "first), or copy the store to another disk and choose that with --store or "
                    "[store] dir",
                    directory));
  }
  if (status.code() != absl::StatusCode::kPermissionDenied)
    return Annotate(status, "opening store " + directory);
  return absl::PermissionDeniedError(
      fmt::format("the store directory {} is not writable: {}; give this user write permission to "
                  "it and all it holds, or choose another "
                  "directory with --store or [store] dir",
                  directory, MessageOf(status)));
}

// What holds something and no `format` is somebody's folder. Before the lock, too: nothing is left
// in it then.
absl::Status CheckIsNobodys(const std::string& directory) {
  const std::string format = JoinPath(directory, "format");
  if (FileExists(format)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(directory));
  for (const std::string& name : names) {
    if (name == "lock" || name.starts_with("format.") || name == "store.sock" ||
        name == "store.sock.path")
      continue;
    if (FileExists(format)) return absl::OkStatus();  // another process makes the store just now
    return absl::FailedPreconditionError(
        fmt::format("{} is not a store (it holds \"{}\" and no file `format`): choose an empty or "
                    "new directory for the store",
                    directory, name));
  }
  return absl::OkStatus();
}

// A folder without `format` is taken only when it holds nothing but what an interrupted first
// opening leaves.
absl::Status CheckFormat(const std::string& directory) {
  const std::string path = JoinPath(directory, "format");
  absl::StatusOr<std::string> text = ReadFile(path, 4096);
  if (text.ok()) {
    if (TrimLine(*text) == kStoreFormat) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("{} says \"{}\", this program reads \"{}\": use the Galley that made this "
                    "store, or delete the store (results are cooked again)",
                    path, TrimLine(*text).substr(0, 80), kStoreFormat));
  }
  if (text.status().code() != absl::StatusCode::kNotFound) return text.status();
  RETURN_IF_ERROR(CheckIsNobodys(directory));
  return WriteFileAtomic(path, std::string(kStoreFormat) + "\n", /*sync=*/true);
}

// As segments have it; empty: there are none that can be read.
std::string IdOfSegments(const std::string& directory) {
  const auto segments = ListSegments(directory);
  if (!segments.ok()) return "";
  for (auto segment = segments->rbegin(); segment != segments->rend(); ++segment) {
    const auto header = ReadSegmentHeader(directory, segment->number);
    if (header.ok()) return header->store_id;
  }
  return "";
}

absl::StatusOr<std::string> ReadOrMakeId(const std::string& directory) {
  const std::string path = JoinPath(directory, "id");
  absl::StatusOr<std::string> text = ReadFile(path, 4096);
  if (text.ok()) {
    const std::string id(TrimLine(*text));
    if (id.size() == 2 * kStoreIdBytes && HexDecode(id).has_value()) return id;
    return absl::FailedPreconditionError(
        fmt::format("{} should hold {} hex digits: restore it from a backup, or delete the store "
                    "(results are cooked again)",
                    path, 2 * kStoreIdBytes));
  }
  if (text.status().code() != absl::StatusCode::kNotFound) return text.status();
  std::string id = IdOfSegments(directory);
  if (!id.empty()) {
    LogWarning("store={} the file `id` is gone; its segments say {}", directory, id);
  } else {
    std::string random(kStoreIdBytes, '\0');
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
      return ErrnoStatus(errno, "read random bytes for", path);
    id = HexEncode(random);
  }
  RETURN_IF_ERROR(WriteFileAtomic(path, id + "\n", /*sync=*/true));
  return id;
}

std::string EpochLine(uint64_t epoch) {
  const std::string digits = fmt::format("{}", epoch);
  return fmt::format("{} {:016x}\n", digits, Checksum(digits));
}

// nullopt: it holds something else.
absl::StatusOr<std::optional<uint64_t>> ReadEpoch(const std::string& directory) {
  absl::StatusOr<std::string> text = ReadFile(JoinPath(directory, "epoch"), 4096);
  if (text.status().code() == absl::StatusCode::kNotFound) return 0;
  if (absl::IsResourceExhausted(text.status())) return std::nullopt;  // no number is so long
  RETURN_IF_ERROR(text.status());
  uint64_t epoch = 0;
  std::from_chars(text->data(), text->data() + text->size(), epoch);
  if (*text != EpochLine(epoch)) return std::nullopt;

  return epoch;
}

absl::StatusOr<FileDescriptor> TakeLock(const std::string& directory) {
  const std::string path = JoinPath(directory, "lock");
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return ErrnoStatus(errno, "open", path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
    return absl::AlreadyExistsError(fmt::format(
        "the store {} is owned by another process: reach it through its socket", directory));
  }
  return lock;
}

// What writers that are gone left behind. Names begin with the writer's process id.
absl::Status SweepTemporary(const std::string& directory) {
  const std::string folder = TemporaryDirectory(directory);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(folder));
  for (const std::string& name : names) {
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || pid <= 0 || end == name.data() + name.size() || *end != '.')
      continue;
    if (pid != ::getpid() && (::kill(pid, 0) == 0 || errno != ESRCH)) continue;
    RETURN_IF_ERROR(RemoveAll(JoinPath(folder, name)));
  }
  return absl::OkStatus();
}

absl::Status MakeFolders(const std::string& directory) {
  for (const char* name : {"segments", "files", "quarantine", "tmp"})
    RETURN_IF_ERROR(CreateDirectories(JoinPath(directory, name)));
  return absl::OkStatus();
}

absl::StatusOr<OpenedLayout> OpenLayoutPlain(const std::string& directory) {
  RETURN_IF_ERROR(CreateDirectories(directory));
  RETURN_IF_ERROR(CheckIsNobodys(directory));
  OpenedLayout opened;
  ASSIGN_OR_RETURN(opened.lock, TakeLock(directory));
  RETURN_IF_ERROR(CheckFormat(directory));
  RETURN_IF_ERROR(MakeFolders(directory));
  ASSIGN_OR_RETURN(opened.store_id, ReadOrMakeId(directory));
  ASSIGN_OR_RETURN(opened.loss_epoch, ReadEpoch(directory));
  RETURN_IF_ERROR(SweepTemporary(directory));
  RETURN_IF_ERROR(SyncDirectory(directory));
  return opened;
}

}  // namespace

std::string SegmentPath(std::string_view store_directory, uint64_t segment) {
  return fmt::format("{}/segments/{:016x}{}", store_directory, segment, kSegmentSuffix);
}

std::string BlobFilePath(std::string_view store_directory, const Digest& digest) {
  const std::string hex = digest.hex();
  return fmt::format("{}/files/{}/{}-{}", store_directory, hex.substr(0, 2), hex,
                     digest.size_bytes());
}

std::string QuarantineDirectory(std::string_view store_directory) {
  return JoinPath(store_directory, "quarantine");
}
std::string TemporaryDirectory(std::string_view store_directory) {
  return JoinPath(store_directory, "tmp");
}

std::optional<uint64_t> ParseSegmentName(std::string_view name) {
  if (name.size() != 16 + kSegmentSuffix.size() || !name.ends_with(kSegmentSuffix))
    return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 16, number, 16);
  if (error != std::errc() || end != name.data() + 16 || number == 0) return std::nullopt;
  if (fmt::format("{:016x}", number) != name.substr(0, 16)) return std::nullopt;
  return number;
}

std::optional<Digest> ParseBlobFileName(std::string_view name) {
  if (name.size() < 66 || name[64] != '-') return std::nullopt;
  std::string text(name);
  text[64] = '/';
  const absl::StatusOr<Digest> digest = Digest::Parse(text);
  if (!digest.ok()) return std::nullopt;
  return *digest;
}

absl::StatusOr<std::vector<SegmentListing>> ListSegments(const std::string& store_directory) {
  const std::string folder = JoinPath(store_directory, "segments");
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(folder));
  std::vector<SegmentListing> segments;
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = ParseSegmentName(name);
    if (!number.has_value()) continue;
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(JoinPath(folder, name)));
    segments.push_back({.number = *number, .size_bytes = stat.size_bytes});
  }
  return segments;  // fixed-width names: the order of names is the order of numbers
}

absl::StatusOr<OpenedLayout> OpenLayout(const std::string& store_directory) {
  absl::StatusOr<OpenedLayout> opened = OpenLayoutPlain(store_directory);
  if (opened.ok() || opened.status().code() == absl::StatusCode::kAlreadyExists) return opened;
  return ExplainUnwritable(opened.status(), store_directory);
}

std::string SyncMarkPath(std::string_view store_directory) {
  return JoinPath(store_directory, "syncing");
}

absl::Status AppendSyncMark(const std::string& store_directory, std::string_view bytes) {
  const std::string path = SyncMarkPath(store_directory);
  const FileDescriptor mark(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!mark.valid()) return ErrnoStatus(errno, "create", path);
  return WriteAll(mark.get(), bytes, path);
}

absl::StatusOr<DecodedSyncMark> ReadSyncMark(const std::string& store_directory) {
  const absl::StatusOr<std::string> bytes = ReadFile(SyncMarkPath(store_directory));
  if (absl::IsNotFound(bytes.status())) return DecodedSyncMark{};
  RETURN_IF_ERROR(bytes.status());
  return DecodeSyncMark(*bytes);
}

absl::Status RemoveSyncMark(const std::string& store_directory) {
  const std::string path = SyncMarkPath(store_directory);
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus()
                                                        : ErrnoStatus(errno, "remove", path);
}

std::string PutDigestsPath(std::string_view store_directory, std::string_view path) {
  return fmt::format("{}/digests/{}", store_directory,
                     Digest::Of(path).hex().substr(0, 2 * kStoreIdBytes));
}

std::string VerifiedFilesPath(std::string_view store_directory) {
  return fmt::format("{}/digests/verified", store_directory);
}

std::string CollectedFilePath(std::string_view store_directory, const Digest& digest) {
  return fmt::format("{}/{}{}-{}", TemporaryDirectory(store_directory), kCollectedPrefix,
                     digest.hex(), digest.size_bytes());
}

absl::Status RestoreCollectedFile(const std::string& store_directory, const Digest& digest) {
  const std::string from = CollectedFilePath(store_directory, digest);
  const std::string to = BlobFilePath(store_directory, digest);
  const int failed = ::link(from.c_str(), to.c_str()) == 0 || errno == EEXIST ? 0 : errno;
  if (failed != 0) return ErrnoStatus(failed, "link", to);
  ::unlink(from.c_str());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> ListCollectedFiles(const std::string& store_directory) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   ListNames(TemporaryDirectory(store_directory)));
  std::vector<Digest> digests;
  for (const std::string_view name : names) {
    if (!name.starts_with(kCollectedPrefix)) continue;
    const std::optional<Digest> digest = ParseBlobFileName(name.substr(kCollectedPrefix.size()));
    if (digest.has_value()) digests.push_back(*digest);
  }
  return digests;
}

absl::Status WriteEpoch(const std::string& store_directory, uint64_t epoch) {
  return WriteFileAtomic(JoinPath(store_directory, "epoch"), EpochLine(epoch),
                         /*sync=*/true);
}

absl::Status CheckFreeSpace(const std::string& store_directory, uint64_t bytes_wanted,
                            uint64_t margin_bytes) {
  struct statvfs fs {};
  if (::statvfs(store_directory.c_str(), &fs) != 0)
    return ErrnoStatus(errno, "statvfs", store_directory);
  const uint64_t free_bytes = uint64_t{fs.f_bavail} * uint64_t{fs.f_frsize};
  if (free_bytes >= margin_bytes && free_bytes - margin_bytes >= bytes_wanted)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      fmt::format("no space for {} bytes in store {}: {} bytes are free and {} are kept in "
                  "reserve; free space there, drop what is not needed (galley store gc), or choose "
                  "another disk with --store or [store] dir",
                  bytes_wanted, store_directory, free_bytes, margin_bytes));
}

}  // namespace galley::store
