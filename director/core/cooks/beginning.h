// Beginning: a package that some cook wants is found in the catalog, and is looked up if it may be
// cooked.
// Threads: none; owned by Core.
#pragma once

#include "director/core/catalog.h"
#include "director/core/jobs/advancing.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/waiting.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"
#include "director/core/workers/offers.h"

namespace galley::director {

class Beginning : PackagePart {
 public:
  Beginning(const PackageGround& ground, Costs& costs, Grants& grants, Waits& waits,
            Advancing& advancing, Claims& claims, Waiting& waiting, Offers& offers)
      : PackagePart(ground),
        costs_(costs),
        grants_(grants),
        waits_(waits),
        advancing_(advancing),
        claims_(claims),
        waiting_(waiting),
        offers_(offers) {}

  void Begin(PackageId package);

 private:
  CookMask NamersOf(PackageId package);
  bool MayCook(PackageId package, const CatalogEntry& entry);
  bool BeginGenerated(PackageId package);

  Costs& costs_;
  Grants& grants_;
  Waits& waits_;
  Advancing& advancing_;
  Claims& claims_;
  Waiting& waiting_;
  Offers& offers_;
};

}  // namespace galley::director
