#include "director/resident/cook_ahead.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "director/resident/standing_results.h"
#include "director/resident/testing/device_test.h"
#include "director/resident/testing/fake_project.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTown = "/Game/town.level";

// The turns of the service run when the test says so, by a clock of the test.
class CookAheadTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
      Write(std::string("content/") + name + ".png", name);
    Write("content/town.level", "town");
    Write("content/read.txt", "me");
    Write("content/L10N/de/a.png", "a, in German");
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
      fake_.Cooks(std::string("/Game/") + name + ".png", Made({{".ktx2", name}}));
    fake_.Cooks("/Game/L10N/de/a.png", Made({{".ktx2", "de"}}));
    fake_.Cooks(kTown, Made({{".bin", "town"}}));
  }

  void Begin(CookAhead::Settings settings = {}) {
    settings.is_on = true;
    BeginWorld();
    ahead_ = std::make_unique<CookAhead>(
        CookAhead::Deps{
            .present = fake_,
            .shared = shared_,
            .cooked = cooked_,
            .post = [this](std::function<void()> turn) { turns_.push_back(std::move(turn)); },
            .wake_at = [this](absl::Time at) { woken_at_ = at; },
            .take_result =
                [this](const WorldPtr& world, const std::string& platform,
                       const std::string& package, const StoredResult& result) {
                  if (world != world_) return false;
                  Take(platform, package, result.result, result.action_key);
                  return true;
                },
            .follow = [] {},
            .now = [this] { return now_; }},
        std::move(settings));
  }
  // The files as they are now are the present world.
  void BeginWorld() {
    world_ = MakeNow();
    fake_.SetWorld(world_);
    shared_.BeginWorld(ShowWorld(++shown_, world_, Digest::Of("rules")), now_);
  }
  void Take(const std::string& platform, const std::string& package, const record::Result& result,
            const Digest& key) {
    const PackageFilesPtr files = FilesOf(*world_, package, key, result);
    cooked_.TableOf(platform)->Put(package, files);
    ahead_->NoteResult(platform, package, *files);
  }
  // A device was given the package, which has these references.
  void Ask(const std::string& package, const std::vector<std::string>& references = {},
           record::ReferenceKind kind = record::ReferenceKind::kHard) {
    record::Result result = Made({{".bin", "asked"}});
    for (const std::string& path : references)
      result.details.references.push_back({.path = path, .kind = kind});
    if (cooked_.TableOf("linux")->Find(package) == nullptr)
      Take("linux", package, result, Digest::Of(package));
    ahead_->NoteAsked("linux", package);
    Settle();
  }
  // Runs all turns that are due.
  void Settle() {
    do {
      while (!turns_.empty()) {
        const std::function<void()> turn = std::move(turns_.front());
        turns_.pop_front();
        turn();
      }
      ahead_->Advance();
    } while (!turns_.empty() || ahead_->due_at() <= now_);
  }
  void Pass(absl::Duration time) {
    now_ += time;
    Settle();
  }
  // Packages that were cooked ahead on linux, in this order.
  std::vector<std::string> OnLinux() const {
    std::vector<std::string> packages;
    for (const std::string& asked : fake_.AskedAhead()) {
      const size_t space = asked.find(' ');
      if (asked.substr(space) == " linux") packages.push_back(asked.substr(0, space));
    }
    return packages;
  }
  devices::AheadCounts counts() const { return ahead_->figures().counts; }

  FakeProject fake_;
  CookedTables cooked_;
  SharedSessions shared_{{.project = std::string(32, 'a'), .changes = {.term = 1}}, memory_};
  std::deque<std::function<void()>> turns_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  absl::Time woken_at_ = absl::InfinitePast();
  WorldPtr world_;
  uint64_t shown_ = 0;
  std::unique_ptr<CookAhead> ahead_;
};

TEST_F(CookAheadTest, TheReferencesOfWhatWasAskedForAreMadeAndThenHits) {
  fake_.LetCookAhead(absl::Seconds(1));
  Begin();
  Ask(kTown, {"/Game/a.png", "/Game/b.png"});
  EXPECT_THAT(fake_.AskedAhead(),
              ElementsAre("/Game/a.png linux", "/Game/b.png linux", "/Game/town.level android",
                          "/Game/town.level windows"));
  EXPECT_EQ(counts().made, 4u);
  EXPECT_EQ(ahead_->figures().slot_time_spent, absl::Seconds(4));
  Ask("/Game/a.png");
  Ask("/Game/b.png");
  EXPECT_EQ(counts().hits, 2u);
  EXPECT_EQ(ahead_->figures().waiting + ahead_->figures().open, 0u);
}

TEST_F(CookAheadTest, AHitWakesTheTurnsOnceForABatch) {
  Begin();
  Take("linux", "/Game/a.png", Made({{".ktx2", "a"}}), Digest::Of("a"));
  ahead_->NoteAsked("linux", "/Game/a.png");
  EXPECT_EQ(woken_at_, now_ + CookAhead::kBatchLength);
  woken_at_ = absl::InfinitePast();
  ahead_->NoteAsked("linux", "/Game/a.png");
  EXPECT_EQ(woken_at_, absl::InfinitePast());
}

TEST_F(CookAheadTest, WhatWasThereAlreadyIsNotMade) {
  fake_.LetCookAhead(absl::ZeroDuration());
  Begin();
  Ask(kTown, {"/Game/a.png"});
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
  EXPECT_EQ(counts().made, 0u);
  EXPECT_NE(cooked_.TableOf("linux")->Find("/Game/a.png"), nullptr);
}

TEST_F(CookAheadTest, SoftReferencesAndGeneratedPackagesAreReferencesEditorOnesAreNot) {
  fake_.LetCookAhead(absl::Seconds(1));
  fake_.Cooks("/Game/town.level/_gen/cell.level", Made({{".bin", "cell"}}));
  Begin();
  record::Result town = MadeWith({{".bin", "town"}}, {"_gen/cell.level"});
  town.details.references = {{.path = "/Game/a.png", .kind = record::ReferenceKind::kSoft},
                             {.path = "/Game/b.png", .kind = record::ReferenceKind::kEditor},
                             {.path = "/Game/c.png", .kind = record::ReferenceKind::kHard},
                             {.path = "/Game/gone.png", .kind = record::ReferenceKind::kSoft}};
  Take("linux", kTown, town, Digest::Of("town"));
  Ask(kTown);
  EXPECT_THAT(OnLinux(),
              ElementsAre("/Game/c.png", "/Game/a.png", "/Game/town.level/_gen/cell.level"));
}

TEST_F(CookAheadTest, WhatADeviceNeedNotHaveCookedIsNotCooked) {
  fake_.LetCookAhead(absl::Seconds(1));
  Begin();
  Ask(kTown, {"/Game/read.txt", "/Game/gone.png", "/Game/L10N/de/a.png"});
  EXPECT_THAT(OnLinux(), IsEmpty());
  // A device that reads German wants it.
  Ask("/Game/L10N/de/a.png");
  ahead_->OnWorld({.packages = {kTown}}, {});
  Ask(kTown);
  EXPECT_THAT(OnLinux(), IsEmpty()) << "it is known";
  cooked_.TableOf("linux")->Clear();
  Ask("/Game/f.png", {"/Game/L10N/de/a.png"});
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/L10N/de/a.png"));
}

TEST_F(CookAheadTest, WhileTheWorkersRestNothingIsTriedAgainAtOnce) {
  Begin();
  Ask(kTown, {"/Game/a.png"});
  EXPECT_EQ(ahead_->figures().pause, "the workers rest");
  EXPECT_EQ(ahead_->due_at(), now_ + CookAhead::kRestInterval);
  fake_.LetCookAhead(absl::Seconds(1));
  Settle();
  EXPECT_THAT(fake_.AskedAhead(), IsEmpty());
  Pass(CookAhead::kRestInterval);
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
  EXPECT_EQ(ahead_->figures().pause, "");
}

TEST_F(CookAheadTest, WhenTheWorkersEndACandidateIsKept) {
  fake_.LetCookAhead(absl::Seconds(1));
  fake_.Forget("/Game/a.png");
  Begin();
  Ask(kTown, {"/Game/a.png"});
  EXPECT_EQ(ahead_->figures().open, 1u);
  fake_.Rest();
  Settle();
  EXPECT_EQ(ahead_->figures().open, 0u);
  EXPECT_EQ(ahead_->figures().waiting, 1u);
  fake_.LetCookAhead(absl::Seconds(1));
  Pass(CookAhead::kRestInterval);
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png", "/Game/a.png"));
}

TEST_F(CookAheadTest, ADirectorThatNobodyUsesCooksNothing) {
  Begin();
  Ask(kTown, {"/Game/a.png"});
  fake_.LetCookAhead(absl::Seconds(1));
  Pass(CookAhead::kUseLength);
  EXPECT_THAT(fake_.AskedAhead(), IsEmpty());
  EXPECT_THAT(ahead_->figures().pause, HasSubstr("no device has asked"));
  Ask("/Game/f.png");
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
}

TEST_F(CookAheadTest, AFewAsksAreOpenAtATime) {
  fake_.LetCookAhead(absl::Seconds(1));
  std::vector<std::string> references;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    references.push_back(std::string("/Game/") + name + ".png");
    fake_.Forget(references.back());
  }
  Begin();
  Ask(kTown, references);
  EXPECT_THAT(fake_.Waiting(), SizeIs(4));
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "a"}}));
  Settle();
  EXPECT_THAT(fake_.Waiting(), SizeIs(4));
  EXPECT_THAT(OnLinux(), SizeIs(5));
}

TEST_F(CookAheadTest, WhatSomebodyWaitsForIsNotCookedAheadAnyMore) {
  fake_.LetCookAhead(absl::Seconds(1));
  fake_.Forget("/Game/a.png");
  Begin();
  Ask(kTown, {"/Game/a.png"});
  EXPECT_EQ(fake_.Waiting().count("/Game/a.png"), 1u);
  ahead_->NoteWanted("linux", "/Game/a.png");
  EXPECT_EQ(fake_.Waiting().count("/Game/a.png"), 0u) << "the ask ahead is withdrawn";
  Ask("/Game/a.png");
  EXPECT_EQ(counts().hits, 0u);
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
}

TEST_F(CookAheadTest, TheBudgetHoldsItUpAndAHitGivesItBack) {
  fake_.LetCookAhead(absl::Minutes(11));
  Begin({.slots = [] { return uint64_t{1}; }, .open_min = 1, .open_max = 1});
  Ask(kTown, {"/Game/a.png", "/Game/b.png"});
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
  EXPECT_THAT(ahead_->figures().pause, HasSubstr("work in slots"));
  EXPECT_EQ(ahead_->due_at(), now_ + absl::Hours(1));
  Ask("/Game/a.png");
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png", "/Game/b.png"));
}

TEST_F(CookAheadTest, AStoreThatIsNearlyFullIsNotFilled) {
  fake_.LetCookAhead(absl::Seconds(1));
  uint64_t bytes = 990;
  Begin({.store_bytes_max = 1'000, .store_bytes = [&bytes] { return bytes; }});
  Ask(kTown, {"/Game/a.png"});
  EXPECT_THAT(fake_.AskedAhead(), IsEmpty());
  EXPECT_THAT(ahead_->figures().pause, HasSubstr("max_size"));
  bytes = 500;
  Pass(CookAhead::kRestInterval);
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
}

TEST_F(CookAheadTest, AFailureIsTriedAgainWhenItsPackageChanges) {
  fake_.LetCookAhead(absl::Seconds(1));
  fake_.Fails("/Game/a.png", "no image", FailureCause::kVerdict);
  Begin();
  Ask(kTown, {"/Game/a.png"});
  Ask("/Game/f.png", {"/Game/a.png"});
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png"));
  BeginWorld();
  ahead_->OnWorld({.packages = {"/Game/a.png"}}, {});
  Ask("/Game/e.png", {"/Game/a.png"});
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png", "/Game/a.png"));
}

TEST_F(CookAheadTest, AChangeMakesStaleWhatIsCookedAgainAndWhatWasMadeIsWasted) {
  fake_.LetCookAhead(absl::Seconds(1));
  Begin();
  Ask(kTown, {"/Game/a.png"});
  EXPECT_EQ(counts().made, 3u);
  Write("content/a.png", "edited");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "of the edit"}}));
  BeginWorld();
  const std::vector<std::string> changed = {"/Game/a.png"};
  const std::vector<std::string> stale = cooked_.TableOf("linux")->Drop(changed);
  ahead_->OnWorld({.packages = changed}, {{"linux", stale}});
  Settle();
  EXPECT_THAT(OnLinux(), ElementsAre("/Game/a.png", "/Game/a.png"));
  EXPECT_EQ(counts().wasted, 1u);
  Ask("/Game/a.png");
  EXPECT_EQ(counts().hits, 1u);
}

TEST_F(CookAheadTest, AResultOfAnOlderWorldIsAskedForAgain) {
  fake_.LetCookAhead(absl::Seconds(1));
  Begin();
  const WorldPtr first = world_;
  BeginWorld();
  fake_.SetWorld(first);
  Ask(kTown, {"/Game/a.png"});
  EXPECT_EQ(cooked_.TableOf("linux")->Find("/Game/a.png"), nullptr);
  fake_.SetWorld(world_);
  Pass(CookAhead::kWorldInterval);
  EXPECT_NE(cooked_.TableOf("linux")->Find("/Game/a.png"), nullptr);
}

TEST_F(CookAheadTest, ACookThatUsesAResultIsAHit) {
  fake_.LetCookAhead(absl::Seconds(1));
  Begin();
  Ask(kTown, {"/Game/a.png"});
  const PackageFilesPtr files = cooked_.TableOf("linux")->Find("/Game/a.png");
  ASSERT_NE(files, nullptr);
  ahead_->NoteUsed("linux", "/Game/a.png", *files->key);
  Settle();
  EXPECT_EQ(counts().hits, 1u);
}

TEST_F(CookAheadTest, AtTheEndAllAsksAreWithdrawn) {
  fake_.LetCookAhead(absl::Seconds(1));
  fake_.Forget("/Game/a.png");
  Begin();
  Ask(kTown, {"/Game/a.png", "/Game/b.png"});
  ahead_->End();
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
  ahead_->NoteAsked("linux", "/Game/f.png");
  Settle();
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
