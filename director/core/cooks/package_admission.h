// PackageAdmission: finds a package that some cook wants in the catalog, and has the package looked
// up if it may be cooked.
// Threads: none; owned by Core.
#pragma once

#include "director/core/catalog.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/wait_evaluation.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"
#include "director/core/workers/eligibility.h"

namespace galley::director {

class PackageAdmission : PackagePart {
 public:
  PackageAdmission(const PackageGround& ground, Costs& costs, Grants& grants, Waits& waits,
                   PackageProgress& package_progress, Claims& claims,
                   WaitEvaluation& wait_evaluation, Eligibility& eligibility)
      : PackagePart(ground),
        costs_(costs),
        grants_(grants),
        waits_(waits),
        package_progress_(package_progress),
        claims_(claims),
        wait_evaluation_(wait_evaluation),
        eligibility_(eligibility) {}

  void Begin(PackageId package);

 private:
  CookMask NamersOf(PackageId package);
  bool MayCook(PackageId package, const CatalogEntry& entry);
  bool BeginGenerated(PackageId package);

  Costs& costs_;
  Grants& grants_;
  Waits& waits_;
  PackageProgress& package_progress_;
  Claims& claims_;
  WaitEvaluation& wait_evaluation_;
  Eligibility& eligibility_;
};

}  // namespace galley::director
