#include "director/shell/look_ups.h"

#include <unistd.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "director/journal/kept_limits.h"
#include "director/journal/testing/forwarding_journal.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// HoldingJournal: a Journal in which the record of one package is not found before Release.
class HoldingJournal final : public ForwardingJournal {
 public:
  HoldingJournal(Journal& inner, std::string held)
      : ForwardingJournal(inner), held_(std::move(held)) {}
  absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) override {
    base::MutexLock lock(mutex_);
    while (package == held_ && !is_released_) changed_.Wait(mutex_);
    return ForwardingJournal::Find(package);
  }
  void Release() {
    {
      base::MutexLock lock(mutex_);
      is_released_ = true;
    }
    changed_.NotifyAll();
  }

 private:
  const std::string held_;  // the package
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_released_ GALLEY_GUARDED_BY(mutex_) = false;
};

class LookUpsTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    Write("content/a.txt", "source");
    Write("content/b.txt", "another");
    SetWorld(1);
    kept_ = std::make_unique<KeptLimits>(Host("state"));
    limits_ = std::make_unique<LimitAnswers>(
        LimitAnswers::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                           .kept = kept_.get()},
        LimitAnswers::Options{.trust_domain = "main"});
    MakeLookUps(*journal_);
  }
  void MakeLookUps(Journal& journal) {
    look_ups_ = std::make_unique<LookUps>(
        LookUps::Deps{.sources = [this] { return SourcesOf(world_.Get()); },
                      .store = store_,
                      .journal = journal,
                      .results = results_,
                      .limits = *limits_,
                      .clock = clock_,
                      .alarm = [](const std::string& text) { ADD_FAILURE() << text; },
                      .post = [this](std::function<void()> task) { Post(std::move(task)); },
                      .answer = [this](LookedUp answer) { answers_.push_back(std::move(answer)); }},
        LookUpRunner::Options{.trust_domain = "main"});
  }
  void TearDown() override {
    look_ups_.reset();
    ShellJournalTest::TearDown();
  }

  // Takes the files as they are now.
  void SetWorld(uint64_t number) {
    auto world = std::make_shared<World>(*MakeWorld());
    world->number = number;
    world_.Set(std::move(world));
  }
  LookUpItem ItemOf(PackageId package, const std::string& name) {
    return {.package = package,
            .name = name,
            .platforms = MaskOf(0),
            .recipes = world_.Get()->table->RecipesOf(name)};
  }
  // Waits for the next task of the loop, and returns the task.
  std::function<void()> NextTask() {
    const WaitLimit limit("a task of the loop");
    base::MutexLock lock(mutex_);
    while (tasks_.empty()) changed_.Wait(mutex_);
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  WorldHolder world_{nullptr};
  SystemClock clock_;
  std::unique_ptr<KeptLimits> kept_;
  std::unique_ptr<LimitAnswers> limits_;
  std::vector<LookedUp> answers_;
  std::unique_ptr<LookUps> look_ups_;

 private:
  void Post(std::function<void()> task) {
    {
      base::MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.NotifyAll();
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
};

TEST_F(LookUpsTest, AllItemsOfAQuestionAreAnsweredOnTheLoop) {
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt"), ItemOf(PackageId(4), "/Game/b.txt")});
  const std::function<void()> answer = NextTask();
  EXPECT_THAT(answers_, IsEmpty());
  answer();
  ASSERT_THAT(answers_, SizeIs(1));
  ASSERT_THAT(answers_[0].items, SizeIs(2));
  for (const LookedUp::Item& one : answers_[0].items)
    EXPECT_TRUE(std::holds_alternative<LookedUp::Miss>(one.outcome));
}

// A large file holds up nobody else.
TEST_F(LookUpsTest, AnItemWithALargeFileIsAnsweredWhenTheFileIsHashed) {
  ASSERT_EQ(::truncate(Host("content/a.txt").c_str(), int64_t{QuickSources::kHashedMax} + 1), 0);
  SetWorld(1);
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt"), ItemOf(PackageId(4), "/Game/b.txt")});
  NextTask()();
  ASSERT_THAT(answers_, SizeIs(1));
  ASSERT_THAT(answers_[0].items, SizeIs(1));
  EXPECT_EQ(answers_[0].items[0].package, PackageId(4));
  NextTask()();
  ASSERT_THAT(answers_, SizeIs(2));
  ASSERT_THAT(answers_[1].items, SizeIs(1));
  EXPECT_EQ(answers_[1].items[0].package, PackageId(3));
  EXPECT_TRUE(std::holds_alternative<LookedUp::Miss>(answers_[1].items[0].outcome));
  EXPECT_TRUE(world_.Get()->snapshot->KnownDigest("/Game/a.txt").has_value());
}

TEST_F(LookUpsTest, AnItemThatSomebodyAwaitsWaitsBehindNoItemOfACook) {
  HoldingJournal holding(*journal_, "/Game/a.txt");
  MakeLookUps(holding);
  LookUpItem awaited = ItemOf(PackageId(4), "/Game/b.txt");
  awaited.is_awaited = true;
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt"), awaited});
  NextTask()();
  ASSERT_THAT(answers_, SizeIs(1));
  ASSERT_THAT(answers_[0].items, SizeIs(1));
  EXPECT_EQ(answers_[0].items[0].package, PackageId(4));
  holding.Release();
  NextTask()();
  ASSERT_THAT(answers_, SizeIs(2));
  EXPECT_EQ(answers_[1].items.at(0).package, PackageId(3));
  look_ups_.reset();  // its threads ask `holding`
}

// The load finds that the file changed, and asks for another snapshot.
TEST_F(LookUpsTest, ALargeFileThatChangedSinceTheScanIsAMiss) {
  ASSERT_EQ(::truncate(Host("content/a.txt").c_str(), int64_t{QuickSources::kHashedMax} + 1), 0);
  SetWorld(1);
  ASSERT_EQ(::truncate(Host("content/a.txt").c_str(), int64_t{QuickSources::kHashedMax} + 2), 0);
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt")});
  NextTask()();
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<LookedUp::Miss>(answers_[0].items.at(0).outcome));
}

TEST_F(LookUpsTest, NothingIsHashedOnceNobodyWaits) {
  look_ups_->Cancel();
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt")});
  look_ups_.reset();  // everything that was asked has run
  EXPECT_FALSE(world_.Get()->snapshot->KnownDigest("/Game/a.txt").has_value());
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(LookUpsTest, AQuestionIsAskedAgainWhenANewSnapshotOvertookItsAnswer) {
  look_ups_->Ask({ItemOf(PackageId(3), "/Game/a.txt")});
  const std::function<void()> overtaken = NextTask();
  SetWorld(2);
  overtaken();
  ASSERT_THAT(answers_, IsEmpty());
  NextTask()();
  EXPECT_THAT(answers_, SizeIs(1));
}

}  // namespace
}  // namespace galley::director
