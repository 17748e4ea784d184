#include "worker/session/blob_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/store/local/layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

class BlobCacheTest : public ::testing::Test {
 protected:
  BlobCacheTest() : folder_(*MakeTemporaryDirectory(::testing::TempDir(), "cache-")) {}
  ~BlobCacheTest() override { RemoveAll(folder_).IgnoreError(); }

  std::string PathOf(const std::string& bytes) const {
    return store::BlobFilePath(folder_, Digest::Of(bytes));
  }
  // Makes the file look as if it was last used `age` ago.
  void Age(const std::string& path, absl::Duration age) {
    const timespec time = absl::ToTimespec(absl::Now() - age);
    const timespec both[2] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
  }
  static bool IsThere(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

  const std::string folder_;
};

TEST_F(BlobCacheTest, WhatWasPutIsThereForTheNextProcess) {
  {
    auto cache = BlobCache::Open(folder_, 1 << 20);
    ASSERT_TRUE(cache.ok()) << cache.status();
    EXPECT_FALSE(cache->Use(Digest::Of("a")));
    ASSERT_TRUE(cache->Put(Digest::Of("a"), "a").ok());
  }
  const auto again = BlobCache::Open(folder_, 1 << 20);
  EXPECT_TRUE(again->Use(Digest::Of("a")));
  EXPECT_TRUE(again->Use(Digest::Of(""))) << "it needs no file";
}

TEST_F(BlobCacheTest, TheLeastRecentlyUsedGoBeyondTheQuota) {
  const std::string a(400, 'a'), b(400, 'b'), c(400, 'c');
  auto cache = BlobCache::Open(folder_, 1000);
  for (const std::string& one : {a, b, c}) ASSERT_TRUE(cache->Put(Digest::Of(one), one).ok());
  EXPECT_TRUE(IsThere(PathOf(a))) << "just used, whatever the quota";
  Age(PathOf(a), absl::Hours(3));
  Age(PathOf(b), absl::Hours(1));
  Age(PathOf(c), absl::Hours(2));
  EXPECT_TRUE(cache->Use(Digest::Of(a)));  // the most recent use is now
  cache->Tidy(absl::Now());
  EXPECT_TRUE(IsThere(PathOf(a)) && IsThere(PathOf(b)));
  EXPECT_FALSE(IsThere(PathOf(c)));
}

TEST_F(BlobCacheTest, WhatIsNoBlobStaysAndOldTemporaryFilesGo) {
  auto cache = BlobCache::Open(folder_, 100);
  const std::string own = folder_ + "/notes.txt", young = folder_ + "/tmp/1.young",
                    old = folder_ + "/tmp/1.old";
  for (const std::string& path : {own, young, old})
    ASSERT_TRUE(WriteFileAtomic(path, std::string(500, 'x')).ok());
  Age(own, absl::Hours(9));
  Age(old, absl::Hours(2));
  cache->Tidy(absl::Now());
  EXPECT_TRUE(IsThere(own));
  EXPECT_TRUE(IsThere(young)) << "somebody may be writing it";
  EXPECT_FALSE(IsThere(old));
}

TEST_F(BlobCacheTest, AFolderThatIsDeletedIsMadeAnew) {
  auto cache = BlobCache::Open(folder_, 1 << 20);
  ASSERT_TRUE(RemoveAll(folder_).ok());
  EXPECT_FALSE(cache->Use(Digest::Of("a")));
  ASSERT_TRUE(cache->Put(Digest::Of("a"), "a").ok());
  EXPECT_TRUE(cache->Use(Digest::Of("a")));
  ASSERT_TRUE(RemoveAll(folder_).ok());
  auto file = cache->Create();
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(RemoveAll(folder_).ok());
  cache->Tidy(absl::Now());
}

TEST_F(BlobCacheTest, ADamagedFileIsRemovedAndAWholeOneIsNot) {
  auto cache = BlobCache::Open(folder_, 1 << 20);
  for (const char* bytes : {"right", "wrong"})
    ASSERT_TRUE(cache->Put(Digest::Of(bytes), bytes).ok());
  ::chmod(PathOf("wrong").c_str(), 0644);
  ASSERT_TRUE(WriteFileAtomic(PathOf("wrong"), "other").ok());
  for (const char* bytes : {"right", "wrong", "absent"}) cache->Distrust(Digest::Of(bytes));
  EXPECT_TRUE(IsThere(PathOf("right")));
  EXPECT_FALSE(IsThere(PathOf("wrong")));
}

}  // namespace
}  // namespace galley::worker
