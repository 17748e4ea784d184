#include "director/stage/ownership.h"

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/file.h"
#include "common/base/sealed_text.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "director/stage/stage_lock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OwnershipTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::canonical(MakeTemporaryDirectory(::testing::TempDir(), "own").value()).string();
    tower_ = Project("tower", "1111");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  SandboxOwner Project(const std::string& name, const std::string& id) {
    fs::create_directories(State({.project_folder = JoinPath(folder_, name)}));
    return {.project_id = id,
            .project_name = name,
            .project_folder = JoinPath(folder_, name),
            .platform = "pc"};
  }
  static std::string State(const SandboxOwner& owner) {
    return JoinPath(owner.project_folder, ".galley/state");
  }
  std::string Out() const { return JoinPath(folder_, "out/pc"); }
  void Write(const std::string& path, std::string_view text) const {
    fs::create_directories(fs::path(path).parent_path());
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }
  absl::Status Check(const SandboxOwner& owner, const std::string& directory,
                     const SandboxRules& rules = {}) {
    return CheckSandbox(directory, owner, State(owner), rules);
  }
  absl::Status Claim(const SandboxOwner& owner, const std::string& directory) {
    return ClaimSandbox(directory, owner, State(owner));
  }

  std::string folder_;
  SandboxOwner tower_;
};

TEST_F(OwnershipTest, AFolderThatIsAbsentOrEmptyIsFree) {
  EXPECT_TRUE(Check(tower_, Out()).ok());
  EXPECT_FALSE(FileExists(Out())) << "nothing is made";
  fs::create_directories(Out());
  EXPECT_TRUE(Check(tower_, Out()).ok());
  Write(JoinPath(Out(), ".galley-new~"), "a claim that was cut off");
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

TEST_F(OwnershipTest, AFolderWithOtherFilesIsRefusedAndSaysWhatIsThere) {
  for (const char* name : {".git/HEAD", "a", "b", "c", "d", "e"}) Write(JoinPath(Out(), name), "x");
  const absl::Status status = Check(tower_, Out());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("holds .git, a, b, c and 2 more"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--adopt"));
  EXPECT_TRUE(Check(tower_, Out(), {.adopt = true}).ok());
  // A file that was there at the adoption is known not to be Galley's, whatever comes in between.
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  Sandbox sandbox = Sandbox::Open(Out()).value();
  const Ledger ledger = ReadLedger(sandbox).value();
  EXPECT_TRUE(ledger.is_whole && ledger.files.empty() && ledger.roots.empty());
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

// A file that comes later belongs to whoever put it there, even at a path that is cooked as well.
TEST_F(OwnershipTest, ANewSandboxHoldsNothingOfGalleys) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Claim(tower_, Out()).ok());
    Write(JoinPath(Out(), "Game/a"), "mine");
    Sandbox sandbox = Sandbox::Open(Out()).value();
    const Ledger ledger = ReadLedger(sandbox).value();
    EXPECT_TRUE(ledger.is_whole && ledger.files.empty() && ledger.roots.empty());
    // A person emptied the folder, which the state knows.
    for (const auto& entry : fs::directory_iterator(Out())) fs::remove_all(entry.path());
  }
  // A claim that was cut off is as good as none.
  Write(JoinPath(Out(), kPendingName), "end\n");
  fs::remove(JoinPath(State(tower_), "sandboxes"));
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

TEST_F(OwnershipTest, ALinkToNothingIsRefused) {
  fs::create_directories(JoinPath(folder_, "out"));
  fs::create_symlink(JoinPath(folder_, "nowhere"), Out());
  const absl::Status status = Check(tower_, Out(), {.adopt = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is a link to " + JoinPath(folder_, "nowhere") + ", which is not there"));
}

TEST_F(OwnershipTest, AFolderBelowALinkToNothingIsRefused) {
  fs::create_symlink(JoinPath(folder_, "nowhere"), JoinPath(folder_, "out"));
  for (const std::string& directory : {Out(), JoinPath(folder_, "out/deep/pc")}) {
    const absl::Status status = Check(tower_, directory);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << directory;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(JoinPath(folder_, "out") + " is a link to " +
                          JoinPath(folder_, "nowhere") + ", which is not there"));
  }
  fs::create_directories(JoinPath(folder_, "nowhere"));
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

TEST_F(OwnershipTest, WhetherAFolderCanBeWrittenIsSeenWithoutMakingIt) {
  EXPECT_TRUE(CheckWritable(Out()).ok());
  EXPECT_FALSE(FileExists(JoinPath(folder_, "out")));
  Write(JoinPath(folder_, "out"), "a file");
  EXPECT_FALSE(CheckWritable(Out()).ok());
}

TEST_F(OwnershipTest, AFolderBehindALinkIsJudgedByWhatItHolds) {
  Write(JoinPath(folder_, "home/notes"), "mine");
  fs::create_directories(JoinPath(folder_, "out"));
  fs::create_symlink(JoinPath(folder_, "home"), Out());
  EXPECT_TRUE(absl::IsFailedPrecondition(Check(tower_, Out())));
  fs::remove(JoinPath(folder_, "home/notes"));
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

TEST_F(OwnershipTest, AClaimedFolderStaysOursWithOtherFilesInIt) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  Write(JoinPath(Out(), "notes"), "mine");
  EXPECT_TRUE(Check(tower_, Out()).ok());
  const FileStat before = StatFile(JoinPath(Out(), ".galley-sandbox")).value();
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  EXPECT_EQ(StatFile(JoinPath(Out(), ".galley-sandbox")).value(), before) << "written once";
}

TEST_F(OwnershipTest, EitherOfItsTwoRecordsIsEnough) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  Write(JoinPath(Out(), "notes"), "mine");
  const std::string file = ReadFile(JoinPath(Out(), ".galley-sandbox")).value();
  for (const std::string& damaged : {std::string(), file.substr(0, file.size() / 2)}) {
    Write(JoinPath(Out(), ".galley-sandbox"), damaged);
    EXPECT_TRUE(Check(tower_, Out()).ok()) << "the state knows the folder";
  }
  fs::remove(JoinPath(Out(), ".galley-sandbox"));
  EXPECT_TRUE(Check(tower_, Out()).ok());
  fs::remove(JoinPath(State(tower_), "sandboxes"));
  EXPECT_FALSE(Check(tower_, Out()).ok());
  Write(JoinPath(Out(), ".galley-sandbox"), file);
  EXPECT_TRUE(Check(tower_, Out()).ok());
}

TEST_F(OwnershipTest, TheStateKnowsTheFolderAndNotItsName) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  fs::rename(Out(), JoinPath(folder_, "out/old"));
  Write(JoinPath(Out(), "notes"), "mine");
  EXPECT_FALSE(Check(tower_, Out()).ok());
  EXPECT_TRUE(Check(tower_, JoinPath(folder_, "out/old")).ok()) << "it has its file";
}

// The inode of the old folder is used again.
TEST_F(OwnershipTest, AFolderThatWasMadeAnewIsNotTheOldOne) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Claim(tower_, Out()).ok());
    fs::remove_all(Out());
    Write(JoinPath(Out(), "notes"), "mine");
    EXPECT_TRUE(absl::IsFailedPrecondition(Check(tower_, Out())));
    fs::remove_all(Out());
  }
}

TEST_F(OwnershipTest, ASandboxIsApartFromTheProject) {
  const std::string project = tower_.project_folder;
  for (const std::string& directory : {project, folder_, std::string("/")}) {
    const absl::Status status =
        Check(tower_, directory, {.adopt = true, .apart_from = {"/elsewhere", project}});
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << directory;
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be a sandbox"));
  }
  const std::string inside = JoinPath(project, "out/pc");
  EXPECT_TRUE(Check(tower_, inside, {.apart_from = {project}}).ok());
  EXPECT_TRUE(Check(tower_, project + "s", {.apart_from = {project}}).ok());
}

TEST_F(OwnershipTest, AFileIsNoSandbox) {
  Write(Out(), "mine");
  const absl::Status status = Check(tower_, Out(), {.adopt = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is no folder"));
}

TEST_F(OwnershipTest, ASandboxOfANewerGalleyIsRefused) {
  Write(JoinPath(Out(), ".galley-sandbox"), Seal("galley-sandbox", 2, {{"project", "9"}}));
  Write(JoinPath(Out(), kMarkerName), Digest::Of("").ToString() + "\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(Check(tower_, Out())));
}

TEST_F(OwnershipTest, WhatAnOlderGalleyStagedIsOurs) {
  Write(JoinPath(Out(), "Game/a"), "a");
  Write(JoinPath(Out(), kMarkerName), "rubbish");
  EXPECT_FALSE(Check(tower_, Out()).ok());
  Write(JoinPath(Out(), kMarkerName), Digest::Of("").ToString() + "\n");
  EXPECT_TRUE(Check(tower_, Out()).ok());
  fs::remove(JoinPath(Out(), kMarkerName));
  Write(JoinPath(Out(), kPendingName), "root " + Digest::Of("").ToString() + "\n");
  EXPECT_TRUE(Check(tower_, Out()).ok()) << "its stage was interrupted";
}

TEST_F(OwnershipTest, AnotherProjectsSandboxIsRefusedAndNamesIt) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  const SandboxOwner castle = Project("castle", "2222");
  const absl::Status status = Check(castle, Out());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tower in " + tower_.project_folder));
  EXPECT_TRUE(Check(castle, Out(), {.adopt = true}).ok());
  ASSERT_TRUE(Claim(castle, Out()).ok());
  EXPECT_TRUE(Check(castle, Out()).ok());
  EXPECT_FALSE(Check(tower_, Out()).ok()) << "it was taken over, whatever the state says";
}

TEST_F(OwnershipTest, AProjectWhoseStateWasDeletedKeepsItsSandboxes) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  fs::remove_all(JoinPath(tower_.project_folder, ".galley"));
  EXPECT_TRUE(Check({.project_id = "",
                     .project_name = "tower",
                     .project_folder = tower_.project_folder,
                     .platform = "pc"},
                    Out())
                  .ok());
}

TEST_F(OwnershipTest, AnotherProjectInTheSameFolderHasNoneOfThem) {
  const std::string inside = JoinPath(tower_.project_folder, "build/pc");
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  ASSERT_TRUE(Claim(tower_, inside).ok());
  fs::remove_all(JoinPath(tower_.project_folder, ".galley"));
  SandboxOwner castle = tower_;
  castle.project_id = "";
  castle.project_name = "castle";
  for (const std::string& directory : {Out(), inside})
    EXPECT_TRUE(absl::IsFailedPrecondition(Check(castle, directory))) << directory;
}

// A job of a CI system: the state is gone, and the folder is another one.
TEST_F(OwnershipTest, AProjectWithoutANameKeepsTheSandboxesThatMovedAlong) {
  const auto move = [&](const std::string& from, SandboxOwner to) {
    fs::remove_all(JoinPath(folder_, from + "/.galley"));
    fs::remove_all(to.project_folder);
    fs::rename(JoinPath(folder_, from), to.project_folder);
    return Check(to, JoinPath(to.project_folder, "out/pc"));
  };
  SandboxOwner first = Project("job-123", "1111");
  first.project_name.clear();
  ASSERT_TRUE(Claim(first, JoinPath(first.project_folder, "out/pc")).ok());
  ASSERT_TRUE(Claim(first, Out()).ok());
  SandboxOwner second = Project("job-124", "");
  EXPECT_TRUE(move("job-123", second).ok()) << "its name is new";
  second.project_name.clear();
  EXPECT_TRUE(move("job-124", Project("job-125", "")).ok());
  const absl::Status elsewhere = Check(second, Out());
  EXPECT_TRUE(absl::IsFailedPrecondition(elsewhere)) << "any project could say so";
  EXPECT_THAT(std::string(elsewhere.message()),
              HasSubstr("another project, in " + first.project_folder));
  // An older Galley wrote the folder's name.
  SandboxOwner old = Project("job-126", "2222");
  ASSERT_TRUE(Claim(old, JoinPath(old.project_folder, "out/pc")).ok());
  second = Project("job-127", "");
  second.project_name.clear();
  EXPECT_TRUE(move("job-126", second).ok());
}

TEST_F(OwnershipTest, ASandboxThatWasCopiedWithItsProjectIsOfTheCopy) {
  const std::string inside = JoinPath(tower_.project_folder, ".galley/cooked/pc");
  ASSERT_TRUE(Claim(tower_, inside).ok());
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  const SandboxOwner copy = Project("copy", "3333");
  fs::copy(JoinPath(tower_.project_folder, ".galley"), JoinPath(copy.project_folder, ".galley"),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  EXPECT_TRUE(Check(copy, JoinPath(copy.project_folder, ".galley/cooked/pc")).ok());
  EXPECT_FALSE(Check(copy, Out()).ok()) << "the original stages there";
  // A copy of the sandbox alone is somebody's.
  fs::create_directories(JoinPath(folder_, "ship"));
  fs::copy(inside, JoinPath(folder_, "ship/pc"), fs::copy_options::recursive);
  EXPECT_FALSE(Check(copy, JoinPath(folder_, "ship/pc")).ok());
}

TEST_F(OwnershipTest, AnExactStageIsRefusedWhereARepositoryIs) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  Write(JoinPath(Out(), "deep/er/.git/HEAD"), "x");
  EXPECT_TRUE(Check(tower_, Out()).ok());
  const absl::Status status = Check(tower_, Out(), {.adopt = true, .exact = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("deep/er/.git"));
}

TEST_F(OwnershipTest, AnExactStageIsRefusedWhereABareRepositoryIs) {
  ASSERT_TRUE(Claim(tower_, Out()).ok());
  Write(JoinPath(Out(), "game.git/HEAD"), "ref: refs/heads/main");
  Write(JoinPath(Out(), "game.git/objects/pack/1.pack"), "mine");
  EXPECT_TRUE(Check(tower_, Out(), {.exact = true}).ok()) << "two parts are none";
  Write(JoinPath(Out(), "game.git/refs/heads/main"), "1");
  const absl::Status status = Check(tower_, Out(), {.exact = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(JoinPath(Out(), "game.git")));
  fs::rename(JoinPath(Out(), "game.git/HEAD"), JoinPath(Out(), "HEAD"));
  fs::rename(JoinPath(Out(), "game.git/objects"), JoinPath(Out(), "objects"));
  fs::rename(JoinPath(Out(), "game.git/refs"), JoinPath(Out(), "refs"));
  EXPECT_FALSE(Check(tower_, Out(), {.exact = true}).ok());
}

TEST_F(OwnershipTest, OneStageAtATime) {
  const FileDescriptor first = LockSandbox(Out(), [] { return false; }).value();
  EXPECT_TRUE(FileExists(Out()));
  int asked = 0;
  const auto second = LockSandbox(Out(), [&] { return ++asked < 3; });
  EXPECT_TRUE(absl::IsCancelled(second.status()));
  EXPECT_EQ(asked, 3);
  EXPECT_TRUE(LockSandbox(JoinPath(folder_, "out/phone"), [] { return false; }).ok());
  EXPECT_FALSE(LockFolder(Out()).ok()) << "an apply or a checkout";
}

TEST_F(OwnershipTest, WhoWaitsForAStageGoesOnWhenItEnds) {
  auto first = std::make_optional(LockSandbox(Out(), [] { return false; }).value());
  const auto second = LockSandbox(Out(), [&] {
    first.reset();
    return true;
  });
  EXPECT_TRUE(second.ok());
}

}  // namespace
}  // namespace galley::director
