#include "director/core/packages/edges.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

using enum InstigatorCategory;

std::string Text(InstigatorCategory category) { return std::string(CategoryName(category)); }

// "2 HardDependency 1; " for each reference: target, category, platforms.
std::string ReferencesOf(const Edges& edges, uint32_t package) {
  std::string text;
  edges.ForEachReference(PackageId(package), [&](const Edge& edge) {
    text += std::to_string(edge.target.value()) + " " + Text(edge.category) + " " +
            std::to_string(edge.platforms) + "; ";
  });
  return text;
}

std::string InstigatorsOf(const Edges& edges, uint32_t package) {
  std::string text;
  edges.ForEachInstigator(PackageId(package), [&](const InstigatorView& why) {
    text += (why.referencer.valid() ? std::to_string(why.referencer.value()) + " " : "") +
            Text(why.category) + "; ";
  });
  return text;
}

std::vector<PackageId> Follow(Edges& edges, uint32_t from, PlatformIndex platform,
                              const std::vector<Edges::Target>& targets) {
  std::vector<PackageId> found;
  edges.Follow(PackageId(from), platform, targets, found);
  return found;
}

TEST(EdgesTest, VariantsAreEdgesOfTheCooksThatTakeThem) {
  Edges edges;
  edges.Grow(4);
  edges.SetVariants(PackageId(0), {{PackageId(1), 0b001}, {PackageId(2), 0b010}});
  Follow(edges, 0, 0,
         {{PackageId(1), kCulture}, {PackageId(2), kCulture}, {PackageId(3), kHardDependency}});
  const auto cooks = [&] {
    std::vector<CookMask> masks;
    edges.ForEachReference(PackageId(0), [&](const Edge& edge) { masks.push_back(edge.cooks); });
    return masks;
  };
  EXPECT_EQ(cooks(), (std::vector<CookMask>{0b001, 0b010, ~CookMask{0}}));
  edges.TakeAlike(PackageId(0), 0b100, 0b010);
  edges.TakeAlike(PackageId(0), 0b1000, 0b10000);
  EXPECT_EQ(edges.TakersOf(PackageId(0), PackageId(2)), 0b110u);
  edges.DropTakers(PackageId(0), 0b011);
  EXPECT_EQ(cooks(), (std::vector<CookMask>{0, 0b100, ~CookMask{0}}));
  EXPECT_EQ(edges.TakersOf(PackageId(3), PackageId(2)), 0u);
  edges.Unfollow(PackageId(0));
  EXPECT_EQ(edges.TakersOf(PackageId(0), PackageId(2)), 0u);
}

TEST(EdgesTest, EachReasonIsKeptOnceInTheOrderFound) {
  Edges edges;
  edges.Grow(4);
  EXPECT_TRUE(edges.Add(PackageId(1), {PackageId(3), kHardDependency}, false).is_new);
  EXPECT_TRUE(edges.Add(PackageId(1), {PackageId(3), kSoftDependency}, false).is_new);
  EXPECT_TRUE(edges.AddRoot(PackageId(3), kCookMap));
  EXPECT_TRUE(edges.Add(PackageId(0), {PackageId(3), kHardDependency}, false).is_new);
  EXPECT_FALSE(edges.Add(PackageId(1), {PackageId(3), kHardDependency}, false).is_new);
  EXPECT_FALSE(edges.AddRoot(PackageId(3), kCookMap));
  EXPECT_TRUE(edges.AddRoot(PackageId(3), kCommandLinePackage));
  EXPECT_EQ(InstigatorsOf(edges, 3),
            "1 HardDependency; 1 SoftDependency; CookMap; 0 HardDependency; CommandLinePackage; ");
  EXPECT_EQ(InstigatorsOf(edges, 2), "");
  EXPECT_EQ(InstigatorsOf(edges, 99), "");
  edges.Clear();
  EXPECT_EQ(InstigatorsOf(edges, 3), "");
}

TEST(EdgesTest, AReasonBindsRanksFromWhenItIsAskedTo) {
  Edges edges;
  edges.Grow(2);
  const Edges::Target to(PackageId(1), kBuildDependency);
  EXPECT_FALSE(edges.Add(PackageId(0), to, false).binds_now);
  EXPECT_FALSE(Edges::BindsRanks(edges.To(PackageId(1))[0]));
  EXPECT_TRUE(edges.Add(PackageId(0), to, true).binds_now);
  EXPECT_TRUE(Edges::BindsRanks(edges.From(PackageId(0))[0]));
  EXPECT_TRUE(Edges::BindsRanks(edges.To(PackageId(1))[0]));
  EXPECT_FALSE(edges.Add(PackageId(0), to, true).binds_now);
  EXPECT_EQ(edges.size(), 1u);
}

TEST(EdgesTest, PlatformsThatReferToTheSameAndToOtherThings) {
  Edges edges;
  edges.Grow(5);
  EXPECT_EQ(Follow(edges, 0, 0, {{PackageId(2), kHardDependency}, {PackageId(1), kSoftDependency}}),
            (std::vector{PackageId(1), PackageId(2)}));
  edges.FollowAlike(PackageId(0), 1, 0);
  EXPECT_EQ(ReferencesOf(edges, 0), "1 SoftDependency 3; 2 HardDependency 3; ");
  EXPECT_EQ(Follow(edges, 0, 2, {{PackageId(2), kHardDependency}, {PackageId(3), kHardDependency}}),
            (std::vector{PackageId(3)}));
  EXPECT_EQ(ReferencesOf(edges, 0), "1 SoftDependency 3; 2 HardDependency 7; 3 HardDependency 4; ");
  edges.FollowAlike(PackageId(0), 3, 2);
  EXPECT_EQ(ReferencesOf(edges, 0),
            "1 SoftDependency 3; 2 HardDependency 15; 3 HardDependency 12; ");
  EXPECT_EQ(edges.followed(PackageId(0)), 15u);
  // A reason that is no reference stands among the references.
  EXPECT_TRUE(edges.Add(PackageId(0), {PackageId(2), kBuildDependency}, false).is_new);
  EXPECT_EQ(ReferencesOf(edges, 0),
            "1 SoftDependency 3; 2 HardDependency 15; 3 HardDependency 12; ");
}

TEST(EdgesTest, AReferenceThatIsGoneRemainsAReason) {
  Edges edges;
  edges.Grow(3);
  Follow(edges, 0, 0, {{PackageId(1), kHardDependency}});
  EXPECT_EQ(Follow(edges, 0, 0, {{PackageId(2), kHardDependency}}), (std::vector{PackageId(2)}));
  EXPECT_EQ(ReferencesOf(edges, 0), "2 HardDependency 1; ");
  EXPECT_EQ(InstigatorsOf(edges, 1), "0 HardDependency; ");
  edges.Unfollow(PackageId(0));
  EXPECT_EQ(ReferencesOf(edges, 0), "");
  EXPECT_EQ(InstigatorsOf(edges, 2), "0 HardDependency; ");
  EXPECT_TRUE(Follow(edges, 0, 1, {{PackageId(1), kHardDependency}}).empty());
  EXPECT_EQ(ReferencesOf(edges, 0), "1 HardDependency 2; ");
  EXPECT_EQ(InstigatorsOf(edges, 1), "0 HardDependency; ");
}

// The model is maps of maps.
TEST(EdgesTest, RandomHistoriesAgreeWithASimpleModel) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t count = static_cast<uint32_t>(3 + random() % 40);
    Edges edges;
    edges.Grow(count);
    using Key = std::pair<uint32_t, InstigatorCategory>;
    std::vector<std::map<Key, PlatformMask>> model(count);
    std::vector<PlatformMask> followed(count, 0);
    std::vector<std::vector<Key>> reasons(count);
    const auto note = [&](uint32_t from, const Key& to) {
      const bool is_new = model[from].emplace(to, 0).second;
      if (is_new) reasons[to.first].emplace_back(from, to.second);
      return is_new;
    };
    for (uint32_t step = 0; step < 200; ++step) {
      const auto from = static_cast<uint32_t>(random() % count);
      const auto platform = static_cast<PlatformIndex>(random() % 3);
      const PlatformMask bit = MaskOf(platform);
      switch (random() % 9) {
        case 3: {  // platform 1 becomes 0, 0 becomes 1 or goes
          std::vector<std::optional<PlatformIndex>> to = {1, 0, 2};
          if (random() % 2 == 0) to[0] = std::nullopt;
          const PlatformMap map(to);
          for (uint32_t p = 0; p < count; ++p) {
            edges.Remap(PackageId(p), map);
            followed[p] = map.Mask(followed[p]);
            for (auto& [key, mask] : model[p]) mask = map.Mask(mask);
          }
          break;
        }
        case 0:
          edges.Unfollow(PackageId(from));
          followed[from] = 0;
          for (auto& [to, mask] : model[from]) mask = 0;
          break;
        case 1: {
          const PlatformIndex like = (platform + 1) % 3;
          if (!(followed[from] & MaskOf(like))) break;
          edges.FollowAlike(PackageId(from), platform, like);
          followed[from] |= bit;
          for (auto& [to, mask] : model[from])
            mask = (mask & ~bit) | ((mask & MaskOf(like)) != 0 ? bit : 0);
          break;
        }
        case 2: {
          const Key to(random() % count, kBuildDependency);
          const bool is_new = note(from, to);
          EXPECT_EQ(edges.Add(PackageId(from), {PackageId(to.first), to.second}, false).is_new,
                    is_new);
          break;
        }
        default: {
          std::vector<Edges::Target> targets;
          std::set<Key> keys;
          for (size_t i = random() % 20; i-- > 0;) {
            const Key to(random() % count, random() % 2 == 0 ? kHardDependency : kSoftDependency);
            keys.insert(to);
            targets.emplace_back(PackageId(to.first), to.second);
          }
          for (auto& [to, mask] : model[from]) mask &= ~bit;
          for (const Key& to : keys) {
            note(from, to);
            model[from][to] |= bit;
          }
          followed[from] |= bit;
          Follow(edges, from, platform, targets);
        }
      }
      std::string expected;
      for (const auto& [to, mask] : model[from]) {
        if (mask != 0)
          expected +=
              std::to_string(to.first) + " " + Text(to.second) + " " + std::to_string(mask) + "; ";
      }
      ASSERT_EQ(ReferencesOf(edges, from), expected);
    }
    for (uint32_t package = 0; package < count; ++package) {
      std::string expected;
      for (const auto& [from, category] : reasons[package])
        expected += std::to_string(from) + " " + Text(category) + "; ";
      ASSERT_EQ(InstigatorsOf(edges, package), expected);
    }
  }
}

TEST(EdgesTest, AnEdgeTakesAtMostTwelveBytesInBothDirectionsTogether) {
  constexpr uint32_t kCount = 200'000;
  std::mt19937 random(7);
  Edges edges;
  edges.Grow(kCount);
  for (uint32_t from = 0; from < kCount; ++from) {
    std::vector<Edges::Target> targets;
    for (int i = 0; i < 8; ++i) {
      // Few are referred to by very many.
      const double share = std::generate_canonical<double, 32>(random);
      targets.emplace_back(PackageId(static_cast<uint32_t>(share * share * share * kCount)),
                           kHardDependency);
    }
    Follow(edges, from, 0, targets);
    edges.FollowAlike(PackageId(from), 1, 0);
  }
  EXPECT_LE(static_cast<double>(edges.bytes()) / static_cast<double>(edges.size()), 12.0);
}

TEST(EdgesTest, WhatIsForgottenLeavesNoEdgeAndNoReferenceIsFollowed) {
  Edges edges;
  edges.Grow(4);
  edges.AddRoot(PackageId(0), kCommandLinePackage);
  edges.AddRoot(PackageId(3), kCommandLinePackage);
  Follow(edges, 0, 0, {{PackageId(1), kHardDependency}, {PackageId(3), kHardDependency}});
  edges.Add(PackageId(0), {PackageId(2), kBuildDependency}, /*binds_ranks=*/true);
  edges.Add(PackageId(3), {PackageId(2), kBuildDependency}, /*binds_ranks=*/true);
  edges.ForgetUnless({true, true, true, false});
  EXPECT_EQ(edges.followed(PackageId(0)), 0u);
  EXPECT_EQ(edges.From(PackageId(3)).size() + edges.To(PackageId(3)).size(), 0u);
  EXPECT_EQ(InstigatorsOf(edges, 0), "CommandLinePackage; ");
  EXPECT_EQ(InstigatorsOf(edges, 1), "0 HardDependency; ");
  EXPECT_EQ(InstigatorsOf(edges, 2), "0 BuildDependency; ");
  EXPECT_EQ(edges.size(), 3u);
  std::vector<PackageId> needs;
  edges.ForEachNeed(PackageId(0), [&](PackageId need) { needs.push_back(need); });
  EXPECT_EQ(needs, std::vector<PackageId>{PackageId(2)});
  // Another package has the id now.
  EXPECT_EQ(Follow(edges, 0, 0, {{PackageId(3), kHardDependency}}),
            std::vector<PackageId>{PackageId(3)});
  EXPECT_EQ(InstigatorsOf(edges, 3), "0 HardDependency; ");
}

TEST(ListPoolTest, ListsOfAllSizesKeepWhatWasPutIn) {
  ListPool pool;
  std::mt19937 random(1);
  std::vector<ListPool::List> lists(50);
  std::vector<std::vector<uint32_t>> model(50);
  for (int step = 0; step < 100'000; ++step) {
    const size_t i = std::min(random() % 50, random() % 50);
    if (random() % 1000 == 0) {
      model[i].resize(random() % 2 == 0 ? 0 : random() % 6000, 3);
      pool.Assign(lists[i], model[i]);
    } else {
      const uint32_t word = static_cast<uint32_t>(random());
      pool.PushBack(lists[i], word);
      model[i].push_back(word);
    }
  }
  for (uint32_t i = 0; i < 9000; ++i) {
    pool.PushBack(lists[0], i);
    model[0].push_back(i);
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto words = std::as_const(pool).Words(lists[i]);
    ASSERT_TRUE(std::equal(words.begin(), words.end(), model[i].begin(), model[i].end())) << i;
  }
}

}  // namespace
}  // namespace galley::director
