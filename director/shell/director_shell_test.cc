// DirectorShellTest: cooks that need no worker, and the end of a cook whose commits fail.
#include "director/shell/director_shell.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/testing/await.h"
#include "common/record/action.h"
#include "common/record/recipe.h"
#include "common/record/testing/sample.h"
#include "director/journal/testing/forwarding_journal.h"
#include "director/shell/shell_test_world.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// FullJournal: a Journal that takes no failures.
class FullJournal final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override {
    if (updates.empty()) return absl::OkStatus();
    return absl::ResourceExhaustedError("the disk is full");
  }
};

class DirectorShellTest : public ShellJournalTest, public CookEventSink {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    Write("content/none.txt", "x");
    Write("content/none.txt.cook", "cooker = \"nobody\"\n");
    options_.mounts = {{.path = "/Game", .directory = Host("content")}};
    options_.digest_cache_file = Host("digests");
  }

  // Cooks a package that fails without a worker because its sidecar is wrong.
  ShellOutcome Cook(Journal& journal, bool fail_fast) {
    DirectorShell shell(OptionsOfShell(), MakeWorld(), store_, journal, trace_);
    EXPECT_TRUE(shell.Start().ok());
    Cancellation nobody;
    return shell
        .Cook({.request = {.request = 1,
                           .platforms = 1,
                           .selected = {{selected_, InstigatorCategory::kCommandLinePackage}},
                           .fail_fast = fail_fast},
               .refuses = refuses_},
              *this, nobody)
        .value();
  }

  ShellOptions OptionsOfShell() {
    ShellOptions options{.state_directory = Host("state"), .socket_path = Host("socket")};
    options.core.platform_count = 3;
    options.core.term = 1;
    options.project_id = "p";
    options.keep_roots = 7;
    options.may_write = may_write_;
    options.has_room = has_room_;
    options.own_memory_bytes = own_memory_bytes_;
    options.own_memory_used = [this] { return own_memory_bytes_ + 1; };
    options.worker_program = Host("no-such-program");
    return options;
  }

  // Asks for the package on windows, and waits.
  static AskOutcome AskFor(DirectorShell& shell, const std::string& package) {
    const auto told = std::make_shared<std::promise<AskOutcome>>();
    std::future<AskOutcome> outcome = told->get_future();
    EXPECT_TRUE(
        shell.Ask(package, "windows", [told](const AskOutcome& one) { told->set_value(one); })
            .ok());
    const WaitLimit limit("the outcome of an ask");
    return outcome.get();
  }

  void TakeEvent(const CookEvent& event) override {
    if (const auto* const failed = std::get_if<CookEvent::Failed>(&event.what))
      failed_.push_back(failed->package);
  }

  Trace trace_;
  std::vector<std::string> failed_;
  // Puts a result of /Game/a.txt, which observed the variable LEVEL, where the look-up finds the
  // result.
  void PutIntoCache(const record::Result& result) {
    Write("content/a.txt", "a");
    const project::ResolvedRecipe recipe = MakeWorld()->table->RecipesOf("/Game/a.txt")->front();
    const std::vector<record::Observed> observed = {
        {{record::ObservationKind::kEnv, "LEVEL", ""}, "=9"}};
    const Digest source = Digest::Of("a");
    const Digest key = record::ActionKey({recipe.recipe, source, observed, ""}).value();
    ASSERT_TRUE(store_
                    .Commit({.results = {{record::WeakKey(source, recipe.digest, ""),
                                          record::EncodeSet(record::SetOf(observed)), key,
                                          record::EncodeResult(result)}}})
                    .ok());
    selected_ = "/Game/a.txt";
  }

  static std::string SawVariable(const StoredResult& result) {
    return fmt::format("{} saw {}", result.package, result.observed.at(0).what.subject);
  }

  std::function<absl::Status()> may_write_, has_room_;
  std::function<std::string(const StoredResult& result)> refuses_;
  std::string selected_ = "/Game/none.txt";
  uint64_t own_memory_bytes_ = 0;
};

TEST_F(DirectorShellTest, TheJournalLearnsWhatFailedBeforeARootIsPublished) {
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_EQ(outcome.ended.infrastructure_error, "");
  EXPECT_THAT(failed_, SizeIs(1));
  EXPECT_THAT(outcome.roots, SizeIs(0)) << "an empty root is never published";
  EXPECT_THAT(store_.Roots("p").value(), SizeIs(0));
  EXPECT_THAT(journal_->Find("/Game/none.txt").value()->failures, SizeIs(1));
}

TEST_F(DirectorShellTest, ACookWhoseFailuresCannotBeKeptFailsAndPublishesNothing) {
  FullJournal full(*journal_);
  const ShellOutcome outcome = Cook(full, false);
  EXPECT_THAT(outcome.ended.infrastructure_error, HasSubstr("the disk is full"));
  EXPECT_THAT(outcome.roots, SizeIs(0));
  EXPECT_THAT(store_.Roots("p").value(), SizeIs(0));
}

// The stores of this director do not check the lock: the director must find out by itself.
TEST_F(DirectorShellTest, ACookThatWasOvertakenEndsThoughItHasNothingToWrite) {
  may_write_ = [] { return absl::FailedPreconditionError("it was overtaken"); };
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_THAT(outcome.ended.infrastructure_error, HasSubstr("it was overtaken"));
  EXPECT_THAT(outcome.roots, SizeIs(0));
}

// A worker that cannot write ends, whatever it says; the cook does not try the worker again and
// again.
TEST_F(DirectorShellTest, ACookWhoseWorkerEndsOnAFullDiskSaysThatTheDiskIsFull) {
  Write("content/a.txt", "a");
  selected_ = "/Game/a.txt";
  has_room_ = [] { return absl::ResourceExhaustedError("the disk is full"); };
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_THAT(outcome.ended.infrastructure_error, HasSubstr("the disk is full"));
  EXPECT_THAT(outcome.roots, SizeIs(0));
}

TEST_F(DirectorShellTest, ACookThatDoesNotFitIntoTheMemoryEndsAndSaysWhatItWouldNeed) {
  Write("content/a.txt", "a");
  selected_ = "/Game/a.txt";
  own_memory_bytes_ = 1 << 20;
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_THAT(outcome.ended.infrastructure_error, HasSubstr("may use 1.0 MiB ([director] memory)"));
  EXPECT_THAT(outcome.ended.infrastructure_error,
              HasSubstr("alone it would need at least 1.0 MiB"));
  EXPECT_THAT(outcome.roots, SizeIs(0));
}

// The cook ends when its last group is committed.
TEST_F(DirectorShellTest, TheLastGroupCountsAsWell) {
  FullJournal full(*journal_);
  const ShellOutcome outcome = Cook(full, true);
  EXPECT_TRUE(outcome.ended.is_fail_fast);
  EXPECT_THAT(outcome.ended.infrastructure_error, HasSubstr("the disk is full"));
}

TEST_F(DirectorShellTest, AResultThatIsRefusedEndsTheCookUnpublished) {
  PutIntoCache(MakeResult(store_, {{"", "bytes"}}));
  refuses_ = SawVariable;
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_EQ(outcome.refusal, "/Game/a.txt saw LEVEL");
  EXPECT_TRUE(outcome.ended.is_interrupted);
  EXPECT_THAT(outcome.roots, SizeIs(0));
}

TEST_F(DirectorShellTest, SoDoesAVerdictThatIsRefused) {
  PutIntoCache(MakeVerdict("too large"));
  refuses_ = SawVariable;
  const ShellOutcome outcome = Cook(*journal_, false);
  EXPECT_EQ(outcome.refusal, "/Game/a.txt saw LEVEL");
  EXPECT_THAT(outcome.roots, SizeIs(0));
}

TEST_F(DirectorShellTest, APackageIsAskedForWithoutACook) {
  PutIntoCache(MakeResult(store_, {{"", "bytes"}}));
  DirectorShell shell(OptionsOfShell(), MakeWorld(), store_, *journal_, trace_);
  ASSERT_TRUE(shell.Start().ok());
  const AskOutcome outcome = AskFor(shell, "/Game/a.txt");
  ASSERT_TRUE(std::holds_alternative<AskSucceeded>(outcome));
  const auto& done = std::get<AskSucceeded>(outcome);
  EXPECT_EQ(done.result->package, "/Game/a.txt");
  EXPECT_EQ(done.result->platform_name, "windows");
  ASSERT_THAT(done.result->result.outputs, SizeIs(1));
  EXPECT_EQ(done.result->result.outputs[0].digest, Digest::Of("bytes"));
  EXPECT_EQ(done.world, shell.world());
  EXPECT_THAT(store_.Roots("p").value(), SizeIs(0)) << "an ask publishes nothing";
}

TEST_F(DirectorShellTest, AnAskForAPackageThatCannotBeCookedFails) {
  PutIntoCache(MakeVerdict("too large"));
  DirectorShell shell(OptionsOfShell(), MakeWorld(), store_, *journal_, trace_);
  ASSERT_TRUE(shell.Start().ok());
  const AskOutcome of_sidecar = AskFor(shell, "/Game/none.txt");
  ASSERT_TRUE(std::holds_alternative<AskFailed>(of_sidecar));
  EXPECT_THAT(std::get<AskFailed>(of_sidecar).error, HasSubstr("nobody"));
  const AskOutcome of_verdict = AskFor(shell, "/Game/a.txt");
  ASSERT_TRUE(std::holds_alternative<AskFailed>(of_verdict));
  EXPECT_EQ(std::get<AskFailed>(of_verdict).error, "too large");
  EXPECT_EQ(std::get<AskFailed>(of_verdict).cause, FailureCause::kVerdict);
  EXPECT_FALSE(std::get<AskFailed>(of_verdict).is_infrastructure());
}

TEST_F(DirectorShellTest, AShellThatStopsTellsThoseWhoWait) {
  Write("content/a.txt", "a");
  ShellOptions options = OptionsOfShell();
  options.core.workers = 0;  // nobody will cook it
  DirectorShell shell(options, MakeWorld(), store_, *journal_, trace_);
  ASSERT_TRUE(shell.Start().ok());
  std::vector<std::string> told;
  const auto note = [&told](const AskOutcome& outcome) {
    told.emplace_back(std::holds_alternative<AskAborted>(outcome) ? "aborted" : "another outcome");
  };
  ASSERT_TRUE(shell.Ask("/Game/a.txt", "windows", note).ok());
  const auto withdrawn = shell.Ask("/Game/a.txt", "windows", note);
  ASSERT_TRUE(withdrawn.ok());
  shell.Withdraw(*withdrawn);
  shell.Stop();
  EXPECT_THAT(told, testing::ElementsAre("aborted"));
  EXPECT_TRUE(absl::IsUnavailable(shell.Ask("/Game/a.txt", "windows", note).status()));
}

}  // namespace
}  // namespace galley::director
