#include "worker/executor/warm_files.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

constexpr uint64_t kOne = 4 + WarmFiles::kEntryBytes;  // the cost of "aaaa"

TEST(WarmFilesTest, TheLeastRecentlyUsedGoesFirst) {
  WarmFiles files;
  files.set_bytes_max(4 * kOne);
  for (const char* text : {"aaaa", "bbbb", "cccc", "dddd"})
    files.Keep(Digest::Of(text), MakeBlob(text));
  ASSERT_NE(files.Find(Digest::Of("aaaa")), nullptr);
  files.Keep(Digest::Of("eeee"), MakeBlob("eeee"));
  EXPECT_EQ(files.Find(Digest::Of("bbbb")), nullptr);
  EXPECT_EQ(*files.Find(Digest::Of("aaaa")), "aaaa");
  EXPECT_EQ(files.bytes(), 4 * kOne);
}

TEST(WarmFilesTest, ALargeFileIsNotKeptAndPushesNothingOut) {
  WarmFiles files;
  files.set_bytes_max(4 * kOne);
  files.Keep(Digest::Of("aaaa"), MakeBlob("aaaa"));
  files.Keep(Digest::Of("large"), MakeBlob("large"));
  EXPECT_EQ(files.Find(Digest::Of("large")), nullptr);
  EXPECT_NE(files.Find(Digest::Of("aaaa")), nullptr);
}

TEST(WarmFilesTest, SmallFilesAreBoundedInNumber) {
  WarmFiles files;
  files.set_bytes_max(100 * WarmFiles::kEntryBytes);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = std::to_string(i);
    files.Keep(Digest::Of(text), MakeBlob(text));
  }
  int kept = 0;
  for (int i = 0; i < 1000; ++i) kept += files.Find(Digest::Of(std::to_string(i))) != nullptr;
  EXPECT_GT(kept, 90);
  EXPECT_LT(kept, 100);
}

TEST(WarmFilesTest, ALowerLimitDropsAndWhatWasHandedOutLivesOn) {
  WarmFiles files;
  files.set_bytes_max(4 * kOne);
  files.Keep(Digest::Of("aaaa"), MakeBlob("aaaa"));
  const Blob kept = files.Find(Digest::Of("aaaa"));
  files.set_bytes_max(0);
  EXPECT_EQ(files.Find(Digest::Of("aaaa")), nullptr);
  EXPECT_EQ(files.bytes(), 0u);
  EXPECT_EQ(*kept, "aaaa");
}

}  // namespace
}  // namespace galley::worker
