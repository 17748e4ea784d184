#include "common/vfs/seen_files.h"

#include <optional>
#include <string>
#include <vector>

#include "common/vfs/testing/memory_disk.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

BlobId NumberedWorld(int number) { return BlobId::Of("world " + std::to_string(number)); }
std::string ListPath(const BlobId& world) { return "/c/seen/" + ToHex(world.hash); }

class SeenFilesTest : public testing::Test {
 protected:
  SeenFilesTest() { EXPECT_FALSE(seen_.Begin()); }

  std::vector<FileFacts> Lists() { return *disk_.List("/c/seen"); }

  MemoryDisk disk_;
  SeenFiles seen_{disk_, "/c/seen"};
  const BlobId world_ = NumberedWorld(0);
  const BlobId blob_ = BlobId::Of("bytes");
};

TEST_F(SeenFilesTest, PathsAreFoundInTheirWorld) {
  ASSERT_FALSE(seen_.Note(world_, "Game/a", blob_));
  ASSERT_FALSE(seen_.Note(world_, "Game/b", BlobId::Of("b")));
  EXPECT_EQ(seen_.Find(world_, "Game/a"), blob_);
  EXPECT_EQ(seen_.Find(world_, "a"), std::nullopt);
  EXPECT_EQ(seen_.Find(NumberedWorld(1), "Game/a"), std::nullopt);
}

// Another process notes, and its list forgets its older half.
TEST_F(SeenFilesTest, WhatOthersNoteIsFound) {
  SeenFiles reader(disk_, "/c/seen");
  const std::string long_name(3'000, 'x');
  for (int i = 0; i < 3'000; ++i) {
    const std::string path = long_name + std::to_string(i);
    ASSERT_FALSE(seen_.Note(world_, path, BlobId::Of(path)));
    if (i % 50 != 0) continue;
    EXPECT_EQ(reader.Find(world_, path), BlobId::Of(path)) << i;
    EXPECT_EQ(reader.Find(world_, "none"), std::nullopt);
  }
  EXPECT_EQ(reader.Find(world_, long_name + "0"), std::nullopt) << "it is forgotten";
  EXPECT_EQ(reader.Find(NumberedWorld(1), long_name + "2999"), std::nullopt);
  EXPECT_EQ(reader.Find(world_, long_name + "2999"), BlobId::Of(long_name + "2999"));
}

TEST_F(SeenFilesTest, AListDoesNotGrowWithEachStart) {
  for (int i = 0; i < 5; ++i) {
    SeenFiles seen(disk_, "/c/seen");
    ASSERT_FALSE(seen.Begin());
    ASSERT_FALSE(seen.Note(world_, "Game/a", blob_));
  }
  EXPECT_LT(disk_.BytesIn("/c/seen"), 200u);
}

TEST_F(SeenFilesTest, OneSessionThroughManyWorldsKeepsSixteenLists) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_FALSE(seen_.Note(NumberedWorld(i), "Game/a", blob_));
    EXPECT_LE(Lists().size(), SeenFiles::kWorldsMax) << i;
    EXPECT_EQ(seen_.Find(NumberedWorld(i), "Game/a"), blob_) << i;
  }
}

TEST_F(SeenFilesTest, AListOfOneWorldForgetsOldPaths) {
  const std::string long_name(3'000, 'x');
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_FALSE(seen_.Note(world_, long_name + std::to_string(i), blob_));
    if (i % 100 != 0) continue;
    ASSERT_LE(disk_.BytesIn("/c/seen"), SeenFiles::kListBytesMax);
  }
  EXPECT_GT(disk_.BytesIn("/c/seen"), SeenFiles::kListBytesMax / 3);
  EXPECT_EQ(seen_.Find(world_, long_name + "2999"), blob_);
  EXPECT_EQ(seen_.Find(world_, long_name + "2500"), blob_) << "the newer half stays";
  EXPECT_EQ(seen_.Find(world_, long_name + "0"), std::nullopt);
  ASSERT_FALSE(seen_.Note(world_, long_name + "0", blob_));
  EXPECT_EQ(seen_.Find(world_, long_name + "0"), blob_) << "it is noted again";
}

// In each field of a line one byte is wrong; the other line still counts.
TEST_F(SeenFilesTest, NoDamagedLineIsTaken) {
  ASSERT_FALSE(seen_.Note(world_, "Game/a", blob_));
  ASSERT_FALSE(seen_.Note(world_, "Game/b", BlobId::Of("b")));
  const std::string list = disk_.Files()[ListPath(world_)];
  const size_t line = list.find("Game/a") + 7;
  for (size_t i = 0; i < line; ++i) {
    for (const char with : {'\0', '\n', ' ', '0', '/', '\xff'}) {
      std::string damaged = list;
      if (damaged[i] == with) continue;
      damaged[i] = with;
      disk_.SetFile(ListPath(world_), damaged);
      SeenFiles seen(disk_, "/c/seen");
      const std::optional<BlobId> found = seen.Find(world_, "Game/a");
      EXPECT_TRUE(!found || *found == blob_) << i;
      EXPECT_EQ(seen.Find(world_, "Game/b"), BlobId::Of("b")) << i;
      ASSERT_FALSE(seen.Note(world_, "Game/a", blob_));
      EXPECT_EQ(seen.Find(world_, "Game/a"), blob_) << i << ": it is noted again";
    }
  }
}

TEST_F(SeenFilesTest, CutAndForeignListsHarmNothing) {
  ASSERT_FALSE(seen_.Note(world_, "Game/a", blob_));
  const std::string list = disk_.Files()[ListPath(world_)];
  for (size_t size = 0; size <= list.size(); ++size) {
    disk_.SetFile(ListPath(world_), list.substr(0, size));
    SeenFiles seen(disk_, "/c/seen");
    ASSERT_FALSE(seen.Note(world_, "Game/b", BlobId::Of("b")));
    EXPECT_EQ(seen.Find(world_, "Game/b"), BlobId::Of("b")) << size;
  }
  disk_.SetFile(ListPath(world_), std::string(6 << 20, 'x'));
  SeenFiles seen(disk_, "/c/seen");
  ASSERT_FALSE(seen.Note(world_, "Game/a", blob_));
  EXPECT_EQ(seen.Find(world_, "Game/a"), blob_);
  EXPECT_LT(disk_.BytesIn("/c/seen"), 1'000u) << "it is longer than a list may be";
}

TEST_F(SeenFilesTest, SomethingElseInPlaceOfAListIsReplaced) {
  disk_.SetOther(ListPath(world_));
  ASSERT_FALSE(seen_.Note(world_, "Game/a", blob_));
  EXPECT_EQ(seen_.Find(world_, "Game/a"), blob_);
  const BlobId other = NumberedWorld(1);
  disk_.SetFile("/c/seen/" + ToHex(other.hash) + ".new0", "torn");
  disk_.SetFile("/c/seen/README", "foreign");
  SeenFiles seen(disk_, "/c/seen");
  ASSERT_FALSE(seen.Begin());
  EXPECT_EQ(Lists().size(), 1u) << "only the list stays";
}

}  // namespace
}  // namespace galley::vfs
