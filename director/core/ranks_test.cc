#include "director/core/ranks.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// reach[a][b]: a depends on b, by any way.
std::vector<std::vector<bool>> Reach(size_t count, const Pairs& edges) {
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count, false));
  for (const auto& [a, b] : edges) reach[a][b] = true;
  for (size_t k = 0; k < count; ++k) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < count; ++j) {
        if (reach[i][k] && reach[k][j]) reach[i][j] = true;
      }
    }
  }
  return reach;
}

void ExpectRight(const Ranks& ranks, size_t count, const Pairs& edges) {
  const auto reach = Reach(count, edges);
  for (uint32_t a = 0; a < count; ++a) {
    for (uint32_t b = 0; b < count; ++b) {
      const bool is_cycle = a == b || (reach[a][b] && reach[b][a]);
      ASSERT_EQ(ranks.AreInOneCycle(PackageId(a), PackageId(b)), is_cycle) << a << " " << b;
      ASSERT_EQ(ranks.RankOf(PackageId(a)) == ranks.RankOf(PackageId(b)), is_cycle)
          << a << " " << b;
      if (reach[a][b] && !is_cycle) {
        ASSERT_LT(ranks.RankOf(PackageId(b)), ranks.RankOf(PackageId(a)));
      }
    }
  }
}

TEST(RanksTest, ANewPackageIsBelowAllOthers) {
  Ranks ranks;
  ranks.Grow(3);
  EXPECT_LT(ranks.RankOf(PackageId(2)), ranks.RankOf(PackageId(1)));
  EXPECT_LT(ranks.RankOf(PackageId(1)), ranks.RankOf(PackageId(0)));
}

TEST(RanksTest, AnEdgeAgainstTheOrderReportsWhoseRankChanged) {
  Ranks ranks;
  ranks.Grow(2);
  std::vector<PackageId> changed;
  ranks.AddEdge(PackageId(0), PackageId(1), false, changed);
  EXPECT_TRUE(changed.empty());
  ranks.Grow(3);
  ranks.AddEdge(PackageId(2), PackageId(0), false, changed);
  EXPECT_EQ(std::set<PackageId>(changed.begin(), changed.end()),
            (std::set<PackageId>{PackageId(0), PackageId(1), PackageId(2)}));
}

TEST(RanksTest, RandomGraphsKeepTheOrderAndMergeCyclesAfterEveryEdge) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t count = static_cast<uint32_t>(2 + random() % 11);
    Ranks ranks;
    Pairs edges;
    std::vector<PackageId> changed;
    ranks.Grow(count);
    std::vector<Rank> before(count);
    for (uint32_t i = 0; i < count * 2; ++i) {
      for (uint32_t p = 0; p < count; ++p) before[p] = ranks.RankOf(PackageId(p));
      edges.emplace_back(random() % count, random() % count);
      changed.clear();
      ranks.AddEdge(PackageId(edges.back().first), PackageId(edges.back().second),
                    random() % 2 == 0, changed);
      ExpectRight(ranks, count, edges);
      const std::set<PackageId> reported(changed.begin(), changed.end());
      for (uint32_t p = 0; p < count; ++p) {
        ASSERT_TRUE(before[p] == ranks.RankOf(PackageId(p)) || reported.contains(PackageId(p)))
            << p;
      }
    }
    ranks.BulkRank();
    ExpectRight(ranks, count, edges);
  }
}

TEST(RanksTest, AReferenceThatCostsTooMuchIsPutAsideUntilBulkRankAndACookedInputNever) {
  Ranks ranks(/*visited_edges_max=*/3);
  ranks.Grow(20);
  std::vector<PackageId> changed;
  Pairs edges;
  for (uint32_t i = 0; i + 1 < 19; ++i) {
    edges.emplace_back(i, i + 1);
    ranks.AddEdge(PackageId(i), PackageId(i + 1), false, changed);
  }
  edges.emplace_back(18, 0);
  ranks.AddEdge(PackageId(18), PackageId(0), false, changed);
  EXPECT_EQ(ranks.put_aside(), 1u);
  edges.emplace_back(19, 0);
  ranks.AddEdge(PackageId(19), PackageId(0), true, changed);
  EXPECT_LT(ranks.RankOf(PackageId(0)), ranks.RankOf(PackageId(19)));
  ranks.BulkRank();
  EXPECT_EQ(ranks.put_aside(), 0u);
  ExpectRight(ranks, 20, edges);
}

}  // namespace
}  // namespace galley::director
