// Sessions of DeviceService when files change: which world they see, and what they are told.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/testing/await.h"
#include "director/resident/testing/device_service_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST_F(DeviceServiceTest, AfterAnEditASessionSeesItsOwnWorldOr409WithTheNewerRoot) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "new"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b"}}));
  Edit("content/a.png", "edited");
  AwaitNewest(session.id, *before.root);
  AwaitOrFail(
      [&] {
        return InTree(*StateOf(session.id).newest_root, "Game/a.png.ktx2") == Digest::Of("new");
      },
      "the renewal");
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, Digest::Of("old"));
  EXPECT_EQ(StateOf(session.id).root, *before.root);
  const DeviceRefusal refusal = RefusalIn(GetIn(session.id, "Game/b.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kSuperseded);
  EXPECT_EQ(refusal.root, StateOf(session.id).newest_root);
}

TEST_F(DeviceServiceTest, AnOlderWorldIsServedFromTheActionCache) {
  const WorldPtr world = MakeNow();
  ASSERT_TRUE(world->snapshot->DigestOf("/Game/b.png").ok());
  fake_.SetWorld(world);
  Serve();
  const DeviceSessionState session = Open();
  const Digest key = Cache(*world, "/Game/b.png", "b", Made({{".ktx2", "cached"}}));
  Edit("content/b.png", "edited");
  AwaitNewest(session.id, session.root);
  const DeviceFile file = FileOf(GetIn(session.id, "Game/b.png.ktx2"));
  EXPECT_EQ(file.digest, Digest::Of("cached"));
  EXPECT_EQ(file.tag, FileTag(key, file.digest));
  EXPECT_EQ(file.root, session.root);
}

TEST_F(DeviceServiceTest, AnEditWhileASessionWaitsIsItsAnswer) {
  Begin();
  const DeviceSessionState session = Open();
  const HeldAnswer<DeviceAnswer> held = AskIn(session.id, "Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  Edit("content/a.png", "edited");
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kSuperseded);
}

TEST_F(DeviceServiceTest, ANewerSessionKeepsTheNodesThatAnEditLeavesAlone) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b"}}));
  GetIn(session.id, "Game/a.png.ktx2");
  const DeviceFile before = FileOf(GetIn(session.id, "Game/b.png.ktx2"));
  fake_.Forget("/Game/a.png");
  Edit("content/a.png", "edited");
  AwaitNewest(session.id, *before.root);
  const DeviceSessionState newer = Open();
  EXPECT_EQ(InTree(newer.root, "Game/b.png.ktx2"), Digest::Of("b"));
  EXPECT_EQ(InTree(newer.root, "Game/a.png.ktx2"), std::nullopt) << "stale";
}

TEST_F(DeviceServiceTest, ANewerSessionLacksWhatRefersToWhatAGoneFileGenerated) {
  Write("content/town.level", "town");
  Begin();
  const DeviceSessionState session = Open();
  record::Result refers = Made({{".ktx2", "refers"}});
  refers.details.references = {{"/Game/town.level/_gen/cell.png", record::ReferenceKind::kHard}};
  fake_.Cooks("/Game/a.png", refers);
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  fake_.Forget("/Game/a.png");
  ASSERT_TRUE(RemoveAll(Host("content/town.level")).ok());
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  AwaitNewest(session.id, *before.root);
  EXPECT_EQ(InTree(Open().root, "Game/a.png.ktx2"), std::nullopt);
}

// The node comes from the leased tree, and the journal knows nothing of it.
TEST_F(DeviceServiceTest, BehindARestartWhatRefersToAGoneFileIsNotInTheNewerTree) {
  Begin();
  const DeviceSessionState session = Open();
  record::Result refers = Made({{".ktx2", "refers"}});
  refers.details.references = {{"/Game/b.png", record::ReferenceKind::kHard}};
  fake_.Cooks("/Game/a.png", refers);
  GetIn(session.id, "Game/a.png.ktx2");
  service_.reset();
  fake_.Forget("/Game/a.png");
  Serve();
  AwaitRestored(session.id);
  ASSERT_EQ(InTree(Open().root, "Game/a.png.ktx2"), Digest::Of("refers"));
  ASSERT_TRUE(RemoveAll(Host("content/b.png")).ok());
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  EXPECT_EQ(InTree(Open().root, "Game/a.png.ktx2"), std::nullopt);
}

TEST_F(DeviceServiceTest, AFileThatGoesWhileATreeIsBuiltTakesAlongWhatRefersToIt) {
  JournalMeta meta = journal_->meta();
  meta.store_id = memory_.Info()->store_id;
  ASSERT_TRUE(journal_->SetMeta(meta).ok());
  const WorldPtr world = MakeNow();
  ASSERT_TRUE(world->snapshot->DigestOf("/Game/a.png").ok());
  record::Result refers = Made({{".ktx2", "refers"}});
  refers.details.references = {{"/Game/b.png", record::ReferenceKind::kHard}};
  Note(*world, "/Game/a.png", "a", refers);
  fake_.SetWorld(world);
  memory_.HoldPutOf(Digest::Of("refers").ToString().substr(0, 64));  // the node of a.png
  Serve();
  HeldAnswer<SessionAnswer> waits;
  call_ = service_->OpenSession({.platform = "linux"}, kWaitMax, waits.Taker());
  AwaitOrFail([&] { return memory_.is_put_held(); }, "the build");
  EXPECT_TRUE(RemoveAll(Host("content/b.png")).ok());
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(Get("Game/b.png.ktx2"))) << "the newer world";
  memory_.Release();
  EXPECT_EQ(InTree(Open().root, "Game/a.png.ktx2"), std::nullopt);
}

// The cook may have made the package by an older list of its generator.
TEST_F(DeviceServiceTest, WhatACookMadeBeforeTheListOfItsGeneratorIsLookedUp) {
  Write("content/town.level", "town");
  Begin();
  const std::string cell = "/Game/town.level/_gen/cell.png";
  service_->NoteCooked(ResultOfACook(cell));
  fake_.Cooks("/Game/town.level", MadeWith({{".bin", "town"}}, {"_gen/cell.png"}));
  fake_.Cooks(cell, Made({{".ktx2", "of today"}}));
  EXPECT_EQ(FileOf(Get("Game/town.level/_gen/cell.png.ktx2")).digest, Digest::Of("of today"));
  EXPECT_EQ(fake_.AskedFor(cell), 1);
}

TEST_F(DeviceServiceTest, NothingIsKnownOfWhatAProgramMadeThatIsAnotherOneNow) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  Get("Game/a.png.ktx2");
  ASSERT_EQ(fake_.AskedFor("/Game/a.png"), 1);
  fake_.SetPrograms("rebuilt");
  fake_.SetRules("another galley.toml");
  Edit("content/b.png", "edited");
  Get("Game/a.png.ktx2");
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 2);
}

TEST_F(DeviceServiceTest, AWorldThatIsAsAnOlderOneWasHasItsTree) {
  Begin();
  const DeviceSessionState session = Open();
  const auto set_programs = [&](const std::string& programs) {
    fake_.SetPrograms(programs);
    fake_.SetWorld(MakeNow());
    service_->NoteWorld();
  };
  set_programs("rebuilt");
  AwaitNewest(session.id, session.root);
  set_programs("");
  AwaitOrFail([&] { return StateOf(session.id).newest_root == session.root; }, "the older tree");
  EXPECT_EQ(Open().root, session.root);
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, Digest::Of("texture"));
}

TEST_F(DeviceServiceTest, WhatASessionHasReadIsCookedInAWorldWhoseRulesComeLate) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  GetIn(session.id, "Game/a.png.ktx2");
  fake_.Forget("/Game/a.png");
  fake_.HoldRules(true);
  Edit("content/a.png", "edited");
  EXPECT_EQ(RefusalIn(Get("Game/none")).kind, RefusalKind::kNotReady);
  fake_.HoldRules(false);
  AwaitWaiting("/Game/a.png");
}

TEST_F(DeviceServiceTest, OnlyWhatASessionHasReadIsCookedAtAnEdit) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  GetIn(session.id, "Game/a.png.ktx2");
  fake_.Forget("/Game/a.png");
  Write("content/b.png", "edited, too");
  Edit("content/a.png", "edited");
  AwaitWaiting("/Game/a.png");
  EXPECT_EQ(fake_.AskedFor("/Game/b.png"), 0);
}

TEST_F(DeviceServiceTest, ASessionThatFollowsAnotherHasReadWhatThatOneHas) {
  Begin();
  const DeviceSessionState first = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  GetIn(first.id, "Game/a.png.ktx2");
  const SessionAnswer second = TryOpen({.platform = "linux", .succeeds = first.id});
  ASSERT_TRUE(std::holds_alternative<DeviceSessionState>(second));
  service_->CloseSession(first.id);
  fake_.Forget("/Game/a.png");
  Edit("content/a.png", "edited");
  AwaitWaiting("/Game/a.png");
}

TEST_F(DeviceServiceTest, AGeneratedPackageThatWasReadIsCookedAgainAfterItsGenerator) {
  Write("content/town.level", "t");
  const WorldPtr world = MakeNow();
  fake_.SetWorld(world);
  Serve();
  const std::string cell = "/Game/town.level/_gen/cell.level";
  const record::Result town = MadeWith({{".bin", "town"}}, {"_gen/cell.level"});
  fake_.Cooks("/Game/town.level", town);
  fake_.Cooks(cell, Made({{".bin", "cell"}}));
  const DeviceSessionState session = Open();
  GetIn(session.id, cell.substr(1) + ".bin");
  Note(*world, "/Game/town.level", "t", town);
  Note(*world, cell, "_gen/cell.level", Made({{".bin", "cell"}}));
  fake_.Forget("/Game/town.level");
  fake_.Forget(cell);
  Edit("content/town.level", "edited");
  AwaitOrFail([&] { return fake_.Waiting().contains("/Game/town.level"); }, "the generator");
  EXPECT_FALSE(fake_.Waiting().contains(cell)) << "it may not be generated any more";
  fake_.Cooks("/Game/town.level", town);
  AwaitOrFail([&] { return fake_.Waiting().contains(cell); }, "the generated package");
}

TEST_F(DeviceServiceTest, SeventeenWorldsAreOneTooMany) {
  Begin();
  const DeviceSessionState session = Open();
  const DeviceSessionState other = Open();
  Digest newest = *session.newest_root;
  for (int i = 0; i < 16; ++i) {
    EXPECT_FALSE(StateOf(session.id).is_frozen) << i;
    Edit("content/a.png", "edit " + std::to_string(i));
    AwaitNewest(other.id, newest);
    newest = *StateOf(other.id).newest_root;
  }
  EXPECT_TRUE(StateOf(session.id).is_frozen);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/read.txt")).digest, Digest::Of("me"));
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/a.png.ktx2")).kind, RefusalKind::kSuperseded);
}

TEST_F(DeviceServiceTest, AFileThatComesAndGoesIsAddedAndRemovedInOneEvent) {
  Begin();
  const DeviceSessionState session = Open();
  auto events =
      std::get<std::unique_ptr<DeviceEvents>>(service_->ReadChanges(session.id, std::nullopt));
  ASSERT_TRUE(RemoveAll(Host("content/b.png")).ok());
  Edit("content/c.png", "c");
  std::vector<devices::ChangeEventPtr> told;
  AwaitOrFail(
      [&] {
        const std::vector<devices::ChangeEventPtr> taken = events->Take(10).value();
        told.insert(told.end(), taken.begin(), taken.end());
        return !told.empty();
      },
      "an event");
  ASSERT_THAT(told, SizeIs(1));
  ASSERT_THAT(told[0]->added, SizeIs(1));
  EXPECT_EQ(told[0]->added[0].path, "Game/c.png.ktx2");
  ASSERT_THAT(told[0]->removed, SizeIs(1));
  EXPECT_EQ(told[0]->removed[0].path, "Game/b.png.ktx2");
  EXPECT_THAT(told[0]->stale, IsEmpty()) << "a new path is not cooked yet";
  events.reset();
}

TEST_F(DeviceServiceTest, AStreamIsWokenByAnEditAndEndsWithItsSession) {
  Begin();
  const DeviceSessionState session = Open();
  auto events =
      std::get<std::unique_ptr<DeviceEvents>>(service_->ReadChanges(session.id, std::nullopt));
  std::atomic<int> woken = 0;
  events->SetWake([&] { ++woken; });
  EXPECT_THAT(events->Take(10).value(), IsEmpty());
  Edit("content/a.png", "edited");
  AwaitOrFail([&] { return woken > 0; }, "a wake");
  AwaitOrFail([&] { return !events->Take(10).value().empty(); }, "the event");
  const int before = woken;
  service_->CloseSession(session.id);
  AwaitOrFail([&] { return woken > before; }, "the wake of the end");
  EXPECT_EQ(events->Take(10), std::nullopt);
  events.reset();
}

TEST_F(DeviceServiceTest, AFailureAfterAnEditIsToldWhenItIsQuiet) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  GetIn(session.id, "Game/a.png.ktx2");
  auto events =
      std::get<std::unique_ptr<DeviceEvents>>(service_->ReadChanges(session.id, std::nullopt));
  fake_.Fails("/Game/a.png", "no image data");
  Edit("content/a.png", "edited");
  std::string error;
  AwaitOrFail(
      [&] {
        const std::vector<devices::ChangeEventPtr> taken = events->Take(10).value();
        for (const devices::ChangeEventPtr& event : taken) {
          for (const devices::PackageFailure& failure : event->failures) error = failure.error;
        }
        return !error.empty();
      },
      "the failure");
  EXPECT_EQ(error, "no image data");
  events.reset();
}

TEST_F(DeviceServiceTest, ASessionThatWantsItGetsItsLastGoodVersion) {
  Begin();
  const DeviceSessionState first = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "good"}}));
  const DeviceFile good = FileOf(GetIn(first.id, "Game/a.png.ktx2"));
  fake_.Fails("/Game/a.png", "no image data");
  Edit("content/a.png", "broken");
  AwaitNewest(first.id, *good.root);
  EXPECT_EQ(RefusalIn(GetIn(Open().id, "Game/a.png.ktx2")).kind, RefusalKind::kFailed);
  const DeviceFile file = FileOf(GetIn(Open(/*last_good=*/true).id, "Game/a.png.ktx2"));
  EXPECT_EQ(file.digest, Digest::Of("good"));
  EXPECT_EQ(file.last_good, good.root);
  EXPECT_EQ(file.tag, "");
}

TEST_F(DeviceServiceTest, WhereAnythingMayDifferTheEventIsCutAndWhatWasReadIsMadeAgain) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  auto events =
      std::get<std::unique_ptr<DeviceEvents>>(service_->ReadChanges(session.id, std::nullopt));
  events->Take(10);
  fake_.Forget("/Game/a.png");
  auto other = std::make_shared<World>(*MakeNow());
  other->environment["LEVEL"] = "1";
  fake_.SetWorld(other);
  service_->NoteWorld();
  AwaitWaiting("/Game/a.png");
  AwaitNewest(session.id, *before.root);
  std::vector<devices::ChangeEventPtr> told;
  AwaitOrFail(
      [&] {
        told = events->Take(10).value();
        return !told.empty();
      },
      "the event");
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0]->is_cut);
  EXPECT_EQ(told[0]->root, StateOf(session.id).newest_root);
  events.reset();
}

TEST_F(DeviceServiceTest, ATouchedFileIsNoOtherWorld) {
  Begin();
  const DeviceSessionState session = Open();
  Edit("content/read.txt", "me");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, Digest::Of("texture"));
}

TEST_F(DeviceServiceTest, RulesThatDifferAreAnotherWorld) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.SetRules("other rules");
  Edit("content/a.png", "a");
  AwaitNewest(session.id, session.root);
}

}  // namespace
}  // namespace galley::director
