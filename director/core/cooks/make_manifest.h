// MakeManifest: notes the contents of a cook, at its judgement.
// Threads: none.
#pragma once

#include <memory>
#include <vector>

#include "director/core/packages/claimants.h"
#include "director/core/packages/cook_manifest.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/step_context.h"

namespace galley::director {

// `by_name`: the packages that the cook wants, by name. REQUIRES: they are judged.
// Cost: O(packages and their references).
std::unique_ptr<CookManifest> MakeManifest(const Claimant& cook,
                                           const std::vector<PackageId>& by_name,
                                           const Edges& edges, const StepContext& step);

}  // namespace galley::director
