#include "director/registry/package_set.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

std::vector<size_t> MembersOf(const PackageSet& set) {
  std::vector<size_t> members;
  set.ForEach([&](size_t one) {
    members.push_back(one);
    return true;
  });
  return members;
}

TEST(PackageSetTest, IsASetWhateverIsAskedOfIt) {
  std::mt19937 random(7);
  for (const size_t packages : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1'000}}) {
    PackageSet a(packages), b(packages);
    std::set<size_t> model_a, model_b;
    for (size_t i = 0; i < packages; ++i) {
      const size_t one = random() % packages, other = random() % packages;
      EXPECT_EQ(a.Add(one), model_a.insert(one).second);
      b.Add(other);
      model_b.insert(other);
      if (random() % 4 != 0) continue;
      const size_t begin = random() % packages, end = begin + random() % (packages - begin + 1);
      b.AddRange(begin, end);
      for (size_t j = begin; j < end; ++j) model_b.insert(j);
      a.Remove(other);
      model_a.erase(other);
    }
    EXPECT_EQ(MembersOf(a), std::vector<size_t>(model_a.begin(), model_a.end()));
    EXPECT_EQ(a.size(), model_a.size());
    EXPECT_EQ(a.empty(), model_a.empty());
    PackageSet both = a, either = a, rest = a;
    both.Intersect(b);
    either.Union(b);
    rest.Subtract(b);
    for (size_t i = 0; i < packages; ++i) {
      EXPECT_EQ(both.Has(i), model_a.contains(i) && model_b.contains(i));
      EXPECT_EQ(either.Has(i), model_a.contains(i) || model_b.contains(i));
      EXPECT_EQ(rest.Has(i), model_a.contains(i) && !model_b.contains(i));
    }
  }
}

TEST(PackageSetTest, AVisitEndsWhenItWants) {
  PackageSet set(200);
  set.AddRange(3, 190);
  size_t visits = 0;
  set.ForEach([&](size_t one) {
    ++visits;
    return one < 10;
  });
  EXPECT_EQ(visits, 8u);
}

}  // namespace
}  // namespace galley::director
