// The graph against plain programs that do the same slowly, on random graphs.
#include "director/registry/registry_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Number = RegistryGraph::Number;
using Set = std::set<Number>;

constexpr uint32_t kFollowed = 0b110111;  // all kinds but editor
constexpr PlatformMask kWanted = 1;

// A random graph with cycles, several kinds and platforms, and packages that are left out.
struct RandomGraph {
  explicit RandomGraph(uint32_t seed) : random(seed) {
    const size_t packages = 1 + random() % 40;
    std::vector<RegistryRow> rows(packages);
    for (size_t i = 0; i < packages; ++i) rows[i].package = fmt::format("/Game/{:03}", i);
    edges.resize(packages);
    const size_t count = random() % (3 * packages);
    for (size_t i = 0; i < packages; ++i) {
      if (random() % 8 != 0) among_model.insert(static_cast<Number>(i));
      if (random() % 5 == 0) roots_model.insert(static_cast<Number>(i));
      sizes.push_back(random() % 1'000);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto from = static_cast<Number>(random() % packages);
      const auto to = static_cast<Number>(random() % packages);
      const auto kind = static_cast<EdgeKind>(1 + random() % 5);
      const auto platforms = static_cast<PlatformMask>(1 + random() % 3);
      rows[from].edges.push_back({rows[to].package, kind, platforms});
      if (kind != EdgeKind::kEditor && (platforms & kWanted) != 0) edges[from].insert(to);
    }
    table = *RegistryTable::FromBytes(*RegistryTable::Encode({}, {"a", "b"}, rows));
    for (const auto part :
         {RegistryTable::Part::kFacts, RegistryTable::Part::kEdges, RegistryTable::Part::kUsers})
      EXPECT_TRUE(table->Need(part).ok());
    among = SetOf(among_model);
  }
  PackageSet SetOf(const Set& members) const {
    PackageSet set(edges.size());
    for (const Number one : members) set.Add(one);
    return set;
  }
  Set Some() {
    Set some;
    for (const Number one : among_model) {
      if (random() % 6 == 0) some.insert(one);
    }
    return some;
  }
  // Followed edges whose ends are not left out.
  Set EdgesOf(Number from, std::optional<Number> without = std::nullopt) const {
    Set found;
    for (const Number to : edges[from]) {
      if (among_model.contains(from) && among_model.contains(to) && to != without) found.insert(to);
    }
    return found;
  }
  Set Reached(const Set& from, std::optional<Number> without = std::nullopt) const {
    Set found;
    std::vector<Number> left;
    for (const Number one : from) {
      if (one != without && found.insert(one).second) left.push_back(one);
    }
    while (!left.empty()) {
      const Number one = left.back();
      left.pop_back();
      for (const Number to : EdgesOf(one, without)) {
        if (found.insert(to).second) left.push_back(to);
      }
    }
    return found;
  }

  std::mt19937 random;
  std::vector<Set> edges;
  Set among_model, roots_model;
  std::vector<uint64_t> sizes;
  std::shared_ptr<const RegistryTable> table;
  PackageSet among;
  Cancellation stop;
};

Set PackagesOf(const PackageSet& set) {
  Set members;
  set.ForEach([&](size_t one) {
    members.insert(static_cast<Number>(one));
    return true;
  });
  return members;
}

class RegistryGraphTest : public testing::TestWithParam<uint32_t> {
 protected:
  RandomGraph model_{GetParam()};
  RegistryGraph graph_{*model_.table, model_.among, kFollowed, kWanted, model_.stop};
};

TEST_P(RegistryGraphTest, DirectAndTransitive) {
  const Set from = model_.Some();
  Set edges, users, reaching;
  for (const Number one : model_.among_model) {
    const Set of_one = model_.EdgesOf(one);
    if (from.contains(one)) edges.insert(of_one.begin(), of_one.end());
    if (std::ranges::any_of(of_one, [&](Number to) { return from.contains(to); }))
      users.insert(one);
    const Set reached = model_.Reached({one});
    if (std::ranges::any_of(reached, [&](Number to) { return from.contains(to); }))
      reaching.insert(one);
    size_t direct = 0;
    for (const Number user : model_.among_model) direct += model_.EdgesOf(user).contains(one);
    EXPECT_EQ(graph_.CountUsers(one), direct);
  }
  const PackageSet set = model_.SetOf(from);
  EXPECT_EQ(PackagesOf(graph_.Edges(set)), edges);
  EXPECT_EQ(PackagesOf(graph_.Users(set)), users);
  EXPECT_EQ(PackagesOf(graph_.Closure(set)), model_.Reached(from));
  EXPECT_EQ(PackagesOf(graph_.Reaching(set)), reaching);
}

// Finds paths without a package twice, up to the first member of `to`.
void AllPaths(const RandomGraph& model, std::vector<Number>& path, const Set& to,
              std::vector<std::vector<Number>>& found) {
  if (to.contains(path.back())) {
    found.push_back(path);
    return;
  }
  for (const Number next : model.EdgesOf(path.back())) {
    if (std::ranges::find(path, next) != path.end() || found.size() > 2'000) continue;
    path.push_back(next);
    AllPaths(model, path, to, found);
    path.pop_back();
  }
}

TEST_P(RegistryGraphTest, Paths) {
  const Set from = model_.Some(), to = model_.Some();
  std::vector<std::vector<Number>> all;
  for (const Number one : from) {
    std::vector<Number> path{one};
    AllPaths(model_, path, to, all);
  }
  ASSERT_LE(all.size(), 1'000u) << "too many paths to count slowly: draw smaller graphs";
  const auto found = graph_.SimplePaths(model_.SetOf(from), model_.SetOf(to), 1'000);
  EXPECT_FALSE(found.is_cut);
  EXPECT_EQ(found.paths, all);
  std::vector<Number> shortest;
  for (const std::vector<Number>& path : all) {
    if (shortest.empty() || path.size() < shortest.size() ||
        (path.size() == shortest.size() && path < shortest))
      shortest = path;
  }
  EXPECT_EQ(graph_.ShortestPath(model_.SetOf(from), model_.SetOf(to)), shortest);
  const auto one = graph_.SimplePaths(model_.SetOf(from), model_.SetOf(to), 1);
  EXPECT_EQ(one.is_cut, all.size() > 1);
}

// A package retains the packages that the roots do not reach without it.
TEST_P(RegistryGraphTest, RetainedSizes) {
  std::vector<uint64_t> expected = model_.sizes;
  Set roots;
  for (const Number root : model_.roots_model) {
    if (model_.among_model.contains(root)) roots.insert(root);
  }
  const Set reached = model_.Reached(roots);
  for (const Number one : reached) {
    const Set without = model_.Reached(roots, one);
    for (const Number other : reached) {
      if (other != one && !without.contains(other)) expected[one] += model_.sizes[other];
    }
  }
  EXPECT_EQ(graph_.RetainedSizes(model_.SetOf(model_.roots_model), model_.sizes), expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RegistryGraphTest, testing::Range(0u, 300u));

TEST(RegistryGraphOnceTest, ALongChainNeedsNoDeepStack) {
  constexpr size_t kLength = 100'000;
  std::vector<RegistryRow> rows(kLength);
  for (size_t i = 0; i < kLength; ++i) {
    rows[i].package = fmt::format("/Game/{:06}", i);
    if (i + 1 < kLength) rows[i].edges = {{fmt::format("/Game/{:06}", i + 1), EdgeKind::kHard, 1}};
  }
  const auto table = *RegistryTable::FromBytes(*RegistryTable::Encode({}, {"a"}, rows));
  for (const auto part :
       {RegistryTable::Part::kFacts, RegistryTable::Part::kEdges, RegistryTable::Part::kUsers})
    ASSERT_TRUE(table->Need(part).ok());
  PackageSet all(kLength), first(kLength), last(kLength);
  all.AddRange(0, kLength);
  first.Add(0);
  last.Add(kLength - 1);
  const Cancellation stop;
  const RegistryGraph graph(*table, all, kFollowed, 1, stop);
  EXPECT_EQ(graph.Closure(first).size(), kLength);
  EXPECT_EQ(graph.ShortestPath(first, last).size(), kLength);
  EXPECT_EQ(graph.SimplePaths(first, last, 10).paths.size(), 1u);
  const auto sizes = graph.RetainedSizes(first, std::vector<uint64_t>(kLength, 1));
  EXPECT_EQ(sizes[0], kLength);
  EXPECT_EQ(sizes[kLength - 1], 1u);
}

}  // namespace
}  // namespace galley::director
