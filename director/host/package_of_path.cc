#include "director/host/package_of_path.h"

#include "director/shell/stage_path.h"

namespace galley::director {

std::string PackageOfPath(const project::Project& project, const DoneKeys& done,
                          std::string_view path) {
  std::string found;
  size_t longest = 0;
  for (const auto& [where, key] : done) {
    const std::string stem = StagePath(project, where.first);
    if (stem.size() <= longest || !path.starts_with(stem)) continue;
    if (path.size() > stem.size() && path[stem.size()] != '.') continue;  // no suffix of an output
    longest = stem.size();
    found = where.first;
  }
  return found;
}

}  // namespace galley::director
