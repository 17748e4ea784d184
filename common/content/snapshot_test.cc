#include "common/content/snapshot.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "common/content/testing/test_tree.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::content {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SnapshotTest : public ContentTest {
 protected:
  std::unique_ptr<Snapshot> Refresh(const Snapshot& snapshot, std::vector<std::string> paths) {
    auto next = snapshot.Refresh(paths);
    EXPECT_TRUE(next.ok()) << next.status();
    return *std::move(next);
  }
};

TEST_F(SnapshotTest, FilesAreSortedByVirtualPath) {
  Write("content/b", "");
  Write("content/a/z", "");
  Write("content/a.x", "");
  Write("content/a/b/c", "");
  EXPECT_EQ(Shown(*Scan()), "/Game/a.x /Game/a/b/c /Game/a/z /Game/b");
}

TEST_F(SnapshotTest, KindListAndMatchesTellFilesFromFolders) {
  Write("content/a/x.json", "");
  Write("content/a/b/y.json", "");
  Write("content/a-b", "");
  ASSERT_TRUE(CreateDirectories(Host("content/empty")).ok());
  const auto snapshot = Scan();
  EXPECT_EQ(snapshot->Kind("/Game/a"), EntryKind::kFolder);
  EXPECT_EQ(snapshot->Kind("/"), EntryKind::kFolder);
  EXPECT_EQ(snapshot->Kind("/Game/a-b"), EntryKind::kFile);
  EXPECT_EQ(snapshot->Kind("/Game/empty"), EntryKind::kAbsent);
  EXPECT_EQ(snapshot->Kind("/Gam"), EntryKind::kAbsent);
  EXPECT_THAT(*snapshot->List("/Game"), ElementsAre("a-b", "a/"));
  EXPECT_THAT(*snapshot->List("/Game/a"), ElementsAre("b/", "x.json"));
  EXPECT_THAT(*snapshot->List("/"), ElementsAre("Game/"));
  EXPECT_EQ(snapshot->List("/Game/none"), std::nullopt);
  EXPECT_EQ(snapshot->List("/Game/a/x.json"), std::nullopt);
  EXPECT_THAT(snapshot->Matches("/Game/a", *Glob::Parse("**/*.json")),
              ElementsAre("b/y.json", "x.json"));
  EXPECT_THAT(snapshot->Matches("/Game/a", *Glob::Parse("*.json")), ElementsAre("x.json"));
}

TEST_F(SnapshotTest, TheRightSpellingIsFound) {
  Write("content/Barrel.png", "");
  const auto snapshot = Scan();
  ASSERT_NE(snapshot->FindFolded("/game/barrel.PNG"), nullptr);
  EXPECT_EQ(snapshot->FindFolded("/game/barrel.PNG")->path, "/Game/Barrel.png");
  EXPECT_EQ(snapshot->FindFolded("/Game/barrels.png"), nullptr);
}

TEST_F(SnapshotTest, AllSpellingsOfAPathAreFound) {
  for (const char* path : {"a/Barrel.png", "A/barrel.png", "a/barrel.png", "a/barrels.png"})
    Write(std::string("content/") + path, "");
  Write("content/caf\u00e9.txt", "");
  const auto snapshot = Scan();
  const auto found = [&](const Snapshot& files, std::string_view path) {
    std::vector<std::string> paths;
    for (const FileEntry* file : files.FindAllFolded(path)) paths.push_back(file->path);
    return paths;
  };
  const auto barrels =
      ElementsAre("/Game/A/barrel.png", "/Game/a/Barrel.png", "/Game/a/barrel.png");
  EXPECT_THAT(found(*snapshot, "/game/a/BARREL.png"), barrels);
  EXPECT_THAT(found(*snapshot, "/Game/a/barrel.png"), barrels) << "the path itself as well";
  EXPECT_THAT(found(*snapshot, "/Game/cafe\u0301.TXT"), ElementsAre("/Game/caf\u00e9.txt"));
  EXPECT_THAT(found(*snapshot, "/Game/a"), IsEmpty());
  ASSERT_TRUE(snapshot->WriteTable(Host("table")).ok());
  const auto read = Snapshot::ReadTable(Host("table"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(found(**read, "/game/a/BARREL.png"), barrels);
}

TEST_F(SnapshotTest, WhatIsIgnoredIsNotThere) {
  for (const char* path : {".git/x", "sub/.svn/x", ".hg/x", ".galley/x", ".p4config", "Thumbs.db",
                           "sub/.DS_Store", "a.txt~", "old/deep/x.blend1", "build/x", "keep"}) {
    Write(std::string("content/") + path, "");
  }
  Write("content/store/x", "");
  options_.ignore = {"**/*.blend1", "build", "/Game/none/**"};
  options_.excluded_directories = {Host("content/store"), Host("absent")};
  EXPECT_EQ(Shown(*Scan()), "/Game/keep");
}

TEST_F(SnapshotTest, ABadIgnorePatternIsSaid) {
  options_.ignore = {"[x"};
  EXPECT_THAT(std::string(Snapshot::Scan(options_).status().message()), HasSubstr("not closed"));
}

TEST_F(SnapshotTest, TheHigherPriorityWinsAtOnePath) {
  Write("content/a", "base");
  Write("content/b", "base");
  Write("mod/a", "mod");
  Write("mod/c", "mod");
  Mount("/Game", "mod", 10);
  const auto snapshot = Scan();
  EXPECT_EQ(Shown(*snapshot), "/Game/a /Game/b /Game/c");
  EXPECT_EQ(Text(*snapshot, "/Game/a"), "mod");
  EXPECT_EQ(Text(*snapshot, "/Game/b"), "base");
}

TEST_F(SnapshotTest, TheLongerMountPathWinsWhateverThePriority) {
  Write("content/dlc/a", "game");
  Write("content/dlc/b", "game");
  Write("dlc/a", "dlc");
  options_.mounts[0].priority = 99;
  Mount("/Game/dlc", "dlc");
  const auto snapshot = Scan();
  EXPECT_EQ(Text(*snapshot, "/Game/dlc/a"), "dlc");
  EXPECT_EQ(Text(*snapshot, "/Game/dlc/b"), "game");
}

TEST_F(SnapshotTest, AFileOverAFolderHidesAllOfIt) {
  Write("content/x/a", "");
  Write("content/x/b/c", "");
  Write("mod/x", "mod");
  Mount("/Game", "mod", 1);
  EXPECT_EQ(Shown(*Scan()), "/Game/x");
}

TEST_F(SnapshotTest, LayersAreLaidFromTheLowestToTheHighest) {
  Write("content/x/a", "");
  Write("mod/x", "mod");
  Write("top/x/c", "top");
  Mount("/Game", "mod", 1);
  Mount("/Game", "top", 2);
  // a is hidden by mod's x, which is hidden by top's folder
  EXPECT_EQ(Shown(*Scan()), "/Game/x/c");
}

TEST_F(SnapshotTest, TwoMountsOfOnePathAndPriorityAreRefused) {
  Mount("/Game", "other");
  const absl::Status status = Snapshot::Scan(options_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Host("other")));
}

TEST_F(SnapshotTest, AMountThatIsNoFolderIsNamed) {
  options_.mounts.push_back({.path = "/Engine", .directory = Host("none")});
  const absl::Status status = Snapshot::Scan(options_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/Engine"));
}

TEST_F(SnapshotTest, DigestsAreTakenOnceAndCounted) {
  Write("content/a", "abc");
  const auto snapshot = Scan();
  EXPECT_EQ(snapshot->KnownDigest("/Game/a"), std::nullopt);
  EXPECT_EQ(*snapshot->DigestOf("/Game/a"), Digest::Of("abc"));
  EXPECT_EQ(*snapshot->DigestOf("/Game/a"), Digest::Of("abc"));
  EXPECT_EQ(snapshot->KnownDigest("/Game/a"), Digest::Of("abc"));
  EXPECT_EQ(snapshot->counters().files_hashed, 1u);
  EXPECT_EQ(snapshot->counters().bytes_hashed, 3u);
  EXPECT_TRUE(absl::IsNotFound(snapshot->DigestOf("/Game/b").status()));
}

TEST_F(SnapshotTest, AFileThatChangedAfterTheScanIsStale) {
  Write("content/a", "abc");
  Write("content/b", "abc");
  Write("content/c", "abc");
  const auto snapshot = Scan();
  Write("content/a", "abd");  // a new inode
  ASSERT_EQ(::truncate(Host("content/b").c_str(), 1), 0);
  ASSERT_EQ(::unlink(Host("content/c").c_str()), 0);
  for (const char* path : {"/Game/a", "/Game/b", "/Game/c"}) {
    EXPECT_TRUE(absl::IsAborted(snapshot->DigestOf(path).status())) << path;
    EXPECT_TRUE(absl::IsAborted(snapshot->Read(path).status())) << path;
  }
}

TEST_F(SnapshotTest, ReadingHasALimit) {
  Write("content/a", "abc");
  const auto snapshot = Scan();
  EXPECT_TRUE(absl::IsResourceExhausted(snapshot->Read("/Game/a", 2).status()));
  EXPECT_EQ(snapshot->Read("/Game/a", 3)->digest, Digest::Of("abc"));
}

TEST_F(SnapshotTest, BytesOtherThanThoseKnownAreStale) {
  Write("content/a", "abc");
  const auto snapshot = Scan();
  ASSERT_TRUE(snapshot->LearnDigest("/Game/a", Digest::Of("xyz")).ok());
  EXPECT_TRUE(absl::IsAborted(snapshot->Read("/Game/a").status()));
  EXPECT_TRUE(absl::IsAborted(snapshot->LearnDigest("/Game/a", Digest::Of("abc"))));
  EXPECT_TRUE(snapshot->LearnDigest("/Game/a", Digest::Of("xyz")).ok());
  EXPECT_TRUE(absl::IsNotFound(snapshot->LearnDigest("/Game/b", Digest::Of("xyz"))));
}

TEST_F(SnapshotTest, ADigestOfAnotherSizeIsNotLearnt) {
  Write("content/a", "abc");
  EXPECT_TRUE(absl::IsAborted(Scan()->LearnDigest("/Game/a", Digest::Of("abcd"))));
}

TEST_F(SnapshotTest, ManyThreadsMayAsk) {
  for (int i = 0; i < 50; ++i) Write("content/f" + std::to_string(i), std::to_string(i));
  const auto snapshot = Scan();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(*snapshot->DigestOf("/Game/f" + std::to_string(i)),
                  Digest::Of(std::to_string(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SnapshotTest, TheDigestCacheSparesHashing) {
  Write("content/a", "abc");
  const auto first = Scan();
  ASSERT_TRUE(first->DigestOf("/Game/a").ok());
  ASSERT_TRUE(first->SaveDigestCache().ok());
  const auto second = Scan();
  EXPECT_EQ(second->KnownDigest("/Game/a"), Digest::Of("abc"));
  ASSERT_TRUE(second->SaveDigestCache().ok());
  EXPECT_EQ(Scan()->KnownDigest("/Game/a"), Digest::Of("abc"));
}

TEST_F(SnapshotTest, HashingEndsWhenItIsStopped) {
  Write("content/a", "abc");
  const auto snapshot = Scan();
  Cancellation stop;
  stop.Cancel();
  EXPECT_TRUE(absl::IsCancelled(snapshot->DigestOf("/Game/a", &stop).status()));
  EXPECT_EQ(snapshot->KnownDigest("/Game/a"), std::nullopt);
  EXPECT_EQ(snapshot->DigestOf("/Game/a").value(), Digest::Of("abc"));
  EXPECT_EQ(snapshot->DigestOf("/Game/a", &stop).value(), Digest::Of("abc"));  // already known
}

TEST_F(SnapshotTest, AScanEndsWhenItIsStopped) {
  Write("content/a", "abc");
  Cancellation stop;
  options_.stop = &stop;
  EXPECT_TRUE(Snapshot::Scan(options_).ok());
  stop.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Snapshot::Scan(options_).status()));
}

TEST_F(SnapshotTest, ARacyDigestIsNotCached) {
  clock_.ahead_s = -3600;  // hashed right after it was written, however slow this machine is
  Write("content/a", "abc");
  const auto first = Scan();
  ASSERT_TRUE(first->DigestOf("/Game/a").ok());
  ASSERT_TRUE(first->SaveDigestCache().ok());
  EXPECT_EQ(Scan()->KnownDigest("/Game/a"), std::nullopt);
}

TEST_F(SnapshotTest, ALearntDigestCountsFromTheScan) {
  clock_.ahead_s = -3600;
  Write("content/a", "abc");
  const auto first = Scan();
  clock_.ahead_s = 3600;  // the time of reading is unknown
  ASSERT_TRUE(first->LearnDigest("/Game/a", Digest::Of("abc")).ok());
  ASSERT_TRUE(first->SaveDigestCache().ok());
  EXPECT_EQ(Scan()->KnownDigest("/Game/a"), std::nullopt);
}

TEST_F(SnapshotTest, ADamagedDigestCacheIsDropped) {
  Write("content/a", "abc");
  Write("digests", "garbage");
  const auto snapshot = Scan();
  EXPECT_EQ(*snapshot->DigestOf("/Game/a"), Digest::Of("abc"));
  EXPECT_TRUE(snapshot->SaveDigestCache().ok());
}

TEST_F(SnapshotTest, RefreshSeesChangedGoneAndNewFiles) {
  for (const char* name : {"changed", "gone", "same"}) Write(std::string("content/") + name, "1");
  const auto before = Scan();
  for (const char* name : {"changed", "gone", "same"})
    ASSERT_TRUE(before->DigestOf(std::string("/Game/") + name).ok());
  Write("content/changed", "2");
  Write("content/new/deep/file", "3");
  ASSERT_EQ(::unlink(Host("content/gone").c_str()), 0);
  const auto now = Refresh(*before, {"/Game/changed", "/Game/new", "/Game/gone", "/Elsewhere/x"});
  EXPECT_EQ(Shown(*now), "/Game/changed /Game/new/deep/file /Game/same");
  EXPECT_EQ(now->KnownDigest("/Game/same"), Digest::Of("1"));
  EXPECT_EQ(Text(*now, "/Game/changed"), "2");
  EXPECT_EQ(Shown(*before), "/Game/changed /Game/gone /Game/same");
}

TEST_F(SnapshotTest, RefreshShowsWhatAModHid) {
  Write("content/a", "base");
  Write("content/f/x", "base");
  Write("mod/a", "mod");
  Write("mod/f", "mod");
  Mount("/Game", "mod", 1);
  const auto before = Scan();
  EXPECT_EQ(Shown(*before), "/Game/a /Game/f");
  ASSERT_EQ(::unlink(Host("mod/a").c_str()), 0);
  ASSERT_EQ(::unlink(Host("mod/f").c_str()), 0);
  const auto now = Refresh(*before, {"/Game/a", "/Game/f"});
  EXPECT_EQ(Shown(*now), "/Game/a /Game/f/x");
  EXPECT_EQ(Text(*now, "/Game/a"), "base");
}

TEST_F(SnapshotTest, RefreshEqualsAScan) {
  Write("content/a/b", "1");
  const auto before = Scan();
  Write("content/a/c/d", "2");
  Write("content/.git/x", "2");
  Link("a", "content/l");
  Write("content/q\xff", "");
  const auto now =
      Refresh(*before, {"/Game/a/c/d", "/Game/.git/x", "/Game/l/b", "/Game/l/c/d", "/Game/q\xff"});
  EXPECT_EQ(Shown(*now), Shown(*Scan()));
  EXPECT_EQ(Shown(*Refresh(*before, {"/"})), Shown(*Scan()));
}

TEST_F(SnapshotTest, APathAtWhichNothingWasAndIsDoesNotCostAllFiles) {
  Write("content/a", "1");
  Write("content/f/x", "1");
  Write("mod/b", "file");
  Mount("/Game", "mod", 1);
  const auto before = Scan();
  Write("content/a", "2");
  const auto now =
      Refresh(*before, {"/Game/.a.swp", "/Game/a", "/Game/a~/x", "/Game/none/a", "/Game/z"});
  EXPECT_TRUE(now->IsRevisionOf(*before));
  EXPECT_EQ(Text(*now, "/Game/a"), "2");
  EXPECT_TRUE(Refresh(*before, {"/Game/.a.swp"})->IsRevisionOf(*before));
  EXPECT_TRUE(Refresh(*before, {"/Game/.git/x"})->IsRevisionOf(*before)) << "it is ignored";

  EXPECT_FALSE(Refresh(*before, {"/Game/f"})->IsRevisionOf(*before)) << "a folder was there";
  Write("content/new", "1");
  EXPECT_EQ(Shown(*Refresh(*before, {"/Game/a", "/Game/new"})),
            "/Game/a /Game/b /Game/f/x /Game/new");
  Write("content/b/hidden", "1");
  const auto hidden = Refresh(*before, {"/Game/b/hidden"});
  EXPECT_EQ(Shown(*hidden), "/Game/a /Game/b /Game/f/x") << "a file of the mod hides the folder";
  ASSERT_EQ(::unlink(Host("content/b/hidden").c_str()), 0);
  const auto gone = Refresh(*hidden, {"/Game/b/hidden"});
  ASSERT_EQ(::unlink(Host("mod/b").c_str()), 0);
  EXPECT_EQ(Shown(*Refresh(*gone, {"/Game/b"})), "/Game/a /Game/f/x")
      << "what was hidden went before";
}

// Files of two mounts under random edits.
class RandomEditsTest : public SnapshotTest {
 protected:
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  std::string OneOf(const std::vector<std::string>& list) { return list[Below(list.size())]; }

  // Writes a file, or removes a file or a folder. Returns the virtual path.
  std::string Edit() {
    const std::string path =
        OneOf({"", "a/", "A/", "a/b/"}) + OneOf({"a", "b", "B", "c.txt", "c.txt~", ".d"});
    const std::string host = Host(OneOf({"content/", "mod/"}) + path);
    std::error_code ignored;  // a file may have the place of a folder
    if (Below(3) == 0) {
      std::filesystem::remove_all(host, ignored);
    } else if (CreateDirectories(host.substr(0, host.rfind('/'))).ok()) {
      (void)WriteFileAtomic(host, std::string(Below(9), 'x'));
    }
    return "/Game/" + path;
  }

  static std::string Told(const Snapshot& snapshot) {
    std::string text;
    for (const FileEntry& file : snapshot.files()) {
      text += fmt::format("{} {} {} {} {}\n", file.path, file.host_path, file.stat.size_bytes,
                          file.stat.inode, file.error);
    }
    return text;
  }

  std::mt19937 random_;
};

TEST_F(RandomEditsTest, RefreshesEqualAScan) {
  Mount("/Game", "mod", 1);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    random_.seed(seed);
    std::unique_ptr<Snapshot> snapshot = Scan();
    for (int step = 0; step < 50; ++step) {
      std::vector<std::string> edited;
      for (size_t left = 1 + Below(3); left > 0; --left) edited.push_back(Edit());
      snapshot = Refresh(*snapshot, edited);
      ASSERT_EQ(Told(*snapshot), Told(*Scan())) << "seed " << seed << ", step " << step << ": "
                                                << fmt::format("{}", fmt::join(edited, " "));
    }
  }
}

TEST_F(SnapshotTest, RefreshOfNothingChangesNothing) {
  Write("content/a", "1");
  const auto before = Scan();
  EXPECT_EQ(Shown(*Refresh(*before, {})), "/Game/a");
  EXPECT_FALSE(before->Refresh(std::vector<std::string>{"Game/a"}).ok());
}

}  // namespace
}  // namespace galley::content
