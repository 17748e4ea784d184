// Explored: the packages that a result generates join the cook, and its references are followed
// when the turn of its package comes. Threads: none; owned by Core.
#pragma once

#include <string>

#include "director/core/jobs/advancing.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/waiting.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class Explored : PackagePart {
 public:
  Explored(const PackageGround& ground, Advancing& advancing, Claims& claims, Waiting& waiting)
      : PackagePart(ground), advancing_(advancing), claims_(claims), waiting_(waiting) {}

  // The platform came to this result, or its load to this list (`is_result` is false), which may be
  // incomplete.
  void SetExplored(PackageId package, PlatformIndex platform, const ResultViewPtr& view,
                   bool is_result);

 private:
  void RegisterGenerated(PackageId package, const ResultView& view, bool is_result);
  void FailGenerator(PackageId package, const std::string& error);

  Advancing& advancing_;
  Claims& claims_;
  Waiting& waiting_;
};

}  // namespace galley::director
