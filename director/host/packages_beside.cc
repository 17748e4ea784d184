#include "director/host/packages_beside.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "director/shell/stage_path.h"

namespace galley::director {
namespace {

// Returns the names that packages staged under `stage_prefix` ("/Game/a.json.") may begin with:
// `stage_prefix` itself, and a name in each mount that is staged elsewhere.
std::vector<std::string> NamePrefixes(const project::Project& project,
                                      const std::string& stage_prefix) {
  std::vector<std::string> prefixes = {stage_prefix};
  for (const content::Mount& mount : project.mounts) {
    if (mount.stage_as.empty()) continue;
    const std::string staged = mount.stage_as == "/" ? "/" : mount.stage_as + "/";
    const std::string named = mount.path == "/" ? "/" : mount.path + "/";
    if (stage_prefix.starts_with(staged)) {
      prefixes.push_back(named + stage_prefix.substr(staged.size()));
    } else if (staged.starts_with(stage_prefix)) {
      prefixes.push_back(named);
    }
  }
  return prefixes;
}

}  // namespace

std::vector<std::string> PackagesBeside(const project::Project& project,
                                        const std::vector<std::string>& names,
                                        const std::vector<std::string>& generated,
                                        const std::vector<std::string>& failed) {
  const absl::flat_hash_set<std::string> beginnings(failed.begin(), failed.end());
  absl::flat_hash_set<std::string> beside;
  for (const std::string& package : failed) {
    const std::string begin = package + ".";
    for (const std::string& prefix : NamePrefixes(project, "/" + begin)) {
      for (const std::vector<std::string>* list : {&names, &generated}) {
        for (auto name = std::lower_bound(list->begin(), list->end(), prefix);
             name != list->end() && name->starts_with(prefix); ++name) {
          std::string path = StagePath(project, *name);
          if (path.starts_with(begin) && !beginnings.contains(path)) beside.insert(std::move(path));
        }
      }
    }
  }
  std::vector<std::string> sorted(beside.begin(), beside.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace galley::director
