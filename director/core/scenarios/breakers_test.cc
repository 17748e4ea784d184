// Breakers: workers and machines that fail every job get no more jobs.
#include "director/core/workers/breakers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr WorkerId kFar0(kForeignWorkers), kFar1(kForeignWorkers + 1), kFar2(kForeignWorkers + 2);
constexpr char kFull[] = "no space left on device";

WorkerAttached On(const std::string& machine, WorkerId worker, uint64_t session = 1) {
  return {.worker = worker, .slots = 1, .in_hand = {}, .session = session, .machine = machine};
}

CookOptions Farm() {
  CookOptions options;
  options.workers = 0;
  options.window_jobs_max = 4;  // else one worker has them all
  return options;
}

std::string Packages(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "p" + std::to_string(i) + "\n";
  return text;
}

std::vector<std::string> Names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("p" + std::to_string(i));
  return names;
}

// A farm on which bad machines fail every job, and the other machines do their jobs.
class Farmed {
 public:
  explicit Farmed(int packages, CookOptions options = Farm())
      : shell(Packages(packages), options), packages_(packages) {}

  void Begin() {
    shell.Request(Names(packages_));
    Take();
  }
  // The workers do the first job in their hands, then time goes on.
  void Go(absl::Duration time = absl::Seconds(1)) {
    for (; time > absl::ZeroDuration() && !shell.Says("ended"); time -= absl::Seconds(1)) {
      Take();
      for (auto& [worker, jobs] : hands_) {
        if (busy.contains(worker)) continue;
        const auto open = std::find_if(jobs.begin(), jobs.end(), [&](const HarnessJob& job) {
          return shell.core().StateText(job.start.package) != "Idle, cooked" && IsHere(job);
        });
        if (open == jobs.end()) continue;
        const HarnessJob job = *open;
        jobs.erase(jobs.begin(), open + 1);
        if (bad.contains(worker)) {
          shell.Report(job, WorkerReport::Failed{.fault = fault, .error = kFull});
        } else {
          shell.Saved(job);
        }
      }
      shell.Pass(absl::Seconds(1));
    }
    Take();
  }
  size_t GivenTo(WorkerId worker) const {
    const auto found = given_.find(worker);
    return found == given_.end() ? 0 : found->second;
  }

  CoreHarness shell;
  std::set<WorkerId> bad;
  std::set<WorkerId> busy;  // with jobs that take long: they report nothing
  WorkerReport::Fault fault = WorkerReport::Fault::kInfrastructure;
  std::string log;

 private:
  void Take() {
    for (const HarnessJob& job : shell.TakeJobs()) {
      hands_[job.worker].push_back(job);
      ++given_[job.worker];
    }
  }
  bool IsHere(const HarnessJob& job) {
    return shell.HasOpenJob(shell.core().NameOf(job.start.package)) &&
           shell.core().Knows(job.start.attempt);
  }

  const int packages_;
  std::map<WorkerId, std::vector<HarnessJob>> hands_;
  std::map<WorkerId, size_t> given_;
};

TEST(BreakersTest, AWorkerThatFailsThreeInARowGetsNoJobUntilAPauseHasPassed) {
  Farmed farm(60);
  farm.shell.Send(On("good", kFar0));
  farm.shell.Send(On("full", kFar1));
  farm.bad = {kFar1};
  farm.Begin();
  farm.Go(absl::Seconds(4));
  EXPECT_TRUE(farm.shell.Says("held 1: no space left on device")) << farm.shell.TakeLog();
  const size_t before = farm.GivenTo(kFar1);
  farm.shell.Pass(absl::Seconds(1));
  EXPECT_EQ(farm.GivenTo(kFar1), before);
  // Then the worker gets one job at a time, after ever longer pauses.
  farm.Go(absl::Seconds(60));
  EXPECT_GE(farm.GivenTo(kFar1), before + 1);
  EXPECT_LE(farm.GivenTo(kFar1), before + 6);
  farm.Go(absl::Seconds(60));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
  EXPECT_FALSE(farm.shell.Says("failed p"));
  EXPECT_EQ(CountOf("held 1:", farm.shell.TakeLog()), 1u) << "a cook is told once";
}

TEST(BreakersTest, OneThatIsMendedIsUsedAgain) {
  Farmed farm(60);
  farm.shell.Send(On("good", kFar0));
  farm.shell.Send(On("full", kFar1));
  farm.bad = {kFar1};
  farm.Begin();
  farm.Go(absl::Seconds(8));
  ASSERT_TRUE(farm.shell.Says("held 1:"));
  const size_t before = farm.GivenTo(kFar1);
  farm.bad = {};
  farm.Go(absl::Seconds(20));
  EXPECT_TRUE(farm.shell.Says("used again 1")) << farm.shell.TakeLog();
  EXPECT_GT(farm.GivenTo(kFar1), before + 8);
}

TEST(BreakersTest, WhatWaitsThereGoesToOthers) {
  Farmed farm(20);
  farm.shell.Send(On("full", kFar1));
  farm.bad = {kFar1};
  farm.Begin();
  farm.shell.Send(On("good", kFar0));
  farm.Go(absl::Seconds(3));
  EXPECT_TRUE(farm.shell.Says("retract p")) << farm.shell.TakeLog();
  farm.Go(absl::Seconds(40));
  EXPECT_TRUE(farm.shell.Says("ended\n"));
  EXPECT_FALSE(farm.shell.Says("failed p"));
}

TEST(BreakersTest, ARetryGoesToAnotherMachineFirst) {
  Farmed farm(1);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m1", kFar1));
  farm.shell.Send(On("m2", kFar2));
  farm.Begin();
  const WorkerId first = farm.shell.JobOf("p0").worker;
  ASSERT_NE(first, kFar2);
  farm.shell.Failed("p0", WorkerReport::Fault::kInfrastructure, "input/output error");
  farm.shell.Pass(absl::Seconds(1));
  EXPECT_EQ(farm.shell.JobOf("p0").worker, kFar2);
}

TEST(BreakersTest, WithNoGoodMachineLeftTheCookEndsWithinTwoMinutes) {
  for (const int packages : {1, 2, 40}) {
    Farmed farm(packages);
    farm.shell.Send(On("full1", kFar0));
    farm.shell.Send(On("full2", kFar1));
    farm.bad = {kFar0, kFar1};
    farm.Begin();
    farm.Go(absl::Seconds(120));
    EXPECT_TRUE(farm.shell.Says("ended: no machine can work")) << farm.shell.TakeLog();
    for (const char* part : {"full1: no space left", "full2: no space left"})
      EXPECT_TRUE(farm.shell.Says(part)) << part;
    EXPECT_FALSE(farm.shell.Says("failed p"));
  }
}

// A device may ask each second.
TEST(BreakersTest, AlsoWhilePackagesAreAskedFor) {
  Farmed farm(40);
  farm.shell.Send(On("full", kFar0));
  farm.bad = {kFar0};
  farm.Begin();
  for (uint64_t ask = 1; ask <= 120 && !farm.shell.Says("ended"); ++ask) {
    farm.shell.Ask(ask, "p0");
    farm.shell.Send(AskWithdrawn{ask});
    farm.Go(absl::Seconds(1));
  }
  EXPECT_TRUE(farm.shell.Says("ended: no machine can work")) << farm.shell.TakeLog();
}

TEST(BreakersTest, AlsoWhereTheyWorkedUntilThen) {
  Farmed farm(60);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m2", kFar1));
  farm.Begin();
  farm.Go(absl::Seconds(10));
  farm.bad = {kFar0, kFar1};
  farm.Go(absl::Seconds(120));
  EXPECT_TRUE(farm.shell.Says("ended: no machine can work")) << farm.shell.TakeLog();
}

// Every held worker is tried every few seconds until the end.
TEST(BreakersTest, NotWhenOneIsMendedShortlyBefore) {
  Farmed farm(30);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m2", kFar1));
  farm.bad = {kFar0, kFar1};
  farm.Begin();
  farm.Go(absl::Seconds(85));
  ASSERT_FALSE(farm.shell.Says("ended")) << farm.shell.TakeLog();
  farm.bad = {kFar1};
  farm.Go(absl::Seconds(120));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
}

TEST(BreakersTest, NotWhenOneIsMendedInTime) {
  Farmed farm(30);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m2", kFar1));
  farm.bad = {kFar0, kFar1};
  farm.Begin();
  farm.Go(absl::Seconds(40));
  ASSERT_TRUE(farm.shell.Says("held 0:") && farm.shell.Says("held 1:"));
  farm.bad = {kFar1};
  farm.Go(absl::Seconds(120));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
}

TEST(BreakersTest, NorWhileAWorkerIsAboutToCome) {
  CookOptions options = Farm();
  options.fleet = {.max = 1, .slots = 1, .start = absl::Milliseconds(1)};
  Farmed farm(10, options);
  farm.shell.hold_workers = true;
  farm.shell.Send(On("full", kFar0));
  farm.bad = {kFar0};
  farm.Begin();
  ASSERT_EQ(farm.shell.spawned.size(), 1u);
  farm.Go(absl::Seconds(90));
  EXPECT_FALSE(farm.shell.Says("ended")) << farm.shell.TakeLog();
  farm.shell.Send(On("good", farm.shell.spawned[0]));
  farm.Go(absl::Seconds(60));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
}

// The next cook finds them held, and tries at once: somebody may have made room.
TEST(BreakersTest, TheNextCookIsToldAndTriesThemAtOnce) {
  Farmed farm(8);
  farm.shell.Send(On("full", kFar0));
  farm.bad = {kFar0};
  farm.Begin();
  farm.Go(absl::Seconds(120));
  ASSERT_TRUE(farm.shell.Says("ended: no machine can work")) << farm.shell.TakeLog();
  farm.shell.TakeLog();
  farm.bad = {};
  farm.Begin();
  EXPECT_TRUE(farm.shell.Says("held 0: no space left on device")) << farm.shell.TakeLog();
  farm.Go(absl::Seconds(15));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
}

// A worker that comes back under another name is on the same machine.
TEST(BreakersTest, TheMachineIsHeldUnderWhateverNameAWorkerComes) {
  Farmed farm(30);
  farm.shell.Send(On("good", kFar0));
  farm.shell.Send(On("full", kFar1));
  farm.bad = {kFar1, kFar2};
  farm.Begin();
  farm.Go(absl::Seconds(4));
  ASSERT_TRUE(farm.shell.Says("held 1:"));
  farm.shell.Send(WorkerLost{.worker = kFar1, .reason = "killed"});
  farm.shell.Send(On("full", kFar2));
  farm.Go(absl::Seconds(20));
  EXPECT_LE(farm.GivenTo(kFar2), 4u) << farm.shell.TakeLog();
}

TEST(BreakersTest, OneBadWorkerDoesNotHoldTheOthersOfItsMachine) {
  Farmed farm(40);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m1", kFar1));
  farm.bad = {kFar1};
  farm.busy = {kFar0};  // no success of it says that the machine is well
  farm.Begin();
  farm.Go(absl::Seconds(20));
  EXPECT_TRUE(farm.shell.Says("held 1:"));
  EXPECT_FALSE(farm.shell.Says("held all of")) << farm.shell.TakeLog();
  farm.busy.clear();
  farm.Go(absl::Seconds(60));
  EXPECT_FALSE(farm.shell.Says("held 0:"));
  EXPECT_TRUE(farm.shell.Says("ended\n"));
}

// The program fills the disk, wherever it runs.
TEST(BreakersTest, APackageThatIsBadForEachMachineHoldsNoneOfThem) {
  Farmed farm(30);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m2", kFar1));
  farm.Begin();
  farm.Go(absl::Seconds(2));
  // The jobs are done except one job, which fails again and again.
  const std::string poison = "p29";
  for (int i = 0; i < 40; ++i) {
    if (farm.shell.HasOpenJob(poison))
      farm.shell.Failed(poison, WorkerReport::Fault::kInfrastructure, kFull);
    farm.Go(absl::Seconds(1));
  }
  EXPECT_FALSE(farm.shell.Says("held")) << farm.shell.TakeLog();
}

TEST(BreakersTest, AMachineThatSaysThatItHasNoRoomIsHeldWhateverThePackage) {
  Farmed farm(1);
  farm.shell.Send(On("m1", kFar0));
  farm.Begin();
  farm.fault = WorkerReport::Fault::kNoRoom;
  farm.bad = {kFar0};
  farm.Go(absl::Seconds(120));
  EXPECT_TRUE(farm.shell.Says("held 0:"));
  EXPECT_TRUE(
      farm.shell.Says("ended: no machine can work, whatever it is given: m1: no space left"))
      << farm.shell.TakeLog();
}

// The source of all that G generates is lost. The attempt that the clearing ended fails like the
// others, a moment later.
TEST(BreakersTest, ALostSourceHoldsNobodyThoughAnAttemptThatItsClearingEndedFailsLate) {
  CoreHarness shell("G : a b c\n", Farm());
  WorkerAttached only = On("m1", kFar0);
  only.slots = 4;
  shell.Send(only);
  shell.Request({"G"});
  shell.Saved("G");
  for (const char* name : {"G/_gen/a", "G/_gen/b", "G/_gen/c"})
    ASSERT_TRUE(shell.HasOpenJob(name)) << name;
  shell.Failed("G/_gen/a", WorkerReport::Fault::kInfrastructure, "no such blob");
  shell.Failed("G/_gen/b", WorkerReport::Fault::kInfrastructure, "no such blob");
  shell.Send(PackagesCleared{{"G"}});
  shell.Failed("G/_gen/c", WorkerReport::Fault::kInfrastructure, "no such blob");
  EXPECT_FALSE(shell.Says("held")) << shell.TakeLog();
  EXPECT_TRUE(shell.HasOpenJob("G"));
}

// More idle machines are held than placing looks at.
TEST(BreakersTest, AGoodMachineIsFoundAmongManyThatAreHeld) {
  constexpr uint32_t kBad = 100;
  Farmed farm(400);
  for (uint32_t i = 0; i < kBad; ++i) {
    farm.shell.Send(On("full" + std::to_string(i), WorkerId(kForeignWorkers + i)));
    farm.bad.insert(WorkerId(kForeignWorkers + i));
  }
  const WorkerId good(kForeignWorkers + kBad);
  farm.shell.Send(On("good", good));
  farm.Begin();
  farm.Go(absl::Seconds(50));
  EXPECT_GT(farm.GivenTo(good), 40u);
}

// Executors that cannot be started: the worker says that it is unfit, ends, and comes again.
TEST(BreakersTest, AWorkerThatIsUnfitEachTimeItComesIsHeld) {
  Farmed farm(10);
  farm.shell.Send(On("good", kFar0));
  farm.Begin();
  for (uint64_t session = 1; session <= 3; ++session) {
    farm.shell.Send(On("m1", kFar1, session));
    farm.shell.Send(WorkerUnfit{kFar1, "libvorbis.so.0: cannot open shared object file"});
  }
  EXPECT_TRUE(farm.shell.Says("held 1: libvorbis.so.0"));
  farm.shell.TakeLog();
  farm.shell.Send(On("m1", kFar1, 4));
  EXPECT_FALSE(farm.shell.Says("start")) << farm.shell.TakeLog();
}

// ---------------- the protocol

TEST(BreakersTest, AWorkerOfWhichThreeResultsAreRefusedIsEnded) {
  Farmed farm(12);
  farm.shell.Send(On("m1", kFar0));
  farm.shell.Send(On("m2", kFar1));
  farm.bad = {kFar1};
  farm.fault = WorkerReport::Fault::kProtocol;
  farm.Begin();
  farm.Go(absl::Seconds(2));
  EXPECT_FALSE(farm.shell.Says("ended 1")) << "two may happen";
  farm.Go(absl::Seconds(10));
  EXPECT_TRUE(farm.shell.Says("ended 1: it broke the protocol 3 times, the last: no space left"))
      << farm.shell.TakeLog();
}

TEST(BreakersTest, NothingMoreIsTakenOfIt) {
  Farmed farm(8);
  farm.shell.Send(On("m1", kFar0));
  farm.bad = {kFar0};
  farm.fault = WorkerReport::Fault::kProtocol;
  farm.Begin();
  const std::vector<HarnessJob> jobs = farm.shell.TakeJobs();
  farm.Go(absl::Seconds(6));
  ASSERT_TRUE(farm.shell.Says("ended 0:")) << farm.shell.TakeLog();
  farm.shell.TakeLog();
  const HarnessJob last = farm.shell.JobOf("p0");
  farm.shell.Saved(last);
  EXPECT_FALSE(farm.shell.Says("done")) << farm.shell.TakeLog();
  // The same process does not come in again; another process may, when its pause is over.
  farm.shell.Send(On("m1", kFar0, 1));
  EXPECT_TRUE(farm.shell.Says("drain 0\n") || farm.shell.Says("drain")) << farm.shell.TakeLog();
  farm.shell.TakeLog();
  farm.bad = {};
  farm.shell.Send(On("m1", kFar0, 2));
  EXPECT_FALSE(farm.shell.Says("start")) << "it waits";
  farm.Go(absl::Seconds(60));
  EXPECT_TRUE(farm.shell.Says("ended\n")) << farm.shell.TakeLog();
}

// Refuses the results of the last commits.
void Refuse(CoreHarness& shell, bool is_loss) {
  Persisted answer;
  for (const Persist::Item& item : shell.commits)
    answer.items.push_back({.package = item.package,
                            .platform = item.platform,
                            .result = item.result,
                            .instead = nullptr,
                            .refused = "its worker did not write blob x",
                            .is_loss = is_loss});
  shell.commits.clear();
  shell.Send(answer);
}

TEST(BreakersTest, SoIsOneWhoseBytesAreNotThere) {
  for (const bool is_loss : {false, true}) {
    Farmed farm(1);
    farm.shell.Send(On("m1", kFar0));
    farm.Begin();
    farm.shell.hold_commits = true;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(farm.shell.HasOpenJob("p0")) << i;
      farm.shell.Saved("p0");
      Refuse(farm.shell, is_loss);
      farm.shell.Pass(absl::Seconds(1));
    }
    // Bytes that the store lost are no worker's lie.
    EXPECT_EQ(farm.shell.Says("ended 0: it broke the protocol"), !is_loss) << farm.shell.TakeLog();
  }
}

// ---------------- crashes where others are expected

CookOptions Launched(uint32_t workers) {
  CookOptions options = Farm();
  options.fleet = {.max = workers, .min = workers, .slots = 1, .start = absl::Milliseconds(1)};
  return options;
}

// The first worker crashes with every job.
void CrashAll(CoreHarness& shell, absl::Duration time) {
  for (; time > absl::ZeroDuration(); time -= absl::Seconds(1)) {
    for (const HarnessJob& job : shell.TakeJobs())
      shell.Report(job, WorkerReport::Failed{.fault = WorkerReport::Fault::kCrashed,
                                             .error = "signal 11",
                                             .executor_lost = true});
    shell.Pass(absl::Seconds(1));
  }
}

TEST(BreakersTest, WhileOthersAreExpectedAllCrashesOnOneMachineCountAsOne) {
  CoreHarness shell(Packages(8), Launched(3));
  shell.hold_workers = true;
  shell.Request(Names(8));
  ASSERT_EQ(shell.spawned.size(), 3u);
  shell.Send(On("m1", shell.spawned[0]));
  CrashAll(shell, absl::Seconds(15));
  EXPECT_FALSE(shell.Says("failed p")) << shell.TakeLog();
  shell.hold_workers = false;
  shell.Send(On("m2", shell.spawned[1]));
  shell.Send(On("m3", shell.spawned[2]));
  const WorkerId bad = shell.spawned[0];
  for (int i = 0; i < 30; ++i) {
    for (const HarnessJob& job : shell.TakeJobs()) {
      if (job.worker == bad) {
        shell.Report(job, WorkerReport::Failed{.fault = WorkerReport::Fault::kCrashed,
                                               .error = "signal 11",
                                               .executor_lost = true});
      } else {
        shell.Saved(job);
      }
    }
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_FALSE(shell.Says("failed p"));
  EXPECT_TRUE(shell.Says("ended\n")) << shell.TakeLog();
}

TEST(BreakersTest, WhatCrashedOnAMachineGoesToAnotherMachineFirst) {
  Farmed farm(40);
  farm.fault = WorkerReport::Fault::kCrashed;
  for (int i = 0; i < 3; ++i) {
    const WorkerId good(kForeignWorkers + i);
    farm.shell.Send(On("good" + std::to_string(i), good));
  }
  for (int i = 0; i < 8; ++i) {
    const WorkerId worker(kForeignWorkers + 10 + i);
    farm.bad.insert(worker);
    farm.shell.Send(On("bad", worker));
  }
  farm.Begin();
  farm.Go(absl::Minutes(4));
  const std::string log = farm.shell.TakeLog();
  EXPECT_EQ(CountOf("failed p", log), 0u) << log;
}

TEST(BreakersTest, UnderWhateverNameTheWorkerOfThatMachineComes) {
  CoreHarness shell("Town\n", Launched(2));
  shell.hold_workers = true;
  shell.Request({"Town"});
  for (uint32_t i = 0; i < 6; ++i) {
    const WorkerId name(kForeignWorkers + i);
    shell.Send(On("m1", name));
    CrashAll(shell, absl::Seconds(2));
    shell.Send(WorkerLost{.worker = name, .reason = "killed"});
  }
  EXPECT_FALSE(shell.Says("failed Town")) << shell.TakeLog();
}

TEST(BreakersTest, TheyAreExpectedForAMinuteAtMost) {
  CoreHarness shell("Town\n", Launched(2));
  shell.hold_workers = true;
  shell.Request({"Town"});
  shell.Send(On("m1", shell.spawned[0]));
  CrashAll(shell, absl::Seconds(58));
  EXPECT_FALSE(shell.Says("failed Town")) << shell.TakeLog();
  CrashAll(shell, absl::Seconds(10));
  EXPECT_TRUE(shell.Says("failed Town: crashed its executor (3 attempts")) << shell.TakeLog();
}

TEST(BreakersTest, NotWhenTheyFailedToStart) {
  CoreHarness shell("Town\n", Launched(2));
  shell.hold_workers = true;
  shell.Request({"Town"});
  shell.Send(On("m1", shell.spawned[0]));
  // The worker that is asked for instead comes at once, on an unknown machine.
  shell.hold_workers = false;
  shell.Send(LauncherReported{shell.spawned[1], "no such host"});
  CrashAll(shell, absl::Seconds(10));
  EXPECT_TRUE(shell.Says("failed Town")) << shell.TakeLog();
}

// The workers are on this machine: a later worker is on no other machine.
TEST(BreakersTest, LocalWorkersCountAsEver) {
  CoreHarness shell("Town\n", {.workers = 3});
  shell.hold_workers = true;
  shell.Request({"Town"});
  shell.Send(WorkerAttached{.worker = shell.spawned[0], .slots = 1});
  CrashAll(shell, absl::Seconds(5));
  EXPECT_TRUE(shell.Says("failed Town: crashed its executor (3 attempts")) << shell.TakeLog();
}

}  // namespace
}  // namespace galley::director
