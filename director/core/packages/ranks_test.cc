#include "director/core/packages/ranks.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// Ranks with the edges under them.
struct RankedGraph {
  explicit RankedGraph(size_t visited_edges_max = Ranks::kVisitedEdgesMax)
      : ranks(edges, visited_edges_max) {}

  void Grow(size_t count) {
    edges.Grow(count);
    ranks.Grow(count);
  }
  // Returns the packages that were reported, each once. `is_bound`: new, and not put aside.
  std::set<PackageId> Add(uint32_t dependent, uint32_t dependency, bool is_cooked_input = false,
                          bool* is_bound = nullptr) {
    const auto category = is_cooked_input ? InstigatorCategory::kBuildDependency
                                          : InstigatorCategory::kHardDependency;
    const size_t put_aside = ranks.put_aside();
    const size_t size = edges.size();
    std::vector<PackageId> changed;
    if (edges.Add(PackageId(dependent), {PackageId(dependency), category}, true).binds_now) {
      ranks.AddEdge(PackageId(dependent), PackageId(dependency), is_cooked_input, changed);
      pairs.emplace_back(dependent, dependency);
    }
    if (is_bound != nullptr) *is_bound = edges.size() > size && ranks.put_aside() == put_aside;
    return {changed.begin(), changed.end()};
  }
  Rank RankOf(uint32_t package) const { return ranks.RankOf(PackageId(package)); }

  Edges edges;
  Ranks ranks;
  Pairs pairs;
};

// reach[a][b]: a depends on b, by any way.
std::vector<std::vector<bool>> Reach(size_t count, const Pairs& edges) {
  std::vector<std::vector<uint32_t>> next(count);
  for (const auto& [a, b] : edges) next[a].push_back(b);
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (uint32_t start = 0; start < count; ++start) {
    std::vector<uint32_t> found = {start};
    for (size_t i = 0; i < found.size(); ++i) {
      for (const uint32_t end : next[found[i]]) {
        if (reach[start][end]) continue;
        reach[start][end] = true;
        found.push_back(end);
      }
    }
  }
  return reach;
}

void ExpectRight(const RankedGraph& graph, size_t count) {
  const auto reach = Reach(count, graph.pairs);
  for (uint32_t a = 0; a < count; ++a) {
    for (uint32_t b = 0; b < count; ++b) {
      const bool is_cycle = a == b || (reach[a][b] && reach[b][a]);
      ASSERT_EQ(graph.ranks.AreInOneCycle(PackageId(a), PackageId(b)), is_cycle) << a << " " << b;
      ASSERT_EQ(graph.RankOf(a) == graph.RankOf(b), is_cycle) << a << " " << b;
      if (reach[a][b] && !is_cycle) {
        ASSERT_LT(graph.RankOf(b), graph.RankOf(a));
      }
    }
  }
}

TEST(RanksTest, ANewPackageIsBelowAllOthers) {
  RankedGraph graph;
  graph.Grow(3);
  EXPECT_LT(graph.RankOf(2), graph.RankOf(1));
  EXPECT_LT(graph.RankOf(1), graph.RankOf(0));
  graph.ranks.BulkRank();
  graph.Grow(4);
  for (uint32_t old = 0; old < 3; ++old) EXPECT_LT(graph.RankOf(3), graph.RankOf(old));
}

TEST(RanksTest, AnEdgeToSomethingNewVisitsNothing) {
  RankedGraph graph;
  for (uint32_t i = 1; i < 1000; ++i) {
    graph.Grow(i + 1);
    EXPECT_TRUE(graph.Add(i / 7, i).empty());
  }
  EXPECT_EQ(graph.ranks.visited(), 0u);
}

TEST(RanksTest, AnEdgeAgainstTheOrderReportsWhoseRankChanged) {
  RankedGraph graph;
  graph.Grow(2);
  EXPECT_TRUE(graph.Add(0, 1).empty());
  graph.Grow(3);
  EXPECT_EQ(graph.Add(2, 0), (std::set<PackageId>{PackageId(0), PackageId(1), PackageId(2)}));
}

TEST(RanksTest, RandomGraphsKeepTheOrderAndMergeCyclesAfterEveryEdge) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t count = static_cast<uint32_t>(2 + random() % 11);
    RankedGraph graph;
    graph.Grow(count);
    std::vector<Rank> before(count);
    for (uint32_t i = 0; i < count * 2; ++i) {
      for (uint32_t p = 0; p < count; ++p) before[p] = graph.RankOf(p);
      const auto dependent = static_cast<uint32_t>(random() % count);
      const auto dependency = static_cast<uint32_t>(random() % count);
      const std::set<PackageId> reported = graph.Add(dependent, dependency, random() % 2 == 0);
      ExpectRight(graph, count);
      for (uint32_t p = 0; p < count; ++p) {
        ASSERT_TRUE(before[p] == graph.RankOf(p) || reported.contains(PackageId(p))) << p;
      }
    }
    graph.ranks.BulkRank();
    ExpectRight(graph, count);
  }
}

// Packages and edges come by turns, searches are given up, and passes are made in between.
TEST(RanksTest, WhatIsBoundHoldsAtAnyTimeAndAfterAPassEverythingDoes) {
  size_t put_aside = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t count = static_cast<uint32_t>(20 + random() % 60);
    RankedGraph graph(/*visited_edges_max=*/1 + seed % 12);
    Pairs bound;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count * 3; ++i) {
      if (known < count && (known < 2 || random() % 2 == 0)) graph.Grow(++known);
      if (known < 2) continue;
      const auto dependent = static_cast<uint32_t>(random() % known);
      const auto dependency = static_cast<uint32_t>(random() % known);
      // With few cycles, and with many.
      if (seed % 2 == 0 && dependent > dependency && random() % 16 != 0) continue;
      const bool is_cooked_input = random() % 8 == 0;
      bool is_bound = false;
      graph.Add(dependent, dependency, is_cooked_input, &is_bound);
      if (is_bound) bound.emplace_back(dependent, dependency);
      for (const auto& [above, below] : bound) {
        ASSERT_TRUE(graph.RankOf(below) < graph.RankOf(above) ||
                    graph.ranks.AreInOneCycle(PackageId(above), PackageId(below)))
            << above << " " << below;
      }
      if (is_cooked_input) {
        ASSERT_TRUE(graph.ranks.AreInOneCycle(PackageId(dependent), PackageId(dependency)) ||
                    graph.RankOf(dependency) < graph.RankOf(dependent));
      }
      if (random() % 40 != 0) continue;
      put_aside += graph.ranks.put_aside();
      graph.ranks.BulkRank();
      ExpectRight(graph, known);
      bound = graph.pairs;
    }
    graph.ranks.BulkRank();
    ExpectRight(graph, known);
  }
  EXPECT_GT(put_aside, 100u);
}

TEST(RanksTest, AReferenceThatCostsTooMuchIsPutAsideUntilBulkRankAndACookedInputNever) {
  RankedGraph graph(/*visited_edges_max=*/3);
  graph.Grow(20);
  for (uint32_t i = 0; i + 1 < 19; ++i) graph.Add(i, i + 1);
  EXPECT_EQ(graph.ranks.visited(), 0u);
  graph.Add(18, 0);
  EXPECT_EQ(graph.ranks.put_aside(), 1u);
  EXPECT_EQ(graph.ranks.visited(), 3u);
  EXPECT_FALSE(graph.ranks.AreInOneCycle(PackageId(18), PackageId(0)));
  graph.Add(19, 0, /*is_cooked_input=*/true);
  EXPECT_LT(graph.RankOf(0), graph.RankOf(19));
  EXPECT_EQ(graph.ranks.put_aside(), 1u);
  graph.ranks.BulkRank();
  EXPECT_EQ(graph.ranks.put_aside(), 0u);
  ExpectRight(graph, 20);
}

// Every search by itself is within its bound, and together the searches would visit 10^8 edges.
TEST(RanksTest, SearchesTogetherVisitFewEdgesForEachEdgeThatThereIs) {
  constexpr uint32_t kCount = 20'000;
  RankedGraph graph(/*visited_edges_max=*/100);
  graph.Grow(kCount);
  for (uint32_t i = 0; i + 1 < kCount; ++i) graph.Add(kCount - 1 - i, kCount - 2 - i);
  for (uint32_t i = 200; i < kCount; ++i) {
    for (uint32_t back = 100; back < 105; ++back) graph.Add(i - back, i);
  }
  EXPECT_GT(graph.ranks.put_aside(), 1000u);
  EXPECT_LE(graph.ranks.visited(), graph.pairs.size() * Ranks::kVisitsPerEdge + 100 * 100);
}

TEST(RanksTest, APassPaysForSearchesToCome) {
  RankedGraph graph(/*visited_edges_max=*/100);
  graph.Grow(1050);
  for (uint32_t i = 0; i + 1 < 1000; ++i) graph.Add(i, i + 1);
  for (uint32_t i = 1000; i + 1 < 1050; ++i) graph.Add(i, i + 1);
  for (uint32_t i = 0; i < 200; ++i) graph.Add(999 - i, i);
  ASSERT_EQ(graph.ranks.put_aside(), 200u) << "each is given up";
  graph.ranks.BulkRank();
  graph.Add(1049, 1000);
  EXPECT_EQ(graph.ranks.put_aside(), 0u);
  EXPECT_TRUE(graph.ranks.AreInOneCycle(PackageId(1000), PackageId(1049)));
}

TEST(RanksTest, APassIsDueWhenWhatIsPutAsideIsAShareOfTheWhole) {
  RankedGraph graph(/*visited_edges_max=*/0);
  graph.Grow(30'000);
  for (uint32_t i = 0; i + 1 < 30'000; ++i) graph.Add(i, i + 1);
  uint32_t aside = 0;
  for (; !graph.ranks.IsBulkDue() && aside < 10'000; ++aside) graph.Add(aside + 2, aside);
  EXPECT_EQ(aside, 59'999u / 7 + 1);
  graph.ranks.BulkRank();
  EXPECT_FALSE(graph.ranks.IsBulkDue());
}

TEST(RanksTest, AMillionPackagesInOneChainAndInOneCycleAreRankedWithoutRecursion) {
  constexpr uint32_t kCount = 1'000'000;
  RankedGraph graph;
  graph.Grow(kCount);
  for (uint32_t i = 0; i + 1 < kCount; ++i) graph.Add(i + 1, i, false);
  graph.ranks.BulkRank();
  for (uint32_t i = 0; i + 1 < kCount; ++i) ASSERT_LT(graph.RankOf(i), graph.RankOf(i + 1));
  graph.Add(0, kCount - 1);
  graph.ranks.BulkRank();
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(graph.RankOf(i), graph.RankOf(0));
  // The pass left no package out of the ring of members.
  EXPECT_EQ(graph.Add(0, 1).size(), 0u);
  graph.Grow(kCount + 1);
  EXPECT_EQ(graph.Add(kCount, 5, /*is_cooked_input=*/true).size(), kCount + 1u);
}

}  // namespace
}  // namespace galley::director
