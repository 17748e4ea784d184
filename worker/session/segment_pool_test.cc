#include "worker/session/segment_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_file.h"

namespace galley::worker {
namespace {

class SegmentPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(JoinPath(folder_, "segments"));
    std::filesystem::create_directories(JoinPath(folder_, "tmp"));
    ASSERT_TRUE(store::SegmentFile::Create(folder_, {.writer = kWorker, .number = 3}).ok());
    pool_.SetStore(folder_, 1);
    pool_.Give({{3}});
  }
  void TearDown() override { RemoveAll(folder_).IgnoreError(); }
  uint64_t SegmentBytes() { return std::filesystem::file_size(store::SegmentPath(folder_, 3)); }

  static constexpr auto kWorker = store::SegmentWriterKind::kWorker;
  const std::string folder_ = *MakeTemporaryDirectory(::testing::TempDir(), "pool-");
  SegmentPool pool_{absl::Seconds(10), nullptr};
};

TEST_F(SegmentPoolTest, WhatWasAppendedIsNotAppendedAgain) {
  const auto first = pool_.Append("one blob");
  const auto other = pool_.Append("another");
  ASSERT_TRUE(first.ok() && other.ok()) << first.status();
  const uint64_t bytes = SegmentBytes();
  const auto again = pool_.Append("one blob");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->location, first->location);
  EXPECT_EQ(again->digest, Digest::Of("one blob"));
  EXPECT_NE(other->location, first->location);
  EXPECT_EQ(SegmentBytes(), bytes);
}

// Another director's session with the store does not hold blobs that an earlier session was told
// of.
TEST_F(SegmentPoolTest, WhatWasKnownIsForgottenWhenAnotherDirectorComes) {
  const auto first = pool_.Append("one blob");
  ASSERT_TRUE(first.ok()) << first.status();
  pool_.SetStore(folder_, 1);
  EXPECT_EQ(pool_.Append("one blob")->location, first->location) << "it only connected again";
  pool_.SetStore(folder_, 2);
  const auto again = pool_.Append("one blob");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE(again->location, first->location);
  EXPECT_EQ(again->location.segment, 3u) << "the segment is still its own";
}

TEST_F(SegmentPoolTest, WhatWasDamagedMeanwhileIsAppendedAgain) {
  const auto first = pool_.Append("one blob");
  ASSERT_TRUE(first.ok());
  const std::string path = store::SegmentPath(folder_, 3);
  std::string bytes = *ReadFile(path);
  bytes[bytes.find("one blob")] = 'X';
  std::FILE* const file = std::fopen(path.c_str(), "r+b");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  const auto again = pool_.Append("one blob");
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->location, first->location);
  EXPECT_TRUE(store::ReadBlobAt(folder_, again->digest, again->location).ok());
}

// Nobody ever reads bytes that are appended to a deleted file.
TEST_F(SegmentPoolTest, ASegmentThatWasDeletedIsLeftForTheNextOne) {
  const auto first = pool_.Append("one blob");
  ASSERT_TRUE(first.ok());
  std::filesystem::remove(store::SegmentPath(folder_, 3));
  ASSERT_TRUE(store::SegmentFile::Create(folder_, {.writer = kWorker, .number = 4}).ok());
  pool_.Give({{4}});
  for (const char* bytes : {"another", "one blob"}) {
    const auto next = pool_.Append(bytes);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->location.segment, 4u);
    EXPECT_TRUE(store::ReadBlobAt(folder_, next->digest, next->location).ok());
  }
}

TEST_F(SegmentPoolTest, ALargeBlobWaitsForNoSegment) {
  SegmentPool pool(absl::ZeroDuration(), nullptr);
  pool.SetStore(folder_, 1);
  const std::string bytes(store::kSmallBlobBytesMax + 1, 'l');
  const auto written = pool.Append(bytes);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->digest, Digest::Of(bytes));
  EXPECT_EQ(written->location, store::BlobLocation{});
  EXPECT_EQ(**store::ReadBlobAt(folder_, written->digest, {}), bytes);
}

TEST_F(SegmentPoolTest, ABlobInPiecesIsAFileOfItsOwn) {
  auto file = pool_.CreateFile();
  ASSERT_TRUE(file.ok()) << file.status();
  for (const char* piece : {"in ", "pieces"}) ASSERT_TRUE(file->Append(piece).ok());
  const Digest digest = file->Finish();
  ASSERT_TRUE(file->KeepAs(digest).ok());
  EXPECT_EQ(digest, Digest::Of("in pieces"));
  EXPECT_EQ(**store::ReadBlobAt(folder_, digest, {}), "in pieces");
}

}  // namespace
}  // namespace galley::worker
