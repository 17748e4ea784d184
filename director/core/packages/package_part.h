// PackagePart: the base class of a part of the core. It gives access to the packages, the cooks
// that want them, the graph, and the effects of the step: shared state that decides nothing.
//
// A part receives the other parts that it uses when its layer makes it.
// Threads: none.
#pragma once

#include "director/core/core_options.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/effect_batch.h"
#include "director/core/packages/graph.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/packages/step_context.h"

namespace galley::director {

struct PackageGround {
  const CookOptions& options;
  const RetryPolicy& retry;
  StepContext& step;
  PackageTable& packages;
  Claimants& claimants;
  Graph& graph;
  Notes& notes;
  EffectBatch& effects;
  CoreCounts& counts;
};

class PackagePart {
 public:
  PackagePart(const PackagePart&) = delete;
  PackagePart& operator=(const PackagePart&) = delete;

 protected:
  explicit PackagePart(const PackageGround& ground)
      : options_(ground.options),
        retry_(ground.retry),
        step_(ground.step),
        packages_(ground.packages),
        claimants_(ground.claimants),
        graph_(ground.graph),
        notes_(ground.notes),
        effects_(ground.effects),
        counts_(ground.counts) {}

  const CookOptions& options_;
  const RetryPolicy& retry_;
  StepContext& step_;
  PackageTable& packages_;
  Claimants& claimants_;
  Graph& graph_;
  Notes& notes_;
  EffectBatch& effects_;
  CoreCounts& counts_;
};

}  // namespace galley::director
