// PackageAdmission: begins a package that some cook wants: finds it in the catalog, and lets it be
// looked up, or fail.
// Threads: none; owned by its layer.
#pragma once

#include <string_view>

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
  struct Deps {
    Costs& costs;
    Grants& grants;
    Waits& waits;
    PackageProgress& package_progress;
    Claims& claims;
    WaitEvaluation& wait_evaluation;
    Eligibility& eligibility;
  };
  PackageAdmission(const PackageGround& ground, const Deps& deps)
      : PackagePart(ground), deps_(deps) {}

  void Begin(PackageId package);

 private:
  CookMask NamersOf(PackageId package);
  bool MayCook(PackageId package, const CatalogEntry& entry);
  void LeaveActiveCooks(PackageId package, CookMask namers, std::string_view reason);
  bool BeginGenerated(PackageId package);

  const Deps deps_;
};

}  // namespace galley::director
