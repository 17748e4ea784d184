#include "worker/executor/warm_files.h"

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

TEST(WarmFilesTest, TheLeastRecentlyUsedGoesFirst) {
  WarmFiles files;
  files.set_bytes_max(16);
  for (const char* text : {"aaaa", "bbbb", "cccc", "dddd"})
    files.Keep(Digest::Of(text), MakeBlob(text));
  ASSERT_NE(files.Find(Digest::Of("aaaa")), nullptr);
  files.Keep(Digest::Of("eeee"), MakeBlob("eeee"));
  EXPECT_EQ(files.Find(Digest::Of("bbbb")), nullptr);
  EXPECT_EQ(*files.Find(Digest::Of("aaaa")), "aaaa");
  EXPECT_EQ(files.bytes(), 16u);
}

TEST(WarmFilesTest, ALargeFileIsNotKeptAndPushesNothingOut) {
  WarmFiles files;
  files.set_bytes_max(16);
  files.Keep(Digest::Of("aaaa"), MakeBlob("aaaa"));
  files.Keep(Digest::Of("large"), MakeBlob("large"));
  EXPECT_EQ(files.Find(Digest::Of("large")), nullptr);
  EXPECT_NE(files.Find(Digest::Of("aaaa")), nullptr);
}

TEST(WarmFilesTest, ALowerLimitDropsAndWhatWasHandedOutLivesOn) {
  WarmFiles files;
  files.set_bytes_max(1 << 10);
  files.Keep(Digest::Of("aaaa"), MakeBlob("aaaa"));
  const Blob kept = files.Find(Digest::Of("aaaa"));
  files.set_bytes_max(0);
  EXPECT_EQ(files.Find(Digest::Of("aaaa")), nullptr);
  EXPECT_EQ(files.bytes(), 0u);
  EXPECT_EQ(*kept, "aaaa");
}

}  // namespace
}  // namespace galley::worker
