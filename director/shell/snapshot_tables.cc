#include "director/shell/snapshot_tables.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "snapshot-";
constexpr std::string_view kSuffix = ".table";

void ForEachTable(const std::string& state_directory,
                  const std::function<void(const std::string& name)>& visit) {
  std::error_code error;
  for (fs::directory_iterator at(state_directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    // A write that was cut short leaves a name with more text after ".table".
    if (name.starts_with(kPrefix) && name.find(kSuffix) != std::string::npos) visit(name);
  }
}

}  // namespace

std::string SnapshotTableName(uint32_t term, uint64_t number) {
  return number == 1 ? fmt::format("{}{}{}", kPrefix, term, kSuffix)
                     : fmt::format("{}{}.{}{}", kPrefix, term, number, kSuffix);
}

bool IsSnapshotTableName(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
         name.size() > kPrefix.size() + kSuffix.size() && name.find('/') == std::string_view::npos;
}

std::string NewTableId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

uint32_t NextTerm(const std::string& state_directory, uint32_t term) {
  // A made-up file name must not use up all terms.
  constexpr uint32_t kBelievedMax = 1u << 30;
  uint32_t highest = term;
  ForEachTable(state_directory, [&](const std::string& name) {
    if (!name.ends_with(kSuffix)) return;
    uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    if (error == std::errc() && *end == '.' && number < kBelievedMax)
      highest = std::max(highest, number);
  });
  return highest + 1;
}

std::unique_ptr<content::Snapshot> BaseTable(const std::string& state_directory,
                                             const JournalMeta& meta) {
  if (meta.table_file.empty()) return nullptr;
  const std::string file = JoinPath(state_directory, meta.table_file);
  const bool is_clear = EnsureWritableFile(file).ok();
  auto table = content::Snapshot::ReadTable(file);
  if (is_clear && table.ok() && (*table)->identity() == meta.table_id) return *std::move(table);
  // An older Galley wrote the table, in another version.
  if (meta.table_id.empty() || absl::IsFailedPrecondition(table.status())) return nullptr;
  std::string reason = "it is another one than the journal knows";
  if (absl::IsNotFound(table.status())) {
    reason = "it is gone";
  } else if (!table.ok()) {
    reason = "it is damaged";
  }
  NoteRepair(fmt::format("{}: {}; every package was looked up again", file, reason));
  return nullptr;
}

void RemoveOldTables(const std::string& state_directory, const std::string& present,
                     absl::Time before) {
  std::vector<std::string> old;
  std::set<std::string> needed = {present};
  ForEachTable(state_directory, [&](const std::string& name) {
    const std::string path = JoinPath(state_directory, name);
    const absl::StatusOr<FileStat> stat = StatFile(path, /*follow_links=*/false);
    const bool is_old =
        stat.ok() && S_ISREG(stat->mode) && absl::FromUnixNanos(stat->mtime_ns) < before;
    if (is_old && name != present) return old.push_back(name);
    needed.insert(content::Snapshot::BaseOfTable(path).value_or(""));
  });
  for (const std::string& name : old) {
    if (!needed.contains(name)) ::unlink(JoinPath(state_directory, name).c_str());
  }
}

}  // namespace galley::director
