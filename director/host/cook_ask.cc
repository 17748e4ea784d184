#include "director/host/cook_ask.h"

#include <algorithm>

#include "director/host/near_names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {

absl::StatusOr<PlatformMask> PlatformsIn(const project::Project& project,
                                         const std::vector<std::string>& asked) {
  PlatformMask mask = 0;
  for (PlatformIndex p = 0; p < project.platforms.size(); ++p) {
    const std::string& name = project.platforms[p].name;
    if (asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end())
      mask |= MaskOf(p);
  }
  const std::vector<std::string> known = PlatformNames(project, {});
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        fmt::format("--platform {}: galley.toml has no such platform (it has {}){}", name,
                    fmt::join(known, ", "), NearText(NearNames(name, known))));
  }
  return mask;
}

std::vector<std::string> PlatformNames(const project::Project& project,
                                       const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const project::Platform& platform : project.platforms) {
    if (asked.empty() || std::find(asked.begin(), asked.end(), platform.name) != asked.end())
      names.push_back(platform.name);
  }
  return names;
}

}  // namespace galley::director
