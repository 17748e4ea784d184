// Sessions of DeviceService in one world: what they see, and how long.
#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "common/base/testing/await.h"
#include "director/resident/testing/device_service_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(DeviceServiceTest, ASessionSeesSmallCopiesAndLinksAndItsRootGrows) {
  Begin();
  const DeviceSessionState session = Open();
  EXPECT_EQ(session.newest_root, session.root);
  EXPECT_EQ(InTree(session.root, "Game/read.txt"), Digest::Of("me"));
  EXPECT_EQ(InTree(session.root, "Game/a.png.ktx2"), std::nullopt) << "not cooked yet";
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  EXPECT_EQ(file.digest, Digest::Of("texture"));
  ASSERT_TRUE(file.root.has_value());
  EXPECT_NE(*file.root, session.root);
  EXPECT_EQ(InTree(*file.root, "Game/a.png.ktx2"), Digest::Of("texture"));
  EXPECT_EQ(InTree(*file.root, "Game/read.txt"), Digest::Of("me"));
  EXPECT_EQ(StateOf(session.id).root, *file.root);
}

TEST_F(DeviceServiceTest, AResultOfACookIsInTheNewestRoot) {
  Begin();
  const DeviceSessionState session = Open();
  service_->NoteCooked(ResultOfACook("/Game/a.png"));
  AwaitNewest(session.id, session.root);
  EXPECT_EQ(InTree(*StateOf(session.id).newest_root, "Game/a.png.ktx2"), Digest::Of("of a cook"));
  EXPECT_EQ(StateOf(session.id).root, session.root);
}

TEST_F(DeviceServiceTest, ASmallCopyIsAnsweredWithoutACookAndTheRootStays) {
  Begin();
  const DeviceSessionState session = Open();
  const HeldAnswer<DeviceAnswer> held = AskIn(session.id, "Game/read.txt");
  EXPECT_TRUE(held.is_there());
  const DeviceFile file = FileOf(held.Await());
  EXPECT_EQ(file.digest, Digest::Of("me"));
  EXPECT_EQ(file.root, session.root);
  EXPECT_EQ(fake_.AskedFor("/Game/read.txt"), 0);
}

TEST_F(DeviceServiceTest, ARootIsLeasedBeforeItIsTold) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  bool is_leased = false;
  const std::vector<store::RootLease> leases = memory_.Leases().value();
  for (const store::RootLease& lease : leases)
    is_leased |= lease.root == *file.root && lease.name.find(session.id) != std::string::npos;
  EXPECT_TRUE(is_leased);
}

TEST_F(DeviceServiceTest, AClosedSessionIsAbsentAndItsLeaseEnds) {
  Begin();
  const DeviceSessionState session = Open();
  EXPECT_EQ(service_->CloseSession(session.id), std::nullopt);
  EXPECT_EQ(service_->CloseSession(session.id)->kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/read.txt")).kind, RefusalKind::kAbsent);
  AwaitOrFail(
      [&] {
        const std::vector<store::RootLease> leases = memory_.Leases().value();
        for (const store::RootLease& lease : leases) {
          if (lease.name.find(session.id) != std::string::npos) return false;
        }
        return true;
      },
      "the end of the lease");
}

TEST_F(DeviceServiceTest, ATreeBeginsWithWhatStandsByTheJournal) {
  JournalMeta meta = journal_->meta();
  meta.store_id = memory_.Info()->store_id;
  ASSERT_TRUE(journal_->SetMeta(meta).ok());
  const WorldPtr world = MakeNow();
  Note(*world, "/Game/a.png", "a", Made({{".ktx2", "of the last cook"}}));
  fake_.SetWorld(world);
  Serve();
  const DeviceSessionState session = Open();
  EXPECT_EQ(InTree(session.root, "Game/a.png.ktx2"), Digest::Of("of the last cook"));
  EXPECT_TRUE(AskIn(session.id, "Game/a.png.ktx2").is_there());
  EXPECT_TRUE(Ask("Game/a.png.ktx2").is_there());
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 0);
}

TEST_F(DeviceServiceTest, ATreeThatIsYoungerThanAResultGetsItsNodeAllTheSame) {
  Begin();
  const DeviceSessionState first = Open();
  service_->CloseSession(first.id);
  Edit("content/b.png", "edited");
  // Cooked for the present world while no audience has a tree there.
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  Get("Game/a.png.ktx2");
  const DeviceFile file = FileOf(GetIn(Open().id, "Game/a.png.ktx2"));
  EXPECT_EQ(InTree(*file.root, "Game/a.png.ktx2"), Digest::Of("texture"));
}

TEST_F(DeviceServiceTest, AFolderThatOnlyACookTellsIsInTheRootThatItsAnswerNames) {
  Write("content/town.level", "t");
  Write("content/m.glb", "m");
  Begin();
  const std::string id = Open().id;
  fake_.Cooks("/Game/m.glb", Made({{".glb", "mesh"}, {".d/lod1", "lod"}}));
  fake_.Cooks("/Game/town.level", MadeWith({{".bin", "town"}}, {"_gen/cell.png"}));
  fake_.Cooks("/Game/town.level/_gen/cell.png", Made({{".ktx2", "cell"}}));

  const DeviceRefusal further = RefusalIn(GetIn(id, "Game/m.glb.d"));
  EXPECT_EQ(further.kind, RefusalKind::kAbsent);
  ASSERT_TRUE(further.root.has_value());
  EXPECT_EQ(InTree(*further.root, "Game/m.glb.d/lod1"), Digest::Of("lod"));
  EXPECT_EQ(RefusalIn(GetIn(id, "Game/m.glb.d")).root, further.root) << "it is known now";
  EXPECT_EQ(fake_.AskedFor("/Game/m.glb"), 1);

  const DeviceRefusal generated = RefusalIn(GetIn(id, "Game/town.level/_gen"));
  ASSERT_TRUE(generated.root.has_value());
  const auto list = InTree(*generated.root, "Game/town.level/_gen");
  ASSERT_TRUE(list.has_value());
  EXPECT_THAT(*memory_.Get(*list).value(), HasSubstr(" Game/town.level/_gen/cell.png\n"));
  EXPECT_EQ(fake_.AskedFor("/Game/town.level/_gen/cell.png"), 0);
  ASSERT_TRUE(RefusalIn(GetIn(id, "Game/town.level/_gen/cell.png.d")).root.has_value());
  EXPECT_EQ(fake_.AskedFor("/Game/town.level/_gen/cell.png"), 1);
  EXPECT_FALSE(RefusalIn(GetIn(id, "Game/town.level/_gen/none.png.d")).root.has_value());
  EXPECT_FALSE(RefusalIn(GetIn(id, "Game/a.png.d")).root.has_value());
  EXPECT_FALSE(RefusalIn(Get("Game/m.glb.d")).root.has_value()) << "no session, no root";
}

TEST_F(DeviceServiceTest, ASessionGoesOnWithTheNextDirectorInTheSameWorld) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  service_.reset();
  fake_.Forget("/Game/a.png");
  Serve();
  AwaitRestored(session.id);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, before.digest);
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b"}}));
  AwaitOrFail([&] { return StateOf(session.id).newest_root.has_value(); }, "the tree");
  const DeviceFile after = FileOf(GetIn(session.id, "Game/b.png.ktx2"));
  EXPECT_EQ(InTree(*after.root, "Game/a.png.ktx2"), Digest::Of("texture")) << "nothing is lost";
}

TEST_F(DeviceServiceTest, InAnotherWorldTheSessionOfTheDirectorBeforeIsFrozen) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  service_.reset();
  Write("content/b.png", "edited");
  fake_.SetWorld(MakeNow());
  Serve();
  AwaitRestored(session.id);
  AwaitOrFail([&] { return StateOf(session.id).newest_root.has_value(); }, "the newer tree");
  EXPECT_TRUE(StateOf(session.id).is_frozen);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, before.digest);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/read.txt")).digest, Digest::Of("me"));
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/b.png.ktx2")).kind, RefusalKind::kSuperseded);
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/none")).kind, RefusalKind::kAbsent);
}

TEST_F(DeviceServiceTest, UntilTheSessionsBeforeAreFoundTheirRequestsAreToComeAgain) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  service_.reset();
  memory_.Hold();
  Serve();
  EXPECT_EQ(FileOf(Get("Game/a.png.ktx2")).digest, before.digest) << "the present world is there";
  const DeviceAnswer answer = GetIn(session.id, "Game/a.png.ktx2");
  EXPECT_EQ(RefusalIn(answer).kind, RefusalKind::kNotReady);
  EXPECT_TRUE(RefusalIn(answer).retry_after.has_value());
  EXPECT_EQ(std::get<DeviceRefusal>(service_->RenewSession(session.id)).kind,
            RefusalKind::kNotReady);
  EXPECT_EQ(service_->CloseSession(session.id)->kind, RefusalKind::kNotReady);
  const EventsAnswer events = service_->ReadChanges(session.id, std::nullopt);
  EXPECT_EQ(std::get<DeviceRefusal>(events).kind, RefusalKind::kNotReady);
  memory_.Release();
  AwaitRestored(session.id);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).root, before.root);
  EXPECT_EQ(InTree(Open().root, "Game/a.png.ktx2"), before.digest) << "nothing is lost";
  EXPECT_EQ(std::get<DeviceRefusal>(service_->RenewSession("nobody")).kind, RefusalKind::kAbsent);
}

TEST_F(DeviceServiceTest, AnEndBeforeTheSessionsAreFoundLeavesThemToTheNext) {
  Begin();
  const DeviceSessionState session = Open();
  service_.reset();
  memory_.Hold();
  Serve();
  HeldAnswer<SessionAnswer> waits;
  call_ = service_->OpenSession({.platform = "linux"}, kWaitMax, waits.Taker());
  std::thread stop([&] { service_->Stop(); });
  EXPECT_EQ(std::get<DeviceRefusal>(waits.Await()).kind, RefusalKind::kNotReady);
  memory_.Release();
  stop.join();
  service_.reset();
  Serve();
  AwaitRestored(session.id);
}

TEST_F(DeviceServiceTest, CulturesThatTheProjectLacksMakeNoOtherTree) {
  Write("content/L10N/de/a.png", "German");
  Begin();
  const DeviceSessionState session = Open();
  const DeviceSessionState other = OpenFor({"xx", "../de", "de/a.png"});
  EXPECT_EQ(other.root, session.root);
  EXPECT_THAT(other.cultures, IsEmpty());
  const DeviceSessionState german = OpenFor({"xx", "de"});
  EXPECT_NE(german.root, session.root);
  EXPECT_THAT(german.cultures, ElementsAre("de"));
  const auto again = std::get<DeviceSessionState>(
      TryOpen({.platform = "linux", .cultures = {"de", "xx"}, .root = german.root}));
  EXPECT_EQ(again.root, german.root);
  const auto wrong =
      std::get<DeviceRefusal>(TryOpen({.platform = "linux", .cultures = {}, .root = german.root}));
  EXPECT_EQ(wrong.kind, RefusalKind::kInvalid) << "the root is for other cultures";
}

TEST_F(DeviceServiceTest, TreesThatNobodySeesAreLetGoAndAudiencesHaveABound) {
  const int most = static_cast<int>(ShownTrees::kAudiencesMax);
  const auto culture = [](int number) { return "c" + std::to_string(number); };
  for (int i = 0; i <= most; ++i) Write("content/L10N/" + culture(i) + "/a.txt", "a");
  Begin();
  std::vector<std::string> open;
  for (int i = 0; i < most; ++i) open.push_back(OpenFor({culture(i)}).id);
  const auto refused =
      std::get<DeviceRefusal>(TryOpen({.platform = "linux", .cultures = {culture(most)}}));
  EXPECT_EQ(refused.kind, RefusalKind::kNotReady);
  EXPECT_THAT(refused.text, HasSubstr("cultures"));
  for (const std::string& session : open) {
    if (session != open[0]) service_->CloseSession(session);
  }
  OpenFor({culture(most)});
  AwaitOrFail(
      [&] {
        const std::vector<store::RootLease> leases = memory_.Leases().value();
        return std::ranges::count_if(leases, [](const store::RootLease& lease) {
                 return lease.name.find("/device-tree/") != std::string::npos;
               }) == 2;
      },
      "the leases of the two trees that somebody sees");
  EXPECT_FALSE(StateOf(open[0]).is_frozen);
  EXPECT_EQ(OpenFor({culture(1)}).cultures, (std::vector<std::string>{culture(1)})) << "made again";
}

TEST_F(DeviceServiceTest, ASessionOpensAtAGivenRootAndNotAtOneThatIsGone) {
  Begin();
  const DeviceSessionState session = Open();
  const auto again =
      std::get<DeviceSessionState>(TryOpen({.platform = "linux", .root = session.root}));
  EXPECT_EQ(again.root, session.root);
  EXPECT_NE(again.id, session.id);
  const auto gone =
      std::get<DeviceRefusal>(TryOpen({.platform = "linux", .root = Digest::Of("gone")}));
  EXPECT_EQ(gone.kind, RefusalKind::kGone);
  EXPECT_EQ(std::get<DeviceRefusal>(TryOpen({.platform = "amiga"})).kind, RefusalKind::kAbsent);
}

TEST_F(DeviceServiceTest, ASessionOpensAtARootThatNobodyLeasesIfItIsWhole) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile grown = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  ASSERT_NE(*grown.root, session.root) << "nobody has the older root any more";
  const auto again =
      std::get<DeviceSessionState>(TryOpen({.platform = "linux", .root = session.root}));
  EXPECT_EQ(again.root, session.root);
  service_->CloseSession(again.id);
  AwaitUnleased(session.root);
  memory_.Drop(Digest::Of("me"));
  const auto gone = std::get<DeviceRefusal>(TryOpen({.platform = "linux", .root = session.root}));
  EXPECT_EQ(gone.kind, RefusalKind::kGone) << "a file below it was collected";
}

TEST_F(DeviceServiceTest, ARootThatIsCollectedWhileItIsLeasedIsGone) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile grown = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  ASSERT_NE(*grown.root, session.root);
  memory_.SetAtLease([this] { memory_.Drop(Digest::Of("me")); });
  const auto gone = std::get<DeviceRefusal>(TryOpen({.platform = "linux", .root = session.root}));
  EXPECT_EQ(gone.kind, RefusalKind::kGone);
  AwaitUnleased(session.root);
}

}  // namespace
}  // namespace galley::director
