// DiscoveredReferences: the packages that a result generates join the cook, and its references are
// followed when the turn of its package comes.
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

  // The platform came to this result, or its load to this list (`is_result` is false). A list may
  // be incomplete.
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
