#include "director/core/packages/platforms.h"

#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

PlatformMap::PlatformMap(std::vector<std::optional<PlatformIndex>> to) : to_(std::move(to)) {
  PlatformMask taken = 0;
  for (const std::optional<PlatformIndex>& platform : to_) {
    if (!platform.has_value()) continue;
    GALLEY_CHECK(*platform < 32 && (taken & MaskOf(*platform)) == 0);
    taken |= MaskOf(*platform);
  }
}

PlatformMask PlatformMap::Mask(PlatformMask platforms) const {
  PlatformMask mask = 0;
  for (PlatformIndex p = 0; p < to_.size(); ++p) {
    if ((platforms & MaskOf(p)) && to_[p].has_value()) mask |= MaskOf(*to_[p]);
  }
  return mask;
}

std::optional<PlatformIndex> PlatformSets::Index(PlatformIndex platform, uint32_t set) const {
  std::optional<PlatformIndex> index = platform;
  for (; set < maps_.size() && index.has_value(); ++set) index = maps_[set].Index(*index);
  return index;
}

PlatformMask PlatformSets::Mask(PlatformMask platforms, uint32_t set) const {
  for (; set < maps_.size(); ++set) platforms = maps_[set].Mask(platforms);
  return platforms;
}

}  // namespace galley::director
