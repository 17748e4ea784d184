#include "director/cli/package_of_path.h"

#include "director/shell/root_builder.h"

namespace galley::cli {

std::string PackageOfPath(const project::Project& project, const Report& report,
                          std::string_view path) {
  std::string found;
  size_t longest = 0;
  for (const auto& [where, key] : report.done) {
    const std::string stem = director::StagePath(project, where.first);
    if (stem.size() <= longest || !path.starts_with(stem)) continue;
    if (path.size() > stem.size() && path[stem.size()] != '.') continue;  // no suffix of an output
    longest = stem.size();
    found = where.first;
  }
  return found;
}

}  // namespace galley::cli
