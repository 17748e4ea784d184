// HasBarredGenerator: whether a cook knows the list of a package's generator.
// Threads: none.
#pragma once

#include <string_view>

#include "director/core/ids.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

// True: a package that generates this one, directly or not, reads what the cook leaves out, or has
// failed in the cook. Alone, the cook would have no list of that generator; other cooks may have
// had one.
inline bool HasBarredGenerator(const Claimant& cook, PackageId package) {
  if (!cook.has_never()) return false;
  for (std::string_view name = GeneratorName(cook.packages.NameOf(package)); !name.empty();
       name = GeneratorName(name)) {
    const PackageId generator = cook.packages.Find(name);
    if (!generator.valid()) continue;
    const PackageData& from = cook.packages[generator];
    const PlatformMask platforms = cook.request.platforms;
    const bool has_failed = cook.Wants(generator) && (InPhase(from, Phase::kFailed) & platforms) &&
                            !(InPhase(from, Phase::kDone) & platforms);
    if (has_failed || cook.BarredOf(generator) != 0) return true;
  }
  return false;
}

}  // namespace galley::director
