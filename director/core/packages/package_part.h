// PackagePart: what the parts of the core stand on: the packages, the cooks that want them, and
// what a step brings forth. All of it is state that decides nothing by itself.
//
// A part receives the other parts that it uses by name, when Core makes it.
// Threads: none.
#pragma once

#include "director/core/core_options.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/graph.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/retry_policy.h"
#include "director/core/packages/today.h"
#include "director/core/packages/turn.h"

namespace galley::director {

struct PackageGround {
  const CookOptions& options;
  const RetryPolicy& retry;
  Today& today;
  PackageTable& packages;
  Claimants& claimants;
  Graph& graph;
  Notes& notes;
  Turn& turn;
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
        today_(ground.today),
        packages_(ground.packages),
        claimants_(ground.claimants),
        graph_(ground.graph),
        notes_(ground.notes),
        turn_(ground.turn),
        counts_(ground.counts) {}

  const CookOptions& options_;
  const RetryPolicy& retry_;
  Today& today_;
  PackageTable& packages_;
  Claimants& claimants_;
  Graph& graph_;
  Notes& notes_;
  Turn& turn_;
  CoreCounts& counts_;
};

}  // namespace galley::director
