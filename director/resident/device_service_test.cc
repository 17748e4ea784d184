#include "director/resident/device_service.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/testing/await.h"
#include "common/tree/find_path.h"
#include "director/resident/testing/device_test.h"
#include "director/resident/testing/fake_project.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Held: an answer that comes on another thread.
template <typename Answer>
class Held {
 public:
  std::function<void(const Answer&)> Taker() {
    return [state = state_](const Answer& answer) {
      base::MutexLock lock(state->mutex);
      EXPECT_FALSE(state->answer.has_value()) << "a second answer";
      state->answer = answer;
    };
  }
  bool is_there() const {
    base::MutexLock lock(state_->mutex);
    return state_->answer.has_value();
  }
  Answer Await() const {
    AwaitOrFail([&] { return is_there(); }, "an answer");
    base::MutexLock lock(state_->mutex);
    return state_->answer.value();
  }

 private:
  struct State {
    base::Mutex mutex;
    std::optional<Answer> answer GALLEY_GUARDED_BY(mutex);
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

const DeviceFile& FileOf(const DeviceAnswer& answer) {
  const auto* refusal = std::get_if<DeviceRefusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << refusal->text;
  return std::get<DeviceFile>(answer);
}

const DeviceRefusal& RefusalIn(const DeviceAnswer& answer) {
  EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(answer));
  return std::get<DeviceRefusal>(answer);
}

class DeviceServiceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    Write("content/a.png", "a");
    Write("content/b.png", "b");
    Write("content/read.txt", "me");
  }
  void TearDown() override {
    service_.reset();
    DeviceTest::TearDown();
  }

  void Begin() {
    fake_.SetWorld(MakeNow());
    Serve();
  }
  void Serve() {
    service_ = std::make_unique<DeviceService>(
        DeviceService::Deps{.present = fake_,
                            .store = memory_,
                            .journal = *journal_,
                            .remaker = *remaker_,
                            .trust_domain = "main",
                            .sessions = {.project = std::string(32, 'a'), .changes = {.term = 1}}});
  }
  // The files as they are now are the present world.
  void Edit(const std::string& path, const std::string& bytes) {
    Write(path, bytes);
    fake_.SetWorld(MakeNow());
    service_->NoteWorld();
  }

  Held<DeviceAnswer> Ask(const std::string& path, std::vector<std::string> tags = {},
                         absl::Duration wait_max = kWaitMax) {
    Held<DeviceAnswer> held;
    call_ = service_->ReadPresent(
        {.platform = "linux", .path = path, .known_tags = std::move(tags), .wait_max = wait_max},
        held.Taker());
    return held;
  }
  DeviceAnswer Get(const std::string& path) { return Ask(path).Await(); }
  Held<DeviceAnswer> AskIn(const std::string& session, const std::string& path) {
    Held<DeviceAnswer> held;
    call_ = service_->ReadInSession({.session = session, .path = path}, held.Taker());
    return held;
  }
  DeviceAnswer GetIn(const std::string& session, const std::string& path) {
    return AskIn(session, path).Await();
  }
  SessionAnswer TryOpen(SessionAsk ask) {
    Held<SessionAnswer> held;
    call_ = service_->OpenSession(std::move(ask), kWaitMax, held.Taker());
    return held.Await();
  }
  DeviceSessionState Open(bool last_good = false) {
    SessionAnswer answer;
    AwaitOrFail(
        [&] {
          answer = TryOpen({.platform = "linux", .last_good = last_good});
          return std::holds_alternative<DeviceSessionState>(answer);
        },
        "a session");
    return std::get<DeviceSessionState>(answer);
  }
  DeviceSessionState StateOf(const std::string& session) {
    return std::get<DeviceSessionState>(service_->RenewSession(session));
  }
  // Waits until the present world of the session's audience has another root.
  void AwaitNewest(const std::string& session, const Digest& other_than) {
    AwaitOrFail(
        [&] {
          const auto newest = StateOf(session).newest_root;
          return newest.has_value() && *newest != other_than;
        },
        "a newer root");
  }
  // The file at a path of a session's root, as a client finds it that follows the links.
  std::optional<Digest> InTree(const Digest& root, const std::string& path) {
    const auto found = tree::FollowLinks(
        root, "static/" + path, [this](const Digest& digest) { return memory_.Get(digest); });
    EXPECT_TRUE(found.ok()) << found.status();
    const auto* file = std::get_if<tree::TreeFile>(&*found);
    return file == nullptr ? std::nullopt : std::optional(file->digest);
  }
  void AwaitWaiting(const std::string& package, size_t askers = 1) {
    AwaitOrFail([&] { return fake_.Waiting().count(package) == askers; }, "an ask");
  }

  FakeProject fake_;
  std::unique_ptr<DeviceService> service_;
  DeviceCallPtr call_;
};

// ------------------------------------------------------------------ the present world

TEST_F(DeviceServiceTest, AMissIsCookedAndThenAHit) {
  Begin();
  const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  EXPECT_FALSE(held.is_there());
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(held.Await());
  EXPECT_EQ(file.digest, Digest::Of("texture"));
  EXPECT_EQ(file.caching, FileCaching::kNoCache);
  EXPECT_FALSE(file.root.has_value());
  EXPECT_EQ(file.tag.size(), 129u) << "key and digest: " << file.tag;
  const Held<DeviceAnswer> again = Ask("Game/a.png.ktx2");
  EXPECT_TRUE(again.is_there()) << "on the thread that asks";
  EXPECT_EQ(FileOf(again.Await()), file);
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 1);
}

TEST_F(DeviceServiceTest, AKnownTagIsSaidToBeKnown) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(Get("Game/a.png.ktx2"));
  EXPECT_FALSE(file.is_known);
  EXPECT_TRUE(FileOf(Ask("Game/a.png.ktx2", {"other", file.tag}).Await()).is_known);
}

TEST_F(DeviceServiceTest, PathsThatNobodyHasAndOddPathsCookNothing) {
  Begin();
  EXPECT_EQ(RefusalIn(Get("Game/none.png.ktx2")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalIn(Get("Game/a.png.other")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalIn(Get("Game/../a")).kind, RefusalKind::kInvalid);
  Held<DeviceAnswer> held;
  call_ = service_->ReadPresent({.platform = "amiga", .path = "Game/a.png.ktx2"}, held.Taker());
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kAbsent);
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 0);
}

TEST_F(DeviceServiceTest, APackageThatFailsIsRefusedAndTriedAgainByTheNext) {
  Begin();
  fake_.Fails("/Game/a.png", "no image data");
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kFailed);
  EXPECT_EQ(refusal.package, "/Game/a.png");
  EXPECT_EQ(refusal.text, "no image data");
  EXPECT_EQ(refusal.cause, "verdict");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(Get("Game/a.png.ktx2")).digest, Digest::Of("texture"));
}

TEST_F(DeviceServiceTest, AFaultOfMachinesIsNotTheProjects) {
  Begin();
  fake_.Fails("/Game/a.png", "no worker could do it", FailureCause::kMachine);
  EXPECT_EQ(RefusalIn(Get("Game/a.png.ktx2")).kind, RefusalKind::kInfrastructure);
}

TEST_F(DeviceServiceTest, WithoutAWorldTheAnswerIsLaterAndSaysWhy) {
  Serve();
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kNotReady);
  EXPECT_THAT(refusal.text, HasSubstr("looked at"));
  EXPECT_TRUE(refusal.retry_after.has_value());
}

TEST_F(DeviceServiceTest, ADeadlineEndsTheAsk) {
  Begin();
  const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2", {}, absl::Milliseconds(20));
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kDeadline);
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
}

TEST_F(DeviceServiceTest, AClientThatLeavesEndsItsAskAlone) {
  Begin();
  const Held<DeviceAnswer> left = Ask("Game/a.png.ktx2");
  const DeviceCallPtr leaving = call_;
  const Held<DeviceAnswer> stays = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png", 2);
  leaving->Cancel();
  AwaitWaiting("/Game/a.png", 1);
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(stays.Await()).digest, Digest::Of("texture"));
  EXPECT_FALSE(left.is_there());
}

TEST_F(DeviceServiceTest, TwoPackagesThatHaveThePathAreInConflict) {
  AddRule("/**/*.ktx2", {.cooker = "copy"});
  Write("content/a.png.ktx2", "copied");
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  fake_.Cooks("/Game/a.png.ktx2", Made({{"", "copied"}}));
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kFailed);
  EXPECT_THAT(refusal.text, HasSubstr("/Game/a.png, /Game/a.png.ktx2"));
}

TEST_F(DeviceServiceTest, AGeneratedPackageIsCookedAfterItsGenerator) {
  Write("content/town.level", "t");
  Begin();
  fake_.Cooks("/Game/town.level", MadeWith({{".bin", "town"}}, {"_gen/cell.level"}));
  fake_.Cooks("/Game/town.level/_gen/cell.level", Made({{".bin", "cell"}}));
  const std::string folder = "Game/town.level/_gen/";
  EXPECT_EQ(FileOf(Get(folder + "cell.level.bin")).digest, Digest::Of("cell"));
  EXPECT_EQ(RefusalIn(Get(folder + "other.level.bin")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(fake_.AskedFor("/Game/town.level/_gen/other.level"), 0);
}

TEST_F(DeviceServiceTest, ARequestThatWaitsGoesOnInTheNewerWorld) {
  Begin();
  const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  Edit("content/a.png", "edited");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "of the edit"}}));
  EXPECT_EQ(FileOf(held.Await()).digest, Digest::Of("of the edit"));
}

TEST_F(DeviceServiceTest, ARequestMovesThreeTimesAtMost) {
  Begin();
  const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  for (int i = 0; i < 4; ++i) {
    Edit("content/a.png", "edit " + std::to_string(i));
    // The world is begun before the next one comes.
    const DeviceAnswer other = Get("Game/none");
    EXPECT_EQ(RefusalIn(other).kind, RefusalKind::kAbsent);
    Held<SessionAnswer> turn;
    call_ = service_->OpenSession({.platform = "amiga"}, kWaitMax, turn.Taker());
    turn.Await();
  }
  const DeviceRefusal refusal = RefusalIn(held.Await());
  EXPECT_EQ(refusal.kind, RefusalKind::kNotReady);
  EXPECT_TRUE(refusal.retry_after.has_value());
}

TEST_F(DeviceServiceTest, AnEditForgetsWhatItMakesOtherwise) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "same"}}));
  Get("Game/a.png.ktx2");
  Get("Game/b.png.ktx2");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "new"}}));
  Edit("content/a.png", "edited");
  AwaitOrFail([&] { return FileOf(Get("Game/a.png.ktx2")).digest == Digest::Of("new"); },
              "the new file");
  EXPECT_EQ(FileOf(Get("Game/b.png.ktx2")).digest, Digest::Of("same"));
  EXPECT_EQ(fake_.AskedFor("/Game/b.png"), 1);
}

TEST_F(DeviceServiceTest, BytesThatTheStoreLostAreMadeAgain) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  Get("Game/a.png.ktx2");
  memory_.Drop(Digest::Of("texture"));
  service_->NoteLost(Digest::Of("texture"));
  Get("Game/a.png.ktx2");
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 2);
  EXPECT_TRUE(Ask("Game/a.png.ktx2").is_there()) << "known again";
}

TEST_F(DeviceServiceTest, ResultsOfCooksAreKnown) {
  Begin();
  Get("Game/none");
  auto stored = std::make_shared<StoredResult>();
  stored->package = "/Game/a.png";
  stored->platform_name = "linux";
  stored->result = Made({{".ktx2", "of a cook"}});
  stored->action_key = Digest::Of("key");
  stored->holds_in = number_;
  AwaitOrFail(
      [&] {
        service_->NoteCooked(stored);
        const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2", {}, absl::Milliseconds(1));
        return std::holds_alternative<DeviceFile>(held.Await());
      },
      "the result of a cook");
}

// ------------------------------------------------------------------ sessions

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

TEST_F(DeviceServiceTest, ASmallCopyIsAnsweredWithoutACookAndTheRootStays) {
  Begin();
  const DeviceSessionState session = Open();
  const Held<DeviceAnswer> held = AskIn(session.id, "Game/read.txt");
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
  EXPECT_TRUE(service_->CloseSession(session.id));
  EXPECT_FALSE(service_->CloseSession(session.id));
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

TEST_F(DeviceServiceTest, AnEditWhileASessionWaitsIsItsAnswer) {
  Begin();
  const DeviceSessionState session = Open();
  const Held<DeviceAnswer> held = AskIn(session.id, "Game/a.png.ktx2");
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

// ------------------------------------------------------------------ restart and end

TEST_F(DeviceServiceTest, ASessionGoesOnWithTheNextDirectorInTheSameWorld) {
  Begin();
  const DeviceSessionState session = Open();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile before = FileOf(GetIn(session.id, "Game/a.png.ktx2"));
  service_.reset();
  fake_.Forget("/Game/a.png");
  Serve();
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
  AwaitOrFail([&] { return StateOf(session.id).newest_root.has_value(); }, "the newer tree");
  EXPECT_TRUE(StateOf(session.id).is_frozen);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/a.png.ktx2")).digest, before.digest);
  EXPECT_EQ(FileOf(GetIn(session.id, "Game/read.txt")).digest, Digest::Of("me"));
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/b.png.ktx2")).kind, RefusalKind::kSuperseded);
  EXPECT_EQ(RefusalIn(GetIn(session.id, "Game/none")).kind, RefusalKind::kAbsent);
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

TEST_F(DeviceServiceTest, TheEndAnswersAllWhoWait) {
  Begin();
  const Held<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  service_->Stop();
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kNotReady);
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
  EXPECT_EQ(RefusalIn(Get("Game/b.png.ktx2")).kind, RefusalKind::kNotReady);
  EXPECT_EQ(std::get<DeviceRefusal>(TryOpen({.platform = "linux"})).kind, RefusalKind::kNotReady);
}

TEST_F(DeviceServiceTest, APathInARootIsFinal) {
  Begin();
  const DeviceSessionState session = Open();
  Held<DeviceAnswer> held;
  call_ = service_->ReadInRoot(session.root, "static/Game/read.txt", held.Taker());
  EXPECT_EQ(FileOf(held.Await()).caching, FileCaching::kImmutable);
  Held<DeviceAnswer> blob;
  call_ = service_->ReadBlob(Digest::Of("me"), blob.Taker());
  EXPECT_EQ(FileOf(blob.Await()).digest, Digest::Of("me"));
}

}  // namespace
}  // namespace galley::director
