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

  void SetExplored(PackageId package, PlatformIndex platform, const ResultViewPtr& view,
                   bool is_result);
  // Returns units.
  size_t Explore(PackageId package, PlatformIndex platform);
  // The package is explored by the files of today, when its turn comes, if anything of it is known.
  void ExploreAnew(PackageId package);
  // Changes that waited for roots to be built are taken now.
  void ExploreLate();
  // Makes the reason bind ranks.
  void BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category);
  void RankAnewIfDue();

 private:
  // REQUIRES: its result is there, and nothing of an older epoch.
  size_t ExploreOne(PackageId package, PlatformIndex platform);
  void FollowCultures(PackageId package, std::vector<Edges::Target>& targets);
  void Follow(PackageId package, const record::Reference& reference, PlatformMask platforms,
              std::vector<Edges::Target>& targets);
  void RegisterGenerated(PackageId package, const ResultView& view, bool is_result);
  void FailGenerator(PackageId package, const std::string& error);
  void PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                    bool are_cooked_inputs);

  std::vector<PackageId> late_;  // wait for ExploreLate
};

}  // namespace galley::director
