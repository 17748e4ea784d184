// Root paths: every chain of instigators from a package back to a root cause, shortest first.
//
// A path visits no package twice. The number of paths may be exponential, so only as many paths are
// made as are asked for. The search is best-first, guided by each package's exact distance to a
// root cause. The order depends on the graph alone, so a caller asks for the next page by the
// number of paths before it (`skip`).
//
// Cost: O(ancestors + edges among them) for the distances, then about O(path length * fan-in) a
// path. Bounded by RootPathsOptions; `is_cut` says that a bound was met.
// Threads: none.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "director/core/events.h"

namespace galley::director {

// Why a package is in the cook, by name. An empty referencer: a root cause.
struct NamedInstigator {
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
  std::string referencer;
  auto operator<=>(const NamedInstigator&) const = default;
};

// RootPathStep: a package of a path, and why it is in the cook. The next package of the path is the
// reason; for the last package, the category is the root cause.
struct RootPathStep {
  std::string package;
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
  bool operator==(const RootPathStep&) const = default;
};
using RootPath = std::vector<RootPathStep>;

struct RootPathsOptions {
  size_t skip = 0;
  size_t limit = 20;
  size_t packages_max = 100'000;  // looked at, nearest first
  size_t steps_max = 1'000'000;   // tried
};

struct RootPaths {
  std::vector<RootPath> paths;
  bool has_more = false;
  bool is_cut = false;  // a bound was met: more paths may exist
};

RootPaths FindRootPaths(
    const std::string& package,
    const std::function<std::vector<NamedInstigator>(const std::string& package)>& instigators_of,
    const RootPathsOptions& options);

}  // namespace galley::director
