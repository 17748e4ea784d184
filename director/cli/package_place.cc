#include "director/cli/package_place.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "common/content/glob.h"
#include "common/content/name.h"
#include "common/record/cooker_description.h"
#include "director/cli/host_file.h"
#include "director/core/packages/package_data.h"
#include "director/host/near_names.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr uint64_t kSidecarBytesMax = 1 << 20;
constexpr size_t kNeighboursMax = 1'000;  // compared neighbours
constexpr size_t kFilesMax = 20'000;      // compared files of other folders

bool IsGenerated(const std::string& package) { return !director::GeneratorName(package).empty(); }

// Returns the nearest of all files under the mounts, for a name whose folder has no near name.
std::string NearestElsewhere(const project::Project& project, const std::string& package) {
  std::vector<std::string> names;
  for (const content::Mount& mount : project.mounts) {
    std::error_code error;
    using Walk = std::filesystem::recursive_directory_iterator;
    for (Walk at(mount.directory, error), end; !error && at != end && names.size() < kFilesMax;
         at.increment(error)) {
      const std::string path = at->path().string();
      const std::string name = at->path().filename().string();
      if (name.starts_with('.') && at->is_directory(error)) at.disable_recursion_pending();
      if (!at->is_regular_file(error) || project::IsSidecar(path)) continue;
      names.push_back((mount.path == "/" ? "" : mount.path) + path.substr(mount.directory.size()));
    }
  }
  std::ranges::sort(names);
  return director::NearText(director::NearNames(package, names));
}

// Returns "; did you mean /Game/barrel.png?", or nothing.
std::string Nearest(const project::Project& project, const std::string& package,
                    const std::string& file) {
  const std::filesystem::path path(file);
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path.parent_path(), error), end;
       !error && at != end && names.size() < kNeighboursMax; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!project::IsSidecar(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  const std::string nearest = record::Nearest(path.filename().string(), names);
  if (nearest.empty()) return NearestElsewhere(project, package);
  const std::string folder(content::FolderOf(package));
  return fmt::format("; did you mean {}{}{}?", folder, folder == "/" ? "" : "/", nearest);
}

std::string NeverPattern(const project::Project& project, const std::string& package) {
  for (const project::Pattern& pattern : project.cook.never) {
    const auto glob = content::Glob::Parse(pattern.text);
    if (glob.ok() && glob->Matches(package)) return pattern.text;
  }
  return {};
}

// Returns the sandbox around a file, unless it is a mount's own. Empty: there is none.
std::string SandboxAround(const project::Project& project, const std::string& host) {
  const auto is_mount = [&](std::string_view folder) {
    return std::ranges::any_of(
        project.mounts, [&](const content::Mount& mount) { return mount.directory == folder; });
  };
  std::string_view folder = content::FolderOf(host);
  for (; folder.size() > 1 && !is_mount(folder); folder = content::FolderOf(folder)) {
    if (FileExists(JoinPath(folder, content::kSandboxFile))) return std::string(folder);
  }
  return "";
}

}  // namespace

std::optional<project::CookerChoice> ChoiceOf(const project::Project& project,
                                              const std::string& package) {
  if (IsGenerated(package)) return std::nullopt;
  const auto sidecar = ReadFile(
      AbsoluteHostFile(project, package + std::string(project::kSidecarSuffix)), kSidecarBytesMax);
  return project::FindCookerChoice(project, package,
                                   sidecar.ok() ? std::optional(*sidecar) : std::nullopt);
}

std::string WhyNotCooked(const project::Project& project, const std::string& package) {
  if (IsGenerated(package)) return {};
  if (project::IsSidecar(package)) {
    return fmt::format("a sidecar is no package: it says how {} is cooked, so ask for that",
                       package.substr(0, package.size() - project::kSidecarSuffix.size()));
  }
  const std::string host = AbsoluteHostFile(project, package), file = HostFile(project, package);
  std::error_code error;
  if (std::filesystem::is_directory(host, error))
    return fmt::format("{} is a folder; ask for a package in it", file);
  if (!FileExists(host)) {
    return fmt::format("there is no file {}: it was deleted, renamed, or never there{}", file,
                       Nearest(project, package, host));
  }
  if (const std::string sandbox = SandboxAround(project, host); !sandbox.empty())
    return fmt::format("it is in the sandbox {}, which is not content", sandbox);
  if (!ChoiceOf(project, package)) {
    return fmt::format(
        "no [[rule]] of galley.toml matches it and there is no sidecar {}.cook, so that it is no "
        "package: no cook takes it, and only the cooks of others can read the file",
        file);
  }
  if (const std::string pattern = NeverPattern(project, package); !pattern.empty())
    return fmt::format("it is never cooked: \"{}\" in never of [cook] matches it", pattern);
  return {};
}

}  // namespace galley::cli
