// Ranks: leaf-to-root labels in a topological order that is kept while edges arrive.
//
// An edge dependent -> dependency demands rank(dependency) < rank(dependent). The members of a
// cycle are merged and share one rank. A new package gets a rank below all others, so the usual new
// edge (something known refers to something new) costs O(1). An edge against the order is answered
// by the algorithm of Pearce and Kelly ("A dynamic topological sort algorithm for directed acyclic
// graphs", ACM JEA 11, 2006) on the representatives of cycles: search up from the dependent and
// down from the dependency, within the ranks between them; nodes of both searches have become a
// cycle; the ranks found are handed out again, dependencies first.
//
// The search for a reference is given up after kVisitedEdgesMax edges, and earlier when all
// searches together since the last pass have visited more than kVisitsPerEdge edges for each edge
// that came: the edge is put aside and does not bind, for among references the order is only a
// hint. Edges of cooked inputs are never put aside. BulkRank takes in the edges that were put
// aside, in one pass over all edges. The owner of the ranks calls BulkRank when IsBulkDue: then the
// pass costs O(1) for each edge that was put aside.
//
// Ranks read the edges of Edges that bind ranks, and take 13 bytes a package themselves.
//
// Invariant: every bound edge has rank(dependency) < rank(dependent) or both ends in one cycle;
// ranks of different cycles differ.
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
  // Appends to `changed` the packages whose rank is another now. REQUIRES: the edge is in Edges,
  // and has just begun to bind.
  void AddEdge(PackageId dependent, PackageId dependency, bool is_cooked_input,
               std::vector<PackageId>& changed);
  Rank RankOf(PackageId package) const { return rank_[Find(package.value())]; }
  bool AreInOneCycle(PackageId a, PackageId b) const { return Find(a.value()) == Find(b.value()); }
  // Ranks everything anew, the edges put aside included: O(packages + edges), without recursion.
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
  mutable std::vector<Node> parent_;  // union-find; halved on the way
  std::vector<Rank> rank_;            // of a representative of a cycle
  std::vector<Node> next_member_;     // of the cycle; a ring
  std::vector<uint8_t> mark_;
  Rank lowest_ = 0;
  size_t added_ = 0;      // edges
  size_t put_aside_ = 0;  // edges
  uint64_t visited_ = 0;
  size_t credit_ = 0;  // of visits for references
  // The bounds and finds of the last Search.
  Rank low_ = 0, high_ = 0;
  std::vector<Node> up_, down_;
};

}  // namespace galley::director
