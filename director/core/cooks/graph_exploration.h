// GraphExploration: follows the references of results, so that the packages they lead to join the
// cook.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "director/core/catalog.h"
#include "director/core/cooks/cook_validation.h"
#include "director/core/jobs/claims.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class GraphExploration : PackagePart {
 public:
  GraphExploration(const PackageGround& ground, Claims& claims, CookValidation& cook_validation)
      : PackagePart(ground), claims_(claims), cook_validation_(cook_validation) {}

  // Returns the units of work.
  size_t Explore(PackageId package, PlatformIndex platform);

 private:
  // REQUIRES: the package's result is there, and no result is of an older epoch.
  size_t ExploreOne(PackageId package, PlatformIndex platform);
  void FollowCultures(PackageId package, std::vector<Edges::Target>& targets);
  std::vector<std::pair<const Cultures*, CookMask>> CulturesOf(CookMask cooks) const;
  void Follow(PackageId package, const record::Reference& reference, PlatformMask platforms,
              std::vector<Edges::Target>& targets);

  Claims& claims_;
  CookValidation& cook_validation_;
};

}  // namespace galley::director
