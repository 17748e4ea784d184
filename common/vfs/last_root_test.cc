#include "common/vfs/last_root.h"

#include <optional>
#include <string>

#include "common/vfs/testing/memory_disk.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

class LastRootTest : public testing::Test {
 protected:
  LastRoot At(const std::string& url, const std::string& platform = "pc") {
    return LastRoot(disk_, "/c", *ParseUrl(url), platform, {"de"});
  }

  MemoryDisk disk_;
  const BlobId one_ = BlobId::Of("one"), two_ = BlobId::Of("two");
};

TEST_F(LastRootTest, TwoProjectsInOneFolderAreKeptApart) {
  ASSERT_FALSE(At("http://host:8080").Save(one_));
  ASSERT_FALSE(At("http://host:8081").Save(two_));
  EXPECT_EQ(At("http://host:8080").Load(), one_);
  EXPECT_EQ(At("http://HOST:8080/").Load(), one_) << "it is the same director";
  EXPECT_EQ(At("http://host:8081").Load(), two_);
  EXPECT_EQ(At("http://host").Load(), std::nullopt);
  EXPECT_EQ(At("http://host:8080", "android").Load(), std::nullopt);
  ASSERT_FALSE(At("http://host:8080").Save(two_));
  EXPECT_EQ(At("http://host:8080").Load(), two_);
}

TEST_F(LastRootTest, NoDamagedRootIsTaken) {
  const LastRoot last = At("http://host");
  ASSERT_FALSE(last.Save(one_));
  const auto [path, bytes] = *disk_.Files().begin();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    disk_.SetFile(path, damaged);
    EXPECT_EQ(last.Load(), std::nullopt) << i;
    disk_.SetFile(path, bytes.substr(0, i));
    EXPECT_EQ(last.Load(), std::nullopt) << i;
  }
  disk_.SetFile(path, bytes + "x");
  EXPECT_EQ(last.Load(), std::nullopt);
  ASSERT_FALSE(last.Save(two_));
  EXPECT_EQ(last.Load(), two_);
}

TEST_F(LastRootTest, SomethingElseInItsPlaceIsReplaced) {
  const LastRoot last = At("http://host");
  ASSERT_FALSE(last.Save(one_));
  const std::string path = disk_.Files().begin()->first;
  disk_.SetFile(path + ".new0", "left by a process that was killed");
  disk_.SetFolder(path + ".new1");
  disk_.SetFolder(path);
  EXPECT_EQ(last.Load(), std::nullopt);
  EXPECT_FALSE(last.Save(two_));
  EXPECT_EQ(last.Load(), two_);
}

TEST_F(LastRootTest, RootsOfManyDirectorsAreBounded) {
  for (int port = 1; port < 200; ++port)
    ASSERT_FALSE(At("http://host:" + std::to_string(port)).Save(one_));
  EXPECT_LE(disk_.List("/c/roots")->size(), LastRoot::kRootsMax);
  EXPECT_EQ(At("http://host:199").Load(), one_);
}

}  // namespace
}  // namespace galley::vfs
