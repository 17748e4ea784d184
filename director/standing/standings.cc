#include "director/standing/standings.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/content/patched_file.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kStanding = ".standing";
constexpr std::string_view kSources = ".sources";
constexpr std::string_view kMembers = ".members";
constexpr std::string_view kSandbox = ".sandbox-";
constexpr size_t kTemporaryEnd = 6;
constexpr std::chrono::hours kLeftFor{1};
constexpr uint64_t kStandingBytesMax = uint64_t{1} << 30;

template <typename Table>
absl::StatusOr<Table> OpenTable(const std::string& file, const std::string& id) {
  ASSIGN_OR_RETURN(Table table, Table::Open(file));
  if (table.id() != id) return InvalidArgumentError("{} is of another standing", file);
  return table;
}

// Says whether a process ended while it wrote the file (WriteFileAtomic). A file that is being
// written now is young, and no table's name ends like that, because names of platforms have no
// dots.
bool IsLeft(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  const std::string name = file.filename().string();
  const std::string_view end = std::string_view(name).substr(name.rfind('.') + 1);
  std::error_code error;
  return end.size() == kTemporaryEnd && std::ranges::all_of(end, absl::ascii_isalnum) &&
         fs::file_time_type::clock::now() - fs::last_write_time(file, error) > kLeftFor && !error;
}

}  // namespace

Standings::Standings(const std::string& state_directory)
    : folder_(JoinPath(state_directory, "standing")) {}

std::string Standings::FileOf(const std::string& ask, std::string_view what) const {
  return JoinPath(folder_, fmt::format("{}{}", Digest::Of(ask).hex().substr(0, 16), what));
}

std::optional<Standing> Standings::Find(const std::string& ask) const {
  const std::string file = FileOf(ask, kStanding);
  const absl::StatusOr<std::string> bytes = ReadFile(file, kStandingBytesMax);
  if (!bytes.ok()) return std::nullopt;
  absl::StatusOr<Standing> standing = DecodeStanding(*bytes);
  if (!standing.ok() || standing->ask != ask) return std::nullopt;
  return *std::move(standing);
}

absl::StatusOr<content::StampTable> Standings::Sources(const std::string& ask,
                                                       const std::string& id) const {
  return OpenTable<content::StampTable>(FileOf(ask, kSources), id);
}

absl::StatusOr<content::StampTable> Standings::Sandbox(const std::string& ask,
                                                       const std::string& platform,
                                                       const std::string& id) const {
  return OpenTable<content::StampTable>(FileOf(ask, std::string(kSandbox) + platform), id);
}

absl::StatusOr<Members> Standings::MembersOf(const std::string& ask, const std::string& id) const {
  return OpenTable<Members>(FileOf(ask, kMembers), id);
}

absl::Status Standings::Keep(Standing standing, const StandingTables& tables, bool are_read) {
  RETURN_IF_ERROR(MakeOwnFolder(folder_));
  if (are_read) TellDamage(standing);
  RETURN_IF_ERROR(Renew(std::move(standing), tables));
  DropOldest();
  return absl::OkStatus();
}

// Tells people that files about to be replaced were of no use.
void Standings::TellDamage(const Standing& standing) const {
  const auto tell = [&](std::string_view what, const absl::Status& status) {
    if (!absl::IsInvalidArgument(status) && !absl::IsDataLoss(status)) return;
    NoteRepair(fmt::format("{}: {}; every package was looked at, and it was written anew",
                           FileOf(standing.ask, what), MessageOf(status)));
  };
  const auto bytes = ReadFile(FileOf(standing.ask, kStanding), kStandingBytesMax);
  if (bytes.ok()) tell(kStanding, DecodeStanding(*bytes).status());
  const auto tell_stamps = [&](std::string_view what) {
    const auto table = content::StampTable::Open(FileOf(standing.ask, what));
    tell(what, table.ok() ? table->Verify() : table.status());
  };
  tell_stamps(kSources);
  tell(kMembers, Members::Open(FileOf(standing.ask, kMembers)).status());
  for (const StandingPlatform& platform : standing.platforms)
    tell_stamps(std::string(kSandbox) + platform.name);
}

absl::Status Standings::Renew(Standing standing, const StandingTables& tables) {
  const auto write = [&](std::string_view what, const std::string& bytes) {
    return content::PatchedFile::Write(FileOf(standing.ask, what), bytes);
  };
  if (!tables.sources.empty()) {
    standing.source_stamps = content::PatchedFile::IdOf(tables.sources);
    RETURN_IF_ERROR(write(kSources, tables.sources));
  }
  if (!tables.members.empty()) {
    standing.members = content::PatchedFile::IdOf(tables.members);
    RETURN_IF_ERROR(write(kMembers, tables.members));
  }
  for (StandingPlatform& platform : standing.platforms) {
    const auto stamps = tables.sandboxes.find(platform.name);
    if (stamps == tables.sandboxes.end() || stamps->second.empty()) continue;
    platform.sandbox_stamps = content::PatchedFile::IdOf(stamps->second);
    RETURN_IF_ERROR(write(std::string(kSandbox) + platform.name, stamps->second));
  }
  const std::string file = FileOf(standing.ask, kStanding);
  RETURN_IF_ERROR(EnsureWritableFile(file));
  return WriteFileAtomic(file, EncodeStanding(standing));
}

void Standings::Touch(const std::string& ask) const {
  std::error_code error;
  std::filesystem::last_write_time(FileOf(ask, kStanding),
                                   std::filesystem::file_time_type::clock::now(), error);
}

// Also removes what a process left that ended while it wrote a standing.
void Standings::DropOldest() const {
  namespace fs = std::filesystem;
  std::vector<std::pair<fs::file_time_type, std::string>> kept;  // with their keys
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    all.push_back(entry.path());
    if (name.ends_with(kStanding))
      kept.emplace_back(entry.last_write_time(error), name.substr(0, name.find('.')));
  }
  std::ranges::sort(kept);
  if (kept.size() > kStandingsMax)
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(kStandingsMax));
  for (const fs::path& file : all) {
    const std::string name = file.filename().string();
    const bool is_ours = name.find(kStanding) != name.npos || name.find(kSources) != name.npos ||
                         name.find(kMembers) != name.npos || name.find(kSandbox) != name.npos;
    const bool is_kept = std::ranges::any_of(
        kept, [&](const auto& one) { return name.starts_with(one.second + "."); });
    if (!is_ours || (is_kept && !IsLeft(file)) || !fs::is_regular_file(file, error)) continue;
    fs::remove(file, error);
  }
}

}  // namespace galley::director
