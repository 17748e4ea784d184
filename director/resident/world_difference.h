// DifferenceOf: the packages whose results, or places, may differ between two worlds of a director.
//
// A package differs when its source, sidecar or rules do, or when something differs that its last
// cook looked at, read or referred to (host/impact.h). The journal need not have a record: a
// package that was never cooked differs only by itself.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "director/journal/journal.h"
#include "director/shell/world.h"

namespace galley::director {

// Files, and packages, beyond which everything is taken for changed. Results that still stand then
// are found beside the turns, by the journal.
inline constexpr size_t kDifferenceMax = 10'000;

struct WorldDifference {
  // Nothing is known to be the same: mounts, platforms or the environment differ, or more files or
  // packages do than a turn may look at.
  bool is_all = false;
  std::vector<std::string> packages;  // sorted; empty with is_all
  // Every file that has another stamp, touched ones too; sorted, each once. Empty with is_all.
  std::vector<std::string> files;

  // True: devices see the same.
  bool empty() const { return !is_all && packages.empty(); }
  bool operator==(const WorldDifference&) const = default;
};

// Returns the packages that refer to one of these packages, which are gone, or to a package that
// one of these generated: they may fail now. `gone`: sorted.
using ReferringPackages =
    std::function<std::vector<std::string>(const std::vector<std::string>& gone)>;

// Cost: as DiffSnapshots, and linear in the packages that differ; of files that differ there are at
// most `difference_max` for which packages are looked for. When the rules differ, linear in the
// packages.
WorldDifference DifferenceOf(const World& before, const World& after, Journal& journal,
                             const ReferringPackages& referring,
                             size_t difference_max = kDifferenceMax);

}  // namespace galley::director
