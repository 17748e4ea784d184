// Blocking requests overtake all other jobs within one job's length.
#include <string>

#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// A worker of one slot whose window is full, and further jobs that wait.
CoreHarness Busy(uint32_t workers = 1) {
  CookOptions options;
  options.workers = workers;
  std::string project = "Now ~ 1000\n";
  std::vector<std::string> names;
  for (int i = 0; i < 9; ++i) {
    names.push_back("P" + std::to_string(i));
    project += names.back() + " ~ 1000000\n";
  }
  CoreHarness shell(project, options);
  shell.slots = 1;
  shell.hold_look_ups = true;
  CookRequested request;
  for (const std::string& name : names) request.selected.push_back({name});
  request.selected.push_back({"Now", InstigatorCategory::kCookOnTheFly});
  shell.Request({}, request);
  LookedUp others;
  for (const LookUp::Item& item : shell.look_ups) {
    if (item.package != shell.Id("Now"))
      others.items.push_back({item.package, 0, item.generation, LookedUp::Miss{}});
  }
  shell.Send(others);
  return shell;
}

void AnswerNow(CoreHarness& shell) {
  for (const LookUp::Item& item : shell.look_ups) {
    if (item.package == shell.Id("Now"))
      shell.Send(LookedUp{{{item.package, 0, item.generation, LookedUp::Miss{}}}});
  }
}

TEST(UrgencyTest, ABlockingJobIsHandedOverThoughTheWindowIsFull) {
  CoreHarness shell = Busy();
  shell.TakeLog();
  AnswerNow(shell);
  EXPECT_EQ(shell.TakeLog(), "start Now 0\n");
  EXPECT_EQ(shell.JobOf("Now").start.urgency, Urgency::kBlocking);
}

TEST(UrgencyTest, ItIsLookedUpBeforeTheOthers) {
  CoreHarness shell = Busy();
  EXPECT_EQ(shell.look_ups.front().package, shell.Id("Now"));
}

TEST(UrgencyTest, SoManyAtOneWorkerAndNotMore) {
  CookOptions options;
  options.workers = 1;
  options.blocking_jobs_max = 3;
  std::string project;
  CookRequested request;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "P" + std::to_string(i);
    project += name + " ~ 9000000\n";
    request.selected.push_back({name, InstigatorCategory::kCookOnTheFly});
  }
  CoreHarness shell(project, options);
  shell.slots = 1;
  shell.Request({}, request);
  int open = 0;
  for (int i = 0; i < 9; ++i) open += shell.HasOpenJob("P" + std::to_string(i));
  EXPECT_EQ(open, 4);  // one runs
  shell.Finish();
  EXPECT_TRUE(shell.Says("ended\n"));
}

TEST(UrgencyTest, WhatKilledAnExecutorIsQueuedWhereItHasNotBeen) {
  CookOptions options;
  options.workers = 2;
  options.blocking_jobs_max = 1;
  CoreHarness shell("A\nB\nC\nD\n", options);
  shell.slots = 1;
  CookRequested request;
  for (const char* name : {"A", "B", "C", "D"})
    request.selected.push_back({name, InstigatorCategory::kCookOnTheFly});
  shell.Request({}, request);  // one runs and one waits at each
  const WorkerId first = shell.JobOf("A").worker;
  shell.Failed("A", WorkerReport::Fault::kCrashed);
  ASSERT_TRUE(shell.HasOpenJob("A")) << "one more than the limit";
  EXPECT_NE(shell.JobOf("A").worker, first);
}

// The other packages must not wait behind A for a worker that may never speak again.
TEST(UrgencyTest, WhatKilledAnExecutorHoldsUpNobodyWhileTheOnlyOtherWorkerIsSilent) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell("A\nSlow\nZ\n", options);
  shell.slots = 1;
  shell.Request({"Slow"});
  const WorkerId works = shell.JobOf("Slow").worker;
  for (int i = 0; i < 5; ++i) {
    shell.Pass(absl::Seconds(1));
    shell.Send(WorkerAlive{works});
  }
  shell.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookOnTheFly}}});
  ASSERT_EQ(shell.JobOf("A").worker, works);
  shell.Failed("A", WorkerReport::Fault::kCrashed);
  shell.Send(PackagesDiscovered{{{"Z"}}});
  EXPECT_TRUE(shell.HasOpenJob("Z"));
}

// The silent worker may never speak again.
TEST(UrgencyTest, ItRatherWaitsThanGoesToAWorkerThatIsSilent) {
  CoreHarness shell("Long ~ 90000000\nFirst\nNow\n", {.workers = 2, .blocking_jobs_max = 1});
  shell.slots = 1;
  shell.Request({"Long"});
  for (int i = 0; i < 5; ++i) {
    shell.Pass(absl::Seconds(1));
    shell.Send(WorkerAlive{WorkerId(0)});
  }
  for (const char* name : {"First", "Now"})
    shell.Send(PackagesDiscovered{{{name, InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(shell.JobOf("First").worker, WorkerId(0));
  EXPECT_FALSE(shell.HasOpenJob("Now"));
  shell.Send(WorkerAlive{WorkerId(1)});
  EXPECT_TRUE(shell.HasOpenJob("Now"));
}

TEST(UrgencyTest, ItGoesWhereItBeginsFirst) {
  CoreHarness shell = Busy(2);
  shell.Pass(absl::Milliseconds(100));
  // Worker 0 has just begun another; worker 1 is nearer to its end.
  for (int i = 8; i >= 0; --i) {  // the last that was found is the first to run
    const std::string name = "P" + std::to_string(i);
    if (shell.HasOpenJob(name) && shell.JobOf(name).worker == WorkerId(0)) {
      shell.Saved(name);
      break;
    }
  }
  AnswerNow(shell);
  EXPECT_EQ(shell.JobOf("Now").worker, WorkerId(1));
}

TEST(UrgencyTest, APackageThatBecomesBlockingIsTakenOutOfTheMiddleOfAQueue) {
  CookOptions options;
  options.workers = 1;
  CoreHarness shell("Now ~ 2000\nLong ~ 500000\nMid ~ 400000\nInput ~ 300\n", options);
  shell.slots = 1;
  shell.hold_look_ups = true;
  CookRequested request;
  request.selected.push_back({"Now", InstigatorCategory::kCookOnTheFly});
  shell.Request({"Long", "Mid", "Input"}, request);
  const auto answer = [&](const std::string& name) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name))
        return shell.Send(LookedUp{{{item.package, 0, item.generation, LookedUp::Miss{}}}});
    }
  };
  for (const char* name : {"Long", "Mid", "Input"}) answer(name);
  ASSERT_TRUE(shell.HasOpenJob("Input"));
  answer("Now");
  const AttemptId before = shell.JobOf("Input").start.attempt;
  shell.TakeLog();
  shell.Report(HarnessJob(shell.JobOf("Now")), WorkerReport::Needs{"Input", 0});
  EXPECT_TRUE(shell.Says("retract Input\nstart Input 0\n")) << shell.TakeLog();
  EXPECT_NE(shell.JobOf("Input").start.attempt, before);
  EXPECT_EQ(shell.JobOf("Input").start.urgency, Urgency::kBlocking);
}

// A worker of one slot, which cooks Long.
struct BehindALongOne {
  BehindALongOne(const std::string& project, std::vector<std::string> names)
      : shell("Long ~ 500000\n" + project, {.workers = 1}) {
    shell.slots = 1;
    names.emplace_back("Long");
    shell.Request(names);
  }
  // A device asks for the package by now.
  void Hurry(const std::string& name) {
    shell.TakeLog();
    shell.Send(PackagesDiscovered{{{name, InstigatorCategory::kCookOnTheFly}}});
  }
  CoreHarness shell;
};

TEST(UrgencyTest, WhatItWaitsForBecomesAsUrgent) {
  BehindALongOne cook("A ~ 400000\nInput ~ 300\n", {"A", "Input"});
  cook.shell.Report(HarnessJob(cook.shell.JobOf("A")), WorkerReport::Needs{"Input", 0});
  cook.Hurry("A");
  EXPECT_TRUE(cook.shell.Says("retract Input\nstart Input 0\n")) << cook.shell.TakeLog();
  EXPECT_EQ(cook.shell.JobOf("Input").start.urgency, Urgency::kBlocking);
}

TEST(UrgencyTest, WhatRunsWhenItBecomesBlockingGoesOn) {
  BehindALongOne cook("A ~ 400000\n", {"A"});
  cook.Hurry("Long");
  EXPECT_EQ(cook.shell.TakeLog(), "");
}

// The resource would be held twice if the job has begun by now.
TEST(UrgencyTest, WhatHoldsAResourceIsNotTakenForward) {
  CoreHarness shell("Long ~ 900000\nA @gpu\n", {.workers = 1, .resources = {{"gpu", 1}}});
  shell.slots = 1;
  shell.Request({"Long"});
  shell.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCommandLinePackage}}});
  ASSERT_TRUE(shell.HasOpenJob("A"));
  shell.TakeLog();
  shell.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(shell.TakeLog(), "");
}

TEST(UrgencyTest, TheGeneratorThatItWaitsForBecomesAsUrgent) {
  BehindALongOne cook("Town : a\n", {"Town/_gen/a"});
  cook.Hurry("Town/_gen/a");
  EXPECT_TRUE(cook.shell.Says("retract Town\nstart Town 0\n")) << cook.shell.TakeLog();
  EXPECT_EQ(cook.shell.JobOf("Town").start.urgency, Urgency::kBlocking);
}

TEST(UrgencyTest, AWorkerIsToldOfWhichJobsTheResultIsAwaited) {
  CoreHarness shell("A\nInput\nNow\n");
  shell.Request({"A"});
  EXPECT_FALSE(shell.JobOf("A").start.is_awaited);
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"Input", 0});
  EXPECT_TRUE(shell.JobOf("Input").start.is_awaited);
  shell.Send(PackagesDiscovered{{{"Now", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_TRUE(shell.JobOf("Now").start.is_awaited);
}

TEST(UrgencyTest, AnIdleWorkerTakesWhatIsBlockingFirst) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell("Now ~ 100\nA ~ 100\nB ~ 100\n", options);
  shell.slots = 1;
  shell.hold_workers = shell.hold_look_ups = true;
  CookRequested request;
  request.selected.push_back({"Now", InstigatorCategory::kCookOnTheFly});
  shell.Request({"A", "B"}, request);
  for (const bool is_now : {false, true}) {
    LookedUp answer;
    for (const LookUp::Item& item : shell.look_ups) {
      if ((item.package == shell.Id("Now")) == is_now)
        answer.items.push_back({item.package, 0, item.generation, LookedUp::Miss{}});
    }
    shell.Send(answer);
    if (!is_now) shell.Send(WorkerAttached{shell.spawned[0], 1, {}});
  }
  ASSERT_EQ(shell.JobOf("Now").worker, WorkerId(0));
  shell.TakeLog();
  shell.Send(WorkerAttached{shell.spawned[1], 1, {}});
  EXPECT_TRUE(shell.Says("retract Now\nstart Now 1\n")) << shell.TakeLog();
}

}  // namespace
}  // namespace galley::director
