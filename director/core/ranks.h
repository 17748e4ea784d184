// Ranks: leaf-to-root labels in a topological order that is kept while edges arrive.
//
// An edge dependent -> dependency demands rank(dependency) < rank(dependent). The members of a
// cycle are merged and share one rank. A new package gets a rank below all others, so the usual new
// edge (something known refers to something new) costs O(1). An edge against the order is answered
// by the algorithm of Pearce and Kelly ("A dynamic topological sort algorithm for directed acyclic
// graphs", ACM JEA 11, 2006) on the representatives of cycles: search up from the dependent and
// down from the dependency, within the ranks between them; what is in both searches has become a
// cycle; the ranks found are handed out again, dependencies first.
//
// The search for a reference is given up after kVisitedEdgesMax edges: the edge is put aside and
// does not bind, for among references the order is only a hint. Edges of cooked inputs are never
// put aside. BulkRank takes in what was put aside; AddEdge calls it by itself when that has become
// too much.
//
// Invariant: every bound edge has rank(dependency) < rank(dependent) or both ends in one cycle;
// ranks of different cycles differ. Threads: none; owned by CookCore.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "director/core/ids.h"

namespace galley::director {

using Rank = int64_t;

class Ranks {
 public:
  static constexpr size_t kVisitedEdgesMax = 10'000;

  explicit Ranks(size_t visited_edges_max = kVisitedEdgesMax)
      : visited_edges_max_(visited_edges_max) {}

  // Packages 0 .. count-1 exist from now on.
  void Grow(size_t count);
  // Appends to `changed` the packages whose rank is another now. The same edge may be added again.
  void AddEdge(PackageId dependent, PackageId dependency, bool is_cooked_input,
               std::vector<PackageId>& changed);
  Rank RankOf(PackageId package) const { return rank_[Find(package.value())]; }
  bool AreInOneCycle(PackageId a, PackageId b) const { return Find(a.value()) == Find(b.value()); }
  // Ranks everything anew, the edges put aside included: O(packages + edges), without recursion.
  void BulkRank();
  size_t put_aside() const { return put_aside_.size(); }

 private:
  using Node = uint32_t;
  Node Find(Node node) const;
  bool Search(Node dependent, Node dependency, bool is_bounded);
  void Reorder(Node dependent, Node dependency, std::vector<PackageId>& changed);
  Node Merge(const std::vector<Node>& cycle);
  void Bind(Node dependent, Node dependency);
  // Strongly connected components, dependencies first (Tarjan).
  std::vector<std::vector<Node>> Components() const;

  size_t visited_edges_max_;
  mutable std::vector<Node> parent_;        // union-find; halved on the way
  std::vector<Rank> rank_;                  // of a representative
  std::vector<std::vector<Node>> members_;  // of a representative, itself included
  std::vector<std::vector<Node>>
      dependencies_;  // of a representative; ends may be merged since: Find them
  std::vector<std::vector<Node>> dependents_;
  std::vector<std::pair<Node, Node>> put_aside_;
  Rank lowest_ = 0;
  // Of the last Search.
  std::vector<Node> up_, down_;
  std::vector<uint8_t> mark_;
};

}  // namespace galley::director
