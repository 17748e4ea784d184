#include "director/cli/host_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/content/name.h"
#include "common/record/source_names.h"
#include "fmt/format.h"

namespace galley::cli {

std::string AbsoluteHostFile(const project::Project& project, std::string_view path) {
  std::vector<const content::Mount*> mounts;
  for (const content::Mount& mount : project.mounts) {
    if (content::IsUnder(path, mount.path)) mounts.push_back(&mount);
  }
  std::ranges::stable_sort(mounts, [](const auto* a, const auto* b) {
    return std::pair(a->path.size(), a->priority) > std::pair(b->path.size(), b->priority);
  });
  std::string host;
  for (const content::Mount* mount : mounts) {
    const std::string candidate =
        fmt::format("{}{}", mount->directory, path.substr(mount->path.size()));
    const bool is_there = FileExists(candidate);
    if (is_there || host.empty()) host = candidate;
    if (is_there) break;
  }
  return host;
}

std::string HostFile(const project::Project& project, std::string_view path) {
  const std::string host = AbsoluteHostFile(project, path);
  const std::string below = project.root + "/";
  return host.starts_with(below) ? host.substr(below.size()) : host;
}

std::optional<std::string> FileOfPlace(const project::Project& project, const std::string& package,
                                       std::string_view name) {
  const bool is_source = name == record::kSourceName;
  const absl::StatusOr<std::string> path =
      is_source ? absl::StatusOr<std::string>(package) : content::ResolveAsked(package, name);
  if (path.ok() && !package.empty() && FileExists(AbsoluteHostFile(project, *path)))
    return HostFile(project, *path);
  return is_source ? std::optional(package) : std::nullopt;
}

}  // namespace galley::cli
