// The bytes that the workers moved, as the summary tells them: bytes loaded for bytes saved.
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Fault = WorkerReport::Fault;

TEST(BytesTest, EachReportCountsOnceHoweverOftenItComes) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  const HarnessJob job = shell.JobOf("A");
  const ReportId loaded = shell.Report(
      job, WorkerReport::Loaded{job.start.platforms, shell.MakeResult("A"), absl::Milliseconds(1)},
      {.read = 100, .warm = 10});
  shell.Resend(loaded);
  const ReportId saved =
      shell.Report(job, WorkerReport::Saved{0, shell.MakeResult("A"), absl::Milliseconds(1)},
                   {.read = 5, .warm = 1, .saved = 70});
  shell.Resend(saved);
  shell.Resend(loaded);
  const Counters& counters = shell.core().counters();
  EXPECT_EQ(counters.bytes_read, 105u);
  EXPECT_EQ(counters.bytes_warm, 11u);
  EXPECT_EQ(counters.bytes_saved, 70u);
}

TEST(BytesTest, AnAttemptThatFailsReadAllTheSameAndSoDoesTheNext) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Report(shell.JobOf("A"), WorkerReport::Failed{.fault = Fault::kTimeout, .error = "slow"},
               {.read = 100});
  const HarnessJob again = shell.JobOf("A");
  shell.Report(again, WorkerReport::Saved{0, shell.MakeResult("A"), absl::Milliseconds(1)},
               {.read = 100, .saved = 7});
  EXPECT_EQ(shell.core().counters().bytes_read, 200u);
  EXPECT_EQ(shell.core().counters().bytes_saved, 7u);
}

// The worker sends the result again after a commit that failed, and the result is taken again.
TEST(BytesTest, AResultThatIsTakenAgainDoesNotCountAgain) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  const ReportId saved = shell.Report(
      shell.JobOf("A"), WorkerReport::Saved{0, shell.MakeResult("A"), absl::Milliseconds(1)},
      {.read = 3, .saved = 7});
  const Persist::Item item = shell.commits.front();
  Persisted failed;
  failed.items.push_back({item.package, item.platform, item.result});
  failed.error = "disk full";
  shell.Send(failed);
  shell.Resend(saved);
  EXPECT_EQ(shell.core().counters().results_dropped, 1u) << "looked at again";
  EXPECT_EQ(shell.core().counters().bytes_read, 3u);
}

TEST(BytesTest, AProcessThatComesBackAfterAnotherTookItsPlaceDoesNotCountAgain) {
  CoreHarness shell("A\nB\n", {.workers = 1});
  shell.hold_workers = true;
  shell.Request({"A", "B"});
  const WorkerId worker = shell.spawned[0];
  shell.Send(WorkerAttached{.worker = worker, .slots = 1, .session = 7});
  const HarnessJob job = shell.JobOf("A");
  const ReportId loaded = shell.Report(
      job, WorkerReport::Loaded{job.start.platforms, shell.MakeResult("A"), absl::Milliseconds(1)},
      {.read = 100});
  shell.Send(WorkerAttached{.worker = worker, .slots = 1, .session = 8});
  shell.Send(WorkerAttached{.worker = worker, .slots = 1, .session = 7});
  shell.Resend(loaded);
  EXPECT_EQ(shell.core().counters().bytes_read, 100u);
}

TEST(BytesTest, WhoWasNotGivenAnAttemptIsNotBelieved) {
  CoreHarness shell("A\n", {.workers = 2});
  shell.Request({"A"});
  HarnessJob job = shell.JobOf("A");
  job.worker = WorkerId(1 - job.worker.value());
  shell.Report(job, WorkerReport::Ended{}, {.read = 100});
  EXPECT_EQ(shell.core().counters().bytes_read, 0u);
}

}  // namespace
}  // namespace galley::director
