#include "director/shell/stage_path.h"

#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::director {

std::string StagePath(const project::Project& project, std::string_view package) {
  const content::Mount* best = nullptr;
  for (const content::Mount& mount : project.mounts) {
    if (!content::IsUnder(package, mount.path)) continue;
    // The longest virtual path wins; among mounts that overlay at one path, a mount that says where
    // it is staged.
    if (best == nullptr || mount.path.size() > best->path.size() ||
        (mount.path == best->path && best->stage_as.empty()))
      best = &mount;
  }
  std::string path = best == nullptr || best->stage_as.empty()
                         ? std::string(package)
                         : fmt::format("{}{}", best->stage_as, package.substr(best->path.size()));
  return path.substr(path.find_first_not_of('/'));
}

}  // namespace galley::director
