#include "director/resident/shared_sessions.h"

#include <memory>
#include <string>
#include <utility>

#include "common/store/testing/memory_store.h"
#include "director/devices/device_tree.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// FailingStore: a store that can refuse leases.
class FailingStore final : public store::MemoryStore {
 public:
  absl::Status ChangeLeases(const store::LeaseChanges& changes) override {
    return fails ? absl::UnavailableError("no disk") : MemoryStore::ChangeLeases(changes);
  }
  bool fails = false;
};

// SharedSessionsTest: an audience with a tree in the present world, and a session of it.
class SharedSessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto shown = std::make_shared<ShownWorld>();
    shown->number = 1;
    shown_ = std::move(shown);
    shared_.BeginWorld(shown_, now_);
    Grow("/Game/a.png");
    session_ = shared_.With([&](devices::DeviceSessions& sessions) {
      return sessions.Open({.id = "s", .audience = {.platform = "linux", .cultures = {}}}, now_)
          .value();
    });
    ASSERT_TRUE(shared_.FlushLeases().ok());
  }
  // The tree gets a node, and the sessions are told its view.
  void Grow(const std::string& package) {
    std::vector<devices::NamedBlob> blobs;
    ASSERT_TRUE(tree_
                    .Add({.package = package,
                          .stage_path = package.substr(1),
                          .outputs = {{".ktx2", Digest::Of(package)}}},
                         FoldOfNames(), blobs)
                    .ok());
    now_ += absl::Seconds(1);
    const devices::DeviceViewPtr view = tree_.Grow(now_, true, blobs);
    for (const devices::NamedBlob& blob : blobs)
      ASSERT_TRUE(store_.Put(blob.digest, blob.bytes).ok());
    shared_.SetNewest(shown_, view, std::nullopt, now_);
  }
  SharedSessions::Seen Renew() { return shared_.Renew("s", now_).value(); }

  absl::Time now_ = absl::UnixEpoch();
  FailingStore store_;
  SharedSessions shared_{{.project = std::string(32, 'a')}, store_};
  devices::DeviceTree tree_{{.project = std::string(32, 'a'), .platform = "linux"}, Digest()};
  ShownWorldPtr shown_;
  devices::SessionView session_;
};

TEST_F(SharedSessionsTest, ANewerRootIsToldWhenItIsLeased) {
  Grow("/Game/b.png");
  EXPECT_EQ(Renew().session.newest_root, session_.root) << "the newer one is not leased";
  ASSERT_TRUE(shared_.FlushLeases().ok());
  EXPECT_EQ(Renew().session.newest_root, tree_.newest()->root);
}

TEST_F(SharedSessionsTest, ASessionThatMovesIsSettlingUntilItsRootIsLeased) {
  Grow("/Game/b.png");
  ASSERT_TRUE(shared_
                  .With([&](devices::DeviceSessions& sessions) {
                    return sessions.Advance("s", tree_.newest(), now_);
                  })
                  .ok());
  EXPECT_TRUE(Renew().is_settling);
  EXPECT_EQ(Renew().session.root, session_.root);
  ASSERT_TRUE(shared_.FlushLeases().ok());
  EXPECT_FALSE(Renew().is_settling);
  EXPECT_EQ(Renew().session.root, tree_.newest()->root);
}

TEST_F(SharedSessionsTest, LeasesThatTheStoreRefusesAreTriedAgain) {
  Grow("/Game/b.png");
  store_.fails = true;
  EXPECT_FALSE(shared_.FlushLeases().ok());
  EXPECT_EQ(Renew().session.newest_root, session_.root);
  store_.fails = false;
  EXPECT_TRUE(shared_.FlushLeases().ok());
  EXPECT_EQ(Renew().session.newest_root, tree_.newest()->root);
}

TEST_F(SharedSessionsTest, EventsWaitForTheLeaseOfTheirRoot) {
  const devices::EventId nothing;
  ASSERT_THAT(shared_.EventsSince("s", nothing).value(), SizeIs(1));
  EXPECT_FALSE(shared_.TakeMissed());
  Grow("/Game/b.png");
  EXPECT_THAT(shared_.EventsSince("s", nothing).value(), IsEmpty());
  EXPECT_FALSE(shared_.TakeMissed()) << "the root is not leased yet";
  ASSERT_TRUE(shared_.FlushLeases().ok());
  EXPECT_TRUE(shared_.TakeMissed());
  EXPECT_FALSE(shared_.TakeMissed());
  EXPECT_THAT(shared_.EventsSince("s", nothing).value(), SizeIs(2));
}

TEST_F(SharedSessionsTest, WorldsBeyondTheLimitAreLetGo) {
  for (uint64_t number = 2; number <= 17; ++number) {
    auto shown = std::make_shared<ShownWorld>();
    shown->number = number;
    shared_.BeginWorld(std::move(shown), now_);
  }
  EXPECT_EQ(shared_.oldest(), 2u);
  EXPECT_EQ(Renew().shown, nullptr);
  ASSERT_TRUE(shared_.FlushLeases().ok());
  EXPECT_EQ(Renew().session.newest_root, Digest()) << "the tree was let go with its world";
}

}  // namespace
}  // namespace galley::director
