// DiscoveredReferences: takes the generated packages and the references from a package's result.
// The generated packages join the cook at once. The references are followed later, when the agenda
// comes to the package.
// Threads: none; owned by its layer.
#pragma once

#include <string>

#include "director/core/jobs/claims.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/wait_evaluation.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class DiscoveredReferences : PackagePart {
 public:
  DiscoveredReferences(const PackageGround& ground, PackageProgress& package_progress,
                       Claims& claims, WaitEvaluation& wait_evaluation)
      : PackagePart(ground),
        package_progress_(package_progress),
        claims_(claims),
        wait_evaluation_(wait_evaluation) {}

  // `view` is the package's result on the platform. If `is_result` is false, the package was only
  // loaded so far, and the lists in `view` may be incomplete.
  void SetExplored(PackageId package, PlatformIndex platform, const ResultViewPtr& view,
                   bool is_result);

 private:
  void RegisterGenerated(PackageId package, const ResultView& view, bool is_result);
  void FailGenerator(PackageId package, const std::string& error);

  PackageProgress& package_progress_;
  Claims& claims_;
  WaitEvaluation& wait_evaluation_;
};

}  // namespace galley::director
