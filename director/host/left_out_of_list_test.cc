#include "director/host/left_out_of_list.h"

#include <algorithm>
#include <filesystem>

#include "common/content/changes.h"
#include "common/content/testing/test_tree.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LeftOutOfListTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    for (const char* name : {"a", "b", "sub/c", "sub/d"})
      Write("content/" + std::string(name), "1");
    before_ = Scan();
  }

  int64_t ChangedAt(const std::string& path) { return StatFile(Host(path))->ctime_ns; }
  // Returns a time after the times of all files that were written so far.
  int64_t After() {
    int64_t last_ns = ChangedAt("content");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Host("content")))
      last_ns = std::max(last_ns, StatFile(entry.path().string())->ctime_ns);
    return last_ns + 1;
  }
  LeftOutOfList Find(int64_t began_ns) {
    const auto now = Scan();
    return FindLeftOut(content::DiffSnapshots(*before_, *now), *now, began_ns);
  }

  std::unique_ptr<content::Snapshot> before_;
};

TEST_F(LeftOutOfListTest, EachKindOfChangeBeforeTheCookIsNamed) {
  EXPECT_EQ(TextOf(Find(After())), "");
  Write("content/a", "other");
  Write("content/new", "1");
  std::filesystem::remove(Host("content/sub/c"));
  std::filesystem::rename(Host("content/sub/d"), Host("content/sub/e"));
  const LeftOutOfList left_out = Find(After());
  EXPECT_THAT(left_out.surely,
              ElementsAre("/Game/a", "/Game/new", "/Game/sub/c", "/Game/sub/d", "/Game/sub/e"));
  EXPECT_THAT(left_out.perhaps, IsEmpty());
  EXPECT_THAT(TextOf(left_out),
              HasSubstr("5 files had changed before the last cook, and its list of changed files "
                        "(--changed) left them out: /Game/a, /Game/new, "));
}

TEST_F(LeftOutOfListTest, AFileThatChangedSinceIsNotNamed) {
  Write("content/a", "other");
  Write("content/new", "1");
  EXPECT_EQ(TextOf(Find(std::min(ChangedAt("content/a"), ChangedAt("content/new")))), "");
}

TEST_F(LeftOutOfListTest, WhereTheTimeIsNotKnownItIsSaidSo) {
  std::filesystem::remove(Host("content/sub/c"));
  const LeftOutOfList left_out = Find(ChangedAt("content/sub"));
  EXPECT_THAT(left_out.surely, IsEmpty());
  EXPECT_THAT(left_out.perhaps, ElementsAre("/Game/sub/c"));
  EXPECT_EQ(TextOf(left_out),
            "1 file came or went before the last cook, and its list of changed files (--changed) "
            "left it out, or since then: /Game/sub/c");
  // The files of a folder keep their times when it is renamed.
  const int64_t began_ns = After();
  std::filesystem::rename(Host("content/sub"), Host("content/more"));
  while (ChangedAt("content") < began_ns) Write("content/tick", "");
  std::filesystem::remove(Host("content/tick"));
  EXPECT_THAT(Find(began_ns).perhaps, ElementsAre("/Game/more/d", "/Game/sub/c", "/Game/sub/d"));
}

TEST_F(LeftOutOfListTest, AListedCookIsRememberedUntilAllFilesWereLookedAt) {
  ListedCook last(dir_);
  EXPECT_EQ(last.Began(), std::nullopt);
  ASSERT_TRUE(last.Note(absl::FromUnixNanos(12'345)).ok());
  EXPECT_EQ(ListedCook(dir_).Began(), 12'345);
  Write("listed", "damaged");
  EXPECT_EQ(last.Began(), std::nullopt);
  ASSERT_TRUE(last.Note(absl::FromUnixNanos(6)).ok());
  last.Forget();
  EXPECT_EQ(last.Began(), std::nullopt);
}

}  // namespace
}  // namespace galley::director
