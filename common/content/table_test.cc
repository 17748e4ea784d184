#include "common/content/table.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/content/changes.h"
#include "common/content/testing/test_tree.h"

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
  for (size_t i = 0; i < good.size(); i += i < 24 ? 1 : 3) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    Write("table", flipped);
    const absl::Status read = Snapshot::ReadTable(Table()).status();
    // The last byte of the magic is the version.
    EXPECT_TRUE(i == 7 ? absl::IsFailedPrecondition(read) : absl::IsInvalidArgument(read)) << i;
    Write("table", good.substr(0, i));
    EXPECT_TRUE(absl::IsInvalidArgument(Snapshot::ReadTable(Table()).status())) << i;
  }
  Write("table", good);
  EXPECT_TRUE(Snapshot::ReadTable(Table()).ok());
}

TEST_F(TableTest, TablesWithoutChecksumNeverCrash) {
  TableWriter writer({.identity = "id", .mounts = {{.path = "/G", .directory = "/x"}}});
  writer.Add({.path = "/G/a", .host_path = "/x/a"}, {});
  writer.Add({.path = "/G/b", .host_path = "/y"}, {});
  const std::string good = writer.Finish();
  const auto read = [](std::string_view bytes) -> absl::Status {
    const auto table = TableFile::FromBytes(bytes, /*is_trusted=*/true);
    return table.ok() ? table->Read(0).status() : table.status();
  };
  ASSERT_TRUE(read(good).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(read(good.substr(0, i)).ok()) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto table = TableFile::FromBytes(flipped, /*is_trusted=*/true);
      if (table.ok() && table->chunks() > 0) (void)table->Read(0).status();
    }
  }
}

// A project whose snapshots consist of several chunks.
class RevisionTest : public ContentTest {
 protected:
  static constexpr int kFiles = 400;
  void SetUp() override {
    ContentTest::SetUp();
    for (int i = 0; i < kFiles; ++i) Write("content/" + Name(i), "x");
    first_ = Scan();
    ASSERT_TRUE(first_->WriteTable(Host("first"), "1").ok());
  }
  static std::string Name(int i) { return std::to_string(1000 + i); }
  static std::string Path(int i) { return "/Game/" + Name(i); }
  std::unique_ptr<Snapshot> Edited(const Snapshot& before, int i, std::string_view text) {
    Write("content/" + Name(i), text);
    const std::vector<std::string> paths = {Path(i)};
    auto next = before.Refresh(paths);
    EXPECT_TRUE(next.ok()) << next.status();
    return *std::move(next);
  }
  std::unique_ptr<Snapshot> Read(const std::string& name, const Snapshot* before = nullptr) {
    auto read = Snapshot::ReadTable(Host(name), before);
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? *std::move(read) : nullptr;
  }
  size_t SizeOf(const std::string& name) { return ReadFile(Host(name))->size(); }

  std::unique_ptr<Snapshot> first_;
};

TEST_F(RevisionTest, FilesWithOtherBytesCostTheirOwnRows) {
  const auto second = Edited(*first_, 3, "second");
  const auto third = Edited(*second, 300, "third!");
  EXPECT_TRUE(third->IsRevisionOf(*first_));
  ASSERT_TRUE(third->WriteTable(Host("third"), "3").ok());
  EXPECT_LT(SizeOf("third") * 10, SizeOf("first"));
  EXPECT_EQ(*Snapshot::BaseOfTable(Host("third")), "first");
  EXPECT_EQ(*Snapshot::BaseOfTable(Host("first")), "");
  const auto read = Read("third");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->identity(), "3");
  ASSERT_EQ(read->files().size(), static_cast<size_t>(kFiles));
  for (size_t i = 0; i < kFiles; ++i) {
    EXPECT_EQ(read->files()[i].path, third->files()[i].path);
    EXPECT_EQ(read->files()[i].stat, third->files()[i].stat);
  }
  EXPECT_EQ(Text(*read, Path(3)), "second");
  EXPECT_EQ(Text(*read, Path(300)), "third!");
  EXPECT_EQ(Text(*read, Path(4)), "x");
  EXPECT_TRUE(absl::IsAborted(first_->DigestOf(Path(3)).status())) << "it is as it was";
}

TEST_F(RevisionTest, DigestsThatWereLearnedSinceAreInTheTable) {
  ASSERT_TRUE(first_->DigestOf(Path(7)).ok());
  const auto second = Edited(*first_, 3, "second");
  ASSERT_TRUE(second->DigestOf(Path(3)).ok());
  ASSERT_TRUE(second->DigestOf(Path(9)).ok());
  EXPECT_EQ(first_->KnownDigest(Path(9)), Digest::Of("x")) << "the row is one";
  ASSERT_TRUE(second->WriteTable(Host("second"), "2").ok());
  EXPECT_FALSE(second->HasUnwrittenDigests());
  const auto read = Read("second");
  EXPECT_EQ(read->KnownDigest(Path(3)), Digest::Of("second"));
  EXPECT_EQ(read->KnownDigest(Path(7)), Digest::Of("x"));
  EXPECT_EQ(read->KnownDigest(Path(9)), Digest::Of("x"));
  EXPECT_EQ(read->KnownDigest(Path(11)), std::nullopt);
}

TEST_F(RevisionTest, ATableThatWasReadIsTheBaseOfTheNext) {
  ASSERT_TRUE(Edited(*first_, 3, "second")->WriteTable(Host("second"), "2").ok());
  const auto read = Read("second");
  ASSERT_TRUE(Edited(*read, 5, "third!")->WriteTable(Host("third"), "3").ok());
  const auto again = Read("third", read.get());
  EXPECT_TRUE(again->IsRevisionOf(*read)) << "the rows are shared";
  EXPECT_EQ(Text(*again, Path(3)), "second");
  EXPECT_EQ(Text(*again, Path(5)), "third!");
  EXPECT_FALSE(Read("third")->IsRevisionOf(*read));
}

TEST_F(RevisionTest, AnotherTableOfItsNameIsNotTheBase) {
  ASSERT_TRUE(Edited(*first_, 3, "second")->WriteTable(Host("second"), "2").ok());
  ASSERT_TRUE(Scan()->WriteTable(Host("first"), "other").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Snapshot::ReadTable(Host("second")).status()));
  ASSERT_EQ(::unlink(Host("first").c_str()), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(Snapshot::ReadTable(Host("second")).status()));
}

TEST_F(RevisionTest, TheDifferenceOfTwoRevisionsIsOfWhatWasLookedAt) {
  for (int i = 0; i < kFiles; ++i) ASSERT_TRUE(first_->DigestOf(Path(i)).ok());
  auto second = Edited(*first_, 3, "second");
  second = Edited(*second, 5, "x");
  std::vector<std::string> touched;
  const std::vector<Change> changes = DiffSnapshots(*first_, *second, &touched);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, Path(3));
  EXPECT_EQ(touched, std::vector<std::string>{Path(5)});
}

TEST_F(RevisionTest, FilesThatComeOrGoMakeRowsAnew) {
  Write("content/0", "new");
  const std::vector<std::string> came = {"/Game/0"};
  const auto second = first_->Refresh(came);
  EXPECT_FALSE((*second)->IsRevisionOf(*first_));
  EXPECT_EQ((*second)->files().size(), kFiles + 1u);
  ASSERT_EQ(::unlink(Host("content/" + Name(3)).c_str()), 0);
  const std::vector<std::string> gone = {Path(3), Path(4)};
  const auto third = (*second)->Refresh(gone);
  EXPECT_FALSE((*third)->IsRevisionOf(**second));
  EXPECT_EQ((*third)->files().size(), static_cast<size_t>(kFiles));
  ASSERT_TRUE((*third)->WriteTable(Host("third"), "3").ok());
  EXPECT_EQ(*Snapshot::BaseOfTable(Host("third")), "");
}

TEST_F(RevisionTest, AfterManyEditsTheRowsAreMadeAnew) {
  std::vector<std::string> paths;
  for (int i = 0; i < 200; ++i) {
    Write("content/" + Name(i), "second");
    paths.push_back(Path(i));
  }
  const auto second = first_->Refresh(paths);
  EXPECT_TRUE((*second)->IsRevisionOf(*first_));
  const auto third = (*second)->Refresh(paths);
  EXPECT_FALSE((*third)->IsRevisionOf(*first_));
  EXPECT_EQ(Text(**third, Path(7)), "second");
}

class DifferenceTest : public ContentTest {
 protected:
  // "+/Game/new -/Game/gone ~/Game/changed"
  static std::string Diff(const Snapshot& before, Snapshot& now) {
    std::string text;
    for (const Change& change : DiffSnapshots(before, now)) {
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

// The file is hashed only when somebody needs its digest.
TEST_F(DifferenceTest, AHugeFileWithAnotherStampIsAChangeThatIsNotHashed) {
  Write("content/huge", "");
  ASSERT_EQ(::truncate(Host("content/huge").c_str(), int64_t{kHashedHereMax}), 0);
  Write("content/small", "1");
  const auto before = Scan();
  ASSERT_TRUE(before
                  ->LearnDigest("/Game/huge",
                                Digest::FromHash(Digest::Of("x").hash(), kHashedHereMax).value())
                  .ok());
  ASSERT_TRUE(before->DigestOf("/Game/small").ok());
  for (const char* name : {"content/huge", "content/small"})
    ASSERT_EQ(::utimensat(AT_FDCWD, Host(name).c_str(), nullptr, 0), 0);
  const auto now = Scan();
  EXPECT_EQ(Diff(*before, *now), "~/Game/huge");
  EXPECT_EQ(now->counters().files_hashed, 1u);
}

TEST_F(DifferenceTest, OnceItIsStoppedNoFileIsHashed) {
  Write("content/a", "1");
  const auto before = Scan();
  ASSERT_TRUE(before->DigestOf("/Game/a").ok());
  ASSERT_EQ(::utimensat(AT_FDCWD, Host("content/a").c_str(), nullptr, 0), 0);
  const auto now = Scan();
  Cancellation stop;
  stop.Cancel();
  EXPECT_EQ(DiffSnapshots(*before, *now, nullptr, &stop).size(), 1u);
  EXPECT_EQ(now->counters().files_hashed, 0u);
}

TEST_F(DifferenceTest, AChangeWithinTheTickOfTheHashingIsNoticed) {
  clock_.ahead_s = -3600;  // hashed within 2 s of the last change: racy
  Write("content/a", "new");
  const auto before = Scan();
  // `before` hashed other bytes; afterwards the file changed within the same tick, so that its stat
  // stayed the same.
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
