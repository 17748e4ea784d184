// PackageLayer: the parts that know the packages and the cooks that want them. A part receives
// parts that are above it in the list.
// Threads: none; owned by Core.
#pragma once

#include <memory>

#include "director/core/catalog.h"
#include "director/core/core_options.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/effect_batch.h"
#include "director/core/packages/graph.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/packages/step_context.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

struct PackageLayer {
  PackageLayer(const CookOptions& cook_options, std::shared_ptr<const Catalog> catalog);
  PackageLayer(const PackageLayer&) = delete;
  PackageLayer& operator=(const PackageLayer&) = delete;

  const CookOptions options;
  const RetryPolicy retry{options};
  StepContext step;
  Costs costs;
  CoreCounts counts{costs};
  PackageTable table;
  Notes notes;
  Claimants claimants{table, counts, notes};
  Graph graph{options, step, table, claimants};
  EffectBatch effects;
  const PackageGround ground{options, retry, step, table, claimants, graph, notes, effects, counts};
  KeptFailures kept_failures;
  Urgencies urgencies{ground};
  Waits waits{ground};
  Warnings warnings{ground};
};

}  // namespace galley::director
