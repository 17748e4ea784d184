// RegistryGraph: the references between the packages of a registry that are followed, and what can
// be asked of them.
//
// Cost, unless it says otherwise: linear in the packages and references that are reached.
// REQUIRES: the table's parts kFacts, kEdges and kUsers were checked. Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/cancellation.h"
#include "director/registry/package_set.h"
#include "director/registry/registry_table.h"

namespace galley::director {

class RegistryGraph {
 public:
  using Number = RegistryTable::PackageNumber;

  // Follows references of these kinds (one bit for each) that hold on one of these platforms, among
  // the packages of `among`. `table`, `among` and `stop` outlive the graph.
  RegistryGraph(const RegistryTable& table, const PackageSet& among, uint32_t kinds,
                PlatformMask platforms, const Cancellation& stop);

  // Calls `visit` with each package that the package refers to, or that refers to it, in the order
  // of names, each once.
  template <typename Visit>
  void ForEachEdge(Number package, const Visit& visit) const {
    Each(table_.EdgesOf(package), visit);
  }
  template <typename Visit>
  void ForEachUser(Number package, const Visit& visit) const {
    Each(table_.UsersOf(package), visit);
  }
  size_t CountUsers(Number package) const;

  // The packages that members of `from` refer to directly; those that refer to members of `of`.
  PackageSet Edges(const PackageSet& from) const;
  PackageSet Users(const PackageSet& of) const;
  // `from` and all that it reaches, directly or not; all that reaches `to`.
  PackageSet Closure(const PackageSet& from) const;
  PackageSet Reaching(const PackageSet& to) const;
  // A shortest path from a member of `from` to one of `to`; of several the one whose names come
  // first. Empty: there is none.
  std::vector<Number> ShortestPath(const PackageSet& from, const PackageSet& to) const;
  // At most `paths_max` paths from `from` to `to` without a package twice, each up to the first
  // member of `to`, in the order of names. `is_cut`: there may be more.
  struct Paths {
    std::vector<std::vector<Number>> paths;
    bool is_cut = false;
  };
  Paths SimplePaths(const PackageSet& from, const PackageSet& to, size_t paths_max) const;

  // The size that goes with each package: its own, and that of all packages which `roots` reach by
  // it alone. Of a package that they do not reach: its own. Source: Georgiadis, "Linear-Time
  // Algorithms for Dominators and Related Problems", 2005, chapter 2.2 (Semi-NCA).
  // Cost: O(references log packages) in graphs as they are; at worst O(packages^2). Cancelled: the
  // sizes are wrong.
  std::vector<uint64_t> RetainedSizes(const PackageSet& roots,
                                      const std::vector<uint64_t>& own_sizes) const;

 private:
  template <typename Visit>
  void Each(std::span<const RegistryTable::Edge> edges, const Visit& visit) const {
    Number last = UINT32_MAX;
    for (const RegistryTable::Edge& edge : edges) {
      if (edge.other == last || edge.other >= table_.size() || edge.label >= follows_.size() ||
          !follows_[edge.label] || !among_.Has(edge.other))
        continue;
      last = edge.other;
      visit(edge.other);
    }
  }
  template <bool kToUsers>
  PackageSet Reach(const PackageSet& from) const;

  const RegistryTable& table_;
  const PackageSet& among_;
  const Cancellation& stop_;
  std::vector<bool> follows_;  // by label
};

}  // namespace galley::director
