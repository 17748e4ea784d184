#include "director/shell/told_tools.h"

#include <algorithm>

#include "common/content/name.h"
#include "common/record/programs.h"

namespace galley::director {

bool IsPlainPath(std::string_view path) {
  const absl::StatusOr<std::string> normal = content::NormalizeAsked(std::string(path));
  return normal.ok() && *normal == path && !path.starts_with('.') &&
         path.find("/.") == std::string_view::npos;
}

bool MayBeTold(std::string_view path, const std::vector<std::string>& programs) {
  const auto is_it = [&](const std::string& program) {
    return content::NormalizeAsked(program).value_or(program) == path;
  };
  if (std::ranges::any_of(programs, is_it)) return true;
  if (path.starts_with('/')) return record::IsSystemFile(path);
  return IsPlainPath(path);
}

}  // namespace galley::director
