#include "common/content/stamp_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "common/base/from_stat.h"
#include "common/base/mutex.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

std::optional<FileStat> StatAt(int folder, const char* name, int flags) {
  struct stat raw {};
  if (::fstatat(folder, name, &raw, flags) != 0) return std::nullopt;
  return FromStat(raw);
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

// Checker: one check, and what its threads find.
class Checker {
 public:
  Checker(const StampRecords& table, const StampTable::CheckOptions& options)
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

  const StampRecords& table_;
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

StampCheck CheckStamps(const StampRecords& table, const StampTable::CheckOptions& options) {
  return Checker(table, options).Run();
}

}  // namespace galley::content
