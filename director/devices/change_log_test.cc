#include "director/devices/change_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

using StalePaths = std::vector<std::string>;

class ChangeLogTest : public testing::Test {
 protected:
  ChangeLogTest() {
    Grow();
    log_.NoteWorld(1, {}, *tree_->newest(), now_);
    seen_ = log_.last();
  }
  void Cook(const std::string& package, const std::string& text) {
    std::vector<NamedBlob> blobs;
    ASSERT_TRUE(
        tree_->Add(SampleCooked(package, {SampleOutput(".ktx2", text)}), LoweredPath, blobs).ok());
  }
  void Grow() {
    std::vector<NamedBlob> blobs;
    ASSERT_NE(tree_->Grow(now_, true, blobs), nullptr);
  }
  void CookAndTell(const std::string& package, const std::string& text) {
    Cook(package, text);
    Grow();
    log_.NoteGrowth(*tree_->newest(), now_);
  }
  // World `number` begins: these packages were edited.
  void Edit(int number, const std::vector<std::string>& packages) {
    std::vector<PackageChange> changes;
    std::vector<NodeKey> keys;
    for (const std::string& package : packages) {
      changes.push_back({SampleLink(package, {".ktx2"}), SampleLink(package, {".ktx2"})});
      keys.push_back(NodeKeyOf(package));
    }
    Begin(number, changes, keys);
  }
  void Begin(int number, const std::vector<PackageChange>& changes,
             const std::vector<NodeKey>& keys) {
    WorldChange change = ChangeOf(changes, tree_->newest().get());
    const DeviceViewPtr before = tree_->newest();
    tree_ = std::make_unique<DeviceTree>(SampleWorld(number), Digest(), *before, keys);
    Grow();
    log_.NoteWorld(static_cast<uint64_t>(number), std::move(change), *tree_->newest(), now_);
  }
  // The events since the last call.
  std::vector<ChangeEventPtr> News() {
    std::vector<ChangeEventPtr> news = log_.Since(seen_);
    seen_ = log_.last();
    return news;
  }
  ChangeEvent OneNews() {
    const std::vector<ChangeEventPtr> news = News();
    EXPECT_EQ(news.size(), 1u);
    return news.empty() ? ChangeEvent() : *news[0];
  }
  static std::optional<Digest> Of(const std::string& text) { return Digest::Of(text); }

  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  ChangeLog log_{{.term = 7, .events_max = 8, .entries_max = 50, .listed_max = 5}};
  std::unique_ptr<DeviceTree> tree_ = std::make_unique<DeviceTree>(SampleWorld(1), Digest());
  EventId seen_;
};

TEST_F(ChangeLogTest, AGrowthIsANewerRoot) {
  CookAndTell("/Game/a.png", "a");
  const ChangeEvent event = OneNews();
  EXPECT_EQ(event.id, (EventId{.term = 7, .number = 2}));
  EXPECT_EQ(event.root, tree_->newest()->root);
  EXPECT_EQ(event.world, 1u);
  EXPECT_EQ(event.entries(), 0u);
}

TEST_F(ChangeLogTest, AnEditIsStaleAtOnceAndModifiedWhenItIsCooked) {
  CookAndTell("/Game/a.png", "old");
  News();
  Edit(2, {"/Game/a.png"});
  const ChangeEvent stale = OneNews();
  EXPECT_EQ(stale.stale, (StalePaths{"Game/a.png.ktx2"}));
  EXPECT_TRUE(stale.modified.empty());
  EXPECT_EQ(stale.world, 2u);
  CookAndTell("/Game/b.png", "other");
  EXPECT_EQ(OneNews().entries(), 0u);
  CookAndTell("/Game/a.png", "new");
  EXPECT_EQ(OneNews().modified,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", Of("old"), Of("new")}}));
}

TEST_F(ChangeLogTest, APathThatCameOutTheSameIsNoLongerStale) {
  CookAndTell("/Game/a.png", "same");
  Edit(2, {"/Game/a.png"});
  News();
  CookAndTell("/Game/a.png", "same");
  EXPECT_EQ(OneNews().modified,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", Of("same"), Of("same")}}));
}

TEST_F(ChangeLogTest, TwoEditsInARowKeepTheOldestDigest) {
  CookAndTell("/Game/a.png", "first");
  Edit(2, {"/Game/a.png"});
  Edit(3, {"/Game/a.png"});
  News();
  CookAndTell("/Game/a.png", "third");
  EXPECT_EQ(OneNews().modified,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", Of("first"), Of("third")}}));
}

TEST_F(ChangeLogTest, AStalePackageThatIsDeletedIsRemovedWithItsOldDigest) {
  CookAndTell("/Game/a.png", "first");
  Edit(2, {"/Game/a.png"});
  News();
  Begin(3, {{SampleLink("/Game/a.png", {".ktx2"}), std::nullopt}}, {NodeKeyOf("/Game/a.png")});
  EXPECT_EQ(OneNews().removed,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", Of("first"), std::nullopt}}));
}

TEST_F(ChangeLogTest, ANewPackageIsAddedAndModifiedWhenItIsCooked) {
  Begin(2, {{std::nullopt, SampleLink("/Game/a.png", {".ktx2"})}}, {});
  const ChangeEvent added = OneNews();
  EXPECT_EQ(added.added,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", std::nullopt, std::nullopt}}));
  EXPECT_TRUE(added.stale.empty());
  CookAndTell("/Game/a.png", "a");
  EXPECT_EQ(OneNews().modified,
            (std::vector<ChangedPath>{{"Game/a.png.ktx2", std::nullopt, Of("a")}}));
}

TEST_F(ChangeLogTest, AChangedPackageThatIsCookedAlreadyIsNotStale) {
  CookAndTell("/Game/a.png", "a");
  News();
  const ShownPackage package = SampleLink("/Game/a.png", {".ktx2"});
  Begin(2, {{package, package}}, {});
  const ChangeEvent event = OneNews();
  EXPECT_TRUE(event.stale.empty());
  EXPECT_EQ(event.modified, (std::vector<ChangedPath>{{"Game/a.png.ktx2", Of("a"), Of("a")}}));
}

TEST_F(ChangeLogTest, AFailureIsToldAfterTwoHundredMillisecondsOfQuiet) {
  log_.NoteFailed({.package = "/Game/a.png", .error = "no PNG"}, now_);
  EXPECT_EQ(log_.ticks_at(), now_ + absl::Milliseconds(200));
  now_ += absl::Milliseconds(199);
  log_.Tick(now_);
  EXPECT_TRUE(News().empty());
  // Something new is heard of the package: the quiet begins again.
  log_.NoteFailed({.package = "/Game/a.png", .error = "cut off"}, now_);
  now_ += absl::Milliseconds(199);
  log_.Tick(now_);
  EXPECT_TRUE(News().empty());
  now_ += absl::Milliseconds(1);
  log_.Tick(now_);
  const ChangeEvent event = OneNews();
  EXPECT_EQ(event.failures,
            (std::vector<PackageFailure>{{.package = "/Game/a.png", .error = "cut off"}}));
  EXPECT_EQ(log_.ticks_at(), absl::InfiniteFuture());
}

TEST_F(ChangeLogTest, HealingIsToldAfterTheSameQuiet) {
  log_.NoteFailed({.package = "/Game/a.png", .error = "no PNG"}, now_);
  log_.Tick(now_ += absl::Milliseconds(200));
  News();
  CookAndTell("/Game/a.png", "mended");
  EXPECT_TRUE(OneNews().healed.empty());
  log_.Tick(now_ += absl::Milliseconds(199));
  EXPECT_TRUE(News().empty());
  log_.Tick(now_ += absl::Milliseconds(1));
  EXPECT_EQ(OneNews().healed, (StalePaths{"/Game/a.png"}));
  EXPECT_TRUE(log_.Failures().empty());
}

TEST_F(ChangeLogTest, AFailureThatIsMendedAtOnceIsNeverTold) {
  log_.NoteFailed({.package = "/Game/a.png", .error = "half a file"}, now_);
  Edit(2, {"/Game/a.png"});
  News();
  log_.Tick(now_ += absl::Seconds(1));
  EXPECT_TRUE(News().empty());
  log_.NoteFailed({.package = "/Game/a.png", .error = "half a file"}, now_);
  CookAndTell("/Game/a.png", "whole");
  News();
  log_.Tick(now_ += absl::Seconds(1));
  EXPECT_TRUE(News().empty());
}

TEST_F(ChangeLogTest, TheSameFailureAgainIsNotToldTwice) {
  const PackageFailure failure{.package = "/Game/a.png", .error = "no PNG"};
  log_.NoteFailed(failure, now_);
  log_.Tick(now_ += absl::Seconds(1));
  News();
  log_.NoteFailed(failure, now_);
  log_.Tick(now_ += absl::Seconds(1));
  EXPECT_TRUE(News().empty());
  EXPECT_EQ(log_.Failures(), (std::vector<PackageFailure>{failure}));
}

TEST_F(ChangeLogTest, AFailedPackageThatIsDeletedIsHealed) {
  log_.NoteFailed({.package = "/Game/a.png", .error = "no PNG"}, now_);
  log_.Tick(now_ += absl::Seconds(1));
  Begin(2, {{SampleLink("/Game/a.png", {".ktx2"}), std::nullopt}}, {});
  News();
  log_.Tick(now_ += absl::Seconds(1));
  EXPECT_EQ(OneNews().healed, (StalePaths{"/Game/a.png"}));
}

TEST_F(ChangeLogTest, ALargeChangeIsOneEventThatIsCut) {
  ChangeLog log({.term = 7, .event_max = 40});
  log.NoteWorld(1, {}, *tree_->newest(), now_);
  EventId seen = log.last();
  std::vector<PackageChange> changes;
  for (int i = 0; i < 45; ++i) {
    const std::string package = "/Game/" + std::to_string(100 + i) + ".png";
    changes.push_back({SampleLink(package, {".ktx2"}), SampleLink(package, {".ktx2"})});
  }
  log.NoteWorld(2, ChangeOf(changes, tree_->newest().get()), *tree_->newest(), now_);
  const std::vector<ChangeEventPtr> news = log.Since(seen);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_TRUE(news[0]->is_cut);
  EXPECT_FALSE(news[0]->is_snapshot);
  EXPECT_EQ(news[0]->entries(), 40u);
  EXPECT_EQ(news[0]->world, 2u);
  seen = log.last();
  Cook("/Game/144.png", "cooked");
  Grow();
  log.NoteGrowth(*tree_->newest(), now_);
  ASSERT_EQ(log.Since(seen).size(), 1u);
  EXPECT_EQ(log.Since(seen)[0]->modified.size(), 1u) << "it is known to be stale all the same";
}

TEST_F(ChangeLogTest, AChangeThatNobodyKnowsEndsWhatWasStaleOrFailed) {
  Edit(2, {"/Game/a.png"});
  log_.NoteFailed({.package = "/Game/b.png", .error = "no PNG"}, now_);
  log_.Tick(now_ += absl::Seconds(1));
  News();
  tree_ = std::make_unique<DeviceTree>(SampleWorld(3), Digest());
  Grow();
  WorldChange unknown;
  unknown.is_cut = true;
  log_.NoteWorld(3, unknown, *tree_->newest(), now_);
  const ChangeEvent event = OneNews();
  EXPECT_TRUE(event.is_cut);
  EXPECT_EQ(event.entries(), 0u);
  EXPECT_EQ(event.root, tree_->newest()->root);
  log_.Tick(now_ += absl::Seconds(1));
  EXPECT_EQ(OneNews().healed, (StalePaths{"/Game/b.png"}));
  const std::vector<ChangeEventPtr> snapshot = log_.Since({.term = 6, .number = 1});
  EXPECT_TRUE(snapshot[0]->stale.empty());
}

TEST_F(ChangeLogTest, AConflictIsToldAtOnce) {
  const PathConflict conflict{.path = "Game/a.png.ktx2",
                              .packages = {"/Game/a.png", "/Game/a.png.ktx2"}};
  log_.NoteConflict(conflict);
  EXPECT_EQ(OneNews().conflicts, (std::vector<PathConflict>{conflict}));
}

TEST_F(ChangeLogTest, EventsGoOnBehindTheLastOneThatWasSeen) {
  for (int i = 0; i < 5; ++i) CookAndTell("/Game/" + std::to_string(i), "x");
  const std::vector<ChangeEventPtr> news = log_.Since({.term = 7, .number = 3});
  ASSERT_EQ(news.size(), 3u);
  EXPECT_EQ(news[0]->id.number, 4u);
  EXPECT_EQ(news[2]->id, log_.last());
  EXPECT_TRUE(log_.Since(log_.last()).empty());
}

TEST_F(ChangeLogTest, WhoComesTooLateGetsOneSnapshot) {
  log_.NoteFailed({.package = "/Game/f.png", .error = "no PNG"}, now_);
  log_.Tick(now_ += absl::Seconds(1));
  CookAndTell("/Game/a.png", "a");
  Edit(2, {"/Game/a.png"});
  for (int i = 0; i < 9; ++i) CookAndTell("/Game/" + std::to_string(i), "x");
  const auto is_snapshot = [&](const EventId& after) {
    const std::vector<ChangeEventPtr> events = log_.Since(after);
    return events.size() == 1 && events[0]->is_snapshot;
  };
  EXPECT_TRUE(is_snapshot(seen_));
  EXPECT_TRUE(is_snapshot({.term = 6, .number = log_.last().number}));
  EXPECT_TRUE(is_snapshot({.term = 7, .number = log_.last().number + 1}));
  EXPECT_FALSE(is_snapshot({.term = 7, .number = log_.last().number - 8}));
  const ChangeEvent snapshot = *log_.Since(seen_)[0];
  EXPECT_EQ(snapshot.id, log_.last());
  EXPECT_EQ(snapshot.root, tree_->newest()->root);
  EXPECT_EQ(snapshot.stale, (StalePaths{"Game/a.png.ktx2"}));
  ASSERT_EQ(snapshot.failures.size(), 1u);
  EXPECT_FALSE(snapshot.is_cut);
}

TEST_F(ChangeLogTest, AnEventThatIsTooLargeIsASnapshotWithWhatFits) {
  std::vector<std::string> packages;
  for (int i = 0; i < 60; ++i) packages.push_back("/Game/" + std::to_string(i));
  Edit(2, packages);
  const ChangeEvent snapshot = OneNews();
  EXPECT_TRUE(snapshot.is_snapshot && snapshot.is_cut);
  EXPECT_EQ(snapshot.stale.size(), 5u);
  CookAndTell("/Game/7", "7");
  EXPECT_EQ(OneNews().modified.size(), 1u);
}

TEST(EventIdTest, AnIdHasOneText) {
  const EventId id{.term = 7, .number = 123456789012345};
  EXPECT_EQ(TextOf(id), "7-123456789012345");
  EXPECT_EQ(ParseEventId(TextOf(id)), id);
  for (const char* text : {"", "-", "7", "7-", "-1", "07-1", "7-01", "7-1 ", " 7-1", "7--1",
                           "7-1-1", "+7-1", "4294967296-1", "7-18446744073709551616"}) {
    EXPECT_FALSE(ParseEventId(text)) << text;
  }
}

}  // namespace
}  // namespace galley::devices
