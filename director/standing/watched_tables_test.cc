// WatchedTablesTest: WatchedTables compared to a check of everything, with random changes of files
// and folders.
#include "director/standing/watched_tables.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include "common/base/file.h"
#include "common/content/patched_file.h"
#include "common/content/snapshot.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;

class WatchedTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = MakeTemporaryDirectory(::testing::TempDir(), "watched").value();
    fs::create_directories(Path("files/a/b"));
    fs::create_directories(Path("files/c"));
    for (const char* file : {"files/x", "files/a/y", "files/a/b/z", "files/c/w"}) Write(file, "1");
    auto watch = content::FolderWatch::Open({.cookie_folder = Path("cookies")});
    ASSERT_TRUE(watch.ok()) << watch.status();
    tables_.emplace(*std::move(watch));
    MakeTable();
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(root_).ok()); }

  std::string Path(const std::string& path) const { return JoinPath(root_, path); }
  void Write(const std::string& path, const std::string& text) {
    const FileDescriptor file(
        ::open(Path(path).c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644));
    if (file.valid()) (void)!::write(file.get(), text.data(), text.size());
  }

  // Makes a table of the present stamps of all files.
  void MakeTable() {
    auto files = content::Snapshot::Scan({.mounts = {{.path = "/G", .directory = Path("files")}}});
    ASSERT_TRUE(files.ok()) << files.status();
    for (const content::FileEntry& file : (*files)->files()) (void)(*files)->DigestOf(file.path);
    const auto stamps = (*files)->Stamps();
    ASSERT_TRUE(stamps.ok()) << stamps.status();
    Keep(*stamps);
  }
  void Keep(const std::string& stamps) {
    ASSERT_TRUE(content::PatchedFile::Write(Path("table"), stamps).ok());
    id_ = content::PatchedFile::IdOf(stamps);
  }
  absl::StatusOr<content::StampTable> Open() const {
    return content::StampTable::Open(Path("table"));
  }
  content::StampCheck Check() {
    auto check = tables_->Check(
        "table", id_, [this] { return Open(); }, nullptr);
    EXPECT_TRUE(check.ok()) << check.status();
    if (!check->renewed.empty()) Keep(check->renewed);
    return *std::move(check);
  }
  bool HoldsByAll() const { return Open()->Check({}).holds; }

  std::string root_, id_;
  std::optional<WatchedTables> tables_;
};

TEST_F(WatchedTablesTest, BeforeTheFirstCookItIsNoFaultThatNothingIsWatched) {
  EXPECT_EQ(tables_->State(), "the folders are watched from the first cook on");
}

TEST_F(WatchedTablesTest, OnlyWhatChangedIsLookedAtAgain) {
  EXPECT_EQ(Check().looked_at, 4u);
  EXPECT_EQ(Check().looked_at, 0u);
  Write("files/a/y", "1");
  const content::StampCheck one = Check();
  EXPECT_TRUE(one.holds);
  EXPECT_EQ(one.looked_at, 1u);
  EXPECT_EQ(Check().looked_at, 0u);
  Write("files/a/y", "2");
  EXPECT_FALSE(Check().holds);
  EXPECT_FALSE(Check().holds);
  Write("files/a/y", "1");
  EXPECT_TRUE(Check().holds);
  EXPECT_THAT(tables_->State(), "4 folders are watched");
}

TEST_F(WatchedTablesTest, APatchedTableIsKnownAsFarAsTheOneBefore) {
  const auto check = [&] {
    return *tables_->Check(
        "table", id_, [this] { return Open(); }, nullptr, 8);
  };
  const auto patch = [&](const content::StampCheck& found) {
    const std::string before = id_;
    Keep(*Open()->With(found.patches));
    tables_->Replace("table", before, *Open());
  };
  // Folders are racy, and patched as well.
  const auto others = [](const content::StampCheck& found) {
    return std::count_if(found.patches.begin(), found.patches.end(),
                         [](const content::StampPatch& one) { return one.has_other_bytes; });
  };
  EXPECT_TRUE(check().holds);
  Write("files/a/y", "2");
  const content::StampCheck found = check();
  EXPECT_EQ(others(found), 1);
  EXPECT_EQ(others(check()), 1) << "until it is replaced";
  patch(found);
  const content::StampCheck again = check();
  EXPECT_TRUE(again.holds);
  EXPECT_EQ(again.looked_at, 1u) << "the folder of the patch, once more";
  EXPECT_EQ(check().looked_at, 0u);
  Write("files/c/w", "2");
  EXPECT_EQ(others(check()), 1);
  // After a check of everything as well.
  tables_.emplace(*content::FolderWatch::Open({.cookie_folder = Path("cookies")}));
  const content::StampCheck of_all = check();
  EXPECT_EQ(of_all.looked_at, 4u);
  patch(of_all);
  EXPECT_TRUE(check().holds);
  EXPECT_EQ(check().looked_at, 0u);
  // A file that is not replaced stays different.
  Write("files/c/w", "3");
  EXPECT_EQ(others(check()), 1);
  EXPECT_EQ(others(check()), 1);
}

TEST_F(WatchedTablesTest, FilesWithOtherNamesAreLookedAtAlways) {
  Write("elsewhere", "1");
  ASSERT_EQ(::link(Path("elsewhere").c_str(), Path("files/hard").c_str()), 0);
  MakeTable();
  EXPECT_TRUE(Check().holds);
  EXPECT_EQ(Check().looked_at, 1u);
  Write("elsewhere", "2");
  EXPECT_FALSE(Check().holds);
}

TEST_F(WatchedTablesTest, AnotherTopFolderIsNoticed) {
  EXPECT_TRUE(Check().holds);
  fs::copy(Path("files"), Path("copy"), fs::copy_options::recursive);
  fs::rename(Path("files"), Path("old"));
  fs::rename(Path("copy"), Path("files"));
  EXPECT_TRUE(Check().holds);
  EXPECT_EQ(Check().looked_at, 0u);
  Write("files/c/w", "2");
  EXPECT_FALSE(Check().holds);
}

TEST_F(WatchedTablesTest, AFolderFarAboveIsReplaced) {
  fs::create_directories(Path("up/files"));
  Write("up/files/x", "1");
  auto files = content::Snapshot::Scan({.mounts = {{.path = "/G", .directory = Path("up/files")}}});
  (void)(*files)->DigestOf("/G/x");
  Keep(*(*files)->Stamps());
  EXPECT_TRUE(Check().holds);
  fs::rename(Path("up"), Path("gone"));
  fs::create_directories(Path("up/files"));
  Write("up/files/x", "2");
  EXPECT_FALSE(Check().holds);
  // From then on the new folder is watched.
  files = content::Snapshot::Scan({.mounts = {{.path = "/G", .directory = Path("up/files")}}});
  (void)(*files)->DigestOf("/G/x");
  Keep(*(*files)->Stamps());
  EXPECT_TRUE(Check().holds);
  EXPECT_EQ(Check().looked_at, 0u);
  Write("up/files/x", "3");
  EXPECT_FALSE(Check().holds);
}

TEST_F(WatchedTablesTest, AFolderThatWasReplacedWhileEventsWereLostIsWatchedAgain) {
  EXPECT_TRUE(Check().holds);
  const auto limit = ReadFile("/proc/sys/fs/inotify/max_queued_events");
  const int count = limit.ok() ? std::stoi(*limit) : 16'384;
  if (count > 200'000) GTEST_SKIP() << "the queue holds " << count << " events";
  for (int i = 0; i < count; ++i) {
    fs::rename(Path(i % 2 ? "files/w" : "files/x"), Path(i % 2 ? "files/x" : "files/w"));
  }
  fs::rename(Path("files/a"), Path("was"));
  fs::create_directories(Path("files/a/b"));
  Write("files/a/y", "1");
  Write("files/a/b/z", "1");
  MakeTable();
  EXPECT_TRUE(Check().holds);
  EXPECT_TRUE(Check().holds);
  Write("files/a/b/z", "2");
  EXPECT_FALSE(Check().holds);
}

TEST_F(WatchedTablesTest, FoldersBelowTwoMountsAndLinksAreNotWatched) {
  const auto make = [&](std::vector<content::Mount> mounts) {
    auto files = content::Snapshot::Scan({.mounts = std::move(mounts)});
    for (const content::FileEntry& file : (*files)->files()) (void)(*files)->DigestOf(file.path);
    Keep(*(*files)->Stamps());
  };
  make({{.path = "/G", .directory = Path("files")}, {.path = "/M", .directory = Path("files/a")}});
  EXPECT_TRUE(Check().holds);
  EXPECT_THAT(tables_->State(), ::testing::HasSubstr("two mounts"));
  Write("files/a/y", "2");
  EXPECT_FALSE(Check().holds);
  ASSERT_EQ(::symlink(Path("files/c").c_str(), Path("link").c_str()), 0);
  make({{.path = "/L", .directory = Path("link")}});
  Check();
  EXPECT_THAT(tables_->State(), ::testing::HasSubstr("link"));
}

TEST_F(WatchedTablesTest, WithoutAWatchAllIsLookedAt) {
  tables_.emplace(nullptr);
  EXPECT_EQ(Check().files, 4u);
  EXPECT_TRUE(Check().holds);
  Write("files/c/w", "2");
  EXPECT_FALSE(Check().holds);
}

// Whatever happens, a watched check and a full check find the same.
TEST_F(WatchedTablesTest, AWatchedCheckSaysWhatACheckOfAllSays) {
  std::mt19937 random(11);
  const std::vector<std::string> folders = {"files", "files/a", "files/a/b", "files/c", "aside"};
  const auto any_folder = [&] { return folders[random() % folders.size()]; };
  const auto any_file = [&] { return any_folder() + "/" + "xyzw"[random() % 4]; };
  fs::create_directories(Path("aside"));
  std::error_code error;
  int holding = 0, differing = 0, quick = 0;
  for (int round = 0; round < 600; ++round) {
    for (size_t i = random() % 4; i > 0; --i) {
      switch (random() % 8) {
        case 0:
        case 1:
          Write(any_file(), std::to_string(random() % 2));
          break;
        case 2:
          fs::remove(Path(any_file()), error);
          break;
        case 3:
          fs::rename(Path(any_file()), Path(any_file()), error);
          break;
        case 4:
          fs::rename(Path("files/a"), Path("aside/a"), error);
          break;
        case 5:
          fs::rename(Path("aside/a"), Path("files/a"), error);
          break;
        case 6:
          fs::create_directories(Path("files/a/b"), error);
          fs::create_hard_link(Path(any_file()), Path(any_file()), error);
          break;
        case 7:
          ::chmod(Path(any_file()).c_str(), random() % 2 ? 0644 : 0600);
          break;
      }
    }
    const bool holds = HoldsByAll();
    const content::StampCheck check = Check();
    ASSERT_EQ(check.holds, holds) << round << ": " << check.difference;
    ++(holds ? holding : differing);
    quick += holds && check.looked_at < 2;
    if (!holds && random() % 2) MakeTable();
  }
  EXPECT_GT(holding, 100);
  EXPECT_GT(differing, 100);
  EXPECT_GT(quick, 20);
}

}  // namespace
}  // namespace galley::director
