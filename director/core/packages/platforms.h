// PlatformMap: the numbers of one set of platforms in the next set. PlatformsChanged gives a new
// set while cooks run, and all stored numbers are remapped. Messages on their way are not: a
// message carries the number of its set, and PlatformSets maps from that set to the present one.
//
// Cost: O(platforms) for a mask, and for each change since the set.
// Threads: none; StepContext owns the PlatformSets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "director/core/ids.h"

namespace galley::director {

class PlatformMap {
 public:
  // By old number; nullopt: removed. REQUIRES: numbers below 32, all different.
  explicit PlatformMap(std::vector<std::optional<PlatformIndex>> to);
  // nullopt: the platform was removed, or never existed.
  std::optional<PlatformIndex> Index(PlatformIndex platform) const {
    return platform < to_.size() ? to_[platform] : std::nullopt;
  }
  PlatformMask Mask(PlatformMask platforms) const;

 private:
  std::vector<std::optional<PlatformIndex>> to_;
};

class PlatformSets {
 public:
  void Add(PlatformMap map) { maps_.push_back(std::move(map)); }
  // How many changes there were: the number of the present set.
  uint32_t present() const { return static_cast<uint32_t>(maps_.size()); }
  // The present number of a platform of the set numbered `set`.
  std::optional<PlatformIndex> Index(PlatformIndex platform, uint32_t set) const;
  PlatformMask Mask(PlatformMask platforms, uint32_t set) const;

 private:
  std::vector<PlatformMap> maps_;  // maps_[i] leads from set i to set i + 1
};

}  // namespace galley::director
