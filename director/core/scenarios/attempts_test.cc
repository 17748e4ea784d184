// Attempts and workers: for how long the core keeps them.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AttemptsTest : public ::testing::Test {
 protected:
  void Begin(const std::string& project, CookOptions options = {}) {
    options.workers = 1;
    options.silence_max = options.start_max = absl::Hours(1);
    shell_.emplace(project, options);
  }
  // A cook of the package A, whose job is in a worker's hand.
  HarnessJob BeginWithJob() {
    Begin("A\n");
    shell().Request({"A"});
    return shell().JobOf("A");
  }
  CoreHarness& shell() { return *shell_; }
  ReportId Ended(const HarnessJob& job) { return shell().Report(job, WorkerReport::Ended{}); }
  size_t attempts() { return shell().core().holdings().attempts; }
  size_t workers() { return shell().core().holdings().workers; }

 private:
  std::optional<CoreHarness> shell_;
};

TEST_F(AttemptsTest, IsForgottenWhenItsWorkerSaysThatItEnded) {
  const HarnessJob job = BeginWithJob();
  shell().Saved("A");
  EXPECT_EQ(attempts(), 1u);
  const ReportId last = Ended(job);
  EXPECT_EQ(attempts(), 0u);
  EXPECT_TRUE(shell().acknowledged().contains(last));
}

TEST_F(AttemptsTest, IsKeptUntilItsResultIsDurable) {
  const HarnessJob job = BeginWithJob();
  shell().hold_commits = true;
  const ReportId saved = shell().Saved("A");
  Ended(job);
  EXPECT_EQ(attempts(), 1u);
  const Persist::Item item = shell().commits.front();
  shell().Send(Persisted{.items = {{item.package, item.platform, item.result}}});
  EXPECT_TRUE(shell().acknowledged().contains(saved));
  EXPECT_EQ(attempts(), 0u);
}

TEST_F(AttemptsTest, IsKeptUntilAResultWhoseCommitFailedCameAgain) {
  const HarnessJob job = BeginWithJob();
  shell().hold_commits = true;
  const ReportId saved = shell().Saved("A");
  Ended(job);
  Persist::Item item = shell().commits.front();
  shell().commits.clear();
  shell().Send(Persisted{.items = {{item.package, item.platform, item.result}}, .error = "full"});
  EXPECT_EQ(attempts(), 1u);
  shell().hold_look_ups = true;
  shell().Request({"A"}, {.request = 2});
  shell().Resend(saved);
  ASSERT_EQ(shell().commits.size(), 1u) << "the result is taken";
  EXPECT_EQ(attempts(), 1u);
  item = shell().commits.front();
  shell().Send(Persisted{.items = {{item.package, item.platform, item.result}}});
  EXPECT_TRUE(shell().acknowledged().contains(saved));
  EXPECT_EQ(attempts(), 0u);
}

TEST_F(AttemptsTest, IsKeptThoughACancelledCookGaveItUp) {
  const HarnessJob job = BeginWithJob();
  shell().Send(CancelRequested{0});
  EXPECT_THAT(shell().TakeLog(), HasSubstr("cancel A"));
  EXPECT_EQ(attempts(), 1u);
  Ended(job);
  EXPECT_EQ(attempts(), 0u);
}

TEST_F(AttemptsTest, WhatIsSaidOfOneThatWasForgottenIsRefused) {
  const HarnessJob job = BeginWithJob();
  shell().Failed("A", WorkerReport::Fault::kInfrastructure);
  Ended(job);
  EXPECT_EQ(attempts(), 0u);
  shell().TakeLog();
  const ReportId late = shell().Saved(job);
  EXPECT_TRUE(shell().acknowledged().contains(late));
  EXPECT_THAT(shell().TakeLog(), Not(HasSubstr("done")));
}

TEST_F(AttemptsTest, OneThatItsWorkerHasNotWhenItAttachesIsForgottenLater) {
  Begin("A\n");
  shell().Request({"A"});
  const WorkerId worker = shell().JobOf("A").worker;
  shell().Send(WorkerAttached{worker, 4, {}});
  shell().Send(CancelRequested{0});
  EXPECT_EQ(attempts(), 1u) << "its result may be among the worker's next messages";
  shell().Pass(absl::Minutes(9));
  EXPECT_EQ(attempts(), 1u);
  shell().Pass(absl::Minutes(2));
  EXPECT_EQ(attempts(), 0u);
  EXPECT_EQ(workers(), 1u);
}

TEST_F(AttemptsTest, ALostWorkerIsForgottenWithItsAttempts) {
  Begin("A\n");
  shell().hold_workers = true;
  shell().Request({"A"});
  const WorkerId lost = shell().spawned.front();
  shell().Send(WorkerAttached{lost, 4, {}});
  const HarnessJob job = shell().JobOf("A");
  shell().Send(WorkerLost{lost, "killed"});
  shell().Pass(absl::Minutes(9));
  EXPECT_EQ(attempts(), 1u);
  EXPECT_EQ(workers(), 2u) << "the one that was lost, and the next one";
  shell().Pass(absl::Minutes(2));
  EXPECT_EQ(attempts(), 0u);
  EXPECT_EQ(workers(), 1u);
  const ReportId late = shell().Saved(job);
  EXPECT_FALSE(shell().acknowledged().contains(late)) << "it has to attach first";
  shell().Send(WorkerAttached{lost, 4, {}});
  shell().Resend(late);
  EXPECT_TRUE(shell().acknowledged().contains(late));
  EXPECT_EQ(workers(), 2u);
}

TEST_F(AttemptsTest, ALostWorkerThatComesBackIsKept) {
  const HarnessJob job = BeginWithJob();
  shell().Send(WorkerLost{job.worker, "nobody knows"});
  shell().Pass(absl::Minutes(5));
  shell().Send(WorkerAttached{job.worker, 4, {}});
  shell().Pass(absl::Minutes(10));
  EXPECT_EQ(attempts(), 2u) << "of the other worker, and its backup";
  EXPECT_EQ(workers(), 2u);
}

// Cooks, edits, cancels and lost workers, of which some overlap. Workers say all that they have to
// say, but those that are lost.
TEST_F(AttemptsTest, WhatIsHeldDoesNotGrowWithTheNumberOfCooks) {
  Begin("A -> B C\nB -> D\nC : g\nD\nE -> D\n", {.cooks_max = 4});
  shell().hold_workers = true;
  std::map<WorkerId, ReportId> told;
  const auto report = [&](const HarnessJob& job, decltype(WorkerReport::what) what) {
    shell().Send(WorkerReported{
        job.worker, {WorkerReport{++told[job.worker], job.start.attempt, std::move(what)}}});
  };
  const auto work = [&](bool is_killed, bool is_stale) {
    for (; !shell().spawned.empty(); shell().spawned.pop_front())
      shell().Send(WorkerAttached{shell().spawned.front(), 4, {}});
    for (const HarnessJob& job : shell().TakeJobs()) {
      const std::string name = shell().core().NameOf(job.start.package);
      if (is_killed) return shell().Send(WorkerLost{job.worker, "killed"});
      if (is_stale) {
        report(job, WorkerReport::Stale{"content/" + name});
        shell().Send(FilesChanged{shell().project(), {name}, {"content/" + name}});
      } else {
        report(job, WorkerReport::Saved{0, shell().MakeResult(name), absl::Milliseconds(1)});
      }
      report(job, WorkerReport::Ended{});
    }
  };
  Holdings most_of_some, most;
  for (uint64_t cook = 1; cook <= 300; ++cook) {
    shell().Request({cook % 2 == 0 ? "A" : "E", "D"}, {.request = cook, .force = cook % 2 == 0});
    if (cook % 7 == 0) shell().Send(CancelRequested{cook});
    if (cook % 3 == 0) shell().Send(FilesChanged{shell().project(), {"D", "B"}, {}});
    work(cook % 5 == 0, cook % 11 == 0);
    for (int i = 0; i < 10; ++i) {
      work(false, false);
      shell().Pass(absl::Seconds(2));
    }
    const Holdings now = shell().core().holdings();
    Holdings& of = cook <= 100 ? most_of_some : most;
    of.attempts = std::max(of.attempts, now.attempts);
    of.workers = std::max(of.workers, now.workers);
    of.commits = std::max(of.commits, now.commits);
    of.changed_files = std::max(of.changed_files, now.changed_files);
  }
  EXPECT_GT(most.attempts, 0u);
  EXPECT_GT(most.workers, 1u);
  EXPECT_LE(most.attempts, most_of_some.attempts);
  EXPECT_LE(most.workers, most_of_some.workers);
  EXPECT_LE(most.commits, most_of_some.commits);
  EXPECT_LE(most.changed_files, most_of_some.changed_files);
  shell().Pass(absl::Minutes(11));
  const Holdings left = shell().core().holdings();
  EXPECT_EQ(left.attempts, 0u);
  EXPECT_LE(left.workers, 1u);
  EXPECT_EQ(left.commits, 0u);
  EXPECT_EQ(left.changed_files, 0u);
}

}  // namespace
}  // namespace galley::director
