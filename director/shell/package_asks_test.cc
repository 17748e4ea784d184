#include "director/shell/package_asks.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// QueuedLoop: the loop and its task threads in one queue, which runs when the test says so. It
// notes what the core is told.
class QueuedLoop final : public Inbox, public Tasks {
 public:
  void Post(std::function<void()> task) override { waiting_.push_back(std::move(task)); }
  void PostTask(Task task) override { Post(std::move(task)); }
  void PostEvent(Event event) override {
    Post([this, event = std::move(event)] { HandleNow(event); });
  }
  void RunOnLoop(Task task, Task then) override {
    task();
    then();
  }
  void HandleNow(const Event& event) override {
    if (const auto* const asked = std::get_if<PackageAsked>(&event)) {
      told.push_back((asked->is_ahead ? "ahead " : "ask ") + asked->package + " " +
                     std::to_string(asked->platform));
      last_ask = asked->ask;
    } else if (std::holds_alternative<AskWithdrawn>(event)) {
      told.emplace_back("withdrawn");
    } else if (const auto* const cleared = std::get_if<PackagesCleared>(&event)) {
      for (const std::string& package : cleared->packages) told.push_back("cleared " + package);
    } else if (std::holds_alternative<LossSeen>(event)) {
      told.emplace_back("loss");
    }
  }
  void Run() {
    while (!waiting_.empty()) {
      const std::function<void()> task = std::move(waiting_.front());
      waiting_.pop_front();
      task();
    }
  }
  std::vector<std::string> TakeTold() { return std::exchange(told, {}); }

  std::vector<std::string> told;
  uint64_t last_ask = 0;  // of the core

 private:
  std::deque<std::function<void()>> waiting_;
};

class PackageAsksTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    world_ = MakeWorld();
    asks_ = std::make_unique<PackageAsks>(
        PackageAsks::Deps{.store = store_,
                          .journal = *journal_,
                          .results = results_,
                          .commit_tasks = commit_thread_,
                          .tasks = loop_,
                          .inbox = loop_,
                          .sources = [this] { return SourcesOf(world_); },
                          .world = [this] { return world_; }});
  }
  void TearDown() override {
    asks_.reset();
    ShellJournalTest::TearDown();
  }

  // Asks, and lets the loop take the ask.
  uint64_t Ask(const std::string& package, const std::string& platform = "windows") {
    const auto asker =
        asks_->Ask(package, platform, [this](const AskOutcome& outcome) { Note(outcome); });
    EXPECT_TRUE(asker.ok()) << asker.status();
    loop_.Run();
    return asker.value_or(0);
  }
  void Note(const AskOutcome& outcome) {
    if (const auto* const done = std::get_if<AskSucceeded>(&outcome)) {
      heard_.push_back("done " + done->result->package);
      EXPECT_EQ(done->world, world_);
    } else if (const auto* const failed = std::get_if<AskFailed>(&outcome)) {
      heard_.push_back("failed " + failed->error);
    } else {
      heard_.push_back("aborted " + std::get<AskAborted>(outcome).reason);
    }
    last_ = outcome;
  }
  ResultViewPtr Result(const std::string& output, bool is_in_journal) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = "/Game/a.txt";
    stored->result.outputs.push_back({"", Digest::Of(output)});
    stored->is_in_journal = is_in_journal;
    return results_.Add(std::move(stored));
  }
  // The core ends the last ask.
  void Succeed(const ResultViewPtr& result) {
    asks_->TakeEnded({.ask = loop_.last_ask, .result = result->id, .held = result});
  }
  void Fail(FailureCause cause) {
    asks_->TakeEnded(
        {.ask = loop_.last_ask,
         .failed = PackageFailed{
             .stage = Stage::kSave, .error = "no width", .log = "log", .cause = cause}});
  }

  WorldPtr world_;
  QueuedLoop loop_;
  QueuedLoop commit_thread_;  // may have much to do
  std::unique_ptr<PackageAsks> asks_;
  std::vector<std::string> heard_;
  std::optional<AskOutcome> last_;
};

TEST_F(PackageAsksTest, ThoseWhoWaitForTheSameShareOneAskOfTheCore) {
  Ask("/Game/a.txt");
  Ask("/Game/a.txt");
  Ask("/Game/a.txt", "android");
  Ask("/Game/b.txt");
  EXPECT_THAT(loop_.TakeTold(),
              ElementsAre("ask /Game/a.txt 0", "ask /Game/a.txt 1", "ask /Game/b.txt 0"));
}

TEST_F(PackageAsksTest, AheadOfNeedIsAnAskOfItsOwn) {
  const auto note = [this](const AskOutcome& outcome) { Note(outcome); };
  ASSERT_TRUE(asks_->AskAhead("/Game/a.txt", "windows", note).ok());
  const auto second = asks_->AskAhead("/Game/a.txt", "windows", note);
  ASSERT_TRUE(second.ok());
  loop_.Run();
  const uint64_t ahead = loop_.last_ask;
  const uint64_t now = Ask("/Game/a.txt");
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("ahead /Game/a.txt 0", "ask /Game/a.txt 0"));
  asks_->Withdraw(now);
  asks_->Withdraw(*second);
  loop_.Run();
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("withdrawn"));
  const ResultViewPtr result = Result("bytes", /*is_in_journal=*/false);
  asks_->TakeEnded({.ask = ahead, .result = result->id, .held = result});
  EXPECT_THAT(heard_, ElementsAre("done /Game/a.txt"));
  EXPECT_TRUE(asks_->empty());
}

TEST_F(PackageAsksTest, ASuccessSaysHowLongItsCookRan) {
  auto stored = std::make_shared<StoredResult>();
  stored->package = "/Game/a.txt";
  stored->last_cook.load_time = absl::Seconds(1);
  stored->last_cook.save_time = absl::Seconds(2);
  const ResultViewPtr result = results_.Add(std::move(stored));
  for (const bool was_cooked : {true, false}) {
    Ask("/Game/a.txt");
    asks_->TakeEnded(
        {.ask = loop_.last_ask, .result = result->id, .held = result, .was_cooked = was_cooked});
    EXPECT_EQ(std::get<AskSucceeded>(*last_).ran_for,
              was_cooked ? absl::Seconds(3) : absl::ZeroDuration());
  }
}

TEST_F(PackageAsksTest, AllHearTheOutcomeOnce) {
  Ask("/Game/a.txt");
  Ask("/Game/a.txt");
  Succeed(Result("bytes", /*is_in_journal=*/false));
  EXPECT_THAT(heard_, ElementsAre("done /Game/a.txt", "done /Game/a.txt"));
  EXPECT_TRUE(asks_->empty());
  asks_->End("the end");
  EXPECT_THAT(heard_, SizeIs(2));
}

TEST_F(PackageAsksTest, WhoeverAsksAfterTheAnswerIsAnsweredAnew) {
  Ask("/Game/a.txt");
  Succeed(Result("bytes", /*is_in_journal=*/false));
  Ask("/Game/a.txt");
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("ask /Game/a.txt 0", "ask /Game/a.txt 0"));
}

TEST_F(PackageAsksTest, TheLastWhoWithdrawsTakesTheAskBack) {
  const uint64_t first = Ask("/Game/a.txt"), second = Ask("/Game/a.txt");
  loop_.TakeTold();
  asks_->Withdraw(first);
  loop_.Run();
  EXPECT_THAT(loop_.TakeTold(), IsEmpty());
  asks_->Withdraw(second);
  asks_->Withdraw(second);
  loop_.Run();
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("withdrawn"));
  EXPECT_TRUE(asks_->empty());
}

TEST_F(PackageAsksTest, WhoeverWithdrewHearsNothing) {
  const uint64_t asker = Ask("/Game/a.txt");
  asks_->Withdraw(asker);
  Succeed(Result("bytes", /*is_in_journal=*/false));
  loop_.Run();
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_TRUE(asks_->empty());
}

TEST_F(PackageAsksTest, TheCoreIsNotAskedForSomebodyWhoHasLeft) {
  const uint64_t asker = asks_->Ask("/Game/a.txt", "windows", [](const AskOutcome&) {}).value();
  asks_->Withdraw(asker);
  loop_.Run();
  EXPECT_THAT(loop_.told, IsEmpty());
}

TEST_F(PackageAsksTest, AFailureSaysWhoseFaultItIs) {
  for (const auto& [cause, is_infrastructure] :
       std::vector<std::pair<FailureCause, bool>>{{FailureCause::kVerdict, false},
                                                  {FailureCause::kPackage, false},
                                                  {FailureCause::kMachine, true},
                                                  {FailureCause::kUnread, true}}) {
    Ask("/Game/a.txt");
    Fail(cause);
    const AskFailed& failed = std::get<AskFailed>(*last_);
    EXPECT_EQ(failed.stage, Stage::kSave);
    EXPECT_EQ(failed.error, "no width");
    EXPECT_EQ(failed.log, "log");
    EXPECT_EQ(failed.is_infrastructure(), is_infrastructure) << FailureCauseName(cause);
    EXPECT_EQ(failed.world, world_);
  }
}

TEST_F(PackageAsksTest, ADirectorThatCannotGoOnSaysSo) {
  Ask("/Game/a.txt");
  asks_->TakeEnded({.ask = loop_.last_ask, .infrastructure_error = "the disk is full"});
  EXPECT_THAT(heard_, ElementsAre("aborted the disk is full"));
  EXPECT_FALSE(std::get<AskAborted>(*last_).has_shell_ended);
}

TEST_F(PackageAsksTest, APlatformThatIsGoneIsNotAskedFor) {
  Ask("/Game/a.txt", "amiga");
  EXPECT_THAT(heard_, ElementsAre(HasSubstr("no platform \"amiga\"")));
  EXPECT_THAT(loop_.told, IsEmpty());
  EXPECT_TRUE(asks_->empty());
}

// The commit thread may be busy with the roots of a cook.
TEST_F(PackageAsksTest, AResultOfTheJournalIsToldWhenTheStoreHasItsBytes) {
  ASSERT_TRUE(store_.Put(Digest::Of("bytes"), "bytes").ok());
  Ask("/Game/a.txt");
  Succeed(Result("bytes", /*is_in_journal=*/true));
  EXPECT_THAT(heard_, IsEmpty());
  loop_.Run();
  EXPECT_THAT(heard_, ElementsAre("done /Game/a.txt"));
}

// The check is of the world before: whoever asks meanwhile may do so in a newer world.
TEST_F(PackageAsksTest, WhoeverAsksDuringTheCheckAsksTheCore) {
  ASSERT_TRUE(store_.Put(Digest::Of("bytes"), "bytes").ok());
  Ask("/Game/a.txt");
  Succeed(Result("bytes", /*is_in_journal=*/true));
  loop_.TakeTold();
  Ask("/Game/a.txt");
  EXPECT_THAT(heard_, ElementsAre("done /Game/a.txt"));
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("ask /Game/a.txt 0"));
}

TEST_F(PackageAsksTest, APackageWhoseBytesAreGoneIsMadeAgain) {
  Ask("/Game/a.txt");
  loop_.TakeTold();
  Succeed(Result("gone", /*is_in_journal=*/true));
  loop_.Run();
  EXPECT_THAT(loop_.TakeTold(), IsEmpty()) << "the journal distrusts the record first";
  commit_thread_.Run();
  loop_.Run();
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_THAT(loop_.TakeTold(), ElementsAre("cleared /Game/a.txt", "loss", "ask /Game/a.txt 0"));
  Succeed(Result("bytes", /*is_in_journal=*/false));
  EXPECT_THAT(heard_, ElementsAre("done /Game/a.txt"));
}

TEST_F(PackageAsksTest, APackageWhoseBytesAreAlwaysGoneIsGivenUp) {
  Ask("/Game/a.txt");
  for (uint32_t i = 0; i <= PackageAsks::kLossesMax; ++i) {
    EXPECT_THAT(heard_, IsEmpty());
    Succeed(Result("gone", /*is_in_journal=*/true));
    loop_.Run();
    commit_thread_.Run();
    loop_.Run();
  }
  EXPECT_THAT(heard_, ElementsAre(HasSubstr("again and again")));
}

TEST_F(PackageAsksTest, TheEndIsToldToAllAndNobodyAsksAfterIt) {
  Ask("/Game/a.txt");
  Ask("/Game/b.txt");
  asks_->End("the director ends");
  EXPECT_THAT(heard_, ElementsAre("aborted the director ends", "aborted the director ends"));
  EXPECT_TRUE(std::get<AskAborted>(*last_).has_shell_ended);
  EXPECT_TRUE(
      absl::IsUnavailable(asks_->Ask("/Game/a.txt", "windows", [](const AskOutcome&) {}).status()));
}

TEST_F(PackageAsksTest, SoManyMayWait) {
  const auto ask = [&] { return asks_->Ask("/Game/a.txt", "windows", [](const AskOutcome&) {}); };
  const uint64_t first = ask().value();
  for (size_t i = 1; i < PackageAsks::kAskersMax; ++i) ASSERT_TRUE(ask().ok());
  EXPECT_TRUE(absl::IsResourceExhausted(ask().status()));
  asks_->Withdraw(first);
  EXPECT_TRUE(ask().ok());
}

}  // namespace
}  // namespace galley::director
