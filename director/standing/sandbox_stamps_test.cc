#include "director/standing/sandbox_stamps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "common/base/file.h"
#include "common/content/patched_file.h"
#include "common/content/stamp_table.h"
#include "common/store/testing/memory_store.h"
#include "common/tree/tree.h"
#include "director/stage/ownership.h"
#include "director/stage/stage.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

class SandboxStampsTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = *MakeTemporaryDirectory(testing::TempDir(), "sandbox_stamps_test_");
    sandbox_ = JoinPath(dir_, "out/pc");
    ASSERT_TRUE(ClaimSandbox(sandbox_, {.project_id = "id", .platform = "pc"}, dir_).ok());
    root_ = Tree({{"Game/a", "1"}, {"Game/sub/b", "2"}});
    ASSERT_TRUE(Stage(store_, {.directory = sandbox_, .root = root_}).ok());
    ASSERT_TRUE(Note().ok());
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }

  Digest Put(const std::string& bytes) {
    const Digest digest = Digest::Of(bytes);
    EXPECT_TRUE(store_.Put(digest, bytes).ok());
    return digest;
  }
  Digest Tree(const std::map<std::string, std::string>& files) {
    std::vector<tree::TreeFile> list;
    for (const auto& [path, text] : files) list.push_back({.path = path, .digest = Put(text)});
    const tree::BuiltTree built =
        tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
    for (const auto& [digest, bytes] : built.directories) Put(std::string(bytes));
    return built.root;
  }
  absl::Status Note() {
    const auto stamps = SandboxStamps(store_, root_, sandbox_);
    return stamps.ok() ? content::PatchedFile::Write(JoinPath(dir_, "stamps"), *stamps)
                       : stamps.status();
  }
  bool Holds() const {
    return content::StampTable::Open(JoinPath(dir_, "stamps"))->Check({}).holds;
  }
  void Write(const std::string& path, const std::string& text) const {
    std::ofstream(JoinPath(sandbox_, path), std::ios::trunc) << text;
  }

  store::MemoryStore store_;
  std::string dir_, sandbox_;
  Digest root_;
};

TEST_F(SandboxStampsTest, ASandboxThatNobodyTouchedHolds) { EXPECT_TRUE(Holds()); }

TEST_F(SandboxStampsTest, WhatAPersonEditedDeletedOrPutThereIsFound) {
  Write("Game/a", "X");
  EXPECT_FALSE(Holds());
  Write("Game/a", "1");
  EXPECT_TRUE(Holds());
  Write("Game/sub/mine", "");
  EXPECT_FALSE(Holds());
  std::filesystem::remove(JoinPath(sandbox_, "Game/sub/mine"));
  EXPECT_TRUE(Holds());
  std::filesystem::remove(JoinPath(sandbox_, "Game/sub/b"));
  EXPECT_FALSE(Holds());
}

TEST_F(SandboxStampsTest, FilesInFoldersOfSomebodyElseAreFound) {
  ASSERT_TRUE(CreateDirectories(JoinPath(sandbox_, "saves/old")).ok());
  Write("saves/1", "");
  ASSERT_TRUE(Note().ok());
  EXPECT_TRUE(Holds());
  Write("saves/old/2", "");
  EXPECT_FALSE(Holds());
  std::filesystem::remove(JoinPath(sandbox_, "saves/old/2"));
  EXPECT_TRUE(Holds());
  std::filesystem::remove(JoinPath(sandbox_, "saves/1"));
  EXPECT_FALSE(Holds());
}

TEST_F(SandboxStampsTest, AnotherOwnerAndAnInterruptedStageAreFound) {
  Write(".galley-root.pending", "");
  EXPECT_FALSE(Holds());
  std::filesystem::remove(JoinPath(sandbox_, ".galley-root.pending"));
  EXPECT_TRUE(Holds());
  Write(".galley-sandbox", "another's");
  EXPECT_FALSE(Holds());
}

TEST_F(SandboxStampsTest, NothingIsNotedOfASandboxThatChangedOrHoldsAnotherRoot) {
  const Digest before = root_;
  root_ = Tree({{"Game/a", "3"}});
  EXPECT_TRUE(absl::IsFailedPrecondition(Note()));
  root_ = before;
  Write("Game/a", "longer");
  EXPECT_TRUE(absl::IsFailedPrecondition(Note()));
}

TEST_F(SandboxStampsTest, TheTableGoesOnFromWhatWasReplaced) {
  const std::string file = JoinPath(dir_, "stamps");
  for (int i = 0; i < 4; ++i) {
    const Digest before = root_;
    root_ = Tree({{"Game/a", fmt::format("edit {}", i)}, {"Game/sub/b", "2"}});
    const auto staged = StageChanges(store_, {.directory = sandbox_, .root = root_}, before);
    ASSERT_TRUE(staged.ok() && staged->has_value()) << i;
    EXPECT_FALSE(Holds());
    const auto stamps =
        SandboxStampsAfter(store_, *content::StampTable::Open(file), before, root_, sandbox_);
    ASSERT_TRUE(stamps.ok()) << stamps.status();
    ASSERT_TRUE(content::PatchedFile::Write(file, *stamps).ok());
    EXPECT_TRUE(Holds()) << i;
  }
  Write("mine", "");
  EXPECT_FALSE(Holds());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      SandboxStampsAfter(store_, *content::StampTable::Open(file), root_, root_, sandbox_)
          .status()));
  std::filesystem::remove(JoinPath(sandbox_, "mine"));
  ASSERT_TRUE(Note().ok());
  EXPECT_TRUE(Holds()) << "all of it is noted as a whole stage would leave it";
}

}  // namespace
}  // namespace galley::director
