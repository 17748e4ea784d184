// Claimants: the cooks that want a package, as far as counting goes.
#pragma once

#include "absl/functional/function_ref.h"
#include "director/core/ids.h"
#include "director/core/tally.h"

namespace galley::director {

struct Claimant {
  Tally& tally;
  PlatformMask platforms = 0;  // that the cook wants
  PlatformMask judged = 0;     // that failed in this cook alone, though their results stand
};

class Claimants {
 public:
  virtual ~Claimants() = default;
  virtual void ForEach(PackageId package, absl::FunctionRef<void(const Claimant&)> visit) const = 0;
};

}  // namespace galley::director
