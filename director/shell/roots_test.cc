// Roots of cooks that were judged in different worlds.
#include "director/shell/roots.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/report_reader.h"
#include "director/shell/shell_test_world.h"
#include "director/shell/trace.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::Pair;

// TestQueue: tasks of the commits and messages to the loop, in one queue.
class TestQueue final : public Tasks, public Inbox {
 public:
  void Post(std::function<void()> task) override { waiting_.push_back(std::move(task)); }
  void PostTask(Task task) override { Post(std::move(task)); }
  void PostEvent(Event event) override {
    Post([this, event = std::move(event)] { HandleNow(event); });
  }
  void HandleNow(const Event& event) override { events.push_back(event); }
  void RunAll() {
    while (!waiting_.empty()) {
      const std::function<void()> task = std::move(waiting_.front());
      waiting_.pop_front();
      task();
    }
  }

  std::vector<Event> events;

 private:
  std::deque<std::function<void()>> waiting_;
};

class StillClock final : public Clock {
 public:
  absl::Time Now() override { return absl::FromUnixSeconds(1000); }
  absl::Time Monotonic() override { return Now(); }
};

class RootsTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    Write("content/A.txt", "a");
    first_ = MakeWorld();
    auto second = std::make_shared<World>(*first_);
    second->number = first_->number + 1;
    second_ = std::move(second);
    Present(first_);
    const PresentSources sources = [this] { return SourcesOf(present_); };
    reader_ = std::make_unique<ReportReader>(
        ReportReader::Deps{
            .sources = sources, .store = &store_, .results = &results_, .trace = &trace_},
        "main", DefaultLimits{});
    commits_ = std::make_unique<Commits>(
        Commits::Deps{.store = store_,
                      .journal = *journal_,
                      .results = results_,
                      .trace = trace_,
                      .clock = clock_,
                      .tasks = queue_,
                      .inbox = queue_,
                      .cooks = cooks_,
                      .reports = *reader_,
                      .holds = [] { return [](const StoredResult&) { return true; }; },
                      .committed = [](const std::vector<ResultId>&) {}});
    roots_ = std::make_unique<Roots>(Roots::Options{.project_id = "p"},
                                     Roots::Deps{.store = store_,
                                                 .journal = *journal_,
                                                 .results = results_,
                                                 .clock = clock_,
                                                 .tasks = queue_,
                                                 .root_tasks = root_queue_,
                                                 .inbox = queue_,
                                                 .commits = *commits_,
                                                 .cooks = cooks_,
                                                 .world = [this] { return present_; },
                                                 .sources = sources});
  }

  void Present(const WorldPtr& world) { present_ = world; }
  // A cook by the book begins; it writes down what it stages.
  void Begin(uint64_t number) {
    CookOrder order{
        .request = {.request = number, .platforms = 1, .by_the_book = true, .is_staged = true}};
    order.stage = [this, number](const std::map<std::string, Digest>&, const WorldPtr& world) {
      staged_.emplace_back(number, world->number);
      return std::string();
    };
    const auto cook = std::make_shared<ActiveCook>(std::move(order));
    cook->asker = &queue_;
    cooks_.Add(cook);
  }
  // The cook is judged in the present world: its root is to have a file of these bytes.
  void BeginRoot(uint64_t number, const std::string& bytes) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = "/Game/A.txt";
    stored->platform_name = "windows";
    stored->result = MakeResult(store_, {{"", bytes}});
    stored->action_key = Digest::Of("key of " + bytes);
    views_.push_back(results_.Add(std::move(stored)));
    BuildRoot effect{.platform = 0, .packages = {{PackageId(0), views_.back()->id}}};
    effect.request = number;
    roots_->Build(effect);
  }
  // Runs the tasks of the commits, then those of the roots, and what these post.
  void RunAll() {
    queue_.RunAll();
    root_queue_.RunAll();
    queue_.RunAll();
  }
  void Build(uint64_t number, const std::string& bytes) {
    BeginRoot(number, bytes);
    RunAll();
    ASSERT_FALSE(queue_.events.empty());
    const auto* const built = std::get_if<RootBuilt>(&queue_.events.back());
    ASSERT_NE(built, nullptr);
    ASSERT_EQ(built->error, "");
    ASSERT_TRUE(built->lost.empty());
    built_[number] = built->root;
  }
  void Publish(uint64_t number, bool by_the_book = true) {
    PublishRoot effect{.platform = 0, .root = built_.at(number), .by_the_book = by_the_book};
    effect.request = number;
    roots_->Publish(effect);
    queue_.RunAll();
    const auto* const published = std::get_if<RootPublished>(&queue_.events.back());
    ASSERT_NE(published, nullptr);
    ASSERT_EQ(published->error, "");
  }
  std::vector<std::pair<Digest, bool>> Published() {
    std::vector<std::pair<Digest, bool>> all;  // the newest first, and whether it is by the book
    const std::vector<store::PublishedRoot> roots = store_.Roots("p").value();
    for (const store::PublishedRoot& root : roots) all.emplace_back(root.root, root.by_the_book);
    return all;
  }

  StillClock clock_;
  TestQueue queue_, root_queue_;
  Trace trace_;
  WorldPtr first_, second_, present_;
  std::unique_ptr<ReportReader> reader_;
  ActiveCooks cooks_;
  std::unique_ptr<Commits> commits_;
  std::unique_ptr<Roots> roots_;
  std::vector<ResultViewPtr> views_;  // keep the results
  std::map<uint64_t, Digest> built_;
  std::vector<std::pair<uint64_t, uint64_t>> staged_;  // cook, and number of its world
};

TEST_F(RootsTest, CommitsDoNotWaitForAWholeRoot) {
  Begin(1);
  BeginRoot(1, "large");
  bool is_committed = false;
  queue_.Post([&] { is_committed = true; });
  queue_.RunAll();
  EXPECT_TRUE(is_committed);
  EXPECT_TRUE(queue_.events.empty()) << "the root is not built yet";
  root_queue_.RunAll();
  queue_.RunAll();
  ASSERT_EQ(queue_.events.size(), 1u);
  EXPECT_EQ(std::get<RootBuilt>(queue_.events[0]).error, "");
}

// The journal belongs to the thread of the commits.
TEST_F(RootsTest, WhatARootLacksIsDistrustedInOrderWithTheCommits) {
  Begin(1);
  BeginRoot(1, "large");
  store_.inner.Drop(Digest::Of("large"));
  queue_.RunAll();
  root_queue_.RunAll();
  EXPECT_TRUE(queue_.events.empty());
  queue_.RunAll();
  ASSERT_EQ(queue_.events.size(), 1u);
  EXPECT_EQ(std::get<RootBuilt>(queue_.events[0]).lost.size(), 1u);
}

// The root that was known to be whole is the newest no more when the build comes to it, and
// collections need not keep what only that root has.
TEST_F(RootsTest, WhatWasKnownToBeWholeIsLookedAtWhenANewerRootWasPublishedMeanwhile) {
  const store::StoreInfo info = *store_.Info();
  ASSERT_TRUE(journal_
                  ->SetMeta(JournalMeta{
                      .project_id = "p", .store_id = info.store_id, .loss_epoch = info.loss_epoch})
                  .ok());
  Begin(1);
  Build(1, "first");
  Publish(1);
  Present(second_);
  Begin(2);
  Build(2, "other");
  Begin(3);
  BeginRoot(3, "first");
  queue_.RunAll();  // finds that the root of cook 1 is whole
  Publish(2);
  store_.inner.Drop(Digest::Of("first"));
  const size_t told = queue_.events.size();
  root_queue_.RunAll();
  queue_.RunAll();
  EXPECT_EQ(queue_.events.size(), told) << "the root is believed to be whole";
  RunAll();
  ASSERT_EQ(queue_.events.size(), told + 1);
  const auto* const built = std::get_if<RootBuilt>(&queue_.events.back());
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(built->root, built_[1]);
  EXPECT_EQ(built->lost.size(), 1u);
}

TEST_F(RootsTest, ARootOfAnOlderWorldIsRecordedAndIsNotTheLatest) {
  Begin(1);
  Build(1, "old");
  Present(second_);
  Begin(2);
  Build(2, "new");
  Publish(2);
  Publish(1);
  EXPECT_THAT(Published(), ElementsAre(Pair(built_[1], false), Pair(built_[2], true)));
  // The journal knows the root that was published last, and the keys of the newer one.
  EXPECT_EQ(journal_->LastPublished("windows")->sequence, 2u);
}

TEST_F(RootsTest, ANarrowCookOfANewerWorldKeepsNoWholeRootFromBecomingTheLatest) {
  Begin(1);
  Build(1, "old");
  Present(second_);
  Begin(2);
  Build(2, "new");
  Publish(2, /*by_the_book=*/false);
  Publish(1);
  EXPECT_THAT(Published(), ElementsAre(Pair(built_[1], true), Pair(built_[2], false)));
}

TEST_F(RootsTest, RootsInTheOrderOfTheirWorldsBecomeTheLatest) {
  Begin(1);
  Build(1, "old");
  Present(second_);
  Begin(2);
  Build(2, "new");
  Publish(1);
  Publish(2);
  EXPECT_THAT(Published(), ElementsAre(Pair(built_[2], true), Pair(built_[1], true)));
}

TEST_F(RootsTest, RootsAreStagedInTheWorldInWhichTheirCookWasJudged) {
  Begin(1);
  Build(1, "old");
  Present(second_);
  Publish(1);
  roots_->Stage({.round = 0, .request = 1});
  queue_.RunAll();
  EXPECT_THAT(staged_, ElementsAre(Pair(1u, first_->number)));
  EXPECT_EQ(cooks_.Find(1)->judged->world, first_);
}

TEST_F(RootsTest, RootsThatAreBuiltAgainAreOfTheWorldOfTheirOwnJudgement) {
  Begin(1);
  Build(1, "old");
  Present(second_);
  BuildRoot again{
      .platform = 0, .packages = {{PackageId(0), views_.back()->id}}, .round = 1, .request = 1};
  roots_->Build(again);
  RunAll();
  EXPECT_EQ(cooks_.Find(1)->judged->world, second_);
}

}  // namespace
}  // namespace galley::director
