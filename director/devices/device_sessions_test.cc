#include "director/devices/device_sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/hex.h"
#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

using Ids = std::vector<std::string>;
using director::PackageId;

class DeviceSessionsTest : public testing::Test {
 protected:
  DeviceSessionsTest() { BeginWorld(1); }

  // World `number` begins, with a tree that keeps all nodes.
  void BeginWorld(int number, const std::vector<PackageChange>& changes = {}) {
    sessions_->BeginWorld(static_cast<uint64_t>(number), now_);
    const DeviceViewPtr before = tree_ == nullptr ? nullptr : tree_->newest();
    std::vector<NodeKey> keys;
    for (const PackageChange& change : changes)
      keys.push_back(NodeKeyOf(change.before ? change.before->package : change.after->package));
    tree_ = before == nullptr
                ? std::make_unique<DeviceTree>(SampleWorld(number), Digest())
                : std::make_unique<DeviceTree>(SampleWorld(number), Digest(), *before, keys);
    world_ = static_cast<uint64_t>(number);
    Grow(ChangeOf(changes, before.get()));
  }
  void Grow(std::optional<WorldChange> changed = std::nullopt) {
    std::vector<NamedBlob> blobs;
    const DeviceViewPtr view = tree_->Grow(now_, true, blobs);
    ASSERT_NE(view, nullptr);
    sessions_->SetNewest(view, world_, std::move(changed), now_);
  }
  void Cook(const std::string& package, const std::string& text) {
    std::vector<NamedBlob> blobs;
    ASSERT_TRUE(
        tree_->Add(SampleCooked(package, {SampleOutput(".ktx2", text)}), LoweredPath, blobs).ok());
    Grow();
  }
  absl::StatusOr<SessionView> TryOpen(const std::string& id) {
    return sessions_->Open({.id = id, .audience = kLinux}, now_);
  }
  SessionView Open(const std::string& id) {
    const auto view = TryOpen(id);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.value_or(SessionView());
  }
  SessionView Look(const std::string& id) {
    const auto view = sessions_->Renew(id, now_);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.value_or(SessionView());
  }
  bool IsOpen(const std::string& id) { return sessions_->Renew(id, now_).ok(); }
  // The roots of the leases that the store has.
  std::map<std::string, Digest> Leased() {
    const store::LeaseChanges changes = sessions_->TakeLeaseChanges();
    for (const std::string& name : changes.released) leased_.erase(name);
    for (const store::RootLease& lease : changes.taken) leased_[lease.name] = lease.root;
    return leased_;
  }
  static std::string LeaseOf(const std::string& id) {
    return LeaseName("3f9a2c11", {.session = id});
  }

  const Audience kLinux{.platform = "linux", .cultures = {}};
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<DeviceSessions> sessions_ =
      std::make_unique<DeviceSessions>(DeviceSessionsOptions{.project = "3f9a2c11",
                                                             .changes = {.term = 7},
                                                             .worlds_max = 3,
                                                             .sessions_max = 4,
                                                             .reads_max = 3});
  std::unique_ptr<DeviceTree> tree_;
  uint64_t world_ = 0;
  std::map<std::string, Digest> leased_;
};

TEST_F(DeviceSessionsTest, ASessionOpensAtTheNewestRoot) {
  Cook("/Game/a.png", "a");
  const SessionView view = Open("s");
  EXPECT_EQ(view.root, tree_->newest()->root);
  EXPECT_EQ(view.view, tree_->newest());
  EXPECT_EQ(view.newest_root, view.root);
  EXPECT_EQ(view.standing, SessionStanding::kPresent);
}

TEST_F(DeviceSessionsTest, ASessionOpensAtARoot) {
  const Digest root = tree_->newest()->root;
  Cook("/Game/a.png", "a");
  const auto view = sessions_->Open(
      {.id = "s", .audience = kLinux, .at = OpenSession::At{root, SampleWorld(1)}}, now_);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->root, root);
  EXPECT_EQ(view->view, nullptr);
  EXPECT_EQ(view->newest_root, tree_->newest()->root);
  EXPECT_EQ(view->standing, SessionStanding::kPresent);
}

TEST_F(DeviceSessionsTest, WhatCannotBeOpenedIsRefused) {
  Open("s");
  EXPECT_TRUE(absl::IsAlreadyExists(TryOpen("s").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TryOpen("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TryOpen("a/b").status()));
  EXPECT_TRUE(absl::IsUnavailable(
      sessions_->Open({.id = "w", .audience = {.platform = "windows"}}, now_).status()));
  const auto at = [&](DeviceWorld world) {
    return sessions_->Open(
        {.id = "w", .audience = kLinux, .at = OpenSession::At{Digest(), std::move(world)}}, now_);
  };
  DeviceWorld other = SampleWorld(1);
  other.project = "other";
  EXPECT_TRUE(absl::IsInvalidArgument(at(other).status()));
  other = SampleWorld(1);
  other.platform = "windows";
  EXPECT_TRUE(absl::IsInvalidArgument(at(other).status()));
  other = SampleWorld(1);
  other.cultures = {"de"};
  EXPECT_TRUE(absl::IsInvalidArgument(at(other).status()));
  for (const char* id : {"t", "u", "v"}) Open(id);
  EXPECT_TRUE(absl::IsResourceExhausted(TryOpen("w").status()));
}

TEST_F(DeviceSessionsTest, WhileAWorldIsMadeReadyNoSessionOpens) {
  sessions_->BeginWorld(2, now_);
  EXPECT_TRUE(absl::IsUnavailable(TryOpen("s").status()));
}

TEST_F(DeviceSessionsTest, ASessionSeesOneRootUntilAnAnswerBringsANewerOne) {
  const SessionView first = Open("s");
  Cook("/Game/a.png", "a");
  EXPECT_EQ(Look("s").root, first.root);
  EXPECT_EQ(Look("s").newest_root, tree_->newest()->root);
  ASSERT_TRUE(sessions_->Advance("s", tree_->newest(), now_).ok());
  EXPECT_EQ(Look("s").root, tree_->newest()->root);
  // An older view does not take it back.
  ASSERT_TRUE(sessions_->Advance("s", first.view, now_).ok());
  EXPECT_EQ(Look("s").root, tree_->newest()->root);
}

TEST_F(DeviceSessionsTest, ASessionNeverSeesALaterWorld) {
  const SessionView first = Open("s");
  BeginWorld(2);
  EXPECT_EQ(Look("s").root, first.root);
  EXPECT_EQ(Look("s").standing, SessionStanding::kHeld);
  EXPECT_EQ(Look("s").newest_root, tree_->newest()->root);
  EXPECT_EQ(Look("s").newest_world, 2u);
  EXPECT_DEATH((void)sessions_->Advance("s", tree_->newest(), now_), "world_digest");
}

TEST_F(DeviceSessionsTest, ASessionEndsTenMinutesAfterItsLastRequest) {
  Open("s");
  now_ += absl::Minutes(9);
  EXPECT_TRUE(IsOpen("s"));
  now_ += absl::Minutes(10) - absl::Seconds(1);
  EXPECT_TRUE(sessions_->Tick(now_).empty());
  now_ += absl::Seconds(1);
  EXPECT_LE(sessions_->ticks_at(), now_);
  EXPECT_EQ(sessions_->Tick(now_), (Ids{"s"}));
  EXPECT_TRUE(absl::IsNotFound(sessions_->Renew("s", now_).status()));
  EXPECT_FALSE(Leased().contains(LeaseOf("s")));
}

TEST_F(DeviceSessionsTest, AnOpenStreamKeepsItsSession) {
  Open("s");
  ASSERT_TRUE(sessions_->BeginStream("s", now_).ok());
  ASSERT_TRUE(sessions_->BeginStream("s", now_).ok());
  now_ += absl::Hours(1);
  EXPECT_TRUE(sessions_->Tick(now_).empty());
  sessions_->EndStream("s", now_);
  now_ += absl::Hours(1);
  EXPECT_TRUE(sessions_->Tick(now_).empty());
  sessions_->EndStream("s", now_);
  now_ += absl::Minutes(10);
  EXPECT_EQ(sessions_->Tick(now_), (Ids{"s"}));
  sessions_->EndStream("s", now_);
  EXPECT_TRUE(absl::IsNotFound(sessions_->BeginStream("s", now_)));
}

TEST_F(DeviceSessionsTest, ASessionIsClosed) {
  Open("s");
  sessions_->Close("s");
  sessions_->Close("s");
  EXPECT_FALSE(IsOpen("s"));
  EXPECT_EQ(sessions_->size(), 0u);
  EXPECT_FALSE(Leased().contains(LeaseOf("s")));
}

TEST_F(DeviceSessionsTest, TheNewestRootOfATreeAndTheRootOfEachSessionAreLeased) {
  const Digest first = tree_->newest()->root;
  const std::string tree_lease =
      LeaseName("3f9a2c11", {.tree = HexEncode(tree_->newest()->world_digest.hash())});
  Open("s");
  EXPECT_EQ(Leased(), (std::map<std::string, Digest>{{LeaseOf("s"), first}, {tree_lease, first}}));
  Cook("/Game/a.png", "a");
  const Digest second = tree_->newest()->root;
  EXPECT_EQ(Leased(), (std::map<std::string, Digest>{{LeaseOf("s"), first}, {tree_lease, second}}));
  ASSERT_TRUE(sessions_->Advance("s", tree_->newest(), now_).ok());
  EXPECT_EQ(Leased().at(LeaseOf("s")), second);
}

TEST_F(DeviceSessionsTest, LeasesOutlastSilentTreesAndStreams) {
  Open("s");
  ASSERT_TRUE(sessions_->BeginStream("s", now_).ok());
  absl::Time until = absl::InfinitePast();
  for (int minute = 0; minute < 60; ++minute) {
    const store::LeaseChanges changes = sessions_->TakeLeaseChanges();
    EXPECT_TRUE(changes.released.empty());
    for (const store::RootLease& lease : changes.taken)
      if (lease.name == LeaseOf("s")) until = lease.until;
    EXPECT_GE(until - now_, absl::Minutes(9));
    now_ += absl::Minutes(1);
    EXPECT_LE(sessions_->ticks_at(), now_);
    sessions_->Tick(now_);
  }
}

TEST_F(DeviceSessionsTest, SessionsOfWorldsThatAreNoLongerHeldAreFrozen) {
  const SessionView first = Open("s");
  for (int number = 2; number <= 3; ++number) BeginWorld(number);
  EXPECT_EQ(Look("s").standing, SessionStanding::kHeld);
  Leased();
  BeginWorld(4);
  const SessionView frozen = Look("s");
  EXPECT_EQ(frozen.standing, SessionStanding::kFrozen);
  EXPECT_EQ(frozen.root, first.root);
  EXPECT_EQ(frozen.view, first.view);  // what the tree has is served
  EXPECT_EQ(frozen.newest_root, tree_->newest()->root);
  EXPECT_EQ(sessions_->NewestOf(first.world_digest), nullptr);
  EXPECT_EQ(Leased().at(LeaseOf("s")), first.root);
  EXPECT_EQ(leased_.size(), 4u);  // the session, and three trees
}

TEST_F(DeviceSessionsTest, AThousandEditsUnderASessionLeaveNothing) {
  Open("s");
  for (int number = 2; number <= 1000; ++number) BeginWorld(number);
  EXPECT_EQ(Leased().size(), 4u);
  EXPECT_EQ(sessions_->Audiences().size(), 1u);
}

TEST_F(DeviceSessionsTest, AnUndoneEditGoesOnWithItsTree) {
  const SessionView first = Open("s");
  const DeviceViewPtr view = tree_->newest();
  BeginWorld(2);
  sessions_->BeginWorld(3, now_);
  ASSERT_EQ(sessions_->NewestOf(first.world_digest), view);
  sessions_->SetNewest(view, 3, WorldChange(), now_);
  EXPECT_EQ(Look("s").standing, SessionStanding::kPresent);
  EXPECT_EQ(Look("s").newest_root, first.root);
}

TEST_F(DeviceSessionsTest, AfterARestartSessionsOfTheSameWorldGoOn) {
  Open("s");
  Cook("/Game/a.png", "a");
  const store::LeaseChanges held = sessions_->TakeLeaseChanges();
  const DeviceViewPtr view = tree_->newest();
  const auto restart = [&](int world) {
    sessions_ = std::make_unique<DeviceSessions>(
        DeviceSessionsOptions{.project = "3f9a2c11", .changes = {.term = 8}});
    sessions_->NoteHeldLeases(held.taken);
    for (const store::RootLease& lease : held.taken) {
      const auto owner = ParseLeaseName("3f9a2c11", lease.name);
      ASSERT_TRUE(owner.has_value());
      if (owner->session.empty()) continue;
      const auto opened = sessions_->Open({.id = owner->session,
                                           .audience = kLinux,
                                           .at = OpenSession::At{lease.root, SampleWorld(1)}},
                                          now_);
      ASSERT_TRUE(opened.ok()) << opened.status();
      EXPECT_EQ(opened->standing, SessionStanding::kFrozen);
    }
    tree_ = nullptr;
    BeginWorld(world);
  };
  restart(1);
  EXPECT_EQ(Look("s").standing, SessionStanding::kPresent);
  EXPECT_TRUE(sessions_->TakeLeaseChanges().released.empty());
  restart(2);
  EXPECT_EQ(Look("s").standing, SessionStanding::kFrozen);
  // The tree of the other world is gone; the session's root is kept.
  const store::LeaseChanges changes = sessions_->TakeLeaseChanges();
  EXPECT_EQ(changes.released.size(), 1u);
  EXPECT_NE(changes.released[0], LeaseOf("s"));
}

TEST_F(DeviceSessionsTest, OnlyWhatASessionHasReadIsCookedAtAnEdit) {
  const std::vector<PackageId> changed = {PackageId(1), PackageId(2), PackageId(3)};
  EXPECT_TRUE(sessions_->ReadAmong(kLinux, changed).empty());
  Open("s");
  Open("t");
  sessions_->NoteRead("s", PackageId(3));
  sessions_->NoteRead("s", PackageId(3));
  sessions_->NoteRead("t", PackageId(3));
  sessions_->NoteRead("t", PackageId(1));
  sessions_->NoteRead("ended", PackageId(2));
  EXPECT_EQ(sessions_->ReadAmong(kLinux, changed),
            (std::vector<PackageId>{PackageId(1), PackageId(3)}));
  sessions_->Close("t");
  EXPECT_EQ(sessions_->ReadAmong(kLinux, changed), (std::vector<PackageId>{PackageId(3)}));
  sessions_->Close("s");
  EXPECT_TRUE(sessions_->ReadAmong(kLinux, changed).empty());
  EXPECT_TRUE(sessions_->ReadAmong({.platform = "windows"}, changed).empty());
}

TEST_F(DeviceSessionsTest, ASessionRemembersABoundedNumberOfReads) {
  Open("s");
  for (uint32_t i = 0; i < 5; ++i) sessions_->NoteRead("s", PackageId(i));
  const std::vector<PackageId> all = {PackageId(0), PackageId(1), PackageId(2), PackageId(3),
                                      PackageId(4)};
  EXPECT_EQ(sessions_->ReadAmong(kLinux, all),
            (std::vector<PackageId>{PackageId(2), PackageId(3), PackageId(4)}));
}

TEST_F(DeviceSessionsTest, ASuccessorHasReadWhatItsPredecessorHas) {
  Open("s");
  sessions_->NoteRead("s", PackageId(1));
  BeginWorld(2);
  ASSERT_TRUE(sessions_->Open({.id = "t", .audience = kLinux, .succeeds = "s"}, now_).ok());
  sessions_->Close("s");
  const std::vector<PackageId> changed = {PackageId(1)};
  EXPECT_EQ(sessions_->ReadAmong(kLinux, changed), changed);
}

TEST_F(DeviceSessionsTest, StreamsAreWokenByEvents) {
  Open("s");
  Open("t");
  ASSERT_TRUE(sessions_->BeginStream("s", now_).ok());
  sessions_->TakeWoken();
  EXPECT_TRUE(sessions_->TakeWoken().empty());
  Cook("/Game/a.png", "a");
  EXPECT_EQ(sessions_->TakeWoken(), (Ids{"s"}));
  EXPECT_TRUE(sessions_->TakeWoken().empty());
}

TEST_F(DeviceSessionsTest, ASessionIsToldOfWhatCameAfterItOpened) {
  Cook("/Game/a.png", "a");
  const SessionView opened = Open("s");
  EXPECT_TRUE(sessions_->EventsSince("s", std::nullopt)->empty());
  const ShownPackage package = SampleLink("/Game/a.png", {".ktx2"});
  BeginWorld(2, {{package, package}});
  auto events = sessions_->EventsSince("s", std::nullopt);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ((*events)[0]->stale, (Ids{"Game/a.png.ktx2"}));
  EXPECT_EQ((*events)[0]->root, tree_->newest()->root);
  EXPECT_GT((*events)[0]->id, opened.last_event);
  EXPECT_TRUE(sessions_->EventsSince("s", (*events)[0]->id)->empty());
  EXPECT_TRUE(absl::IsNotFound(sessions_->EventsSince("t", std::nullopt).status()));
}

TEST_F(DeviceSessionsTest, AFailureIsToldToThePlatform) {
  Open("s");
  sessions_->NoteFailed("windows", {.package = "/Game/w.png", .error = "no"}, now_);
  sessions_->NoteFailed("linux", {.package = "/Game/a.png", .error = "no PNG"}, now_);
  EXPECT_EQ(sessions_->ticks_at(), now_ + absl::Milliseconds(200));
  sessions_->Tick(now_ += absl::Milliseconds(200));
  const auto events = sessions_->EventsSince("s", std::nullopt);
  ASSERT_EQ(events->size(), 1u);
  ASSERT_EQ((*events)[0]->failures.size(), 1u);
  EXPECT_EQ((*events)[0]->failures[0].package, "/Game/a.png");
  sessions_->NoteHealed("linux", "/Game/a.png", now_);
  sessions_->NoteConflict("linux", {.path = "Game/x"});
  sessions_->Tick(now_ += absl::Milliseconds(200));
  EXPECT_EQ(sessions_->EventsSince("s", std::nullopt)->size(), 3u);
}

TEST_F(DeviceSessionsTest, ATreeThatIsLetGoHasNoLeaseAndMayComeAgain) {
  DeviceWorld german = SampleWorld(1);
  german.cultures = {"de"};
  DeviceTree tree(german, Digest());
  std::vector<NamedBlob> blobs;
  const DeviceViewPtr view = tree.Grow(now_, true, blobs);
  const size_t leases_before = Leased().size();
  sessions_->SetNewest(view, 1, std::nullopt, now_);
  EXPECT_EQ(Leased().size(), leases_before + 1);
  sessions_->LetGo(view->world_digest);
  EXPECT_EQ(Leased().size(), leases_before);
  EXPECT_EQ(sessions_->NewestOf(view->world_digest), nullptr);
  sessions_->LetGo(view->world_digest);
  sessions_->SetNewest(view, 1, std::nullopt, now_);
  EXPECT_TRUE(
      sessions_->Open({.id = "s", .audience = {.platform = "linux", .cultures = {"de"}}}, now_)
          .ok());
}

TEST_F(DeviceSessionsTest, CulturesAreAnAudienceOfTheirOwn) {
  DeviceWorld german = SampleWorld(1);
  german.cultures = {"de"};
  DeviceTree tree(german, Digest());
  std::vector<NamedBlob> blobs;
  const DeviceViewPtr view = tree.Grow(now_, true, blobs);
  sessions_->SetNewest(view, 1, std::nullopt, now_);
  const Audience audience{.platform = "linux", .cultures = {"de"}};
  const auto opened = sessions_->Open({.id = "s", .audience = audience}, now_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->root, view->root);
  EXPECT_NE(view->root, tree_->newest()->root);
  EXPECT_EQ(sessions_->Audiences(), (std::vector<Audience>{audience}));
  Cook("/Game/a.png", "a");
  EXPECT_TRUE(sessions_->EventsSince("s", std::nullopt)->empty());
}

}  // namespace
}  // namespace galley::devices
