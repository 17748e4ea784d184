#include "common/content/stamp_table.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/content/patched_file.h"
#include "common/content/testing/test_tree.h"

namespace galley::content {
namespace {

using testing::HasSubstr;

class StampTableTest : public ContentTest {
 protected:
  // Writes the stamps of the present files, with the digests of all files that a cook may read.
  void Note(bool with_digests = true) {
    const auto snapshot = Scan();
    ASSERT_NE(snapshot, nullptr);
    for (const FileEntry& file : snapshot->files()) {
      if (with_digests && file.error.empty()) {
        ASSERT_TRUE(snapshot->DigestOf(file.path).ok());
      }
    }
    const auto stamps = snapshot->Stamps();
    ASSERT_TRUE(stamps.ok()) << stamps.status();
    bytes_ = *stamps;
    ASSERT_TRUE(PatchedFile::Write(Host("stamps"), bytes_).ok());
  }
  StampCheck Check() {
    const auto table = StampTable::Open(Host("stamps"));
    EXPECT_TRUE(table.ok()) << table.status();
    return table->Check({.threads = 2, .clock = &clock_});
  }
  std::string Difference() {
    const StampCheck check = Check();
    EXPECT_NE(check.holds, !check.difference.empty());
    return check.difference;
  }
  // Writes in place, so that the folder's stamp stays.
  void Overwrite(std::string_view path, std::string_view bytes) {
    std::ofstream(Host(path), std::ios::trunc) << bytes;
  }
  void Renew(const StampCheck& check) {
    ASSERT_FALSE(check.renewed.empty());
    ASSERT_TRUE(PatchedFile::Write(Host("stamps"), check.renewed).ok());
  }

  std::string bytes_;
};

TEST_F(StampTableTest, WhatNobodyTouchedHoldsWithoutAReadByte) {
  Write("content/a/x", "1");
  Write("content/b", "2");
  Note();
  const StampCheck check = Check();
  EXPECT_TRUE(check.holds) << check.difference;
  EXPECT_EQ(check.files, 2u);
  EXPECT_EQ(check.folders, 2u);
  EXPECT_EQ(check.hashed, 0u);
  EXPECT_EQ(check.renewed, "");
}

TEST_F(StampTableTest, EachChangeIsFoundAndNamed) {
  const auto begin = [&] {
    EXPECT_TRUE(RemoveAll(Host("content")).ok());
    Write("content/a/x", "1");
    Write("content/b", "2");
    Note();
  };
  begin();
  Overwrite("content/b", "3");
  EXPECT_THAT(Difference(), HasSubstr("/content/b has other bytes"));
  begin();
  Overwrite("content/b", "longer");
  EXPECT_THAT(Difference(), HasSubstr("/content/b changed"));
  begin();
  ASSERT_TRUE(RemoveAll(Host("content/b")).ok());
  EXPECT_THAT(Difference(), HasSubstr("/content holds other files"));
  begin();
  Write("content/a/new", "");
  EXPECT_THAT(Difference(), HasSubstr("/content/a holds other files"));
  begin();
  ASSERT_TRUE(RemoveAll(Host("content/a")).ok());
  EXPECT_FALSE(Check().holds);
  begin();
  std::filesystem::rename(Host("content/a/x"), Host("content/a/y"));
  EXPECT_FALSE(Check().holds);
  begin();
  std::filesystem::permissions(Host("content/b"), std::filesystem::perms::none);
  EXPECT_FALSE(Check().holds);
}

TEST_F(StampTableTest, ARemovedFileThatSomethingElseReplacesIsFound) {
  Write("content/a", "1");
  Write("content/b", "1");
  Note();
  ASSERT_TRUE(RemoveAll(Host("content/a")).ok());
  Link("b", "content/a");
  EXPECT_FALSE(Check().holds);
  ASSERT_TRUE(RemoveAll(Host("content/a")).ok());
  ASSERT_TRUE(CreateDirectories(Host("content/a")).ok());
  EXPECT_FALSE(Check().holds);
}

TEST_F(StampTableTest, WhatWasTouchedOrWrittenAnewHoldsAndIsHashedOnce) {
  Write("content/a", "1");
  Write("content/b", "2");
  Note();
  Write("content/a", "1");  // by rename: a new inode, and a new time of the folder
  const StampCheck check = Check();
  EXPECT_TRUE(check.holds) << check.difference;
  EXPECT_EQ(check.hashed, 1u);
  Renew(check);
  const StampCheck again = Check();
  EXPECT_TRUE(again.holds);
  EXPECT_EQ(again.hashed, 0u);
}

// A fresh clone with a kept state folder looks like this.
TEST_F(StampTableTest, ACopyWithTheSameBytesInItsPlaceHolds) {
  Write("content/a/x", "1");
  Write("content/b", "2");
  Note();
  std::filesystem::copy(Host("content"), Host("copy"), std::filesystem::copy_options::recursive);
  ASSERT_TRUE(RemoveAll(Host("content")).ok());
  std::filesystem::rename(Host("copy"), Host("content"));
  const StampCheck check = Check();
  EXPECT_TRUE(check.holds) << check.difference;
  EXPECT_EQ(check.hashed, 2u);
}

TEST_F(StampTableTest, AFileThatNobodyReadHoldsByItsStampOnly) {
  Write("content/a", "1");
  Note(/*with_digests=*/false);
  EXPECT_TRUE(Check().holds);
  Write("content/a", "1");
  EXPECT_THAT(Difference(), HasSubstr("changed"));
}

TEST_F(StampTableTest, WhatWasRacyIsReadThoughItsStampIsTheSame) {
  clock_.ahead_s = 0;
  Write("content/a", "1");
  Note(/*with_digests=*/false);  // Stamps reads racy files
  StampCheck check = Check();
  EXPECT_TRUE(check.holds) << check.difference;
  EXPECT_EQ(check.hashed, 1u);
  clock_.ahead_s = 3600;  // no longer racy
  Renew(Check());
  check = Check();
  EXPECT_TRUE(check.holds);
  EXPECT_EQ(check.hashed, 0u);
}

TEST_F(StampTableTest, ALinkHoldsAsLongAsItAndWhatItLeadsToDo) {
  Write("content/a", "1");
  Write("content/folder/x", "2");
  Link("a", "content/link");
  Link("folder", "content/linked");
  Link("nowhere", "content/dangling");
  Note();
  EXPECT_TRUE(Check().holds) << Check().difference;
  Overwrite("content/a", "3");
  EXPECT_FALSE(Check().holds);
  Note();
  std::filesystem::rename(Host("content/folder"), Host("content/other"));
  EXPECT_FALSE(Check().holds);
  std::filesystem::rename(Host("content/other"), Host("content/folder"));
  Note();
  ASSERT_TRUE(RemoveAll(Host("content/linked")).ok());
  std::filesystem::rename(Host("content/folder"), Host("content/linked"));
  Link("linked", "content/folder");
  EXPECT_FALSE(Check().holds);
}

TEST_F(StampTableTest, ALinkThatLeadsNowhereOrOutsideHoldsAsLongAsItDoesSo) {
  Link(Host("outside"), "content/link");
  Note();
  EXPECT_TRUE(Check().holds) << Check().difference;
  Write("outside", "1");
  EXPECT_FALSE(Check().holds);
  Note();
  EXPECT_TRUE(Check().holds) << Check().difference;
  ASSERT_TRUE(RemoveAll(Host("outside")).ok());
  EXPECT_FALSE(Check().holds);
}

// A file in a hidden folder would not be hidden.
TEST_F(StampTableTest, AFileThatAnotherHidesIsLookedAtToo) {
  clock_.ahead_s = 0;  // the file is racy, but is not read
  Mount("/Game", "low", -1);
  Write("content/x/y", "1");
  Write("low/x", "2");
  Note();
  EXPECT_TRUE(Check().holds) << Check().difference;
  ASSERT_TRUE(RemoveAll(Host("low/x")).ok());
  Write("low/x/z", "3");
  EXPECT_FALSE(Check().holds);
}

TEST_F(StampTableTest, ASandboxAmongContentIsLeftOutForAsLongAsItIsOne) {
  Write("content/a", "1");
  Write("content/out/.galley-sandbox", "");
  Write("content/out/cooked", "1");
  Note();
  Write("content/out/more", "2");
  EXPECT_TRUE(Check().holds) << Check().difference;
  ASSERT_TRUE(RemoveAll(Host("content/out/.galley-sandbox")).ok());
  EXPECT_FALSE(Check().holds);
}

TEST_F(StampTableTest, ASuccessorAndAFolderThatCannotBeReadHaveNoStamps) {
  Write("content/a", "1");
  const auto snapshot = Scan();
  const std::vector<std::string> paths = {"/Game/a"};
  EXPECT_TRUE(absl::IsFailedPrecondition((*snapshot->Refresh(paths))->Stamps().status()));
}

// Only the bytes of files differ: each file is named, and the table with the patches holds.
class StampChangesTest : public StampTableTest {
 protected:
  StampCheck CheckChanges(size_t max = 8) {
    return StampTable::Open(Host("stamps"))->Check({.clock = &clock_, .changes_max = max});
  }
  // "content/a* content/b content/": '*' marks other bytes, '/' a folder.
  std::string Patched(const StampCheck& check) {
    std::vector<std::string> texts;
    for (const StampPatch& patch : check.patches)
      texts.push_back(patch.host_path().substr(Host("").size()) + (patch.name.empty() ? "/" : "") +
                      (patch.has_other_bytes ? "*" : ""));
    std::sort(texts.begin(), texts.end());
    std::string text;
    for (const std::string& one : texts) text += (text.empty() ? "" : " ") + one;
    return text;
  }
};

TEST_F(StampChangesTest, AHugeFileWithAnotherStampIsNotHashed) {
  Write("content/huge", "");
  ASSERT_EQ(::truncate(Host("content/huge").c_str(), int64_t{kHashedHereMax}), 0);
  const auto snapshot = Scan();
  const Digest digest = Digest::FromHash(Digest::Of("x").hash(), kHashedHereMax).value();
  ASSERT_TRUE(snapshot->LearnDigest("/Game/huge", digest).ok());
  ASSERT_TRUE(PatchedFile::Write(Host("stamps"), snapshot->Stamps().value()).ok());
  EXPECT_TRUE(CheckChanges().holds);
  ASSERT_EQ(::utimensat(AT_FDCWD, Host("content/huge").c_str(), nullptr, 0), 0);
  const StampCheck check = CheckChanges();
  EXPECT_FALSE(check.holds);
  EXPECT_THAT(check.difference, HasSubstr("/content/huge is huge and has another stamp"));
  EXPECT_TRUE(check.patches.empty());
  EXPECT_EQ(check.hashed, 0u);
}

TEST_F(StampChangesTest, EachFileWithOtherBytesIsNamedAndThePatchedTableHolds) {
  for (const char* name : {"a", "b", "c", "d", "e/f"}) Write(std::string("content/") + name, "1");
  Note();
  Overwrite("content/a", "2");
  Overwrite("content/b", "longer");
  Write("content/c", "1");
  Write("content/e/f", "3");
  const StampCheck check = CheckChanges();
  EXPECT_FALSE(check.holds);
  EXPECT_NE(check.difference, "");
  EXPECT_EQ(Patched(check), "content/ content/a* content/b* content/c content/e/ content/e/f*");
  for (const StampPatch& patch : check.patches) {
    if (patch.name == "b") {
      EXPECT_EQ(patch.digest, Digest::Of("longer"));
    }
  }
  std::vector<StampPatch> patches = check.patches;
  patches.push_back(patches.front());  // a file may be looked at twice
  const auto patched = StampTable::Open(Host("stamps"))->With(patches);
  ASSERT_TRUE(patched.ok()) << patched.status();
  ASSERT_TRUE(PatchedFile::Write(Host("stamps"), *patched).ok());
  const StampCheck again = CheckChanges();
  EXPECT_TRUE(again.holds) << again.difference;
  EXPECT_EQ(again.hashed, 0u);
  Overwrite("content/a", "1");
  EXPECT_EQ(Patched(CheckChanges()), "content/a*") << "its digest is the new one";
}

TEST_F(StampChangesTest, AFileThatNobodyReadMayHaveOtherBytes) {
  Write("content/a", "1");
  Note(/*with_digests=*/false);
  Overwrite("content/a", "1");
  const StampCheck check = CheckChanges();
  EXPECT_EQ(Patched(check), "content/a*");
  const auto patched = StampTable::Open(Host("stamps"))->With(check.patches);
  ASSERT_TRUE(patched.ok()) << patched.status();
  ASSERT_TRUE(PatchedFile::Write(Host("stamps"), *patched).ok());
  EXPECT_TRUE(CheckChanges().holds);
}

TEST_F(StampChangesTest, WhateverElseDiffersIsNoPatch) {
  const auto begin = [&] {
    EXPECT_TRUE(RemoveAll(Host("content")).ok());
    Write("content/a", "1");
    Write("content/b", "2");
    Link("b", "content/link");
    Note();
    Overwrite("content/a", "other");
  };
  begin();
  EXPECT_EQ(Patched(CheckChanges()), "content/a*");
  begin();
  Write("content/new", "");
  EXPECT_EQ(Patched(CheckChanges()), "");
  begin();
  ASSERT_TRUE(RemoveAll(Host("content/b")).ok());
  EXPECT_EQ(Patched(CheckChanges()), "");
  begin();
  Overwrite("content/b", "the link leads to it");
  EXPECT_EQ(Patched(CheckChanges()), "");
  begin();
  std::filesystem::permissions(Host("content/b"), std::filesystem::perms::owner_all);
  EXPECT_EQ(Patched(CheckChanges()), "");
  begin();
  Write("content/b", "2");  // three differences, with the folder and a
  EXPECT_EQ(Patched(CheckChanges(2)), "");
}

TEST_F(StampTableTest, FilesThatWereOnlyTouchedAreNamed) {
  Write("content/a", "1");
  Write("content/b", "1");
  Note();
  Overwrite("content/b", "1");
  const StampCheck check = Check();
  EXPECT_TRUE(check.holds);
  EXPECT_EQ(check.touched, std::vector<std::string>{Host("content/b")});
}

TEST_F(StampTableTest, ManyFilesOfOneFolderAreSharedByThreads) {
  for (int i = 0; i < 5000; ++i) Overwrite("content/f" + std::to_string(i), "x");
  Note(/*with_digests=*/false);
  const auto table = StampTable::Open(Host("stamps"));
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table->Check({.threads = 4, .clock = &clock_}).holds);
  Overwrite("content/f4999", "yy");
  EXPECT_FALSE(table->Check({.threads = 4, .clock = &clock_}).holds);
}

TEST_F(StampTableTest, ACheckThatIsStoppedDoesNotHold) {
  Write("content/a", "1");
  Note();
  Cancellation stop;
  stop.Cancel();
  EXPECT_FALSE(StampTable::Open(Host("stamps"))->Check({.stop = &stop}).holds);
}

// Edits of all kinds, one after the other: patched edits hold, and no others.
TEST_F(StampChangesTest, APatchedTableGoesOnToBePatched) {
  const auto file_of = [](int i) {
    return "content/d" + std::to_string(i % 4) + "/f" + std::to_string(i);
  };
  for (int i = 0; i < 40; ++i) Write(file_of(i), "0");
  Note();
  bool was_patch = false, was_whole = false;
  for (int round = 1; round <= 60; ++round) {
    for (int k = 0; k < 3; ++k)
      Overwrite(file_of((round + k) % 40),
                std::string(static_cast<size_t>(round % 5 + 1), static_cast<char>('a' + k)));
    const StampCheck check = CheckChanges(100);
    ASSERT_FALSE(check.holds) << round;
    ASSERT_FALSE(check.patches.empty()) << check.difference;
    const auto patched = StampTable::Open(Host("stamps"))->With(check.patches);
    ASSERT_TRUE(patched.ok()) << patched.status();
    (PatchedFile::IsPatch(*patched) ? was_patch : was_whole) = true;
    ASSERT_TRUE(PatchedFile::Write(Host("stamps"), *patched).ok());
    const StampCheck again = CheckChanges(100);
    ASSERT_TRUE(again.holds) << again.difference;
    EXPECT_EQ(again.hashed, 0u);
  }
  EXPECT_TRUE(was_patch);
  EXPECT_TRUE(was_whole);
}

// Otherwise a racy stamp would never hold: nobody could tell the file from another file.
TEST_F(StampChangesTest, ADigestThatIsLearnedLaterIsKept) {
  Write("content/a", "1");
  Write("content/b", "1");
  Note(/*with_digests=*/false);
  clock_.ahead_s = 0;
  Overwrite("content/a", "2");
  const StampCheck check = CheckChanges();
  ASSERT_EQ(check.patches.size(), 1u) << check.difference;
  EXPECT_EQ(check.patches[0].digest, Digest::Of("2"));
  EXPECT_TRUE(check.patches[0].is_racy);
  const auto patched = StampTable::Open(Host("stamps"))->With(check.patches);
  ASSERT_TRUE(patched.ok()) << patched.status();
  ASSERT_TRUE(PatchedFile::Write(Host("stamps"), *patched).ok());
  const StampCheck again = CheckChanges();
  EXPECT_TRUE(again.holds) << again.difference;
  EXPECT_EQ(again.hashed, 1u);
  // A file that nobody read is known only by its stamp.
  Overwrite("content/b", "1");
  EXPECT_FALSE(CheckChanges().holds);
}

TEST_F(StampChangesTest, TheNamesOfAFolderMayBePatched) {
  Write("content/a", "1");
  Note();
  const auto names = StampTable::Open(Host("stamps"))->NamesOf(Host("content"));
  EXPECT_EQ(names, HashOfNames({"a"}));
  EXPECT_FALSE(StampTable::Open(Host("stamps"))->NamesOf(Host("other")).has_value());
  Overwrite("content/b", "2");
  EXPECT_FALSE(CheckChanges().holds);
  const auto patched = StampTable::Open(Host("stamps"))
                           ->With({{.folder = Host("content"),
                                    .name = "",
                                    .stat = *StatFile(Host("content")),
                                    .names = HashOfNames({"a", "b"}),
                                    .digest = std::nullopt,
                                    .is_racy = true}});
  ASSERT_TRUE(patched.ok()) << patched.status();
  ASSERT_TRUE(PatchedFile::Write(Host("stamps"), *patched).ok());
  EXPECT_TRUE(CheckChanges().holds);
}

// Later blocks are read only when somebody looks there, after the table was opened.
TEST_F(StampTableTest, DamageThatIsFoundWhileLookingMakesNothingHold) {
  constexpr int kFiles = 1500;
  const auto name = [](int i) { return "content/d" + std::to_string(i % 3) + std::to_string(i); };
  for (int i = 0; i < kFiles; ++i) Write(name(i), std::to_string(i));
  Note();
  // The digests of touched files are read, too.
  for (int i = 0; i < kFiles; ++i)
    std::filesystem::last_write_time(Host(name(i)), std::filesystem::file_time_type::clock::now());
  const StampCheck whole = Check();
  ASSERT_TRUE(whole.holds) << whole.difference;
  ASSERT_EQ(whole.hashed, static_cast<uint64_t>(kFiles));
  ASSERT_GT(bytes_.size(), 2 * PatchedFile::kBlockBytes);
  for (size_t i = bytes_.size() - 1; i > PatchedFile::kBlockBytes + 1000; i -= 9973) {
    std::string bad = bytes_;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    ASSERT_TRUE(WriteFileAtomic(Host("bad"), bad).ok());
    const auto table = StampTable::Open(Host("bad"));
    ASSERT_TRUE(table.ok()) << table.status();
    const StampCheck check = table->Check({.threads = 2, .clock = &clock_, .changes_max = 8});
    EXPECT_FALSE(check.holds) << i;
    EXPECT_TRUE(check.patches.empty()) << i;
    EXPECT_EQ(check.renewed, "") << i;
    EXPECT_TRUE(absl::IsDataLoss(table->With({}).status())) << i;
    EXPECT_TRUE(absl::IsDataLoss(StampTable::Open(Host("bad"))->Verify())) << i;
  }
}

TEST_F(StampTableTest, DamageIsFoundAndTheIdTellsTablesApart) {
  Write("content/a", "1");
  Write("content/b/c", "1");
  Note();
  EXPECT_EQ(StampTable::Open(Host("stamps"))->id(), PatchedFile::IdOf(bytes_));
  for (size_t i = 0; i < bytes_.size(); ++i) {
    std::string bad = bytes_;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    ASSERT_TRUE(WriteFileAtomic(Host("bad"), bad).ok());
    const absl::Status opened = StampTable::Open(Host("bad")).status();
    const bool is_version = i == 7;
    EXPECT_EQ(opened.code(), is_version ? absl::StatusCode::kFailedPrecondition
                                        : absl::StatusCode::kInvalidArgument)
        << i;
  }
  for (const size_t size : {size_t{0}, size_t{7}, size_t{63}, bytes_.size() - 1}) {
    ASSERT_TRUE(WriteFileAtomic(Host("bad"), bytes_.substr(0, size)).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(StampTable::Open(Host("bad")).status())) << size;
  }
  EXPECT_TRUE(absl::IsNotFound(StampTable::Open(Host("absent")).status()));
  const std::string before = PatchedFile::IdOf(bytes_);
  Write("content/d", "1");
  Note();
  EXPECT_NE(StampTable::Open(Host("stamps"))->id(), before);
}

}  // namespace
}  // namespace galley::content
