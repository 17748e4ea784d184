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
      if (Outcome failed = (*part)->Append(std::string_view(bytes).substr(at, 1'000)))
        return failed;
    }
    return cache_->Finish(blob, **part);
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

}  // namespace
}  // namespace galley::vfs
