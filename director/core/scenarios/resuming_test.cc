// A dead director leaves to the next director the packages that it blamed, and jobs and reports in
// the hands of workers that live on. A test plays the shell by hand (CoreHarness).
#include <algorithm>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Fault = WorkerReport::Fault;

class ResumingTest : public ::testing::Test {
 protected:
  CoreHarness shell_{"A\nB\n", {.term = 2}};
};

TEST_F(ResumingTest, FaultsOfACookThatDiedCountOn) {
  shell_.Request({"A"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  shell_.Failed("A", Fault::kTimeout, "1 s");
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("failed A: ran out of time (3 attempts"));
}

TEST_F(ResumingTest, WhatWasQuarantinedBeforeIsNotTriedOnceMore) {
  shell_.Request({"A", "B"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", "log"}}});
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, Not(HasSubstr("start A")));
  EXPECT_THAT(log, HasSubstr("failed A: crashed its executor (3 attempts ended by crashes or "
                             "limits); quarantined for this cook: signal 11 log=log\n"));
  shell_.Finish();
  EXPECT_TRUE(shell_.Says("ended\n"));
}

// The package may have been mended; but this is its last chance.
TEST_F(ResumingTest, WhatWasQuarantinedBeforeIsTriedWhenItsFilesChange) {
  shell_.Request({"A", "B"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", ""}}});
  ASSERT_THAT(shell_.TakeLog(), HasSubstr("failed A"));
  shell_.Send(FilesChanged{shell_.project(), {"A"}, {}});
  ASSERT_THAT(shell_.TakeLog(), HasSubstr("start A"));
  shell_.Failed("A", Fault::kCrashed, "signal 6");
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("failed A: crashed its executor (4 attempts"));
}

TEST_F(ResumingTest, SoIsWhatTheCookHasNotComeToYet) {
  CoreHarness shell("Town -> A\nA\n", {.term = 2});
  shell.hold_look_ups = true;
  shell.Request({"Town"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", ""}}});
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  shell.hold_look_ups = false;
  const LookUp::Item asked = shell.look_ups.back();
  shell.Send(LookedUp{{{asked.package, 0, asked.generation, LookedUp::Miss{}}}});
  shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start A"));
}

TEST_F(ResumingTest, WhatIsClearedIsForgivenWhatItDidBefore) {
  shell_.hold_look_ups = true;
  shell_.Request({"A"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", ""}}});
  shell_.Send(PackagesCleared{{"A"}});
  shell_.hold_look_ups = false;
  const LookUp::Item asked = shell_.look_ups.back();
  shell_.Send(LookedUp{{{asked.package, 0, asked.generation, LookedUp::Miss{}}}});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("start A"));
}

TEST_F(ResumingTest, ANewCookBlamesAnew) {
  shell_.Request({"A"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", ""}}});
  shell_.Finish();
  shell_.TakeLog();
  shell_.Request({"A"});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("start A"));
}

TEST_F(ResumingTest, EachFaultOfItsOwnIsToldForTheJournal) {
  shell_.Request({"A"});
  shell_.Failed("A", Fault::kCrashed, "signal 11");
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("blamed A 1: crashed its executor: signal 11\n"));
  shell_.Failed("A", Fault::kInfrastructure, "disk");
  EXPECT_THAT(shell_.TakeLog(), Not(HasSubstr("blamed")));
}

// Term 2 begins with a worker of term 1, who was given A; no other comes up.
class SurvivorTest : public ResumingTest {
 protected:
  SurvivorTest() { shell_.hold_workers = true; }

  void Survive(PlatformMask platforms = 1, std::optional<Digest> generated_source = {}) {
    shell_.Send(WorkersSurvived{.workers = {kOld},
                                .given = {{kGiven, kOld, "A", platforms, generated_source}},
                                .first_free = 4});
  }
  void Attach(std::vector<AttemptId> in_hand) {
    shell_.Send(
        WorkerAttached{.worker = kOld, .slots = 1, .in_hand = std::move(in_hand), .session = 5});
  }
  HarnessJob Given() {
    return {kOld,
            {.attempt = kGiven,
             .package = shell_.Id("A"),
             .platforms = 1,
             .cooked = {},
             .expected = {}}};
  }
};

TEST_F(SurvivorTest, WhatOneHadThatIsLostBeforeItIsTakenUpGoesToAnother) {
  Survive();
  shell_.hold_look_ups = true;
  shell_.Request({"A"});
  Attach({kGiven});
  shell_.Send(WorkerLost{kOld, "killed", true});
  const LookUp::Item asked = shell_.look_ups.back();
  shell_.Send(LookedUp{{{asked.package, 0, asked.generation, LookedUp::Miss{}}}});
  ASSERT_FALSE(shell_.spawned.empty());
  shell_.Send(WorkerAttached{.worker = shell_.spawned.back(), .slots = 1, .session = 6});
  ASSERT_TRUE(shell_.HasOpenJob("A"));
  EXPECT_EQ(shell_.JobOf("A").worker, shell_.spawned.back());
}

TEST_F(SurvivorTest, AJobThatIsStillInHandIsNotGivenAgain) {
  Survive();
  shell_.Request({"A", "B"});
  EXPECT_EQ(shell_.TakeLog(), "") << "nobody is asked for, and B waits for a worker";
  Attach({kGiven});
  shell_.Pass(absl::Seconds(1));
  EXPECT_EQ(shell_.TakeLog(), "start B 3\n");
  shell_.Saved(Given());
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("done A\n"));
  shell_.Saved("B");
  EXPECT_TRUE(shell_.Says("ended\n"));
  const Counters& counters = shell_.core().counters();
  EXPECT_EQ(counters.jobs_resumed, 1u);
  EXPECT_EQ(counters.jobs_retried, 0u);
  EXPECT_EQ(counters.workers_started, 0u) << "it was started before";
}

// The director that gave the job may have given it inputs of which this director knows nothing.
TEST_F(SurvivorTest, AJobThatNeedsAnInputIsGivenAgainSoThatItAsksForAll) {
  Survive();
  shell_.Request({"A", "B"});
  Attach({kGiven});
  shell_.Report(Given(), WorkerReport::Needs{"B", 0});
  shell_.Pass(absl::Seconds(1));
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("start A 3\n"));
  EXPECT_EQ(shell_.core().counters().jobs_resumed, 1u);
}

TEST_F(SurvivorTest, TheLastFaultOfWhatIsLookedUpQuarantinesItOnceItIsToBeCooked) {
  shell_.hold_look_ups = true;
  Survive();
  shell_.Request({"A", "B"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  const LookUp::Item asked = shell_.look_ups.front();
  ASSERT_EQ(asked.package, shell_.Id("A"));
  Attach({kGiven});
  shell_.Report(Given(), WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  EXPECT_THAT(shell_.TakeLog(), Not(HasSubstr("failed A"))) << "it may have been cooked before";
  shell_.Send(LookedUp{{{asked.package, 0, asked.generation, LookedUp::Miss{}}}});
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: crashed its executor (3 attempts"));
  EXPECT_THAT(log, Not(HasSubstr("start A")));
}

TEST_F(ResumingTest, SoDoesThatOfAPlatformWhileAnotherIsLookedUp) {
  shell_.Request({"A", "B"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  shell_.hold_look_ups = true;
  shell_.Send(PlatformsChanged{.mapping = {0}, .platform_count = 2, .added = {{0, 2}}});
  shell_.Failed("A", Fault::kCrashed, "signal 11");
  const auto asked =
      std::find_if(shell_.look_ups.begin(), shell_.look_ups.end(),
                   [&](const LookUp::Item& item) { return item.package == shell_.Id("A"); });
  ASSERT_NE(asked, shell_.look_ups.end());
  shell_.TakeLog();
  shell_.Send(LookedUp{{{asked->package, 1, asked->generation, LookedUp::Miss{}}}});
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A 1: crashed its executor (3 attempts"));
  EXPECT_THAT(log, Not(HasSubstr("start A")));
}

TEST_F(ResumingTest, AnAddedPlatformGivesWhatWasQuarantinedBeforeOneMoreChance) {
  shell_.Request({"A", "B"}, {.blamed = {{"A", 3, "crashed its executor", "signal 11", ""}}});
  ASSERT_THAT(shell_.TakeLog(), HasSubstr("failed A"));
  shell_.Send(PlatformsChanged{.mapping = {0}, .platform_count = 2, .added = {{0, 2}}});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("start A"));
  shell_.Failed("A", Fault::kCrashed, "signal 6");
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("failed A 1: crashed its executor (4 attempts"));
}

TEST_F(SurvivorTest, ALookUpThatItsResultOvertookIsOfOtherNumbersOncePlatformsChange) {
  shell_.hold_look_ups = true;
  Survive();
  shell_.Request({"A", "B"});
  const LookUp::Item asked = shell_.look_ups.front();
  ASSERT_EQ(asked.package, shell_.Id("A"));
  Attach({kGiven});
  shell_.Saved(Given());
  shell_.look_ups.clear();
  shell_.Send(PlatformsChanged{.mapping = {1}, .platform_count = 2, .added = {{0, 1}}});
  ASSERT_EQ(shell_.look_ups.back().package, shell_.Id("A"));
  ASSERT_EQ(shell_.look_ups.back().platforms, 1u) << "the new one has the old one's number";
  shell_.Send(
      LookedUp{{{asked.package, 0, asked.generation, LookedUp::Hit{shell_.MakeResult("A")}}}});
  EXPECT_EQ(shell_.core().counters().results_cached, 0u);
}

// The worker told the earlier director of the result too, and that director kept the result.
TEST_F(SurvivorTest, WhatItTellsAgainAndIsNotWhereItSaysIsLookedUp) {
  Survive();
  shell_.hold_commits = true;
  shell_.Request({"A"});
  Attach({kGiven});
  shell_.Saved(Given());
  ASSERT_EQ(shell_.commits.size(), 1u);
  const Persist::Item item = shell_.commits.front();
  shell_.TakeLog();
  shell_.hold_look_ups = true;
  Persisted persisted{{{item.package, item.platform, item.result, nullptr}}, ""};
  persisted.items[0].refused = "its bytes are not where its worker says";
  shell_.Send(persisted);
  shell_.Pass(absl::Seconds(1));
  ASSERT_EQ(shell_.look_ups.size(), 1u);
  EXPECT_FALSE(shell_.HasOpenJob("A"));
  shell_.Send(LookedUp{
      {{item.package, 0, shell_.look_ups[0].generation, LookedUp::Hit{shell_.MakeResult("A")}}}});
  EXPECT_EQ(shell_.core().counters().results_cached, 1u);
}

TEST_F(SurvivorTest, UntilItsWorkerHasSpokenAPackageWaitsThoughAnotherIsThere) {
  Survive();
  shell_.Request({"A", "B"});
  shell_.Send(WorkerAttached{.worker = WorkerId(9), .slots = 4, .in_hand = {}});
  EXPECT_EQ(shell_.TakeLog(), "start B 9\n");
  shell_.Pass(absl::Seconds(5));
  EXPECT_EQ(shell_.TakeLog(), "");
  shell_.Send(WorkerLost{kOld, "killed", true});
  shell_.Pass(absl::Seconds(1));
  EXPECT_EQ(shell_.TakeLog(), "start A 9\n") << "its job is lost with it";
}

// A's job holds the resources that A asks for, on whichever machine the job is.
class DemandingSurvivorTest : public SurvivorTest {
 protected:
  void Begin(const record::ResourceCounts& of_farm, std::vector<std::string> packages) {
    CookOptions options{.term = 2};
    options.resources = of_farm;
    shell_ = std::make_unique<CoreHarness>("A @on gpu=1\nB @on gpu=1\nC\n", options);
    shell_->hold_workers = true;
    shell_->Send(WorkersSurvived{
        .workers = {kOld}, .given = {{kGiven, kOld, "A", 1, std::nullopt}}, .first_free = 4});
    shell_->Request(packages);
  }
  void Attach(WorkerId worker, std::vector<AttemptId> in_hand = {}) {
    shell_->Send(WorkerAttached{.worker = worker,
                                .slots = 4,
                                .in_hand = std::move(in_hand),
                                .session = worker.value(),
                                .machine = "m1",
                                .offer = {.labels = {}, .resources = {{"gpu", 1}}}});
  }
  HarnessJob Given() {
    return {kOld,
            {.attempt = kGiven,
             .package = shell_->Id("A"),
             .platforms = 1,
             .cooked = {},
             .expected = {}}};
  }

  std::unique_ptr<CoreHarness> shell_;
};

TEST_F(DemandingSurvivorTest, NobodyGetsWhatAJobFromBeforeMayHold) {
  for (const record::ResourceCounts& of_farm :
       {record::ResourceCounts{{"gpu", 1}}, record::ResourceCounts{}}) {
    SCOPED_TRACE(of_farm.empty() ? "of a machine" : "of the farm");
    Begin(of_farm, {"A", "B", "C"});
    Attach(WorkerId(9));
    EXPECT_EQ(shell_->TakeLog(), "start C 9\n") << "it is not known who holds the unit";
    Attach(kOld, {kGiven});
    shell_->Pass(absl::Seconds(1));
    EXPECT_EQ(shell_->TakeLog(), "");
    shell_->Saved(Given());
    EXPECT_TRUE(shell_->Says("start B"));
  }
}

TEST_F(DemandingSurvivorTest, WhatItHeldIsFreeWhenItDoesNotCome) {
  Begin({{"gpu", 1}}, {"A", "B"});
  Attach(WorkerId(9));
  EXPECT_FALSE(shell_->HasOpenJob("A") || shell_->HasOpenJob("B"));
  shell_->Send(WorkerLost{kOld, "killed", true});
  shell_->Pass(absl::Seconds(1));
  EXPECT_TRUE(shell_->HasOpenJob("A") || shell_->HasOpenJob("B"));
}

TEST_F(DemandingSurvivorTest, AJobThatNobodyWantsIsCancelledAndHoldsNothingThen) {
  Begin({{"gpu", 1}}, {"B"});
  Attach(WorkerId(9));
  EXPECT_FALSE(shell_->HasOpenJob("B"));
  Attach(kOld, {kGiven});
  shell_->Pass(absl::Seconds(1));
  const std::string log = shell_->TakeLog();
  EXPECT_THAT(log, HasSubstr("cancel"));
  EXPECT_THAT(log, HasSubstr("start B"));
}

TEST_F(DemandingSurvivorTest, AJobThatIsOverHoldsNothing) {
  Begin({}, {"A", "B"});
  Attach(WorkerId(9));
  Attach(kOld);
  shell_->Pass(absl::Seconds(2));
  EXPECT_TRUE(shell_->HasOpenJob("A") || shell_->HasOpenJob("B"));
}

TEST_F(SurvivorTest, OneThatDoesNotComeIsGivenUpAndIsNoFailedStart) {
  Survive();
  shell_.Request({"A"});
  shell_.Pass(absl::Seconds(9));
  EXPECT_EQ(shell_.TakeLog(), "");
  shell_.Pass(absl::Seconds(3));
  EXPECT_EQ(shell_.TakeLog(), "stop 3\nspawn 4\n");
  EXPECT_EQ(shell_.spawn_delays, std::vector<absl::Duration>{absl::ZeroDuration()});
}

TEST_F(SurvivorTest, AResultThatNobodyPersistedIsTakenThoughItsJobIsOver) {
  Survive();
  shell_.Request({"A"});
  Attach({});
  const ReportId report = shell_.Saved(Given());
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("done A\n"));
  EXPECT_TRUE(shell_.acknowledged().contains(report));
}

// A director that is killed may have stored a result, and told of it, before its worker was told.
// The worker reports it again, maybe before it is looked up.
TEST_F(SurvivorTest, AResultThatWasStoredBeforeIsNotCookedOnceMore) {
  shell_.hold_look_ups = shell_.hold_commits = true;
  Survive();
  shell_.Request({"A", "B"});
  Attach({});
  shell_.Saved(Given());
  ASSERT_EQ(shell_.commits.size(), 1u);
  const Persist::Item item = shell_.commits.front();
  EXPECT_TRUE(item.may_be_stored);
  Persisted persisted{.items = {{item.package, item.platform, item.result}}};
  persisted.items[0].was_stored = true;
  shell_.Send(persisted);
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("done A\n"));
  EXPECT_EQ(shell_.core().counters().results_cooked, 0u);
  EXPECT_EQ(shell_.core().counters().results_cached, 1u);
}

TEST_F(SurvivorTest, WhatIsCookedWhateverIsKnownIsCookedThoughItWasStored) {
  shell_.hold_commits = true;
  Survive();
  shell_.Request({"A", "B"}, {.force = true});
  Attach({});
  shell_.Saved(Given());
  ASSERT_EQ(shell_.commits.size(), 1u);
  EXPECT_FALSE(shell_.commits.front().may_be_stored);
}

TEST_F(SurvivorTest, WhatIsOverButWasNeverReportedIsGivenAgainSoon) {
  Survive();
  shell_.Request({"A"});
  Attach({});
  EXPECT_EQ(shell_.TakeLog(), "") << "its reports follow";
  shell_.Pass(absl::Seconds(2));
  EXPECT_EQ(shell_.TakeLog(), "start A 3\n");
}

TEST_F(SurvivorTest, AResultForFilesThatChangedSinceFeedsTheCacheOnly) {
  shell_.hold_commits = true;
  Survive();
  shell_.Request({"A"});
  Attach({});
  shell_.Saved(Given(), 0, /*is_current=*/false);
  EXPECT_EQ(shell_.commits.size(), 1u);
  shell_.Pass(absl::Seconds(2));
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("start A 3\n"));
}

// The job is for the files as they were before, like any that this director gave before the change.
TEST_F(SurvivorTest, AJobForFilesThatChangedInThisCookIsCancelledAndItsFaultNotOfToday) {
  Survive();
  shell_.Request({"A", "B"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  shell_.Send(FilesChanged{shell_.project(), {"A"}, {}});
  Attach({kGiven});
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("cancel unknown\n"));
  EXPECT_THAT(log, HasSubstr("start A 3\n")) << "nobody waits for it";
  shell_.Report(Given(), WorkerReport::Failed{Fault::kCrashed, "signal 11"});
  const std::string late = shell_.TakeLog();
  EXPECT_THAT(late, HasSubstr("blamed A 2:")) << "the next director may try it";
  EXPECT_THAT(late, Not(HasSubstr("failed A"))) << "it is mended, maybe";
}

TEST_F(SurvivorTest, WhatTheJournalDoesNotKnowIsCancelledAndItsResultRefused) {
  shell_.hold_commits = true;
  Survive();
  shell_.Request({"B"});
  Attach({kGiven + 1});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("cancel unknown\n"));
  HarnessJob stranger = Given();
  stranger.start.attempt = kGiven + 1;
  const ReportId report = shell_.Saved(stranger);
  EXPECT_TRUE(shell_.acknowledged().contains(report));
  EXPECT_TRUE(shell_.commits.empty());
}

TEST_F(SurvivorTest, AnotherWorkersAttemptIsRefused) {
  shell_.hold_commits = true;
  Survive();
  shell_.Request({"A"});
  Attach({kGiven});
  shell_.Send(WorkerAttached{.worker = WorkerId(9), .slots = 1, .in_hand = {}});
  HarnessJob lie = Given();
  lie.worker = WorkerId(9);
  shell_.Saved(lie);
  EXPECT_TRUE(shell_.commits.empty());
}

TEST_F(SurvivorTest, AJobForTooFewPlatformsIsCancelledAndGivenAgain) {
  CoreHarness shell("A\n", {.platform_count = 2, .term = 2});
  shell.hold_workers = true;
  shell.Send(WorkersSurvived{.workers = {kOld}, .given = {{kGiven, kOld, "A", 1, {}}}});
  shell.Request({"A"});
  shell.Send(WorkerAttached{.worker = kOld, .slots = 1, .in_hand = {kGiven}});
  shell.Pass(absl::Seconds(1));
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("cancel unknown\n"));
  EXPECT_THAT(log, HasSubstr("start A 3\n"));
}

TEST_F(SurvivorTest, WhatIsNotWantedAnyMoreIsCancelled) {
  Survive();
  shell_.Request({"B"});
  Attach({kGiven});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("cancel unknown\n"));
}

TEST_F(SurvivorTest, WhatIsUpToDateAfterAllIsCancelled) {
  shell_.hold_look_ups = true;
  Survive();
  shell_.Request({"A"});
  Attach({kGiven});
  EXPECT_THAT(shell_.TakeLog(), Not(HasSubstr("cancel"))) << "who knows";
  const LookUp::Item asked = shell_.look_ups.front();
  shell_.Send(LookedUp{
      {{asked.package, 0, asked.generation, LookedUp::Hit{shell_.MakeResult("A"), true}}}});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("cancel unknown\n"));
}

TEST_F(SurvivorTest, ACookThatIsCancelledCancelsWhatCameFromBefore) {
  shell_.hold_look_ups = true;
  Survive();
  shell_.Request({"A"});
  Attach({kGiven});
  shell_.Send(CancelRequested{});
  EXPECT_THAT(shell_.TakeLog(), HasSubstr("cancel unknown\n"));
}

TEST_F(SurvivorTest, AJobForAnotherGeneratedSourceIsNotTakenUp) {
  Survive(1, Digest::Of("a source that A has no more"));
  shell_.Request({"A"});
  Attach({kGiven});
  shell_.Pass(absl::Seconds(1));
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("cancel unknown\n"));
  EXPECT_THAT(log, HasSubstr("start A 3\n"));
}

TEST_F(SurvivorTest, WhatHasBegunIsNotMovedToOneThatIsIdle) {
  CoreHarness shell("A ~ 9000000\nB ~ 9000000\n", {.workers = 2, .term = 2});
  shell.hold_workers = true;
  shell.Send(WorkersSurvived{.workers = {kOld},
                             .given = {{kGiven, kOld, "A", 1, {}}, {kGiven + 1, kOld, "B", 1, {}}},
                             .first_free = 4});
  shell.Request({"A", "B"});
  shell.Send(WorkerAttached{
      .worker = kOld, .slots = 1, .in_hand = {kGiven, kGiven + 1}, .begun = {kGiven, kGiven + 1}});
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.core().counters().jobs_resumed, 2u);
  shell.TakeLog();
  shell.Send(WorkerAttached{.worker = WorkerId(4), .slots = 1, .in_hand = {}});
  EXPECT_EQ(shell.TakeLog(), "");
}

TEST_F(SurvivorTest, ACrashWhileThereWasNoDirectorCounts) {
  Survive();
  shell_.Request({"A"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  Attach({});
  shell_.Report(Given(), WorkerReport::Failed{.fault = Fault::kCrashed, .error = "signal 6"});
  shell_.Report(Given(), WorkerReport::Ended{});
  shell_.Pass(absl::Seconds(1));
  const std::string log = shell_.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: crashed its executor (3 attempts"));
  EXPECT_THAT(log, Not(HasSubstr("start A")));
}

TEST_F(SurvivorTest, ACrashOfWhatIsNotAskedForYetCountsToo) {
  CoreHarness shell("A\nB -> A\n", {.term = 2});
  shell.hold_workers = true;
  shell.Send(WorkersSurvived{.workers = {kOld}, .given = {{kGiven, kOld, "A", 1, {}}}});
  shell.Request({"B"}, {.blamed = {{"A", 2, "crashed its executor", "signal 11", ""}}});
  shell.Send(WorkerAttached{.worker = kOld, .slots = 1, .in_hand = {kGiven}});
  const HarnessJob given{
      kOld,
      {.attempt = kGiven, .package = shell.Id("A"), .platforms = 1, .cooked = {}, .expected = {}}};
  shell.Report(given, WorkerReport::Failed{.fault = Fault::kCrashed, .error = "signal 6"});
  shell.Report(given, WorkerReport::Ended{});
  shell.Saved("B");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: crashed its executor (3 attempts"));
  EXPECT_THAT(log, Not(HasSubstr("start A")));
}

TEST_F(SurvivorTest, ReportsThatAnEarlierDirectorPersistedAreNoGap) {
  Worker worker;
  worker.BeginSession(5, 100);
  EXPECT_FALSE(worker.reports.See(100));
  EXPECT_TRUE(worker.reports.See(101));
  EXPECT_FALSE(worker.reports.See(101));
}

class CountingProject : public TextProject {
 public:
  using TextProject::TextProject;
  std::optional<CatalogEntry> Find(std::string_view name) const override {
    ++finds;
    return TextProject::Find(name);
  }
  mutable int finds = 0;
};

// Hundreds of jobs of an earlier director may go on, and a director takes thousands of steps.
TEST(ResumingCostTest, WhatSurvivorsHoldIsNotLookedUpAtEachStep) {
  std::string text = "Asked\n";
  WorkersSurvived survived{.workers = {WorkerId(3)}, .given = {}, .first_free = 4};
  for (uint32_t i = 0; i < 100; ++i) {
    text += "P" + std::to_string(i) + "\n";
    survived.given.push_back(
        {AttemptId{1} << 40 | (i + 1), WorkerId(3), "P" + std::to_string(i), 1, {}});
  }
  const auto project = std::make_shared<CountingProject>(text);
  CookCore core({.term = 2}, project);
  std::vector<Effect> effects;
  const auto step = [&](const Event& event) {
    core.Step(absl::FromUnixSeconds(1), event, effects);
  };
  step(survived);
  step(CookRequested{
      .request = 1, .platforms = 1, .selected = {{"Asked", InstigatorCategory::kCookMap}}});
  for (int i = 0; i < 10; ++i) step(Tick{});
  EXPECT_GE(project->finds, 100);
  project->finds = 0;
  for (int i = 0; i < 50; ++i) step(Tick{});
  EXPECT_EQ(project->finds, 0);
}

}  // namespace
}  // namespace galley::director
