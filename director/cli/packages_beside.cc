#include "director/cli/packages_beside.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"
#include "director/shell/root_builder.h"

namespace galley::cli {

absl::StatusOr<std::vector<std::string>> PackagesBeside(const project::Project& project,
                                                        director::Journal& journal,
                                                        const std::vector<std::string>& failed) {
  std::vector<std::string> beside;
  if (failed.empty()) return beside;
  const absl::flat_hash_set<std::string> beginnings(failed.begin(), failed.end());
  RETURN_IF_ERROR(journal.ForEach([&](std::string_view package, const director::PackageRecord&) {
    std::string path = director::StagePath(project, package);
    if (beginnings.contains(path)) return;
    for (size_t dot = path.find('.', 1); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      if (!beginnings.contains(path.substr(0, dot))) continue;
      beside.push_back(std::move(path));
      return;
    }
  }));
  return beside;
}

}  // namespace galley::cli
