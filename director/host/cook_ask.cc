#include "director/host/cook_ask.h"

namespace galley::director {

std::vector<std::string> PlatformNames(const project::Project& project, PlatformMask platforms) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < project.platforms.size(); ++i) {
    if ((platforms & MaskOf(i)) != 0) names.push_back(project.platforms[i].name);
  }
  return names;
}

}  // namespace galley::director
