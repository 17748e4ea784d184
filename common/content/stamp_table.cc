#include "common/content/stamp_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/from_stat.h"
#include "common/base/mutex.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "common/content/patched_file.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr std::string_view kMagic = "GLYSTMP2";
constexpr size_t kNamesMax = UINT32_MAX;

struct StatRecord {
  uint64_t size_bytes;
  int64_t mtime_ns;
  int64_t ctime_ns;
  uint64_t inode;
  uint64_t device;
  uint32_t mode;
  uint32_t flags;
};
static_assert(sizeof(StatRecord) == 48);

constexpr uint32_t kIsRacy = 1;
constexpr uint32_t kIsLink = 2;     // of a folder
constexpr uint32_t kIsLeftOut = 4;  // likewise: `path` is of the file that says so
constexpr uint32_t kIsUnread = 8;   // of a file: its digest is not known, there is only a place

struct FolderRecord {
  StatRecord stat;
  NamesHash names;
  uint32_t path;  // where it begins in the names
  uint32_t first_file;
  uint32_t file_count;
  uint32_t zero;
};
static_assert(sizeof(FolderRecord) == 80);

struct FileRecord {
  StatRecord stat;
  uint32_t name;
  uint32_t digest;  // its number and 1; 0: none
  uint32_t target;  // likewise
  uint32_t zero;
};
static_assert(sizeof(FileRecord) == 64);

struct Header {
  uint64_t folders;
  uint64_t files;
  uint64_t digests;
  uint64_t targets;
  uint64_t names_bytes;  // each ends with NUL
};
static_assert(sizeof(Header) == 40);

StatRecord RecordOf(const FileStat& stat, uint32_t flags = 0) {
  return {.size_bytes = stat.size_bytes,
          .mtime_ns = stat.mtime_ns,
          .ctime_ns = stat.ctime_ns,
          .inode = stat.inode,
          .device = stat.device,
          .mode = stat.mode,
          .flags = flags};
}

bool IsStampOf(const StatRecord& record, const FileStat& stat) {
  return record.mtime_ns == stat.mtime_ns && record.ctime_ns == stat.ctime_ns &&
         record.inode == stat.inode && record.device == stat.device && record.mode == stat.mode;
}
bool IsStatOf(const StatRecord& record, const FileStat& stat) {
  return IsStampOf(record, stat) && record.size_bytes == stat.size_bytes;
}

std::optional<FileStat> StatAt(int folder, const char* name, int flags) {
  struct stat raw {};
  if (::fstatat(folder, name, &raw, flags) != 0) return std::nullopt;
  return FromStat(raw);
}

template <typename T>
void AppendRecords(std::string& bytes, const std::vector<T>& records) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(T));
}

template <typename T>
std::string BytesOf(const T& record) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

std::optional<NamesHash> NamesIn(int folder) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return std::nullopt;
  DIR* const stream = ::fdopendir(copy);
  if (stream == nullptr) {
    ::close(copy);
    return std::nullopt;
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const bool is_whole = errno == 0;
  ::closedir(stream);
  if (!is_whole) return std::nullopt;
  return HashOfNames({names.begin(), names.end()});
}

// nullopt: it cannot be read, or is another file by the end.
std::optional<Digest> DigestAt(int folder, const char* name, const FileStat& stat,
                               Cancellation* stop) {
  const FileDescriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return std::nullopt;
  DigestBuilder builder;
  std::string buffer(std::min<uint64_t>(256 << 10, stat.size_bytes + 1), '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    if (stop != nullptr && stop->is_cancelled()) return std::nullopt;
    builder.Add(std::string_view(buffer.data(), static_cast<size_t>(count)));
  }
  const absl::StatusOr<FileStat> after = StatDescriptor(file.get(), name);
  if (!after.ok() || *after != stat) return std::nullopt;
  return builder.Finish();
}

}  // namespace

NamesHash HashOfNames(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string_view name : names) text.append(name).push_back('\0');
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

uint32_t StampTableBuilder::Add(const StampedFolder& folder) {
  folders_.push_back(folder);
  return static_cast<uint32_t>(folders_.size() - 1);
}

void StampTableBuilder::Add(uint32_t folder, const StampedFile& file) {
  Noted noted{.folder = folder, .name = names_.size(), .stat = file.stat, .is_racy = file.is_racy};
  names_.append(file.name).push_back('\0');
  // A digest that is learned later has a place then.
  const bool may_be_read = !file.link_target && S_ISREG(file.stat.mode);
  if (file.digest || may_be_read) {
    digests_.push_back(file.digest.value_or(Digest()));
    noted.digest = static_cast<uint32_t>(digests_.size());
    noted.is_unread = !file.digest;
  }
  if (file.link_target) {
    targets_.push_back(*file.link_target);
    noted.target = static_cast<uint32_t>(targets_.size());
  }
  files_.push_back(noted);
}

absl::StatusOr<std::string> StampTableBuilder::Finish() {
  std::vector<FolderRecord> folders;
  folders.reserve(folders_.size());
  for (const StampedFolder& folder : folders_) {
    const bool is_left_out = !folder.unless.empty();
    folders.push_back({.stat = RecordOf(folder.stat, (folder.is_racy ? kIsRacy : 0) |
                                                         (folder.is_link ? kIsLink : 0) |
                                                         (is_left_out ? kIsLeftOut : 0)),
                       .names = folder.names,
                       .path = static_cast<uint32_t>(names_.size()),
                       .first_file = 0,
                       .file_count = 0,
                       .zero = 0});
    names_.append(is_left_out ? JoinPath(folder.host_path, folder.unless) : folder.host_path);
    names_.push_back('\0');
  }
  if (names_.size() > kNamesMax || files_.size() > UINT32_MAX || folders_.size() > UINT32_MAX)
    return absl::ResourceExhaustedError("more files than a table of stamps can hold");
  for (const Noted& file : files_) ++folders[file.folder].file_count;
  std::vector<uint32_t> next;
  uint32_t first = 0;
  for (FolderRecord& folder : folders) {
    folder.first_file = first;
    next.push_back(first);
    first += folder.file_count;
  }
  std::vector<FileRecord> files(files_.size());
  for (const Noted& file : files_) {
    files[next[file.folder]++] = {.stat = RecordOf(file.stat, (file.is_racy ? kIsRacy : 0) |
                                                                  (file.is_unread ? kIsUnread : 0)),
                                  .name = static_cast<uint32_t>(file.name),
                                  .digest = file.digest,
                                  .target = file.target,
                                  .zero = 0};
  }
  std::vector<StatRecord> targets;
  for (const FileStat& target : targets_) targets.push_back(RecordOf(target));

  Header header{.folders = folders.size(),
                .files = files.size(),
                .digests = digests_.size(),
                .targets = targets.size(),
                .names_bytes = names_.size()};
  std::string bytes = BytesOf(header);
  bytes.reserve(sizeof(header) + folders.size() * sizeof(FolderRecord) +
                files.size() * sizeof(FileRecord) + targets.size() * sizeof(StatRecord) +
                digests_.size() * Digest::kHashSize + names_.size());
  AppendRecords(bytes, folders);
  AppendRecords(bytes, files);
  AppendRecords(bytes, targets);
  for (const Digest& digest : digests_) bytes.append(digest.hash());
  bytes.append(names_);
  return PatchedFile::Seal(kMagic, bytes);
}

// The records of the mapped file. What is read of it was found to be right; of what is not right a
// record is all zero, and a name empty, and the file says that it is damaged.
class StampTable::Mapping {
 public:
  explicit Mapping(std::unique_ptr<PatchedFile> file) : file_(std::move(file)) {}

  absl::Status ReadHeader() {
    const char* const header = file_->At(0, sizeof(Header));
    if (header == nullptr) return absl::InvalidArgumentError("its checksum is wrong");
    std::memcpy(&header_, header, sizeof(Header));
    for (const uint64_t count :
         {header_.folders, header_.files, header_.digests, header_.targets, header_.names_bytes}) {
      if (count > UINT32_MAX) return absl::InvalidArgumentError("it is no table of stamps");
    }
    files_at_ = sizeof(Header) + header_.folders * sizeof(FolderRecord);
    targets_at_ = files_at_ + header_.files * sizeof(FileRecord);
    digests_at_ = targets_at_ + header_.targets * sizeof(StatRecord);
    names_at_ = digests_at_ + header_.digests * Digest::kHashSize;
    if (names_at_ + header_.names_bytes != file_->size())
      return absl::InvalidArgumentError("its parts do not fill it");
    return absl::OkStatus();
  }

  const PatchedFile& file() const { return *file_; }
  uint32_t folders() const { return static_cast<uint32_t>(header_.folders); }
  uint32_t files() const { return static_cast<uint32_t>(header_.files); }
  const FolderRecord& folder(uint32_t i) const {
    const FolderRecord& one = At<FolderRecord>(sizeof(Header), i, header_.folders);
    const bool is_within = one.first_file <= files() && one.file_count <= files() - one.first_file;
    return is_within ? one : Blank<FolderRecord>();
  }
  const FileRecord& file(uint32_t i) const { return At<FileRecord>(files_at_, i, header_.files); }
  const StatRecord& target(uint32_t i) const {
    return At<StatRecord>(targets_at_, i, header_.targets);
  }
  std::string_view digest(uint32_t i) const {
    const Hash& hash = At<Hash>(digests_at_, i, header_.digests);
    return {hash.bytes, sizeof(hash.bytes)};
  }
  const char* name(uint32_t at) const {
    // A block is looked at for as long as the name does not end there.
    for (uint64_t end = at; end < header_.names_bytes;) {
      const uint64_t from = names_at_ + end;
      const uint64_t size = std::min(PatchedFile::kBlockBytes - from % PatchedFile::kBlockBytes,
                                     file_->size() - from);
      const char* const bytes = file_->At(from, size);
      if (bytes == nullptr) return "";
      if (std::memchr(bytes, '\0', size) != nullptr) return file_->begin() + names_at_ + at;
      end += size;
    }
    file_->NoteDamage();
    return "";
  }
  uint64_t OffsetOf(const void* record) const {
    return static_cast<uint64_t>(static_cast<const char*>(record) - file_->begin());
  }

 private:
  struct Hash {
    char bytes[Digest::kHashSize];
  };

  // Records begin at multiples of eight bytes, as the mapping does.
  template <typename T>
  const T& At(uint64_t begin, uint32_t i, uint64_t count) const {
    const char* const bytes =
        i < count ? file_->At(begin + uint64_t{i} * sizeof(T), sizeof(T)) : nullptr;
    return bytes == nullptr ? Blank<T>() : *reinterpret_cast<const T*>(bytes);
  }
  template <typename T>
  const T& Blank() const {
    static const T blank{};
    file_->NoteDamage();
    return blank;
  }

  const std::unique_ptr<PatchedFile> file_;
  Header header_{};
  uint64_t files_at_ = 0, targets_at_ = 0, digests_at_ = 0, names_at_ = 0;
};

StampTable::StampTable(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
StampTable::StampTable(StampTable&&) noexcept = default;
StampTable& StampTable::operator=(StampTable&&) noexcept = default;
StampTable::~StampTable() = default;

absl::StatusOr<StampTable> StampTable::Open(const std::string& file) {
  ASSIGN_OR_RETURN(std::unique_ptr<PatchedFile> opened, PatchedFile::Open(file, kMagic));
  auto mapping = std::make_unique<Mapping>(std::move(opened));
  RETURN_IF_ERROR(mapping->ReadHeader());
  return StampTable(std::move(mapping));
}

std::string StampTable::id() const { return mapping_->file().id(); }
absl::Status StampTable::Verify() const { return mapping_->file().Verify(); }

namespace {

// Checker: one check, and what its threads find.
template <typename Table>
class Checker {
 public:
  Checker(const Table& table, const StampTable::CheckOptions& options)
      : table_(table), options_(options) {
    check_.folders = table.folders();
    check_.files = table.files();
  }

  StampCheck Run() {
    if (options_.folders != nullptr) ChooseFolders();
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const unsigned wanted = options_.threads > 0 ? options_.threads : std::min(cores, 8u);
    const auto threads = std::min<size_t>(wanted, 1 + FilesToLookAt() / kFilesOfAThread);
    RunOnThreads(threads, [this](size_t) { Work(); });
    if (options_.files != nullptr) {
      for (const FileInTable& one : *options_.files) LookAtAlone(one);
    }
    check_.looked_at = looked_at_;
    check_.hashed = hashed_;
    check_.bytes_hashed = bytes_hashed_;
    // A look by names and stamps that are wrong says nothing.
    if (const absl::Status whole = table_.file().Status(); !whole.ok()) {
      check_.difference = fmt::format("the table of stamps is damaged: {}", MessageOf(whole));
      return std::move(check_);
    }
    if (is_over_) return std::move(check_);
    check_.holds = changes_ == 0;
    if (!check_.holds) {
      NotePatches();
    } else if (!touched_.empty()) {
      Renew();
    }
    return std::move(check_);
  }

 private:
  static constexpr uint32_t kPiece = 1024;  // files of one folder that a thread looks at in one go
  static constexpr uint32_t kFilesOfAThread = 2048;  // fewer are not worth another

  struct Piece {
    uint32_t folder = 0;
    uint32_t begin = 0, end = 0;  // files
    bool is_first = true;         // with the folder itself
  };

  void ChooseFolders() {
    is_chosen_ = true;
    chosen_ = *options_.folders;
    for (uint32_t f = 0; f < table_.folders(); ++f) {
      if ((table_.folder(f).stat.flags & kIsLeftOut) != 0) chosen_.push_back(f);
    }
  }
  size_t FilesToLookAt() const {
    if (!is_chosen_) return table_.files();
    size_t files = 0;
    for (const uint32_t f : chosen_) files += table_.folder(f).file_count;
    return files;
  }
  uint32_t FolderAt(uint32_t i) const { return is_chosen_ ? chosen_[i] : i; }
  uint32_t FolderCount() const {
    return is_chosen_ ? static_cast<uint32_t>(chosen_.size()) : table_.folders();
  }

  std::optional<Piece> Next() {
    const base::MutexLock lock(mutex_);
    if (is_over_ || folder_ == FolderCount()) return std::nullopt;
    if (options_.stop != nullptr && options_.stop->is_cancelled()) {
      is_over_ = true;
      check_.difference = "the check was stopped";
      return std::nullopt;
    }
    const uint32_t number = FolderAt(folder_);
    const FolderRecord& folder = table_.folder(number);
    Piece piece{.folder = number,
                .begin = folder.first_file + done_,
                .end = folder.first_file + folder.file_count,
                .is_first = done_ == 0};
    if (piece.end - piece.begin > kPiece) {
      piece.end = piece.begin + kPiece;
      done_ += kPiece;
    } else {
      ++folder_;
      done_ = 0;
    }
    return piece;
  }

  void Work() {
    while (const std::optional<Piece> piece = Next()) Look(*piece);
  }

  void Look(const Piece& piece) {
    const FolderRecord& folder = table_.folder(piece.folder);
    const char* const path = table_.name(folder.path);
    if ((folder.stat.flags & kIsLeftOut) != 0) {
      if (!StatAt(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW)) Differ(path, "", "is gone");
      return;
    }
    const FileDescriptor opened(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened.valid()) return Differ(path, "", "is gone, or no folder");
    if (piece.is_first) LookAt(folder, path, opened.get());
    for (uint32_t i = piece.begin; i < piece.end && !IsOver(); ++i)
      LookAt({piece.folder, i}, table_.file(i), path, opened.get());
  }

  void LookAtAlone(const FileInTable& one) {
    const char* const path = table_.name(table_.folder(one.folder).path);
    const FileDescriptor opened(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened.valid()) return Differ(path, "", "is gone, or no folder");
    if (!IsOver()) LookAt(one, table_.file(one.file), path, opened.get());
  }

  bool IsOver() {
    if (options_.stop != nullptr && options_.stop->is_cancelled())
      Differ("", "", "the check was stopped");
    return is_over_;
  }

  void LookAt(const FolderRecord& folder, const char* path, int fd) {
    struct stat raw {};
    if (::fstat(fd, &raw) != 0) return Differ(path, "", "cannot be looked at");
    const FileStat stat = FromStat(raw);
    const bool is_same = IsStampOf(folder.stat, stat);
    if (is_same && (folder.stat.flags & kIsRacy) == 0) return;
    const std::optional<FileStat> link = StatAt(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW);
    const bool is_link = link && S_ISLNK(link->mode);
    const bool was_link = (folder.stat.flags & kIsLink) != 0;
    if (is_link != was_link || (is_link && !is_same)) return Differ(path, "", "is another folder");
    const int64_t looked_ns = NowNanos();
    const std::optional<NamesHash> names = NamesIn(fd);
    if (!names || *names != folder.names || folder.stat.mode != stat.mode)
      return Differ(path, "", "holds other files");
    Touch({.record = &folder.stat, .folder = path, .name = "", .stat = stat}, looked_ns);
  }

  void LookAt(const FileInTable& at, const FileRecord& file, const char* folder, int fd) {
    const char* const name = table_.name(file.name);
    struct stat raw {};
    ++looked_at_;
    if (::fstatat(fd, name, &raw, AT_SYMLINK_NOFOLLOW) != 0) return Differ(folder, name, "is gone");
    const std::optional<FileStat> stat = FromStat(raw);
    if (options_.finds_elsewhere && (file.target != 0 || raw.st_nlink > 1)) {
      const base::MutexLock lock(mutex_);
      check_.elsewhere.push_back(at);
    }
    const bool is_same = IsStatOf(file.stat, *stat);
    if (file.target != 0) {
      // A stat of zeros stands for a link that leads nowhere.
      const FileStat target = StatAt(fd, name, 0).value_or(FileStat());
      if (!is_same || !IsStatOf(table_.target(file.target - 1), target))
        return Differ(folder, name, "leads to another file");
    }
    if (is_same && (file.stat.flags & kIsRacy) == 0) return;
    const int64_t looked_ns = NowNanos();
    Touched touched{.record = &file.stat, .folder = folder, .name = name, .stat = *stat};
    // A file that is odd, or a link, or was never read, is known by its stamp alone.
    const bool was_read =
        file.digest != 0 && (file.stat.flags & kIsUnread) == 0 && file.target == 0;
    const bool may_have_other_bytes = options_.changes_max > 0 && file.target == 0 &&
                                      S_ISREG(stat->mode) && file.stat.mode == stat->mode;
    if (may_have_other_bytes && stat->size_bytes >= kHashedHereMax)
      return Differ(folder, name, "is huge and has another stamp");
    if (!was_read || file.stat.size_bytes != stat->size_bytes || file.stat.mode != stat->mode) {
      const char* const how = is_same ? "may have changed while it was read" : "changed";
      if (!may_have_other_bytes) return Differ(folder, name, how);
      if (file.digest != 0 && !(touched.digest = Hash(fd, name, *stat)))
        return Differ(folder, name, how);
      return Change(std::move(touched), looked_ns, how);
    }
    const std::optional<Digest> digest = Hash(fd, name, *stat);
    if (digest && digest->hash() == table_.digest(file.digest - 1))
      return Touch(std::move(touched), looked_ns);
    if (!digest || !may_have_other_bytes) return Differ(folder, name, "has other bytes");
    touched.digest = digest;
    Change(std::move(touched), looked_ns, "has other bytes");
  }

  std::optional<Digest> Hash(int fd, const char* name, const FileStat& stat) {
    ++hashed_;
    bytes_hashed_ += stat.size_bytes;
    return DigestAt(fd, name, stat, options_.stop);
  }

  int64_t NowNanos() {
    return absl::ToUnixNanos(options_.clock != nullptr ? options_.clock->Now() : absl::Now());
  }

  // Something with another stamp.
  struct Touched {
    const StatRecord* record = nullptr;
    const char* folder = nullptr;
    const char* name = nullptr;  // empty: the folder itself
    FileStat stat{};
    std::optional<Digest> digest = std::nullopt;  // another one than in the table
    bool is_racy = false;
    bool has_other_bytes = false;
  };

  void Touch(Touched touched, int64_t looked_ns) {
    touched.is_racy = IsRacy(touched.stat, looked_ns);
    const base::MutexLock lock(mutex_);
    touched_.push_back(std::move(touched));
    // Beside a file with other bytes: there is nothing to renew.
    if (changes_ > 0 && touched_.size() > options_.changes_max) is_over_ = true;
  }

  void Change(Touched touched, int64_t looked_ns, std::string_view how) {
    touched.has_other_bytes = true;
    const char* const folder = touched.folder;
    const char* const name = touched.name;
    {
      const base::MutexLock lock(mutex_);
      if (changes_++ == 0 && !is_over_) NoteDifference(folder, name, how);
    }
    Touch(std::move(touched), looked_ns);
  }

  void NotePatches() {
    for (const Touched& one : touched_)
      check_.patches.push_back({.folder = one.folder,
                                .name = one.name,
                                .stat = one.stat,
                                .names = std::nullopt,
                                .digest = one.digest,
                                .is_racy = one.is_racy,
                                .has_other_bytes = one.has_other_bytes});
  }

  void Differ(std::string_view folder, std::string_view name, std::string_view how) {
    const base::MutexLock lock(mutex_);
    if (!is_over_.exchange(true)) NoteDifference(folder, name, how);
  }
  void NoteDifference(std::string_view folder, std::string_view name, std::string_view how)
      GALLEY_REQUIRES(mutex_) {
    check_.difference = fmt::format("{}{}{} {}", folder, name.empty() ? "" : "/", name, how);
  }

  void Renew() {
    PatchedFile::Ranges renewed;
    for (const Touched& one : touched_) {
      const StatRecord now =
          RecordOf(one.stat, (one.record->flags & ~kIsRacy) | (one.is_racy ? kIsRacy : 0));
      if (!IsStatOf(*one.record, one.stat) && one.name[0] != '\0')
        check_.touched.push_back(JoinPath(one.folder, one.name));
      if (std::memcmp(one.record, &now, sizeof(now)) != 0)
        renewed[table_.OffsetOf(one.record)] = BytesOf(now);
    }
    if (renewed.empty()) return;
    absl::StatusOr<std::string> bytes = table_.file().With(renewed);
    // On an error the table is damaged where nobody looked: the next check looks again.
    if (bytes.ok()) check_.renewed = *std::move(bytes);
  }

  const Table& table_;
  const StampTable::CheckOptions& options_;
  std::atomic<bool> is_over_ = false;
  std::atomic<uint64_t> looked_at_ = 0, hashed_ = 0, bytes_hashed_ = 0;
  std::atomic<size_t> changes_ = 0;  // files with other bytes
  bool is_chosen_ = false;           // not all folders
  std::vector<uint32_t> chosen_;

  base::Mutex mutex_;
  uint32_t folder_ GALLEY_GUARDED_BY(mutex_) = 0;  // the next
  uint32_t done_ GALLEY_GUARDED_BY(mutex_) = 0;    // of its files
  StampCheck check_;
  std::vector<Touched> touched_;
};

}  // namespace

absl::StatusOr<std::string> StampTable::With(const std::vector<StampPatch>& patches) const {
  const Mapping& table = *mapping_;
  std::map<std::string_view, std::map<std::string_view, const StampPatch*>> wanted;
  for (const StampPatch& patch : patches) {
    const StampPatch*& one = wanted[patch.folder][patch.name];
    // A file that two folders of the table have was looked at twice.
    if (one == nullptr || !one->digest.has_value()) one = &patch;
  }
  std::set<const StampPatch*> found;
  PatchedFile::Ranges ranges;
  const auto put = [&](const StatRecord& record, const StampPatch& patch) {
    const uint32_t kept = record.flags & ~(kIsRacy | (patch.digest ? kIsUnread : 0));
    const StatRecord now = RecordOf(patch.stat, kept | (patch.is_racy ? kIsRacy : 0));
    ranges[table.OffsetOf(&record)] = BytesOf(now);
    found.insert(&patch);
  };
  for (uint32_t f = 0; f < table.folders(); ++f) {
    const FolderRecord& folder = table.folder(f);
    if ((folder.stat.flags & kIsLeftOut) != 0) continue;
    const auto in_folder = wanted.find(table.name(folder.path));
    if (in_folder == wanted.end()) continue;
    const std::map<std::string_view, const StampPatch*>& in_it = in_folder->second;
    if (const auto patch = in_it.find(""); patch != in_it.end()) {
      put(folder.stat, *patch->second);
      if (patch->second->names)
        ranges[table.OffsetOf(&folder.names)] = BytesOf(*patch->second->names);
    }
    for (uint32_t i = folder.first_file; i < folder.first_file + folder.file_count; ++i) {
      const FileRecord& file = table.file(i);
      const auto patch = in_it.find(table.name(file.name));
      if (patch == in_it.end() || file.target != 0) continue;
      const std::optional<Digest>& digest = patch->second->digest;
      // The new stamp with the old digest would be a lie.
      const bool was_read = file.digest != 0 && (file.stat.flags & kIsUnread) == 0;
      if (was_read && patch->second->has_other_bytes && !digest.has_value()) continue;
      put(file.stat, *patch->second);
      if (digest.has_value() && file.digest != 0)
        ranges[table.OffsetOf(table.digest(file.digest - 1).data())] = digest->hash();
    }
  }
  RETURN_IF_ERROR(table.file().Status());
  for (const auto& [folder, in_it] : wanted) {
    for (const auto& [name, patch] : in_it) {
      if (!found.contains(patch))
        return absl::FailedPreconditionError(
            fmt::format("{} has no stamp that could be another one", patch->host_path()));
    }
  }
  return table.file().With(ranges);
}

std::vector<std::string_view> StampTable::Folders() const {
  std::vector<std::string_view> folders;
  folders.reserve(mapping_->folders());
  for (uint32_t f = 0; f < mapping_->folders(); ++f) {
    const FolderRecord& folder = mapping_->folder(f);
    const bool is_left_out = (folder.stat.flags & kIsLeftOut) != 0;
    folders.emplace_back(is_left_out ? "" : mapping_->name(folder.path));
  }
  return folders;
}

std::optional<NamesHash> StampTable::NamesOf(std::string_view host_path) const {
  for (uint32_t f = 0; f < mapping_->folders(); ++f) {
    const FolderRecord& folder = mapping_->folder(f);
    const bool is_left_out = (folder.stat.flags & kIsLeftOut) != 0;
    if (!is_left_out && mapping_->name(folder.path) == host_path) return folder.names;
  }
  return std::nullopt;
}

bool StampTable::IsLaidOutAs(const StampTable& other) const {
  if (mapping_->file().HasBaseOf(other.mapping_->file())) return true;
  if (mapping_->files() != other.mapping_->files() || Folders() != other.Folders()) return false;
  for (uint32_t f = 0; f < mapping_->folders(); ++f) {
    if (mapping_->folder(f).first_file != other.mapping_->folder(f).first_file) return false;
  }
  return true;
}

bool StampTable::HasLinkedFolders() const {
  for (uint32_t f = 0; f < mapping_->folders(); ++f) {
    if ((mapping_->folder(f).stat.flags & kIsLink) != 0) return true;
  }
  return false;
}

StampCheck StampTable::Check(const CheckOptions& options) const {
  return Checker<Mapping>(*mapping_, options).Run();
}

}  // namespace galley::content
