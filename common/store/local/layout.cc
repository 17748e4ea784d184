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
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "common/base/errors.h"
#include "common/base/hex.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/parse_whole.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
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
  std::ranges::sort(names);
  return names;
}

std::string_view TrimLine(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

// Whether the folder, or the one that it would be made in, is on a disk that is only read.
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
    return PermissionDeniedError(
        "the store {} is on a read-only file system: remount it to be written (mount -o "
        "remount,rw; if the kernel made it so after an error, check the disk first), or copy the "
        "store to another disk and choose that with --store or [store] dir",
        directory);
  }
  if (status.code() != absl::StatusCode::kPermissionDenied)
    return Annotate(status, "opening store " + directory);
  return PermissionDeniedError(
      "the store directory {} is not writable: {}; give this user write permission to it and all "
      "it holds, or choose another directory with --store or [store] dir",
      directory, MessageOf(status));
}

bool IsFolder(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  return stat.ok() && S_ISDIR(stat->mode);
}

// Whether the folder is plainly a store, whatever its file `format` says.
bool IsPlainlyAStore(const std::string& directory) {
  for (const char* name : {"segments", "files", "tmp"}) {
    if (!IsFolder(JoinPath(directory, name))) return false;
  }
  if (FileExists(JoinPath(directory, "id"))) return true;
  const absl::StatusOr<std::vector<SegmentListing>> segments = ListSegments(directory);
  return segments.ok() && !segments->empty();
}

// Refuses a folder that holds something and no `format`, and is not plainly a store: it is
// somebody's. Called before the lock, too: nothing is left in the folder then.
absl::Status CheckIsNobodys(const std::string& directory) {
  const std::string format = JoinPath(directory, "format");
  if (FileExists(format) || IsPlainlyAStore(directory)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(directory));
  for (const std::string& name : names) {
    if (name == "lock" || name.starts_with("format.") || name == "store.sock" ||
        name == "store.sock.path")
      continue;
    if (FileExists(format)) return absl::OkStatus();  // another process makes the store just now
    return FailedPreconditionError(
        "{} is not a store (it holds \"{}\" and no file `format`): choose an empty or new "
        "directory for the store",
        directory, name);
  }
  return absl::OkStatus();
}

absl::Status WriteFormat(const std::string& path) {
  return WriteFileAtomic(path, std::string(kStoreFormat) + "\n", /*sync=*/true);
}

absl::Status OtherFormat(const std::string& path, std::string_view text) {
  return FailedPreconditionError(
      "{} says \"{}\", this program reads \"{}\": use the Galley that made this store, or delete "
      "the store (results are cooked again)",
      path, text.substr(0, std::min<size_t>(80, text.find('\n'))), kStoreFormat);
}

// Version 1 is one line, the same in every store: any other is damage. Later versions are sealed.
bool IsOurFormat(std::string_view text) { return TrimLine(text) == kStoreFormat; }
bool IsLaterFormat(std::string_view text) {
  return absl::IsFailedPrecondition(Unseal("galley-store", 1, text).status());
}

// Refuses a store whose segments say that a later program wrote them, whatever became of its
// `format`.
absl::Status CheckNoLaterSegments(const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments, ListSegments(directory));
  if (segments.empty()) return absl::OkStatus();
  for (const uint64_t number : {segments.front().number, segments.back().number}) {
    const absl::Status header = ReadSegmentHeader(directory, number).status();
    if (absl::IsFailedPrecondition(header)) return header;
  }
  return absl::OkStatus();
}

// A folder without `format` is taken only when it holds nothing but what an interrupted first
// opening leaves, or is plainly a store.
absl::Status CheckFormat(const std::string& directory) {
  const std::string path = JoinPath(directory, "format");
  if (!IsPlainlyAStore(directory)) {
    const absl::StatusOr<std::string> text = ReadFile(path, 4096);
    if (text.ok()) return IsOurFormat(*text) ? absl::OkStatus() : OtherFormat(path, *text);
    if (!absl::IsNotFound(text.status())) return text.status();
    RETURN_IF_ERROR(CheckIsNobodys(directory));
    return WriteFormat(path);
  }
  const absl::StatusOr<std::string> text = ReadOwnFile(path, 4096);
  if (text.ok() && IsOurFormat(*text)) return absl::OkStatus();
  if (text.ok() && IsLaterFormat(*text)) return OtherFormat(path, *text);
  // A regular file that nobody can read is the machine's fault, or somebody else's file.
  if (const auto stat = StatFile(path);
      !text.ok() && stat.ok() && S_ISREG(stat->mode) && ::access(path.c_str(), R_OK) != 0)
    return PermissionDeniedError("{}: {}", path, MessageOf(text.status()));
  RETURN_IF_ERROR(CheckNoLaterSegments(directory));
  std::string wrong = text.ok()                         ? "it is damaged"
                      : absl::IsNotFound(text.status()) ? "it was gone"
                                                        : MessageOf(text.status());
  if (text.ok()) RETURN_IF_ERROR(PutAside(path).status());
  RETURN_IF_ERROR(WriteFormat(path));
  NoteRepair(fmt::format("{}: {}; it was written again, since the folder is plainly a store", path,
                         wrong));
  return absl::OkStatus();
}

// Witness: what the headers of segments say of the store.
struct Witness {
  std::string store_id;  // empty: there is no segment whose header is whole
  uint64_t loss_epoch = 0;
};

// The newest segment and the oldest, when both say what `claimed_id` does. Else the id that most
// segments have. An error: no segment can be read, and the machine is to blame.
absl::StatusOr<Witness> AskSegments(const std::string& directory, std::string_view claimed_id) {
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments, ListSegments(directory));
  if (segments.empty()) return Witness{};
  const auto newest = ReadSegmentHeader(directory, segments.back().number, claimed_id);
  const auto oldest = ReadSegmentHeader(directory, segments.front().number, claimed_id);
  if (!claimed_id.empty() && newest.ok() && oldest.ok())
    return Witness{.store_id = newest->store_id, .loss_epoch = newest->loss_epoch};
  absl::Status unreadable;
  struct Voices {
    size_t count = 0;
    uint64_t loss_epoch = 0;
  };
  std::map<std::string, Voices> voices;
  for (const SegmentListing& segment : segments) {
    const auto header = ReadSegmentHeader(directory, segment.number);
    if (header.ok()) {
      Voices& of_it = voices[header->store_id];
      ++of_it.count;
      of_it.loss_epoch = std::max(of_it.loss_epoch, header->loss_epoch);
    } else if (!absl::IsDataLoss(header.status()) && !absl::IsNotFound(header.status())) {
      unreadable = header.status();
    }
  }
  const auto is_before = [&](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count < b.second.count
                                            : b.first == claimed_id;
  };
  const auto most = std::ranges::max_element(voices, is_before);
  if (most != voices.end())
    return Witness{.store_id = most->first, .loss_epoch = most->second.loss_epoch};
  if (claimed_id.empty()) RETURN_IF_ERROR(unreadable);
  return Witness{};
}

absl::StatusOr<std::string> RandomId() {
  std::string random(kStoreIdBytes, '\0');
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return ErrnoStatus(errno, "read random bytes", "for the id of a store");
  return HexEncode(random);
}

// Empty: the text is no id.
std::string ParseId(std::string_view text) {
  const std::string id(TrimLine(text));
  const std::optional<std::string> bytes = HexDecode(id);
  return bytes.has_value() && bytes->size() == kStoreIdBytes && HexEncode(*bytes) == id ? id : "";
}

// Every segment's header has the id, with a checksum: so the file is checked by them.
absl::StatusOr<std::string> ReadOrMakeId(const std::string& directory, Witness& witness) {
  const std::string path = JoinPath(directory, "id");
  const absl::StatusOr<std::string> text = ReadOwnFile(path, 4096);
  const std::string claimed = text.ok() ? ParseId(*text) : "";
  ASSIGN_OR_RETURN(witness, AskSegments(directory, claimed));
  if (!claimed.empty() && (witness.store_id.empty() || witness.store_id == claimed)) return claimed;
  std::string id = witness.store_id;
  if (id.empty()) {
    ASSIGN_OR_RETURN(id, RandomId());
  }
  const bool is_new = absl::IsNotFound(text.status()) && witness.store_id.empty();
  if (text.ok()) RETURN_IF_ERROR(PutAside(path).status());
  RETURN_IF_ERROR(WriteFileAtomic(path, id + "\n", /*sync=*/true));
  if (is_new) return id;
  const std::string wrong = !claimed.empty()                  ? "it was that of another store"
                            : text.ok()                       ? "it was damaged"
                            : absl::IsNotFound(text.status()) ? "it was gone"
                                                              : MessageOf(text.status());
  NoteRepair(fmt::format("{}: {}; {}", path, wrong,
                         witness.store_id.empty()
                             ? "the store has another id now, and no segment"
                             : "it was written again, with the id that the segments have"));
  return id;
}

}  // namespace

std::string StoreIdIn(const std::string& store_directory) {
  const absl::StatusOr<std::string> text = ReadFile(JoinPath(store_directory, "id"), 4096);
  return text.ok() ? ParseId(*text) : "";
}

namespace {

std::string EpochLine(uint64_t epoch) {
  const std::string digits = fmt::format("{}", epoch);
  return fmt::format("{} {:016x}\n", digits, Checksum(digits));
}

// nullopt: it holds something else. 0: it is absent.
std::optional<uint64_t> ReadEpoch(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadOwnFile(JoinPath(directory, "epoch"), 4096);
  if (absl::IsNotFound(text.status())) return 0;
  if (!text.ok()) return std::nullopt;
  uint64_t epoch = 0;
  std::from_chars(text->data(), text->data() + text->size(), epoch);
  if (*text != EpochLine(epoch)) return std::nullopt;
  return epoch;
}

}  // namespace

uint64_t LossEpochIn(const std::string& store_directory) {
  return ReadEpoch(store_directory).value_or(0);
}

namespace {

// An owner of an earlier version locks the file only. A file system that locks no folders: so do
// we.
absl::Status TakeLocks(const std::string& directory, OpenedLayout& opened) {
  const absl::Status owned = AlreadyExistsError(
      "the store {} is owned by another process: reach it through its socket", directory);
  opened.folder_lock =
      FileDescriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.folder_lock.valid()) return ErrnoStatus(errno, "open folder", directory);
  if (::flock(opened.folder_lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return owned;
  const std::string path = JoinPath(directory, "lock");
  RETURN_IF_ERROR(EnsureWritableFile(path));
  opened.lock = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!opened.lock.valid()) return ErrnoStatus(errno, "open", path);
  if (::flock(opened.lock.get(), LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  return errno == EWOULDBLOCK ? owned : ErrnoStatus(errno, "lock", path);
}

// Folders in the place of segments, and segments whose mode forbids to use them.
absl::Status HealSegmentFiles(const std::string& directory) {
  const std::string folder = JoinPath(directory, "segments");
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(folder));
  for (const std::string& name : names) {
    if (!ParseSegmentName(name).has_value()) continue;
    const absl::StatusOr<FileStat> stat = StatFile(JoinPath(folder, name));
    if (stat.ok() && (S_ISDIR(stat->mode) || S_ISREG(stat->mode)))
      RETURN_IF_ERROR(EnsureWritableFile(JoinPath(folder, name)));
  }
  return absl::OkStatus();
}

// Removes the temporary files of writers that are gone. Their names begin with the writer's process
// id.
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

// Leaves the folder of large blobs out where a store was and that folder is gone: Recovery first
// forgets the blobs that were in it.
absl::Status MakeFolders(const std::string& directory) {
  if (!FileExists(JoinPath(directory, "id"))) return MakeStoreFolders(directory);
  for (const char* name : {"segments", "quarantine", "tmp"})
    RETURN_IF_ERROR(CreateDirectories(JoinPath(directory, name)));
  return absl::OkStatus();
}

absl::StatusOr<OpenedLayout> OpenLayoutPlain(const std::string& directory) {
  RETURN_IF_ERROR(CreateDirectories(directory));
  RETURN_IF_ERROR(CheckIsNobodys(directory));
  OpenedLayout opened;
  RETURN_IF_ERROR(TakeLocks(directory, opened));
  RETURN_IF_ERROR(CheckFormat(directory));
  RETURN_IF_ERROR(MakeFolders(directory));
  RETURN_IF_ERROR(HealSegmentFiles(directory));
  Witness witness;
  ASSIGN_OR_RETURN(opened.store_id, ReadOrMakeId(directory, witness));
  opened.epoch_of_file = ReadEpoch(directory);
  opened.epoch_of_segments = witness.loss_epoch;
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

absl::StatusOr<FileDescriptor> PutLocked(const std::string& store_directory,
                                         const std::string& path, std::string_view text,
                                         int flags) {
  std::string temporary =
      JoinPath(TemporaryDirectory(store_directory), fmt::format("{}.XXXXXX", ::getpid()));
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC | flags));
  if (!file.valid()) return ErrnoStatus(errno, "create", temporary);
  absl::Status status;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) status = ErrnoStatus(errno, "lock", temporary);
  if (status.ok()) status = WriteAll(file.get(), text, temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = ErrnoStatus(errno, "rename", path);
  if (status.ok()) return file;
  ::unlink(temporary.c_str());
  return status;
}

absl::StatusOr<FileDescriptor> OpenStored(const std::string& path, uint32_t mode) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && errno == EACCES && ::chmod(path.c_str(), mode) == 0) {
    file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid())
      NoteRepair(fmt::format("{}: its mode forbade to read it; it is {:04o} now", path, mode));
  }
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  return file;
}

std::optional<uint64_t> ParseSegmentName(std::string_view name) {
  if (name.size() != 16 + kSegmentSuffix.size() || !name.ends_with(kSegmentSuffix))
    return std::nullopt;
  const auto number = ParseWhole<uint64_t>(name.substr(0, 16), 16).value_or(0);
  if (number == 0 || fmt::format("{:016x}", number) != name.substr(0, 16)) return std::nullopt;
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

absl::Status MakeStoreFolders(const std::string& directory) {
  for (const char* name : {"segments", "files", "quarantine", "tmp"})
    RETURN_IF_ERROR(CreateDirectories(JoinPath(directory, name)));
  return absl::OkStatus();
}

absl::StatusOr<OpenedLayout> OpenLayout(const std::string& store_directory) {
  absl::StatusOr<OpenedLayout> opened = OpenLayoutPlain(store_directory);
  if (opened.ok() || opened.status().code() == absl::StatusCode::kAlreadyExists) return opened;
  return ExplainUnwritable(opened.status(), store_directory);
}

std::string RevokedPath(std::string_view store_directory) {
  return JoinPath(store_directory, "revoked");
}

std::string LeasesPath(std::string_view store_directory) {
  return JoinPath(store_directory, "leases");
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
  const std::string path = SyncMarkPath(store_directory);
  const absl::StatusOr<std::string> bytes = ReadOwnFile(path, UINT64_MAX);
  if (absl::IsNotFound(bytes.status())) return DecodedSyncMark{};
  DecodedSyncMark mark{.is_marked = true, .is_damaged = true, .files = {}};
  if (bytes.ok()) mark = DecodeSyncMark(*bytes);
  if (mark.is_damaged) {
    NoteRepair(fmt::format("{}: {}; the end of the log was written anew", path,
                           bytes.ok() ? "it was damaged" : MessageOf(bytes.status())));
  }
  return mark;
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
  // In one step where the file system can do that: it needs no room and no second name.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return absl::OkStatus();
  if (errno == EINVAL || errno == ENOSYS) {
    const int failed = ::link(from.c_str(), to.c_str()) == 0 || errno == EEXIST ? 0 : errno;
    if (failed != 0) return ErrnoStatus(failed, "link", to);
  } else if (errno != EEXIST) {
    return ErrnoStatus(errno, "move", to);
  }
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
  ASSIGN_OR_RETURN(const uint64_t free_bytes, FreeBytesAt(store_directory));
  if (free_bytes >= margin_bytes && free_bytes - margin_bytes >= bytes_wanted)
    return absl::OkStatus();
  return ResourceExhaustedError(
      "no space for {} bytes in store {}: {} bytes are free and {} are kept in reserve; free space "
      "there, drop what is not needed (galley store gc), or choose another disk with --store or "
      "[store] dir",
      bytes_wanted, store_directory, free_bytes, margin_bytes);
}

}  // namespace galley::store
