#include "director/shell/changed_platforms.h"

#include <algorithm>

namespace galley::director {
namespace {

bool IsSame(const project::Platform& a, const project::Platform& b) {
  return a.name == b.name && a.parameters == b.parameters;
}

}  // namespace

std::vector<std::optional<PlatformIndex>> PlatformMapping(
    const std::vector<project::Platform>& before, const std::vector<project::Platform>& now) {
  std::vector<std::optional<PlatformIndex>> mapping;
  for (const project::Platform& old : before) {
    const auto found =
        std::ranges::find_if(now, [&](const project::Platform& one) { return IsSame(old, one); });
    mapping.emplace_back();
    if (found != now.end()) mapping.back() = static_cast<PlatformIndex>(found - now.begin());
  }
  return mapping;
}

bool IsSameNumbering(const std::vector<project::Platform>& before,
                     const std::vector<project::Platform>& now) {
  return std::ranges::equal(before, now, IsSame);
}

}  // namespace galley::director
