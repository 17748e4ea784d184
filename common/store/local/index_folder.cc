#include "common/store/local/index_folder.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBrokenPrefix = "index.broken-";

std::string BrokenPath(const std::string& directory, uint64_t number) {
  return JoinPath(directory, fmt::format("{}{}", kBrokenPrefix, number));
}

// The number of "index.broken-<n>"; nullopt for any other name.
std::optional<uint64_t> ParseBroken(std::string_view name) {
  if (!name.starts_with(kBrokenPrefix)) return std::nullopt;
  name.remove_prefix(kBrokenPrefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::set<uint64_t> ListBroken(const std::string& directory) {
  std::set<uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::optional<uint64_t> number = ParseBroken(at->path().filename().string());
    if (number.has_value()) numbers.insert(*number);
  }
  return numbers;
}

// Its folder may be one that nobody may write in.
void RemoveBroken(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error)))
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
  if (const absl::Status removed = RemoveAll(path); !removed.ok())
    LogWarning("{}: an old damaged index stays: {}", path, MessageOf(removed));
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  if (errno == ENOENT) return absl::NotFoundError(fmt::format("{} is gone", from));
  return ErrnoStatus(errno, "move", from);
}

}  // namespace

std::string IndexPath(const std::string& store_directory) {
  return JoinPath(store_directory, "index");
}

std::string NewIndexPath(const std::string& store_directory) {
  return JoinPath(store_directory, "index.anew");
}

absl::StatusOr<std::string> MoveIndexAside(const std::string& store_directory) {
  std::set<uint64_t> broken = ListBroken(store_directory);
  const uint64_t number = broken.empty() ? 1 : *broken.rbegin() + 1;
  const std::string path = BrokenPath(store_directory, number);
  RETURN_IF_ERROR(Rename(IndexPath(store_directory), path));
  broken.insert(number);
  for (; broken.size() > kBrokenIndexesMax; broken.erase(broken.begin()))
    RemoveBroken(BrokenPath(store_directory, *broken.begin()));
  RETURN_IF_ERROR(SyncDirectory(store_directory));
  return path;
}

bool RemoveUnusedIndexes(const std::string& store_directory, const std::string& kept) {
  bool was_any = FileExists(NewIndexPath(store_directory));
  if (was_any) RemoveBroken(NewIndexPath(store_directory));
  for (const uint64_t number : ListBroken(store_directory)) {
    const std::string path = BrokenPath(store_directory, number);
    if (path == kept) continue;
    RemoveBroken(path);
    was_any = true;
  }
  return was_any;
}

absl::Status PutNewIndexInPlace(const std::string& store_directory) {
  RETURN_IF_ERROR(Rename(NewIndexPath(store_directory), IndexPath(store_directory)));
  return SyncDirectory(store_directory);
}

}  // namespace galley::store
