// Exploring: what a result refers to and generates joins the cook.
#pragma once

#include <string>
#include <vector>

#include "director/core/cooks/judging.h"
#include "director/core/jobs/claims.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class Exploring : PackagePart {
 public:
  Exploring(const PackageGround& ground, Claims& claims, Judging& judging)
      : PackagePart(ground), claims_(claims), judging_(judging) {}

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

  Claims& claims_;
  Judging& judging_;
};

}  // namespace galley::director
