#include "director/host/registry_on_disk.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/patched_file.h"
#include "director/host/registry_rows.h"
#include "director/journal/generation.h"
#include "director/journal/journal.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string FileIn(const std::string& state) { return JoinPath(state, "registry/table"); }

// Names the files of the last cook's scan, and the rules: the table of its snapshot, and the
// project file, by their stats.
std::string WorldIn(const project::Project& project) {
  const std::string state = project.state_directory();
  std::vector<std::string> files{JoinPath(project.root, project::kProjectFile)};
  for (const std::string& name : NamesIn(state)) {
    if (name.starts_with("snapshot-")) files.push_back(JoinPath(state, name));
  }
  std::ranges::sort(files);
  std::string text;
  for (const std::string& file : files) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) continue;
    text += fmt::format("{} {} {}.{} {}\n", file.substr(file.rfind('/') + 1), found.st_size,
                        found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino);
  }
  return Digest::Of(text).ToString();
}

// The state of the journal and of the files; of no generation: there is none, or somebody may
// change it now.
RegistryTable::Basis BasisIn(const project::Project& project) {
  return {.generation = JournalGeneration::Read(project.state_directory()),
          .world = WorldIn(project),
          .time = ""};
}
RegistryTable::Basis QuietBasisIn(const project::Project& project) {
  const auto lock = ProjectLock::TryAcquire(project.state_directory());
  return lock.ok() ? BasisIn(project) : RegistryTable::Basis();
}

bool IsOf(const RegistryTable::Basis& basis, const RegistryTable::Basis& present) {
  return !present.generation.empty() && basis.generation == present.generation &&
         basis.world == present.world;
}

absl::Status Keep(const project::Project& project, const RegistryTable::Basis& basis,
                  std::string_view bytes) {
  const std::string state = project.state_directory();
  const auto lock = ProjectLock::TryAcquire(state);
  // A director that ran meanwhile has changed the generation before anything else.
  if (!lock.ok() || !IsOf(basis, BasisIn(project))) return absl::AbortedError("a director runs");
  RETURN_IF_ERROR(CreateDirectories(JoinPath(state, "registry")));
  return content::PatchedFile::Write(FileIn(state), bytes);
}

}  // namespace

absl::StatusOr<RegistryOnDisk> OpenRegistryOnDisk(const project::Project& project) {
  const auto table = RegistryTable::Open(FileIn(project.state_directory()));
  if (table.ok() && IsOf((*table)->basis(), BasisIn(project)))
    return RegistryOnDisk{.table = *table, .is_made_anew = false};
  return RemakeRegistryOnDisk(project);
}

absl::StatusOr<RegistryOnDisk> RemakeRegistryOnDisk(const project::Project& project) {
  RegistryTable::Basis basis = QuietBasisIn(project);
  basis.time = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  ASSIGN_OR_RETURN(const ScannedProject scanned, ScanProject(project));
  RETURN_IF_ERROR(CheckRecipes(*scanned.table));
  const auto journal = Journal::Open(project.state_directory(), /*read_only=*/true);
  if (!journal.ok() && !absl::IsNotFound(journal.status())) return journal.status();
  ASSIGN_OR_RETURN(auto rows, RegistryRowsOf(scanned, journal.ok() ? journal->get() : nullptr));
  std::vector<std::string> platforms;
  for (const project::Platform& platform : project.platforms) platforms.push_back(platform.name);
  ASSIGN_OR_RETURN(std::string bytes, RegistryTable::Encode(basis, platforms, std::move(rows)));
  if (!basis.generation.empty() && journal.ok()) {
    // A table that is not kept is made anew by the next query.
    if (const absl::Status kept = Keep(project, basis, bytes); !kept.ok() && !absl::IsAborted(kept))
      LogWarning("the registry is not kept: {}", MessageOf(kept));
  }
  ASSIGN_OR_RETURN(auto table, RegistryTable::FromBytes(std::move(bytes)));
  return RegistryOnDisk{.table = std::move(table), .is_made_anew = true};
}

}  // namespace galley::director
