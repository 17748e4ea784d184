// The corner rules of what devices see (device_corners_test.cc), with a project on the disk.
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/tree/find_path.h"
#include "director/resident/testing/device_service_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class DeviceServiceCornersTest : public DeviceServiceTest {
 protected:
  // True: the root shows nothing at the path: no file, and no link.
  bool ShowsNothing(const Digest& root, const std::string& path) {
    const auto found = tree::FollowLinks(
        root, "static/" + path, [this](const Digest& digest) { return memory_.Get(digest); });
    EXPECT_TRUE(found.ok()) << found.status();
    return std::holds_alternative<tree::AbsentPath>(*found);
  }
  // Asks for the path in the present world, and in the session; returns the error of both.
  std::string ErrorOf(const std::string& session, const std::string& path) {
    const DeviceAnswer present = Get(path);
    const DeviceAnswer in_session = GetIn(session, path);
    EXPECT_EQ(RefusalIn(present).kind, RefusalKind::kFailed) << path;
    EXPECT_EQ(RefusalIn(in_session), RefusalIn(present));
    return RefusalIn(present).text;
  }
};

TEST_F(DeviceServiceCornersTest, WhatIsJudgedAwayHasNoLinkAndItsErrorIsTheAnswer) {
  Write("content/pointer.txt",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n");
  Write("content/twin.txt", "");
  Write("content/Twin.txt", "");
  Write("content/never.png", "");
  project_.cook.never = {"/Game/never.*"};
  Begin();
  const DeviceSessionState session = Open();
  EXPECT_TRUE(ShowsNothing(session.root, "Game/pointer.txt"));
  EXPECT_TRUE(ShowsNothing(session.root, "Game/twin.txt"));
  EXPECT_TRUE(ShowsNothing(session.root, "Game/never.png.ktx2"));
  EXPECT_FALSE(ShowsNothing(session.root, "Game/a.png.ktx2"));
  EXPECT_THAT(ErrorOf(session.id, "Game/pointer.txt"), HasSubstr("git lfs pull"));
  EXPECT_THAT(ErrorOf(session.id, "Game/twin.txt"), HasSubstr("/Game/Twin.txt"));
  EXPECT_THAT(ErrorOf(session.id, "Game/never.png.ktx2"), HasSubstr("is never cooked"));
  for (const char* package : {"/Game/pointer.txt", "/Game/twin.txt", "/Game/never.png"})
    EXPECT_EQ(fake_.AskedFor(package), 0) << package;
}

TEST_F(DeviceServiceCornersTest, AModIsAnotherWorldInWhichOnlyWhatItWinsDiffers) {
  Mount("/Game", "mod", /*priority=*/5);
  Begin();
  const DeviceSessionState plain = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "plain"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b"}}));
  GetIn(plain.id, "Game/a.png.ktx2");
  const Digest root = *FileOf(GetIn(plain.id, "Game/b.png.ktx2")).root;
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "modded"}}));
  Edit("mod/a.png", "another source");
  AwaitNewest(plain.id, root);
  const DeviceSessionState modded = Open();
  EXPECT_EQ(FileOf(GetIn(modded.id, "Game/a.png.ktx2")).digest, Digest::Of("modded"));
  EXPECT_EQ(FileOf(GetIn(modded.id, "Game/b.png.ktx2")).digest, Digest::Of("b"));
  EXPECT_EQ(fake_.AskedFor("/Game/b.png"), 1) << "the mod has no such file";
  EXPECT_EQ(FileOf(GetIn(plain.id, "Game/a.png.ktx2")).digest, Digest::Of("plain"));
  // Switched off, the first file wins again.
  const Digest modded_root = *StateOf(modded.id).newest_root;
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "plain"}}));
  ASSERT_TRUE(RemoveAll(Host("mod/a.png")).ok());
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  AwaitNewest(modded.id, modded_root);
  EXPECT_EQ(FileOf(GetIn(Open().id, "Game/a.png.ktx2")).digest, Digest::Of("plain"));
  EXPECT_EQ(FileOf(GetIn(modded.id, "Game/a.png.ktx2")).digest, Digest::Of("modded"));
  EXPECT_EQ(fake_.AskedFor("/Game/b.png"), 1);
}

TEST_F(DeviceServiceCornersTest, AFileWhoseCookerChangesIsALinkInTheNextWorldAlone) {
  Begin();
  const DeviceSessionState before = Open();
  Edit("content/read.txt.cook", "cooker = \"texture\"\n");
  AwaitNewest(before.id, before.root);
  const DeviceSessionState after = Open();
  EXPECT_TRUE(ShowsNothing(after.root, "Game/read.txt"));
  EXPECT_FALSE(ShowsNothing(after.root, "Game/read.txt.ktx2"));
  EXPECT_EQ(InTree(after.root, "Game/read.txt.ktx2"), std::nullopt) << "a link to nothing yet";
  EXPECT_EQ(InTree(before.root, "Game/read.txt"), Digest::Of("me"));
  EXPECT_EQ(FileOf(GetIn(before.id, "Game/read.txt")).digest, Digest::Of("me"));
}

TEST_F(DeviceServiceCornersTest, ARenameIsOneEventAndTheOldSessionStillAnswers) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b"}}));
  GetIn(session.id, "Game/b.png.ktx2");
  auto events =
      std::get<std::unique_ptr<DeviceEvents>>(service_->ReadChanges(session.id, std::nullopt));
  events->Take(10);
  fake_.Forget("/Game/b.png");
  ASSERT_TRUE(RemoveAll(Host("content/b.png")).ok());
  Edit("content/renamed.png", "b");
  std::vector<devices::ChangeEventPtr> told;
  AwaitOrFail(
      [&] {
        told = events->Take(10).value();
        return !told.empty();
      },
      "the event");
  ASSERT_THAT(told, SizeIs(1));
  ASSERT_THAT(told[0]->removed, SizeIs(1));
  EXPECT_EQ(told[0]->removed[0].before, Digest::Of("b"));
  ASSERT_THAT(told[0]->added, SizeIs(1));
  EXPECT_EQ(told[0]->added[0].path, "Game/renamed.png.ktx2");
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/b.png.ktx2")).digest, Digest::Of("b"));
  EXPECT_EQ(RefusalIn(Get("Game/b.png.ktx2")).kind, RefusalKind::kAbsent);
  events.reset();
}

}  // namespace
}  // namespace galley::director
