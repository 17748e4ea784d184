// Exploring: what a result refers to and generates joins the cook.
#pragma once

#include <string>
#include <vector>

#include "director/core/edges.h"
#include "director/core/part.h"

namespace galley::director {

class Exploring : Part {
 public:
  explicit Exploring(Core& core) : Part(core) {}

  // Returns units.
  size_t Explore(PackageId package, PlatformIndex platform);
  // Changes that waited for roots to be built are taken now.
  void ExploreLate();

 private:
  // REQUIRES: its result is there, and nothing of an older epoch.
  size_t ExploreOne(PackageId package, PlatformIndex platform);
  void FollowCultures(PackageId package, std::vector<Edges::Target>& targets);
  void Follow(PackageId package, const record::Reference& reference, PlatformMask platforms,
              std::vector<Edges::Target>& targets);

  std::vector<PackageId> late_;  // wait for ExploreLate
};

}  // namespace galley::director
