// Reports that are late, wrong, or of another process: they cost their own package at most.
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(WrongReportsTest, AResultThatTheStoreRefusesIsCookedAgain) {
  CoreHarness cook("Town");
  cook.hold_commits = true;
  cook.Request({"Town"});
  const ReportId report = cook.Saved("Town");
  ASSERT_EQ(cook.commits.size(), 1u);
  const Persist::Item item = cook.commits.front();
  cook.commits.clear();
  cook.hold_commits = false;
  cook.TakeLog();
  cook.Send(Persisted{
      .items = {{item.package, item.platform, item.result, nullptr, "its bytes lie elsewhere"}}});
  EXPECT_TRUE(cook.acknowledged().contains(report)) << "it need not be sent again";
  EXPECT_FALSE(cook.Says("done Town"));
  cook.Pass(absl::Seconds(1));
  EXPECT_TRUE(cook.Says("start Town")) << cook.TakeLog();
  cook.Finish();
  EXPECT_EQ(cook.core().StateText(cook.Id("Town")), "Idle, cooked");
}

TEST(WrongReportsTest, AResultForAPlatformThatTheAttemptDoesNotHaveIsDropped) {
  CoreHarness cook("Town");
  cook.hold_commits = true;
  cook.Request({"Town"});
  const ReportId report = cook.Saved("Town", 1);
  EXPECT_TRUE(cook.commits.empty());
  EXPECT_TRUE(cook.acknowledged().contains(report));
}

TEST(WrongReportsTest, ALateResultOfAnOlderInputOnlyFeedsTheCache) {
  CoreHarness cook("Town");
  cook.Request({"Town"});
  const HarnessJob old = cook.JobOf("Town");
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  cook.hold_commits = true;
  // The worker and the shell judge the result by what the attempt was given: it is right, but for
  // the content from before.
  cook.Saved(old);
  EXPECT_EQ(cook.commits.size(), 1u);
  EXPECT_TRUE(cook.HasOpenJob("Town")) << "the new attempt goes on";
  EXPECT_NE(cook.core().StateText(cook.Id("Town")), "Save");
}

TEST(WrongReportsTest, AProcessThatTakesTheNameOfAnotherNumbersItsReportsAnew) {
  CoreHarness cook("Town -> Mesh");
  cook.Request({"Town"});
  const HarnessJob town = cook.JobOf("Town");
  cook.Send(WorkerReported{
      town.worker,
      {{1, town.start.attempt, WorkerReport::Loaded{1, cook.MakeResult("Town"), {}}}}});
  cook.Send(WorkerAttached{.worker = town.worker, .slots = 1, .session = 2});
  cook.Pass(absl::Seconds(2));
  const HarnessJob again = cook.JobOf("Town");
  ASSERT_NE(again.start.attempt, town.start.attempt);
  cook.hold_commits = true;
  cook.Send(WorkerReported{
      again.worker,
      {{1, again.start.attempt, WorkerReport::Saved{0, cook.MakeResult("Town"), {}}}}});
  EXPECT_EQ(cook.commits.size(), 1u) << "report 1 of the new process is not that of the old one";
}

TEST(WrongReportsTest, ACrashThatIsReportedLateCounts) {
  CoreHarness cook("Town");
  cook.Request({"Town"});
  for (int i = 0; i < 2; ++i) {
    const HarnessJob job = cook.JobOf("Town");
    cook.Send(FilesChanged{cook.project(), {"Town"}, {}});  // taken back
    cook.Report(job, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
    cook.Pass(absl::Seconds(1));
  }
  cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
  EXPECT_TRUE(cook.Says("failed Town")) << cook.TakeLog();
}

// Jobs of Town, which changed after each was handed over.
std::vector<HarnessJob> TwoOfOlderContent(CoreHarness& cook) {
  std::vector<HarnessJob> old;
  for (int i = 0; i < 2; ++i) {
    old.push_back(cook.JobOf("Town"));
    cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  }
  return old;
}

TEST(WrongReportsTest, ContentThatIsNewIsNotFailedForWhatTheOldOneDid) {
  CoreHarness cook("Town", {.own_fault_attempts_max = 2});
  cook.Request({"Town"});
  for (const HarnessJob& job : TwoOfOlderContent(cook))
    cook.Report(job, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
  EXPECT_FALSE(cook.Says("failed Town")) << "it is mended, maybe";
  ASSERT_TRUE(cook.HasOpenJob("Town"));
  cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
  EXPECT_TRUE(cook.Says("failed Town")) << "it is not: three deaths of a bound of two";
}

// Otherwise the next director would quarantine the package untried.
TEST(WrongReportsTest, OfWhatTheOldContentDidTheJournalIsToldLessThanTheLastFault) {
  CoreHarness cook("Town", {.own_fault_attempts_max = 2});
  cook.Request({"Town"});
  for (const HarnessJob& job : TwoOfOlderContent(cook)) {
    cook.TakeLog();
    cook.Report(job, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
    EXPECT_TRUE(cook.Says("blamed Town 1:")) << cook.TakeLog();
  }
  cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
  EXPECT_TRUE(cook.Says("blamed Town 3:"));
}

// The same holds for a fault that is told once the cook is settled, after a change that is not this
// cook's.
TEST(WrongReportsTest, NorForWhatItHearsOfAfterAChangeBehindItsJudgement) {
  CoreHarness cook("Town", {.platform_count = 2, .own_fault_attempts_max = 1});
  cook.hold_roots = true;
  cook.Request({"Town"});
  const HarnessJob job = cook.JobOf("Town");
  cook.Saved(job, 0);
  cook.Send(PlatformsChanged{.mapping = {0, std::nullopt}, .platform_count = 1});  // taken back
  ASSERT_EQ(cook.roots.size(), 1u) << cook.TakeLog();
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  cook.TakeLog();
  cook.Report(job, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
  EXPECT_TRUE(cook.Says("blamed Town 0:")) << cook.TakeLog();
}

// The faults that the journal was told of before may be recorded behind the note that forgives
// them.
TEST(WrongReportsTest, OfAQuarantineThatAChangeEndsTheJournalIsToldAgain) {
  CoreHarness cook("Town\nLake\nOther", {.own_fault_attempts_max = 2});
  cook.Request({"Town", "Lake", "Other"});
  for (int i = 0; i < 2; ++i) {
    cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
    cook.Failed("Lake", WorkerReport::Fault::kCrashed, "signal 11");
  }
  cook.TakeLog();
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  EXPECT_TRUE(cook.Says("blamed Town 1:")) << "the last chance is left";
  cook.Send(PackagesCleared{{"Lake", "Other"}});
  EXPECT_TRUE(cook.Says("blamed Lake 0:"));
  EXPECT_FALSE(cook.Says("blamed Other"));
}

TEST(WrongReportsTest, AlsoWhenTheChangeIsTheNextCooks) {
  CoreHarness cook("Town\nOther", {.own_fault_attempts_max = 2});
  cook.hold_roots = true;
  cook.Request({"Town", "Other"});
  for (int i = 0; i < 2; ++i) cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
  cook.Work();
  cook.TakeLog();
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  EXPECT_TRUE(cook.Says("blamed Town 1:")) << cook.TakeLog();
}

TEST(WrongReportsTest, ACrashThatIsReportedWhenItsPackageIsOverCountsForTheRestOfTheCook) {
  CoreHarness cook("Town\nOther", {.own_fault_attempts_max = 2});
  cook.Request({"Town", "Other"});
  const HarnessJob old = cook.JobOf("Town");
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  cook.Saved("Town");
  cook.Report(old, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
  cook.Send(FilesChanged{cook.project(), {"Town"}, {}});
  cook.Failed("Town", WorkerReport::Fault::kCrashed, "signal 11");
  EXPECT_TRUE(cook.Says("failed Town: crashed its executor (2 attempts")) << cook.TakeLog();
}

// The process took the begun job along; the other job had not begun.
TEST(WrongReportsTest, WhatWasQueuedAtAProcessThatIsGoneHadNoPartInIt) {
  CoreHarness cook("A\nB\n", {.workers = 1});
  cook.slots = 1;
  cook.Request({"A", "B"});
  ASSERT_TRUE(cook.HasOpenJob("A") && cook.HasOpenJob("B"));
  const WorkerId worker = cook.JobOf("A").worker;
  cook.Send(WorkerAttached{.worker = worker, .slots = 1, .session = 2});
  const auto faults = [&](const std::string& name) {
    cook.replies.clear();
    cook.Send(QueryAsked{.package = name});
    return cook.replies.at(0).package->infrastructure_faults;
  };
  EXPECT_EQ(faults("A") + faults("B"), 1u);
  EXPECT_EQ(cook.core().counters().jobs_retried, 2u);
}

TEST(WrongReportsTest, OneResultForTwoPlatformsIsTwoCommits) {
  CoreHarness cook("Town", {.platform_count = 2});
  cook.Request({"Town"});
  const HarnessJob job = cook.JobOf("Town");
  const ResultViewPtr result = cook.MakeResult("Town");
  cook.hold_commits = true;
  for (PlatformIndex platform = 0; platform < 2; ++platform)
    cook.Report(job, WorkerReport::Saved{.platform = platform, .result = result});
  ASSERT_EQ(cook.commits.size(), 2u);
  for (const Persist::Item& item : cook.commits)
    cook.Send(Persisted{.items = {{item.package, item.platform, item.result, nullptr, ""}}});
  EXPECT_EQ(cook.core().StateText(cook.Id("Town")), "Idle, cooked");
}

}  // namespace
}  // namespace galley::director
