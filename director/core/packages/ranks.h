// Ranks: a topological order of the packages, leaves first, kept up to date while edges arrive.
//
// An edge dependent -> dependency demands rank(dependency) < rank(dependent). The members of a
// cycle are merged and share one rank. A new package gets a rank below all others, so the usual new
// edge, from a known package to a new one, costs O(1). An edge against the order is placed by the
// algorithm of Pearce and Kelly ("A dynamic topological sort algorithm for directed acyclic
// graphs", ACM JEA 11, 2006) on the representatives of cycles: it searches up from the dependent
// and down from the dependency, within the ranks between them. Nodes found by both searches form a
// new cycle. The ranks found are assigned again, dependencies first.
//
// The search for a reference is given up after kVisitedEdgesMax edges, or earlier when the searches
// since the last pass visited too many edges in all (kVisitsPerEdge for each edge that arrived).
// Then the edge is *put aside* and does not order its ends: for references the order is only a
// hint. Edges of cooked inputs are never put aside. BulkRank, one pass over all edges, takes in the
// edges that were put aside. The owner calls BulkRank when IsBulkDue: then the pass costs O(1) for
// each of these edges.
//
// Ranks read the edges of Edges that bind ranks, and take 13 bytes a package themselves.
//
// Invariant: every edge that was not put aside has rank(dependency) < rank(dependent), or both ends
// in one cycle; different cycles have different ranks.
// Threads: none; owned by Graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "director/core/ids.h"
#include "director/core/packages/edges.h"

namespace galley::director {

using Rank = int32_t;

class Ranks {
 public:
  static constexpr size_t kVisitedEdgesMax = 10'000;
  static constexpr size_t kVisitsPerEdge = 8;

  // `edges` outlives the ranks.
  explicit Ranks(const Edges& edges, size_t visited_edges_max = kVisitedEdgesMax);

  // Packages 0 .. count-1 exist from now on.
  void Grow(size_t count);
  // Appends to `changed` the packages whose rank changed. REQUIRES: the edge is in Edges, and has
  // just begun to bind ranks.
  void AddEdge(PackageId dependent, PackageId dependency, bool is_cooked_input,
               std::vector<PackageId>& changed);
  Rank RankOf(PackageId package) const { return rank_[Find(package.value())]; }
  bool AreInOneCycle(PackageId a, PackageId b) const { return Find(a.value()) == Find(b.value()); }
  // Computes all ranks anew, from all edges: O(packages + edges), without recursion.
  void BulkRank();
  bool IsBulkDue() const;
  size_t put_aside() const { return put_aside_; }
  // How many edges all searches have visited so far.
  uint64_t visited() const { return visited_; }
  size_t bytes() const;

 private:
  using Node = uint32_t;
  Node Find(Node node) const;
  bool Search(Node dependent, Node dependency, size_t visited_max);
  template <typename EdgesOf>
  bool Spread(Node start, uint8_t mark, std::vector<Node>& found, uint64_t visited_end,
              EdgesOf edges_of);
  void Reorder(std::vector<PackageId>& changed);
  Node Merge(const std::vector<Node>& cycle);
  template <typename Visit>
  void ForEachMember(Node representative, Visit visit) const;

  const Edges& edges_;
  size_t visited_edges_max_;
  mutable std::vector<Node> parent_;  // union-find, with path halving
  std::vector<Rank> rank_;            // of a representative of a cycle
  std::vector<Node> next_member_;     // of the cycle; a ring
  std::vector<uint8_t> mark_;
  Rank lowest_ = 0;
  size_t added_ = 0;      // edges
  size_t put_aside_ = 0;  // edges
  uint64_t visited_ = 0;
  size_t credit_ = 0;  // edges that searches for references may still visit
  // The bounds and finds of the last Search.
  Rank low_ = 0, high_ = 0;
  std::vector<Node> up_, down_;
};

}  // namespace galley::director
