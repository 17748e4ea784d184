#include "common/content/digest_cache.h"
#include "common/base/racy.h"

#include <gtest/gtest.h>

#include "common/content/testing/test_tree.h"

namespace galley::content {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr FileStat kStat = {
    .size_bytes = 3, .mtime_ns = 100 * kSecond, .ctime_ns = 100 * kSecond, .inode = 7};

TEST(DigestCacheTest, AVersionIsKnownByEachOfItsMarks) {
  DigestCache cache;
  ASSERT_TRUE(cache.Add("/x/a", kStat, Digest::Of("abc"), 200 * kSecond));
  EXPECT_EQ(cache.Find("/x/a", kStat), Digest::Of("abc"));
  EXPECT_EQ(cache.Find("/x/b", kStat), std::nullopt);
  for (int mark = 0; mark < 4; ++mark) {
    FileStat other = kStat;
    if (mark == 0) other.size_bytes += 1;
    if (mark == 1) other.mtime_ns += 1;
    if (mark == 2) other.ctime_ns += 1;
    if (mark == 3) other.inode += 1;
    EXPECT_EQ(cache.Find("/x/a", other), std::nullopt) << mark;
  }
}

TEST(DigestCacheTest, WhatWasHashedSoonAfterAChangeIsNotTrusted) {
  DigestCache cache;
  EXPECT_FALSE(cache.Add("/x/a", kStat, Digest::Of("abc"), 100 * kSecond));
  EXPECT_FALSE(cache.Add("/x/a", kStat, Digest::Of("abc"), 101 * kSecond));
  EXPECT_EQ(cache.Find("/x/a", kStat), std::nullopt);
  EXPECT_TRUE(cache.Add("/x/a", kStat, Digest::Of("abc"), 102 * kSecond));
}

TEST(DigestCacheTest, ForgedModificationTimesDoNotHideAChange) {
  FileStat forged = kStat;
  forged.mtime_ns = 1;  // set back after the change; ctime cannot be set back
  EXPECT_TRUE(IsRacy(forged, 101 * kSecond));
  forged.mtime_ns = 900 * kSecond;  // in the future
  EXPECT_TRUE(IsRacy(forged, 200 * kSecond));
}

using DigestCacheFileTest = ContentTest;

TEST_F(DigestCacheFileTest, SavedEntriesAreFoundAgain) {
  DigestCache cache;
  ASSERT_TRUE(cache.Add("/x/a", kStat, Digest::Of("abc"), 200 * kSecond));
  ASSERT_TRUE(cache.Add("/x/ab", kStat, Digest::Of("xyz"), 200 * kSecond));
  ASSERT_TRUE(cache.Save(Host("cache")).ok());
  const auto loaded = DigestCache::Load(Host("cache"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->size(), 2u);
  EXPECT_EQ(loaded->Find("/x/ab", kStat), Digest::Of("xyz"));
  EXPECT_EQ(DigestCache::Load(Host("none"))->size(), 0u);
}

TEST_F(DigestCacheFileTest, DamageIsRefused) {
  DigestCache cache;
  ASSERT_TRUE(cache.Add("/x/a", kStat, Digest::Of("abc"), 200 * kSecond));
  ASSERT_TRUE(cache.Save(Host("cache")).ok());
  const std::string good = *ReadFile(Host("cache"));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    Write("cache", bad);
    EXPECT_TRUE(absl::IsInvalidArgument(DigestCache::Load(Host("cache")).status())) << i;
  }
}

}  // namespace
}  // namespace galley::content
