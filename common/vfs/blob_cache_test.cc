#include "common/vfs/blob_cache.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/vfs/testing/memory_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::HasSubstr;

class BlobCacheTest : public testing::Test {
 protected:
  void Begin(uint64_t bytes_max = 1'000'000) {
    cache_ = std::make_unique<BlobCache>(
        BlobCache::Options{.disk = disk_, .folder = "/c", .bytes_max = bytes_max, .now_s = [this] {
                             return ++now_s_;
                           }});
    ASSERT_FALSE(cache_->Begin());
  }
  // The outcome of fetching these bytes, which come in pieces.
  Outcome Put(const std::string& bytes) {
    const BlobId blob = BlobId::Of(bytes);
    Result<std::unique_ptr<BlobPart>> part = cache_->BeginPart(blob);
    if (!part.ok()) return part.fault();
    while ((*part)->size() < bytes.size()) {
      const auto at = static_cast<size_t>((*part)->size());
      if (Outcome failed = cache_->Append(**part, std::string_view(bytes).substr(at, 1'000)))
        return failed;
    }
    return cache_->Finish(**part);
  }
  // The bytes of a blob, or the fault's text.
  std::string Get(const std::string& bytes) {
    const Result<std::string> got = cache_->Read(BlobId::Of(bytes));
    code_ = got.ok() ? GALLEY_VFS_OK : got.fault().code;
    return got.ok() ? *got : got.fault().text;
  }
  static std::string PathOf(const std::string& bytes) {
    const BlobId blob = BlobId::Of(bytes);
    const std::string hex = ToHex(blob.hash);
    return "/c/blobs/" + hex.substr(0, 2) + "/" + hex + "-" + std::to_string(blob.size);
  }
  static std::string PartOf(const std::string& bytes) {
    const BlobId blob = BlobId::Of(bytes);
    return "/c/part/" + ToHex(blob.hash) + "-" + std::to_string(blob.size);
  }

  MemoryDisk disk_;
  int64_t now_s_ = 1'000'000;
  std::unique_ptr<BlobCache> cache_;
  int code_ = 0;
};

TEST_F(BlobCacheTest, ABlobThatCannotBeReadStays) {
  Begin();
  ASSERT_FALSE(Put("bytes"));
  for (const bool not_even_opened : {false, true}) {
    Begin();  // it is not known to be right
    disk_.SetUnreadable("/blobs/", not_even_opened);
    EXPECT_THAT(Get("bytes"), HasSubstr("/blobs/"));
    EXPECT_EQ(code_, GALLEY_VFS_IO);
    EXPECT_EQ(cache_->counts().damaged, 0u);
    disk_.SetUnreadable("");
    EXPECT_EQ(Get("bytes"), "bytes") << "it is still there";
  }
}

TEST_F(BlobCacheTest, SomethingElseInPlaceOfABlobIsReplaced) {
  for (const bool is_folder : {false, true}) {
    if (is_folder) disk_.SetFolder(PathOf("bytes"));
    if (!is_folder) disk_.SetOther(PathOf("bytes"));
    Begin();
    EXPECT_EQ(cache_->counts().blobs, 0u) << "it is no blob";
    EXPECT_FALSE(cache_->Has(BlobId::Of("bytes")));
    Get("bytes");
    EXPECT_EQ(code_, kNotCached);
    ASSERT_FALSE(Put("bytes"));
    EXPECT_EQ(Get("bytes"), "bytes");
  }
}

TEST_F(BlobCacheTest, AFolderThatCannotBeRemovedIsNamed) {
  disk_.SetFile(PathOf("bytes") + "/child", "x");
  Begin();
  EXPECT_THAT(Get("bytes"), HasSubstr("remove it"));
  EXPECT_EQ(code_, GALLEY_VFS_IO);
}

TEST_F(BlobCacheTest, WrongBytesThatCannotBeRemovedAreNamedAndNotGiven) {
  disk_.SetFile(PathOf("bytes"), "byteX");
  disk_.SetUnremovable("/blobs/");
  Begin();
  EXPECT_THAT(Get("bytes"), HasSubstr("remove it"));
  EXPECT_EQ(code_, GALLEY_VFS_IO);
}

TEST_F(BlobCacheTest, SomethingElseInPlaceOfAPartIsReplacedOrPassedOver) {
  disk_.SetOther(PartOf("bytes"));
  disk_.SetFile(PartOf("other") + "/child", "x");
  Begin();
  EXPECT_FALSE(Put("bytes"));
  EXPECT_EQ(Get("bytes"), "bytes");
  EXPECT_FALSE(Put("other"));
  EXPECT_EQ(Get("other"), "other");
}

TEST_F(BlobCacheTest, AFileInPlaceOfAFolderOfBlobsIsReplaced) {
  const std::string path = PathOf("bytes");
  disk_.SetFile(path.substr(0, path.rfind('/')), "x");
  Begin();
  EXPECT_FALSE(Put("bytes"));
  EXPECT_EQ(Get("bytes"), "bytes");
}

TEST_F(BlobCacheTest, AFolderThatSomebodyRemovedIsMadeAgain) {
  Begin();
  ASSERT_FALSE(disk_.Remove("/c/part"));
  EXPECT_FALSE(Put("bytes"));
}

// ------------------------------------------------------------------ room

// Bytes that differ for each number.
std::string NumberedBytes(int number, size_t size) {
  std::string bytes = std::to_string(number) + " ";
  bytes.resize(size, static_cast<char>('a' + number % 26));
  return bytes;
}

TEST_F(BlobCacheTest, PartsAreInTheQuota) {
  Begin(/*bytes_max=*/100'000);
  for (int i = 0; i < 30; ++i) {  // cut off in the middle
    const std::string bytes = NumberedBytes(i, 10'000);
    auto part = cache_->BeginPart(BlobId::Of(bytes));
    ASSERT_TRUE(part.ok());
    ASSERT_FALSE(cache_->Append(**part, bytes.substr(0, 9'000)));
    EXPECT_LE(disk_.BytesIn("/c"), 100'000u);
    EXPECT_LE(cache_->counts().bytes, 100'000u);
  }
  EXPECT_GT(disk_.BytesIn("/c/part"), 50'000u) << "some stay";
  EXPECT_FALSE(Put(NumberedBytes(99, 95'000)));
  EXPECT_LE(disk_.BytesIn("/c"), 100'000u);
  Begin(/*bytes_max=*/50'000);  // a smaller one
  EXPECT_FALSE(Put(NumberedBytes(98, 10'000)));
  EXPECT_LE(disk_.BytesIn("/c"), 50'000u);
}

TEST_F(BlobCacheTest, FilesThatAreOnTheirWayTogetherKeepTheQuota) {
  Begin(/*bytes_max=*/100'000);
  const std::string one = NumberedBytes(1, 60'000), two = NumberedBytes(2, 60'000);
  auto first = cache_->BeginPart(BlobId::Of(one)), second = cache_->BeginPart(BlobId::Of(two));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_FALSE(cache_->Append(**first, one.substr(0, 1'000)));
  const Outcome failed = cache_->Append(**second, two.substr(0, 1'000));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, GALLEY_VFS_NO_SPACE);
  EXPECT_THAT(failed->text, HasSubstr("cache_bytes_max"));
  ASSERT_FALSE(cache_->Append(**first, one.substr(1'000)));
  ASSERT_FALSE(cache_->Finish(**first));
  EXPECT_FALSE(cache_->Append(**second, two)) << "now the first one can be evicted";
  EXPECT_FALSE(cache_->Finish(**second));
  EXPECT_LE(disk_.BytesIn("/c"), 100'000u);
}

TEST_F(BlobCacheTest, AnAnnouncementEvictsNothing) {
  Begin(/*bytes_max=*/10 << 20);
  for (int i = 0; i < 90; ++i) ASSERT_FALSE(Put(NumberedBytes(i, 100 << 10)));
  const uint64_t before = cache_->counts().blobs;
  auto part = cache_->BeginPart({Sha256::Of("large"), 9 << 20});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(cache_->counts().blobs, before) << "no byte has come yet";
  ASSERT_FALSE(cache_->Append(**part, "the first bytes"));
  EXPECT_GT(cache_->counts().blobs, before - 25) << "room is made in steps";
}

TEST_F(BlobCacheTest, OnAFullDiskFilesAreEvicted) {
  Begin();
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(Put(NumberedBytes(i, 10'000)));
  disk_.SetSpace(105'500);  // a part of the next piece finds room, too
  EXPECT_FALSE(Put(NumberedBytes(10, 30'000)));
  EXPECT_EQ(Get(NumberedBytes(10, 30'000)), NumberedBytes(10, 30'000));
  EXPECT_GT(cache_->counts().evicted, 0u);
  EXPECT_EQ(Get(NumberedBytes(9, 10'000)), NumberedBytes(9, 10'000)) << "not more than is needed";
}

TEST_F(BlobCacheTest, ADiskThatStaysFullIsAnErrorThatSaysWhatIsNeeded) {
  Begin();
  disk_.SetSpace(5'500);
  const Outcome failed = Put(NumberedBytes(1, 10'000));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, GALLEY_VFS_NO_SPACE);
  EXPECT_THAT(failed->text, HasSubstr("5000 bytes more are needed in /c"));
  disk_.SetSpace(20'000);
  EXPECT_FALSE(Put(NumberedBytes(1, 10'000))) << "it goes on behind what was written";
  EXPECT_EQ(Get(NumberedBytes(1, 10'000)), NumberedBytes(1, 10'000));
  EXPECT_EQ(cache_->counts().damaged, 0u);
}

// Every call in turn is the first one that finds the disk full.
TEST_F(BlobCacheTest, ADiskThatIsFullAtAnyStepHarmsNothing) {
  Begin();
  ASSERT_FALSE(Put("kept"));
  for (uint64_t left = 0;; ++left) {
    const std::string bytes = NumberedBytes(static_cast<int>(left), 3'000);
    disk_.SetWritesLeft(left);
    const Outcome failed = Put(bytes);
    disk_.SetWritesLeft(UINT64_MAX);
    if (!failed) break;
    EXPECT_EQ(failed->code, GALLEY_VFS_NO_SPACE) << left << failed->text;
    Get(bytes);
    EXPECT_EQ(code_, kNotCached) << left;
    EXPECT_FALSE(Put(bytes)) << left;
    EXPECT_EQ(Get(bytes), bytes) << left;
    ASSERT_LT(left, 50u);
  }
}

TEST_F(BlobCacheTest, PartsThatNobodyGoesOnWithAreBounded) {
  Begin();
  for (int i = 0; i < 1'000; ++i) {
    const std::string bytes = NumberedBytes(i, 100);
    auto part = cache_->BeginPart(BlobId::Of(bytes));
    ASSERT_TRUE(part.ok());
    ASSERT_FALSE(cache_->Append(**part, bytes.substr(0, i % 2 == 0 ? 10 : 0)));
  }
  const auto parts = [&] { return disk_.List("/c/part")->size(); };
  EXPECT_LE(parts(), 2 * BlobCache::kIdlePartsMax);
  disk_.SetFile("/c/part/x", "");
  Begin();
  EXPECT_LE(parts(), BlobCache::kIdlePartsMax);
  now_s_ += 8 * 86'400;
  Begin();
  EXPECT_EQ(parts(), 0u);
}

TEST_F(BlobCacheTest, APartThatAnotherProcessWroteToIsNotTaken) {
  Begin();
  const std::string bytes = NumberedBytes(1, 2'000);
  auto part = cache_->BeginPart(BlobId::Of(bytes));
  ASSERT_TRUE(part.ok());
  ASSERT_FALSE((*disk_.OpenToAppend(PartOf(bytes)))->Append("from elsewhere"));
  ASSERT_FALSE(cache_->Append(**part, bytes));
  EXPECT_EQ(cache_->Finish(**part)->code, GALLEY_VFS_DAMAGED);
  EXPECT_FALSE(Put(bytes));
  EXPECT_EQ(Get(bytes), bytes);
}

}  // namespace
}  // namespace galley::vfs
