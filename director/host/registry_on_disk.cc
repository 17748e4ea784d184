#include "director/host/registry_on_disk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/registry_rows.h"
#include "director/journal/generation.h"
#include "director/journal/journal.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string FileIn(const std::string& state) { return JoinPath(state, "registry/table"); }

// Names the files of the last cook's scan, and the rules by which they are packages: the table of
// its snapshot by its stat, the project file as it was read, and what other layers of the
// configuration put in place of its values.
std::string WorldIn(const project::Project& project) {
  const std::string state = project.state_directory();
  std::vector<std::string> files{"/proc/self/exe"};
  for (const std::string& name : NamesIn(state)) {
    if (name.starts_with("snapshot-")) files.push_back(JoinPath(state, name));
  }
  std::ranges::sort(files);
  std::string text = project.root + "\n" + project.file_digest.ToString() + "\n";
  for (const project::Origin& one : project.origins)
    text += fmt::format("{} {}\n", one.key, one.value);
  for (const std::string& file : files) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) continue;
    text += fmt::format("{} {} {}.{} {}\n", file.substr(file.rfind('/') + 1), found.st_size,
                        found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino);
  }
  return Digest::Of(text).ToString();
}

RegistryTable::Basis BasisIn(const project::Project& project) {
  return {.generation = JournalGeneration::Read(project.state_directory()),
          .world = WorldIn(project),
          .time = ""};
}

bool IsOf(const RegistryTable::Basis& basis, const RegistryTable::Basis& present) {
  return !present.generation.empty() && basis.generation == present.generation &&
         basis.world == present.world;
}

// A director that runs may change the journal without a new generation, as nobody told it that the
// present one is relied on. `begun`: there was none when the journal was about to be read. One that
// came since has changed the generation before a result, and the snapshot's table before all else.
absl::Status Keep(const project::Project& project, const RegistryTable::Basis& begun,
                  std::string_view bytes) {
  const std::string file = FileIn(project.state_directory()), made = file + ".new";
  RETURN_IF_ERROR(CreateDirectories(file.substr(0, file.rfind('/'))));
  RETURN_IF_ERROR(WriteFileAtomic(made, bytes));
  const auto free = ProjectLock::WhileFree(project.state_directory(), [&]() -> absl::Status {
    if (!IsOf(begun, BasisIn(project))) return absl::AbortedError("a director ran");
    if (::rename(made.c_str(), file.c_str()) != 0) return ErrnoStatus(errno, "replace", file);
    return absl::OkStatus();
  });
  if (!free.ok()) static_cast<void>(::unlink(made.c_str()));
  return free;
}

}  // namespace

absl::StatusOr<RegistryOnDisk> OpenRegistryOnDisk(const project::Project& project) {
  const auto table = RegistryTable::Open(FileIn(project.state_directory()));
  if (table.ok() && IsOf((*table)->basis(), BasisIn(project)))
    return RegistryOnDisk{.table = *table, .is_made_anew = false};
  return RemakeRegistryOnDisk(project);
}

absl::StatusOr<RegistryOnDisk> RemakeRegistryOnDisk(const project::Project& project) {
  RegistryTable::Basis basis = BasisIn(project);
  const bool is_quiet =
      ProjectLock::WhileFree(project.state_directory(), [] { return absl::OkStatus(); }).ok();
  basis.time = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  ASSIGN_OR_RETURN(const ScannedProject scanned, ScanProject(project));
  RETURN_IF_ERROR(CheckRecipes(*scanned.table));
  const auto journal = Journal::Open(project.state_directory(), /*read_only=*/true);
  if (!journal.ok() && !absl::IsNotFound(journal.status())) return journal.status();
  ASSIGN_OR_RETURN(auto rows, RegistryRowsOf(scanned, journal.ok() ? journal->get() : nullptr));
  std::vector<std::string> platforms;
  for (const project::Platform& platform : project.platforms) platforms.push_back(platform.name);
  ASSIGN_OR_RETURN(std::string bytes, RegistryTable::Encode(basis, platforms, std::move(rows)));
  if (is_quiet && !basis.generation.empty() && journal.ok()) {
    // A table that is not kept is made anew by the next query.
    const absl::Status kept = Keep(project, basis, bytes);
    if (!kept.ok() && !absl::IsAborted(kept) && !absl::IsUnavailable(kept))
      LogWarning("the registry is not kept: {}", MessageOf(kept));
  }
  ASSIGN_OR_RETURN(auto table, RegistryTable::FromBytes(std::move(bytes)));
  return RegistryOnDisk{.table = std::move(table), .is_made_anew = true};
}

}  // namespace galley::director
