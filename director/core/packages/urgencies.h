// Urgencies: hands the urgency of a package, and the length of its chain, on to the packages that
// it waits for, and to the leaders of its equal work.
// Threads: none; owned by its layer.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class Urgencies : PackagePart {
 public:
  explicit Urgencies(const PackageGround& ground) : PackagePart(ground) {}

  // Raises the urgency of the package, and of all packages that it waits for, to at least
  // `urgency`.
  void RaiseUrgency(PackageId package, Urgency urgency);
  // The packages of these that are in cooks, and all that they wait for: RaiseUrgency raises all of
  // them together.
  std::vector<PackageId> WithAwaited(const std::vector<PackageId>& packages) const;
  void LengthenChain(PackageId package, absl::Duration chain);
  // The packages whose equal work the package follows.
  std::vector<PackageId> LeadersOf(PackageId package) const;
};

}  // namespace galley::director
