#include "common/vfs/hash_set.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

TEST(HashSetTest, IsASetWhateverIsAddedAndErased) {
  std::mt19937 random(7);
  std::vector<Hash> hashes(300);
  for (size_t i = 0; i < hashes.size(); ++i) {
    hashes[i][0] = static_cast<uint8_t>(i % 5);  // many lie side by side
    hashes[i][10] = static_cast<uint8_t>(i);
    hashes[i][11] = static_cast<uint8_t>(1 + i / 256);
  }
  HashSet set;
  std::set<Hash> expected;
  for (int i = 0; i < 20'000; ++i) {
    const Hash& hash = hashes[random() % hashes.size()];
    if (random() % 2 == 0) {
      set.Insert(hash);
      expected.insert(hash);
    } else {
      set.Erase(hash);
      expected.erase(hash);
    }
    ASSERT_EQ(set.size(), expected.size());
  }
  for (const Hash& hash : hashes) EXPECT_EQ(set.Contains(hash), expected.contains(hash));
}

TEST(HashSetTest, AnEmptyOneHasNothing) {
  HashSet set;
  set.Erase({1});
  EXPECT_FALSE(set.Contains({1}));
  EXPECT_FALSE(set.Contains({}));
}

}  // namespace
}  // namespace galley::vfs
