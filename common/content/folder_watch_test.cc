#include "common/content/folder_watch.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "common/base/file.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::content {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FolderWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = MakeTemporaryDirectory(::testing::TempDir(), "watch").value();
    for (const char* folder : {"a", "a/b", "a/b/c", "a-b", "other"}) MakeFolder(folder);
    Write("a/x", "1");
    Write("a/b/y", "1");
    watch_ = Open();
    for (const char* folder : {"a", "a/b", "a/b/c", "a-b"})
      ASSERT_TRUE(watch_->Add(Path(folder)).ok());
    EXPECT_THAT(Changed(), IsEmpty());
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(root_).ok()); }

  std::unique_ptr<FolderWatch> Open(size_t folders_max = SIZE_MAX) {
    auto watch = FolderWatch::Open({.cookie_folder = Path("cookies"), .folders_max = folders_max});
    EXPECT_TRUE(watch.ok()) << watch.status();
    return *std::move(watch);
  }
  std::string Path(const std::string& path) const { return JoinPath(root_, path); }
  void MakeFolder(const std::string& path) { ASSERT_EQ(::mkdir(Path(path).c_str(), 0755), 0); }
  void Write(const std::string& path, const std::string& text) {
    const FileDescriptor file(
        ::open(Path(path).c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644));
    ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Rename(const std::string& from, const std::string& to) {
    ASSERT_EQ(std::rename(Path(from).c_str(), Path(to).c_str()), 0);
  }
  std::vector<std::string> Changed() {
    const auto changes = watch_->Take();
    EXPECT_TRUE(changes.ok()) << changes.status();
    EXPECT_FALSE(changes->is_all);
    std::vector<std::string> folders;
    for (const std::string& folder : changes->folders)
      folders.push_back(folder.substr(root_.size() + 1));
    return folders;
  }

  std::string root_;
  std::unique_ptr<FolderWatch> watch_;
};

TEST_F(FolderWatchTest, EachChangeIsToldOnceWithItsFolder) {
  Write("a/x", "2");
  EXPECT_THAT(Changed(), ElementsAre("a"));
  EXPECT_THAT(Changed(), IsEmpty());
  Write("a/b/new", "");
  Write("a-b/new", "");
  EXPECT_THAT(Changed(), ElementsAre("a-b", "a/b"));
  ASSERT_EQ(::unlink(Path("a/b/new").c_str()), 0);
  EXPECT_THAT(Changed(), ElementsAre("a/b"));
  ASSERT_EQ(::chmod(Path("a/x").c_str(), 0600), 0);
  EXPECT_THAT(Changed(), ElementsAre("a"));
  Write("other/z", "");
  EXPECT_THAT(Changed(), IsEmpty());
}

TEST_F(FolderWatchTest, AFileThatIsOnlyReadIsNoChange) {
  ASSERT_TRUE(ReadFile(Path("a/x")).ok());
  EXPECT_THAT(Changed(), IsEmpty());
}

TEST_F(FolderWatchTest, AnEditorThatSavesByRename) {
  Write("a/b/.y.swp", "2");
  Rename("a/b/.y.swp", "a/b/y");
  EXPECT_THAT(Changed(), ElementsAre("a/b"));
  Write("other/y", "3");
  Rename("other/y", "a/b/y");
  EXPECT_THAT(Changed(), ElementsAre("a/b"));
}

TEST_F(FolderWatchTest, WhatIsBelowAMovedFolderIsNotWatchedAnyMore) {
  Rename("a/b", "other/b");
  EXPECT_THAT(Changed(), ElementsAre("a", "a/b", "a/b/c"));
  EXPECT_FALSE(watch_->Watches(Path("a/b")));
  EXPECT_FALSE(watch_->Watches(Path("a/b/c")));
  EXPECT_TRUE(watch_->Watches(Path("a-b")));
  Write("other/b/c/z", "");
  EXPECT_THAT(Changed(), IsEmpty());
  Rename("other/b", "a/b");
  EXPECT_THAT(Changed(), ElementsAre("a"));
  ASSERT_TRUE(watch_->Add(Path("a/b")).ok());
  Write("a/b/y", "3");
  EXPECT_THAT(Changed(), ElementsAre("a/b"));
}

TEST_F(FolderWatchTest, AFolderThatGoesIsTold) {
  ASSERT_TRUE(RemoveAll(Path("a/b")).ok());
  EXPECT_THAT(Changed(), ElementsAre("a", "a/b", "a/b/c"));
  EXPECT_TRUE(absl::IsNotFound(watch_->Add(Path("a/b"))));
}

TEST_F(FolderWatchTest, WhenEventsAreLostAllMayHaveChanged) {
  // Events beyond fs.inotify.max_queued_events, which is 16,384 as a rule.
  const auto limit = ReadFile("/proc/sys/fs/inotify/max_queued_events");
  const size_t count = limit.ok() ? std::stoul(*limit) : 16'384;
  if (count > 200'000) GTEST_SKIP() << "the queue holds " << count << " events";
  for (size_t i = 0; i < count / 2 + 16; ++i) {
    Rename("a/x", "a/x2");
    Rename("a/x2", "a/x");
  }
  const auto changes = watch_->Take();
  ASSERT_TRUE(changes.ok()) << changes.status();
  EXPECT_TRUE(changes->is_all);
  Write("a/x", "5");
  EXPECT_THAT(Changed(), ElementsAre("a"));
}

TEST_F(FolderWatchTest, OnlyMountsNearTheWatchedFoldersChangeAll) {
  const auto mount = [&](const std::string& folder) {
    return ::mount("none", Path(folder).c_str(), "tmpfs", 0, nullptr) == 0;
  };
  const auto unmount = [&](const std::string& folder) {
    ASSERT_EQ(::umount(Path(folder).c_str()), 0);
  };
  if (!mount("other")) GTEST_SKIP() << "this user may not mount";
  EXPECT_THAT(Changed(), IsEmpty());
  unmount("other");
  EXPECT_THAT(Changed(), IsEmpty());
  MakeFolder("a/b/c/below");
  ASSERT_TRUE(watch_->Take().ok());
  for (const char* folder : {"a", "a/b/c", "a/b/c/below"}) {
    ASSERT_TRUE(mount(folder));
    EXPECT_TRUE(watch_->Take().value().is_all) << folder;
    unmount(folder);
    EXPECT_TRUE(watch_->Take().value().is_all) << folder;
  }
  ASSERT_TRUE(mount("a/b/c/below"));
  ASSERT_TRUE(watch_->Take().ok());
  unmount("a/b/c/below");
  ASSERT_TRUE(mount("a/b/c/below"));  // the kernel may give it the number of the one before
  EXPECT_TRUE(watch_->Take().value().is_all);
  unmount("a/b/c/below");
  ASSERT_TRUE(watch_->Take().ok());
  EXPECT_THAT(Changed(), IsEmpty());
}

TEST_F(FolderWatchTest, AMountBelowALinkedFolderIsNear) {
  ASSERT_EQ(::symlink(Path("other").c_str(), Path("linked").c_str()), 0);
  MakeFolder("other/below");
  ASSERT_TRUE(watch_->Add(Path("linked")).ok());
  ASSERT_TRUE(watch_->Take().ok());
  if (::mount("none", Path("other/below").c_str(), "tmpfs", 0, nullptr) != 0)
    GTEST_SKIP() << "this user may not mount";
  EXPECT_TRUE(watch_->Take().value().is_all);
  ASSERT_EQ(::umount(Path("other/below").c_str()), 0);
}

TEST_F(FolderWatchTest, TheKernelsLimitIsSaid) {
  const auto watch = Open(2);
  ASSERT_TRUE(watch->Add(Path("a")).ok());
  ASSERT_TRUE(watch->Add(Path("a/b")).ok());
  const absl::Status third = watch->Add(Path("a-b"));
  EXPECT_TRUE(absl::IsResourceExhausted(third));
  EXPECT_THAT(third.ToString(), HasSubstr("fs.inotify.max_user_watches"));
}

TEST_F(FolderWatchTest, AFileSystemThatTellsNothingIsRefused) {
  EXPECT_TRUE(absl::IsFailedPrecondition(watch_->Add("/proc/self")));
}

TEST_F(FolderWatchTest, OneFolderWithTwoPathsIsRefused) {
  ASSERT_EQ(::symlink(Path("a/b").c_str(), Path("link").c_str()), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(watch_->Add(Path("link"))));
}

TEST(MountsBelowTest, TheRootHasSome) {
  EXPECT_THAT(MountsBelow(""), ::testing::Contains("/proc"));
  EXPECT_THAT(MountsBelow("/proc/self/no/such/folder"), IsEmpty());
}

class FolderWatchEntriesTest : public FolderWatchTest {
 protected:
  void SetUp() override {
    FolderWatchTest::SetUp();
    watch_ = *FolderWatch::Open({.cookie_folder = Path("cookies"), .has_entries = true});
    ASSERT_TRUE(watch_->Add(Path("a")).ok());
  }
  std::vector<FolderWatch::Changes::Entry> Entries() { return watch_->Take().value().entries; }
};

TEST_F(FolderWatchEntriesTest, TheChangedEntriesAreTold) {
  Write("a/new", "1");
  Rename("a/x", "a/z");
  MakeFolder("a/folder");
  EXPECT_THAT(Entries(), ElementsAre(FolderWatch::Changes::Entry{Path("a/folder"), true},
                                     FolderWatch::Changes::Entry{Path("a/new")},
                                     FolderWatch::Changes::Entry{Path("a/x")},
                                     FolderWatch::Changes::Entry{Path("a/z")}));
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(FolderWatchEntriesTest, AFileIsBeingWrittenUntilItIsClosed) {
  {
    const FileDescriptor file(::open(Path("a/x").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::write(file.get(), "2", 1), 1);
    EXPECT_THAT(Entries(), ElementsAre(FolderWatch::Changes::Entry{Path("a/x"), false,
                                                                   /*is_being_written=*/true}));
  }
  EXPECT_THAT(Entries(), ElementsAre(FolderWatch::Changes::Entry{Path("a/x")}));
}

TEST_F(FolderWatchEntriesTest, AChangeEndsTheWait) {
  EXPECT_FALSE(watch_->Wait(absl::ZeroDuration()));
  Write("a/x", "2");
  EXPECT_TRUE(watch_->Wait(absl::Seconds(30)));
  EXPECT_THAT(Entries(), ElementsAre(FolderWatch::Changes::Entry{Path("a/x")}));
  EXPECT_FALSE(watch_->Wait(absl::ZeroDuration()));
}

}  // namespace
}  // namespace galley::content
