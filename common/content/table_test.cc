#include "common/content/table.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "common/content/test_tree.h"

namespace galley::content {
namespace {

class TableTest : public ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/a/b", "abc");
    Write("content/hidden", "base");
    Write("content/A/B", "clash");
    Write("mod/hidden", "mod");
    Link("nothing", "content/broken");
    Mount("/Game", "mod", 3);
  }
  std::string Table() const { return Host("table"); }
};

TEST_F(TableTest, AWorkerReadsTheSnapshotThatADirectorWrote) {
  const auto written = Scan();
  ASSERT_TRUE(written->DigestOf("/Game/hidden").ok());
  ASSERT_TRUE(written->WriteTable(Table()).ok());
  const auto read = Snapshot::ReadTable(Table());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Shown(**read), Shown(*written));
  EXPECT_EQ((*read)->KnownDigest("/Game/hidden"), Digest::Of("mod"));
  EXPECT_EQ(Text(**read, "/Game/hidden"), "mod");
  EXPECT_EQ(ErrorOf(**read, "/Game/broken"), ErrorOf(*written, "/Game/broken"));
  EXPECT_EQ((*read)->mounts()[1].priority, 3);
  for (size_t i = 0; i < written->files().size(); ++i) {
    EXPECT_EQ((*read)->files()[i].host_path, written->files()[i].host_path);
    EXPECT_EQ((*read)->files()[i].stat, written->files()[i].stat);
  }
}

TEST_F(TableTest, ASnapshotThatWasReadCanBeRefreshed) {
  ASSERT_TRUE(Scan()->WriteTable(Table()).ok());
  const auto read = Snapshot::ReadTable(Table());
  ASSERT_EQ(::unlink(Host("mod/hidden").c_str()), 0);
  ASSERT_EQ(::unlink(Host("content/A/B").c_str()), 0);
  const std::vector<std::string> paths = {"/Game/hidden", "/Game/A"};
  const auto next = (*read)->Refresh(paths);
  EXPECT_EQ(Text(**next, "/Game/hidden"), "base");
  EXPECT_EQ(Text(**next, "/Game/a/b"), "abc");
}

TEST_F(TableTest, EveryFlippedBitAndEveryCutIsRefused) {
  ASSERT_TRUE(Scan()->WriteTable(Table()).ok());
  const std::string good = *ReadFile(Table());
  for (size_t i = 0; i < good.size(); i += 3) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    Write("table", flipped);
    EXPECT_TRUE(absl::IsInvalidArgument(Snapshot::ReadTable(Table()).status())) << i;
    Write("table", good.substr(0, i));
    EXPECT_TRUE(absl::IsInvalidArgument(Snapshot::ReadTable(Table()).status())) << i;
  }
  Write("table", good);
  EXPECT_TRUE(Snapshot::ReadTable(Table()).ok());
}

TEST_F(TableTest, PayloadsWithoutChecksumNeverCrash) {
  FileTable table;
  table.mounts = {{.path = "/G", .directory = "/x"}};
  table.files = {{.path = "/G/a", .host_path = "/x/a"}, {.path = "/G/b", .host_path = "/y"}};
  table.knowledge.resize(2);
  const std::string good = EncodeTable(table, "id");
  ASSERT_TRUE(DecodeTable(good).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(DecodeTable(good.substr(0, i)).ok()) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      (void)DecodeTable(flipped).status();
    }
  }
}

class DifferenceTest : public ContentTest {
 protected:
  // "+/Game/new -/Game/gone ~/Game/changed"
  static std::string Diff(const Snapshot& before, Snapshot& now) {
    std::string text;
    for (const Change& change : Difference(before, now)) {
      text += std::string(text.empty() ? "" : " ") +
              (change.was_there ? (change.is_there ? "~" : "-") : "+") + change.path;
    }
    return text;
  }
};

TEST_F(DifferenceTest, AddedRemovedAndChangedFilesAreFound) {
  for (const char* name : {"changed", "gone", "same"}) Write(std::string("content/") + name, "1");
  const auto before = Scan();
  for (const char* name : {"changed", "gone", "same"})
    ASSERT_TRUE(before->DigestOf(std::string("/Game/") + name).ok());
  Write("content/changed", "2");
  Write("content/new", "2");
  ASSERT_EQ(::unlink(Host("content/gone").c_str()), 0);
  const auto now = Scan();
  EXPECT_EQ(Diff(*before, *now), "~/Game/changed -/Game/gone +/Game/new");
  EXPECT_EQ(now->counters().files_hashed, 1u);
}

TEST_F(DifferenceTest, ATouchedFileIsNoChange) {
  Write("content/a", "1");
  const auto before = Scan();
  ASSERT_TRUE(before->DigestOf("/Game/a").ok());
  const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, Host("content/a").c_str(), times, 0), 0);
  const auto now = Scan();
  EXPECT_EQ(Diff(*before, *now), "");
  EXPECT_EQ(now->counters().files_hashed, 1u);
}

TEST_F(DifferenceTest, ATouchedFileOfUnknownDigestIsAChange) {
  Write("content/a", "1");
  const auto before = Scan();
  Write("content/a", "1");
  EXPECT_EQ(Diff(*before, *Scan()), "~/Game/a");
}

TEST_F(DifferenceTest, NothingIsReadWhereNothingChanged) {
  Write("content/a", "1");
  const auto before = Scan();
  ASSERT_TRUE(before->DigestOf("/Game/a").ok());
  const auto now = Scan();
  EXPECT_EQ(Diff(*before, *now), "");
  EXPECT_EQ(now->counters().files_hashed, 0u);
}

TEST_F(DifferenceTest, AChangeWithinTheTickOfTheHashingIsNoticed) {
  clock_.ahead_s = -3600;  // hashed within 2 s of the last change: racy
  Write("content/a", "new");
  const auto before = Scan();
  // The bytes that `before` hashed were other ones; the file was changed after that within the same
  // tick, so that its stat is the same.
  ASSERT_TRUE(before->LearnDigest("/Game/a", Digest::Of("old")).ok());
  ASSERT_TRUE(before->SaveDigestCache().ok());
  ASSERT_TRUE(before->WriteTable(Host("table")).ok());
  const auto now = Scan();
  EXPECT_EQ(now->files()[0].stat, before->files()[0].stat);
  EXPECT_EQ(Diff(*before, *now), "~/Game/a");
  EXPECT_EQ(Diff(**Snapshot::ReadTable(Host("table")), *now), "~/Game/a");
}

TEST_F(DifferenceTest, AnErrorThatCameOrWentIsAChange) {
  Link("x", "content/a");
  const auto before = Scan();
  EXPECT_EQ(Diff(*before, *Scan()), "");
  Write("content/x", "");
  EXPECT_EQ(Diff(*before, *Scan()), "~/Game/a +/Game/x");
}

TEST_F(DifferenceTest, AModThatCoversAFileIsAChangeOfItsContentOnly) {
  Write("content/a", "1");
  Write("content/b", "1");
  const auto before = Scan();
  ASSERT_TRUE(before->DigestOf("/Game/a").ok());
  ASSERT_TRUE(before->DigestOf("/Game/b").ok());
  Write("mod/a", "1");
  Write("mod/b", "2");
  Mount("/Game", "mod", 1);
  EXPECT_EQ(Diff(*before, *Scan()), "~/Game/b");
}

}  // namespace
}  // namespace galley::content
