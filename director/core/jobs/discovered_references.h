// DiscoveredReferences: takes the references and generated packages of a load or a result.
// Generated packages join the cook at once; the references are followed from the agenda.
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

  // `view` is a result of the platform or, if `is_result` is false, the list of its load so far,
  // which may be incomplete.
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
