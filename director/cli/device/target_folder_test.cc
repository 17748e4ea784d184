#include "director/cli/device/target_folder.h"

#include <filesystem>

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TargetFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    base_ =
        MakeTemporaryDirectory(std::filesystem::temp_directory_path().string(), "target").value();
    path_ = JoinPath(base_, "copy");
    Begin();
  }
  void TearDown() override {
    folder_.reset();
    ASSERT_TRUE(RemoveAll(base_).ok());
  }
  // Another sync begins; the one before was ended, or killed.
  void Begin() {
    folder_.reset();
    auto opened = TargetFolder::Open(path_, {.platform = "pc", .cultures = {}, .scopes = {}});
    ASSERT_TRUE(opened.ok()) << opened.status();
    folder_ = *std::move(opened);
  }
  TargetFolder::Put Put(const std::string& path, const std::string& bytes) {
    const auto put =
        folder_->PutFile(path, Digest::Of(bytes), [&](const auto& take) { return take(bytes); });
    EXPECT_TRUE(put.ok()) << put.status();
    return put.value_or(TargetFolder::Put::kBlocked);
  }
  void ByHand(const std::string& path, const std::string& bytes) const {
    ASSERT_TRUE(CreateDirectories(std::filesystem::path(At(path)).parent_path().string()).ok());
    ASSERT_TRUE(WriteFileAtomic(At(path), bytes).ok());
  }
  std::string Read(const std::string& path) const { return ReadFile(At(path)).value_or("absent"); }
  std::string At(const std::string& path) const { return JoinPath(path_, path); }

  std::string base_, path_;
  std::unique_ptr<TargetFolder> folder_;
};

using enum TargetFolder::Put;

TEST_F(TargetFolderTest, FilesArePutAndReplaced) {
  EXPECT_EQ(Put("Game/maps/a", "one"), kWritten);
  EXPECT_EQ(folder_->FindAsPut("Game/maps/a")->digest, Digest::Of("one"));
  EXPECT_EQ(Put("Game/maps/a", "another"), kWritten);
  EXPECT_EQ(Read("Game/maps/a"), "another");
  ByHand("Game/maps/a", "spoiled");
  EXPECT_FALSE(folder_->FindAsPut("Game/maps/a"));
  EXPECT_EQ(Put("Game/maps/a", "another"), kWritten);
  ASSERT_TRUE(folder_->Finish("root").ok());
  EXPECT_EQ(folder_->CountForeign(), 0u);
  Begin();
  EXPECT_EQ(folder_->root_before(), "root");
  EXPECT_THAT(folder_->ListPaths(), ElementsAre("Game/maps/a"));
  EXPECT_TRUE(folder_->FindAsPut("Game/maps/a"));
}

TEST_F(TargetFolderTest, ASyncThatWasKilledIsGoneOnWith) {
  Put("Game/a", "one");
  Put("Game/b", "two");
  folder_->RemoveFile("Game/b").value();
  Begin();
  EXPECT_EQ(folder_->root_before(), "");
  EXPECT_THAT(folder_->ListPaths(), ElementsAre("Game/a"));
  EXPECT_EQ(folder_->FindAsPut("Game/a")->digest, Digest::Of("one"));
}

TEST_F(TargetFolderTest, WhatOthersPutThereStays) {
  ByHand("Game/mine", "mine");
  ByHand("Game/same", "same");
  ByHand("elsewhere/x", "x");
  std::filesystem::create_symlink("elsewhere", At("link"));
  EXPECT_EQ(Put("Game/mine", "yours"), kBlocked);
  EXPECT_EQ(Put("Game/same", "same"), kAdopted);
  EXPECT_EQ(Put("Game/mine/below", "b"), kBlocked) << "a file is on the way";
  EXPECT_EQ(Put("Game", "b"), kBlocked) << "a folder";
  EXPECT_EQ(Put("link/x", "b"), kBlocked) << "a link may lead anywhere";
  EXPECT_EQ(Put("link", "b"), kBlocked);
  EXPECT_EQ(Put(kSyncListFile, "b"), kBlocked);
  EXPECT_EQ(Read("Game/mine"), "mine");
  EXPECT_EQ(Read("elsewhere/x"), "x");
  EXPECT_EQ(folder_->CountForeign(), 3u) << "mine, x and the link";
}

TEST_F(TargetFolderTest, OnlyFilesThatASyncPutThereAreRemoved) {
  Put("Game/deep/er/a", "a");
  Put("Game/b", "b");
  Put("Game/c", "c");
  ByHand("Game/c", "edited by somebody");
  EXPECT_TRUE(folder_->RemoveFile("Game/deep/er/a").value());
  EXPECT_FALSE(FileExists(At("Game/deep"))) << "empty folders go, too";
  EXPECT_FALSE(folder_->RemoveFile("Game/c").value());
  EXPECT_EQ(Read("Game/c"), "edited by somebody");
  EXPECT_THAT(folder_->ListPaths(), ElementsAre("Game/b"));
  EXPECT_EQ(folder_->CountForeign(), 1u);
  EXPECT_EQ(Put("Game/deep/er/a", "again"), kWritten) << "the folders are made again";
  std::filesystem::remove(At("Game/b"));
  EXPECT_TRUE(folder_->RemoveFile("Game/b").value()) << "somebody was quicker";
}

TEST_F(TargetFolderTest, FailedWritesLeaveNothing) {
  Put("Game/a", "one");
  const auto put = folder_->PutFile("Game/a", Digest::Of("two"), [&](const auto& take) {
    EXPECT_TRUE(take("t").ok());
    return absl::DataLossError("the disk of the cache is broken");
  });
  EXPECT_TRUE(absl::IsDataLoss(put.status()));
  EXPECT_EQ(Read("Game/a"), "one");
  EXPECT_EQ(folder_->FindAsPut("Game/a")->digest, Digest::Of("one"));
  folder_.reset();
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre(kSyncListFile, "Game"));
}

TEST_F(TargetFolderTest, FoldersThatCannotBeFilled) {
  const SyncedFrom pc{.platform = "pc", .cultures = {}, .scopes = {}};
  EXPECT_THAT(MessageOf(TargetFolder::Open(path_, pc).status()), HasSubstr("another sync"));
  folder_.reset();
  EXPECT_THAT(
      MessageOf(
          TargetFolder::Open(path_, {.platform = "deck", .cultures = {}, .scopes = {}}).status()),
      HasSubstr("is a copy of platform pc, and not of deck"));
  ByHand(kSyncListFile, "something\n");
  EXPECT_THAT(MessageOf(TargetFolder::Open(path_, pc).status()), HasSubstr("Remove this file"));
  ByHand("file", "");
  EXPECT_FALSE(TargetFolder::Open(At("file"), pc).ok());
}

}  // namespace
}  // namespace galley::device
