#include "common/base/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/parse_whole.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBroken = ".broken-";
constexpr mode_t kUsable = S_IRUSR | S_IWUSR;

// The numbers of what was put aside, sorted.
std::vector<uint64_t> BrokenOf(const std::string& path) {
  std::vector<uint64_t> numbers;
  const std::string prefix = fs::path(path).filename().string() + std::string(kBroken);
  for (const std::string& name : NamesIn(fs::path(path).parent_path().string())) {
    if (!name.starts_with(prefix)) continue;
    const auto number = ParseWhole<uint64_t>(std::string_view(name).substr(prefix.size()));
    if (number) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::string BrokenName(const std::string& path, uint64_t number) {
  return fmt::format("{}{}{}", path, kBroken, number);
}

void DropOldest(const std::string& path) {
  const std::vector<std::string> aside = ListPutAside(path);
  int files = 0;
  for (auto name = aside.rbegin(); name != aside.rend(); ++name) {
    const absl::StatusOr<FileStat> stat = StatFile(*name, /*follow_links=*/false);
    if (stat.ok() && S_ISREG(stat->mode) && ++files > kBrokenFilesMax) ::unlink(name->c_str());
  }
}

// A person's word for the thing that lies there; nullopt: a regular file.
std::optional<std::string_view> OddKind(mode_t mode) {
  if (S_ISREG(mode)) return std::nullopt;
  if (S_ISDIR(mode)) return "it is a folder";
  return "it is no regular file";
}

// The mode is a file's own: the place that a link leads to is somebody's.
void PutModeRight(const std::string& path, int needed) {
  if (::access(path.c_str(), needed) == 0) return;
  const absl::StatusOr<FileStat> stat = StatFile(path, /*follow_links=*/false);
  if (!stat.ok() || !S_ISREG(stat->mode) || (stat->mode & kUsable) == kUsable) return;
  const mode_t mode = (stat->mode & 07777) | kUsable;
  if (::chmod(path.c_str(), mode) != 0) return;
  NoteRepair(fmt::format("{}: its mode {:04o} forbade to use it; its mode is {:04o} now", path,
                         stat->mode & 07777, mode));
}

// Moves aside the thing that is in the way of a file, and says so. OK: it was put aside.
absl::StatusOr<std::string> PutOddAside(const std::string& path, std::string_view kind) {
  const absl::StatusOr<std::string> aside = PutAside(path);
  if (!aside.ok())
    return PermissionDeniedError("{}, and cannot be moved aside ({})", kind,
                                 MessageOf(aside.status()));
  return fmt::format("{}; it was moved aside to {}", kind, *aside);
}

}  // namespace

absl::StatusOr<std::string> PutAside(const std::string& path) {
  const std::vector<uint64_t> numbers = BrokenOf(path);
  const std::string aside = BrokenName(path, numbers.empty() ? 1 : numbers.back() + 1);
  if (::rename(path.c_str(), aside.c_str()) != 0) return ErrnoStatus(errno, "move aside", path);
  DropOldest(path);
  return aside;
}

std::vector<std::string> ListPutAside(const std::string& path) {
  std::vector<std::string> paths;
  for (const uint64_t number : BrokenOf(path)) paths.push_back(BrokenName(path, number));
  return paths;
}

absl::StatusOr<std::string> ReadOwnFile(const std::string& path, uint64_t size_bytes_max) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  if (absl::IsNotFound(stat.status())) return stat.status();
  if (stat.ok()) {
    if (const auto kind = OddKind(stat->mode)) {
      const absl::StatusOr<std::string> told = PutOddAside(path, *kind);
      return absl::DataLossError(told.ok() ? *told : MessageOf(told.status()));
    }
    PutModeRight(path, R_OK);
  }
  absl::StatusOr<std::string> bytes = ReadFile(path, size_bytes_max);
  if (bytes.ok() || absl::IsNotFound(bytes.status())) return bytes;
  return DataLossError("it cannot be read ({})", MessageOf(bytes.status()));
}

absl::Status EnsureWritableFile(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  if (absl::IsNotFound(stat.status())) return absl::OkStatus();
  RETURN_IF_ERROR(stat.status());
  if (const auto kind = OddKind(stat->mode)) {
    const absl::StatusOr<std::string> told = PutOddAside(path, *kind);
    if (!told.ok()) return Annotate(told.status(), path);
    NoteRepair(fmt::format("{}: {}", path, *told));
  } else {
    PutModeRight(path, R_OK | W_OK);
  }
  return absl::OkStatus();
}

absl::Status WritePrivateFile(const std::string& path, std::string_view bytes) {
  RETURN_IF_ERROR(EnsureWritableFile(path));
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());
  {
    const FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) return ErrnoStatus(errno, "make", temporary);
    RETURN_IF_ERROR(WriteAll(file.get(), bytes, temporary));
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename", path);
  return absl::OkStatus();
}

absl::Status MakeOwnFolder(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  if (stat.ok() && !S_ISDIR(stat->mode)) {
    ASSIGN_OR_RETURN(const std::string aside, PutAside(path));
    NoteRepair(fmt::format("{}: it is no folder; it was moved aside to {}", path, aside));
  }
  return CreateDirectories(path);
}

}  // namespace galley
