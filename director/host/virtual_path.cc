#include "director/host/virtual_path.h"

#include <filesystem>
#include <system_error>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/content/name.h"

namespace galley::director {
namespace {

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

absl::StatusOr<std::string> ToVirtual(const project::Project& project,
                                      const std::string& argument) {
  std::string trimmed = argument;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  for (const content::Mount& mount : project.mounts) {
    if (content::IsUnder(trimmed, mount.path)) return trimmed;
  }
  for (const std::string& host : {AbsolutePath(trimmed), Canonical(AbsolutePath(trimmed))}) {
    const content::Mount* best = nullptr;
    std::string best_folder;
    for (const content::Mount& mount : project.mounts) {
      for (const std::string& folder : {mount.directory, Canonical(mount.directory)}) {
        if (!content::IsUnder(host, folder) || folder.size() <= best_folder.size()) continue;
        best = &mount;
        best_folder = folder;
      }
    }
    if (best != nullptr) return best->path + host.substr(best_folder.size());
  }
  std::string mounts;
  for (const content::Mount& mount : project.mounts)
    mounts += (mounts.empty() ? "" : ", ") + mount.path;
  return InvalidArgumentError("{} lies under no mount (mounts: {}) and in no mounted folder",
                              argument, mounts);
}

}  // namespace galley::director
