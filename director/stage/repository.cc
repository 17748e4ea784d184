#include "director/stage/repository.h"

#include <algorithm>
#include <iterator>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

bool IsRepositoryName(std::string_view name) {
  constexpr std::string_view kNames[] = {".bzr", ".fslckout", ".git",     ".hg",
                                         ".jj",  ".pijul",    ".plastic", ".repo",
                                         ".svn", "CVS",       "_FOSSIL_", "_darcs"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.starts_with(".p4");
}

absl::StatusOr<bool> IsBareRepository(Sandbox& sandbox, std::string_view folder,
                                      const std::vector<std::string>& names) {
  for (const std::string_view name :
       {kBareRepositoryFile, std::string_view("objects"), std::string_view("refs")}) {
    if (!std::binary_search(names.begin(), names.end(), name)) return false;
  }
  for (const std::string_view name : {"objects", "refs"}) {
    ASSIGN_OR_RETURN(
        const Node node,
        sandbox.Look(folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name)));
    if (node.kind == NodeKind::kFile) return false;
  }
  return true;
}

}  // namespace galley::director
