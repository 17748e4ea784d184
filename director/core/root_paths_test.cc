#include "director/core/root_paths.h"

#include <algorithm>
#include <map>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kMap = InstigatorCategory::kCookMap;
constexpr auto kHard = InstigatorCategory::kHardDependency;
constexpr auto kSoft = InstigatorCategory::kSoftDependency;

using ReasonGraph = std::map<std::string, std::vector<NamedInstigator>>;

RootPaths Find(const ReasonGraph& graph, const std::string& package,
               const RootPathsOptions& options) {
  return FindRootPaths(
      package,
      [&](const std::string& name) {
        const auto found = graph.find(name);
        return found == graph.end() ? std::vector<NamedInstigator>() : found->second;
      },
      options);
}

std::vector<std::string> Texts(const std::vector<RootPath>& paths) {
  std::vector<std::string> texts;
  for (const RootPath& path : paths) {
    std::string& text = texts.emplace_back();
    for (const RootPathStep& step : path) text += (text.empty() ? "" : " ") + step.package;
  }
  return texts;
}

// A texture used by two meshes, each of them in two levels.
ReasonGraph TwoMeshesInTwoLevels() {
  return {{"texture", {{kHard, "mesh2"}, {kHard, "mesh1"}}},
          {"mesh1", {{kHard, "town"}, {kHard, "desert"}}},
          {"mesh2", {{kSoft, "town"}, {kHard, "cell"}}},
          {"cell", {{InstigatorCategory::kGeneratedPackage, "desert"}}},
          {"town", {{kMap, ""}}},
          {"desert", {{kMap, ""}}}};
}

TEST(RootPathsTest, EveryPathIsToldShortestFirst) {
  const RootPaths found = Find(TwoMeshesInTwoLevels(), "texture", {});
  EXPECT_THAT(Texts(found.paths), ElementsAre("texture mesh1 desert", "texture mesh1 town",
                                              "texture mesh2 town", "texture mesh2 cell desert"));
  EXPECT_FALSE(found.has_more);
  EXPECT_FALSE(found.is_cut);
  EXPECT_EQ(found.paths[2], (RootPath{{"texture", kHard}, {"mesh2", kSoft}, {"town", kMap}}));
}

TEST(RootPathsTest, ARootCauseOfItsOwnIsAPath) {
  const ReasonGraph graph = {{"a", {{kMap, ""}, {kHard, "b"}}}, {"b", {{kMap, ""}}}};
  EXPECT_THAT(Texts(Find(graph, "a", {}).paths), ElementsAre("a", "a b"));
}

TEST(RootPathsTest, TwoReasonsForOneReferencerAreTwoPaths) {
  const ReasonGraph graph = {{"a", {{kHard, "b"}, {kSoft, "b"}}}, {"b", {{kMap, ""}}}};
  const RootPaths found = Find(graph, "a", {});
  ASSERT_EQ(found.paths.size(), 2u);
  EXPECT_EQ(found.paths[0][0].category, kHard);
  EXPECT_EQ(found.paths[1][0].category, kSoft);
}

TEST(RootPathsTest, ACycleWithoutARootCauseHasNoPath) {
  const ReasonGraph graph = {{"a", {{kHard, "b"}}}, {"b", {{kHard, "a"}}}};
  EXPECT_THAT(Find(graph, "a", {}).paths, IsEmpty());
  EXPECT_THAT(Find(graph, "unknown", {}).paths, IsEmpty());
}

TEST(RootPathsTest, PagesTogetherAreTheWhole) {
  const ReasonGraph graph = TwoMeshesInTwoLevels();
  const std::vector<std::string> all = Texts(Find(graph, "texture", {}).paths);
  std::vector<std::string> pages;
  for (size_t at = 0;; at += 1) {
    const RootPaths page = Find(graph, "texture", {.skip = at, .limit = 1});
    for (const std::string& text : Texts(page.paths)) pages.push_back(text);
    if (!page.has_more) break;
  }
  EXPECT_EQ(pages, all);
}

// There are 2^40 paths, and only the requested paths are made.
TEST(RootPathsTest, AGraphWithMorePathsThanAtomsAnswersItsFirst) {
  ReasonGraph graph;
  for (int level = 0; level < 40; ++level) {
    for (const char side : {'l', 'r'}) {
      std::vector<NamedInstigator>& reasons = graph[side + std::to_string(level)];
      if (level == 39) {
        reasons.push_back({kMap, ""});
      } else {
        reasons.push_back({kHard, "l" + std::to_string(level + 1)});
        reasons.push_back({kHard, "r" + std::to_string(level + 1)});
      }
    }
  }
  const RootPaths found = Find(graph, "l0", {.limit = 100});
  EXPECT_EQ(found.paths.size(), 100u);
  EXPECT_TRUE(found.has_more);
  EXPECT_FALSE(found.is_cut);
}

TEST(RootPathsTest, ABoundThatIsMetIsSaid) {
  const RootPaths few = Find(TwoMeshesInTwoLevels(), "texture", {.packages_max = 4});
  EXPECT_TRUE(few.is_cut);
  EXPECT_THAT(Texts(few.paths), ElementsAre("texture mesh1 desert"));
  EXPECT_TRUE(Find(TwoMeshesInTwoLevels(), "texture", {.steps_max = 2}).is_cut);
}

// The model: all simple paths, by plain recursion.
void Walk(const ReasonGraph& graph, std::vector<std::string>& path, std::vector<std::string>& all) {
  const auto found = graph.find(path.back());
  if (found == graph.end()) return;
  for (const NamedInstigator& one : found->second) {
    if (one.referencer.empty()) {
      std::string& text = all.emplace_back();
      for (const std::string& name : path) text += (text.empty() ? "" : " ") + name;
    } else if (std::find(path.begin(), path.end(), one.referencer) == path.end()) {
      path.push_back(one.referencer);
      Walk(graph, path, all);
      path.pop_back();
    }
  }
}

TEST(RootPathsTest, RandomGraphsAgreeWithAPlainWalk) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    ReasonGraph graph;
    const size_t count = 2 + random() % 5;
    for (size_t i = 0; i < count; ++i) {
      std::vector<NamedInstigator>& reasons = graph[std::string(1, static_cast<char>('a' + i))];
      if (random() % 4 == 0) reasons.push_back({kMap, ""});
      for (size_t j = 0; j < count; ++j) {
        if (j != i && random() % 2 == 0)
          reasons.push_back({kHard, std::string(1, static_cast<char>('a' + j))});
      }
    }
    std::vector<std::string> path = {"a"}, all;
    Walk(graph, path, all);
    const RootPaths found = Find(graph, "a", {.limit = 100'000});
    std::vector<std::string> texts = Texts(found.paths);
    EXPECT_TRUE(std::is_sorted(found.paths.begin(), found.paths.end(),
                               [](const auto& a, const auto& b) { return a.size() < b.size(); }))
        << "seed " << seed;
    std::sort(texts.begin(), texts.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(texts, all) << "seed " << seed;
  }
}

}  // namespace
}  // namespace galley::director
