// Packages that take their executors or workers along: when the package is to blame, and when the
// machine.
#include "director/core/packages/killings.h"

#include <set>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Death = Killings::What;

constexpr PackageId kKillerA(1), kKillerB(2), kKillerC(3);
constexpr WorkerId kOne(kForeignWorkers), kTwo(kForeignWorkers + 1), kThree(kForeignWorkers + 2);

absl::Duration SecondsIn(int seconds) { return absl::Seconds(seconds); }

// ------------------------------------------------------------------ the noun

class StreaksTest : public ::testing::Test {
 protected:
  void Die(PackageId package, Killings::Machine machine, Death what = Death::kExecutor) {
    killings_.AddDeath(package, machine, what, SecondsIn(++now_));
  }
  bool IsBlamed(PackageId package, bool has_others = true) const {
    return killings_.Judge(package, has_others).has_value();
  }

  Killings killings_;
  int now_ = 0;
};

TEST_F(StreaksTest, TwoMachinesAreEnough) {
  Die(kKillerA, 1);
  EXPECT_FALSE(IsBlamed(kKillerA));
  Die(kKillerA, 2);
  EXPECT_TRUE(IsBlamed(kKillerA));
  EXPECT_FALSE(IsBlamed(kKillerB));
}

TEST_F(StreaksTest, ThreeTimesOnOneMachineAreEnoughWhereOthersSucceedMeanwhile) {
  killings_.NoteDone(kKillerB, 1, SecondsIn(0));
  for (int i = 0; i < 3; ++i) Die(kKillerA, 1);
  EXPECT_FALSE(IsBlamed(kKillerA)) << "the machine may have broken since";
  killings_.NoteDone(kKillerA, 1, SecondsIn(++now_));
  EXPECT_FALSE(IsBlamed(kKillerA)) << "another platform of its own says nothing";
  killings_.NoteDone(kKillerB, 2, SecondsIn(++now_));
  EXPECT_FALSE(IsBlamed(kKillerA)) << "nor does another machine";
  killings_.NoteDone(kKillerB, 1, SecondsIn(++now_));
  killings_.NoteDone(kKillerA, 1, SecondsIn(++now_));
  EXPECT_TRUE(IsBlamed(kKillerA));
}

TEST_F(StreaksTest, ThreeTimesOnOneMachineAreEnoughWhereThereAreNoOthers) {
  for (int i = 0; i < 2; ++i) Die(kKillerA, 1);
  EXPECT_FALSE(IsBlamed(kKillerA, false));
  Die(kKillerA, 1);
  EXPECT_FALSE(IsBlamed(kKillerA, true));
  EXPECT_TRUE(IsBlamed(kKillerA, false));
}

TEST_F(StreaksTest, AMachineThatKillsOthersTooIsNoWitness) {
  for (int i = 0; i < 5; ++i) {
    Die(kKillerA, 1);
    Die(kKillerB, 1);
  }
  killings_.NoteDone(kKillerC, 1, SecondsIn(++now_));
  Die(kKillerA, 2);
  EXPECT_FALSE(IsBlamed(kKillerA, false)) << "it died on the second one only";
  Die(kKillerA, 1);
  EXPECT_TRUE(IsBlamed(kKillerA)) << "the last on both";
}

TEST_F(StreaksTest, LostWorkersNeedMore) {
  for (uint32_t i = 1; i < Killings::kLossesMax; ++i) Die(kKillerA, 1, Death::kWorker);
  Die(kKillerA, 2, Death::kWorker);
  EXPECT_FALSE(IsBlamed(kKillerA, false));
  Die(kKillerA, 1, Death::kWorker);
  EXPECT_TRUE(IsBlamed(kKillerA, false));
  for (Killings::Machine machine = 11; machine < 11 + Killings::kLossesMax; ++machine) {
    EXPECT_FALSE(IsBlamed(kKillerB, true));
    Die(kKillerB, machine, Death::kWorker);
  }
  EXPECT_TRUE(IsBlamed(kKillerB, true));
}

TEST_F(StreaksTest, WhatIsForgivenCountsNoLonger) {
  for (int i = 0; i < 3; ++i) Die(kKillerA, 1);
  killings_.Forget(kKillerA);
  EXPECT_FALSE(killings_.IsSuspect(kKillerA));
  EXPECT_FALSE(IsBlamed(kKillerA, false));
  EXPECT_FALSE(killings_.TurnAt(1).valid());
}

TEST_F(StreaksTest, WhoDiedLastIsTriedNextUnlessItDiesForTooLong) {
  EXPECT_FALSE(killings_.TurnAt(1).valid());
  Die(kKillerA, 1);
  Die(kKillerB, 1);
  EXPECT_EQ(killings_.TurnAt(1), kKillerB);
  for (uint32_t i = 1; i < Killings::kTurnMax; ++i) Die(kKillerB, 1);
  EXPECT_FALSE(killings_.TurnAt(1).valid());
}

// ------------------------------------------------------------------ the core

WorkerAttached OnMachine(const std::string& machine, WorkerId worker, uint32_t slots = 4) {
  return {.worker = worker,
          .slots = slots,
          .in_hand = {},
          .session = 1,
          .lacks = {},
          .machine = machine};
}

CookOptions NoneOfItsOwn() {
  CookOptions options;
  options.workers = 0;
  return options;
}

// A shell that knows which hand-overs are over.
class KillingShell : public CoreHarness {
 public:
  explicit KillingShell(const std::string& project, CookOptions options = {})
      : CoreHarness(project, std::move(options)) {}

  void Kill(const std::string& name) {
    Answer(name, WorkerReport::Failed{
                     .error = "killed by signal 9", .executor_lost = true, .is_killed = true});
  }
  void Save(const std::string& name) {
    over_.insert(JobOf(name).start.attempt);
    Saved(name);
  }
  void Need(const std::string& name, const std::string& input) {
    Answer(name, WorkerReport::Needs{.package = input});
  }
  void LoseWorkerOf(const std::string& name) {
    over_.insert(JobOf(name).start.attempt);
    Send(WorkerLost{JobOf(name).worker, "signal 9", true});
  }
  bool IsOpen(const std::string& name) const { return !over_.contains(JobOf(name).start.attempt); }
  // The job comes to a worker again. (A suspect waits for its back-off, and for its turn.)
  bool IsTriedAgain(const std::string& name) {
    for (int i = 0; i < 20 && !IsOpen(name); ++i) Pass(absl::Seconds(1));
    return IsOpen(name);
  }

 private:
  void Answer(const std::string& name, decltype(WorkerReport::what) what) {
    const HarnessJob job = JobOf(name);
    over_.insert(job.start.attempt);
    Report(job, std::move(what));
  }

  std::set<AttemptId> over_;
};

TEST(KillingTest, APackageThatKillsItsExecutorFailsOnTheThirdTimeAndOthersAreCooked) {
  KillingShell shell("A\nB\nC\n");
  shell.Request({"A", "B", "C"});
  shell.Kill("A");
  shell.Save("B");
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(shell.Says("failed A")) << i;
    ASSERT_TRUE(shell.IsTriedAgain("A"));
    shell.Kill("A");
  }
  EXPECT_TRUE(shell.Says("failed A")) << shell.TakeLog();
  shell.Save("C");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root B C\npublish 0\nended\n"));
  EXPECT_THAT(log, HasSubstr("(SIGKILL) 3 times"));
  EXPECT_THAT(log, HasSubstr("3 times on the director's machine, where other packages succeeded"));
  EXPECT_THAT(log, HasSubstr("the last time: killed by signal 9"));
  EXPECT_THAT(log, HasSubstr("memory"));
  EXPECT_THAT(log, HasSubstr("the next cook tries it again"));
}

TEST(KillingTest, AloneInTheCookItFailsAsSoon) {
  KillingShell shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(shell.IsTriedAgain("A")) << i;
    shell.Kill("A");
  }
  EXPECT_TRUE(shell.Says("failed A")) << shell.TakeLog();
  EXPECT_TRUE(shell.Says("ended"));
}

TEST(KillingTest, WhileNobodySucceedsThereTheMachineIsToBlame) {
  KillingShell shell("A\nB\n");
  shell.Request({"A", "B"});  // B runs on and on
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(shell.IsTriedAgain("A")) << i;
    shell.Kill("A");
  }
  EXPECT_FALSE(shell.Says("failed A")) << shell.TakeLog();
  shell.Save("B");
  ASSERT_TRUE(shell.IsTriedAgain("A"));
  shell.Kill("A");
  EXPECT_TRUE(shell.Says("failed A")) << shell.TakeLog();
}

TEST(KillingTest, ItIsTriedOnAnotherMachineFirstAndFailsThere) {
  KillingShell shell("A\nB\n", NoneOfItsOwn());
  shell.Send(OnMachine("m1", kOne));
  shell.Send(OnMachine("m1", kTwo));
  shell.Request({"A", "B"});
  shell.Kill("A");
  shell.Send(OnMachine("m2", kThree));
  ASSERT_TRUE(shell.IsTriedAgain("A"));
  EXPECT_EQ(shell.JobOf("A").worker, kThree) << "kTwo is of the same machine";
  shell.Kill("A");
  EXPECT_TRUE(shell.Says("once on m1, once on m2")) << shell.TakeLog();
}

TEST(KillingTest, TheNextCookTriesAgainAndNothingIsKept) {
  KillingShell shell("A\n");
  shell.Request({"A"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(shell.IsTriedAgain("A"));
    shell.Kill("A");
  }
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("cause=limit")));
  shell.Request({"A"});
  ASSERT_TRUE(shell.IsOpen("A"));
  shell.Kill("A");
  EXPECT_FALSE(shell.Says("failed A")) << "it has three chances again";
  ASSERT_TRUE(shell.IsTriedAgain("A"));
  shell.Save("A");
  EXPECT_TRUE(shell.Says("root A\n"));
}

TEST(KillingTest, ManyThatKillAtTheSameTimeAllFailByName) {
  KillingShell shell("A\nB\nC\nD\nE\n");
  shell.Request({"A", "B", "C", "D", "E"});
  const auto is_over = [&] { return shell.Says("ended"); };
  int deaths = 0;
  for (int i = 0; i < 200 && !is_over(); ++i) {
    for (const std::string name : {"A", "B", "C", "D"}) {
      if (!shell.IsOpen(name)) continue;
      shell.Kill(name);
      ++deaths;
    }
    if (i == 3) shell.Save("E");
    shell.Pass(absl::Seconds(1));
  }
  ASSERT_TRUE(is_over());
  for (const std::string name : {"A", "B", "C", "D"}) EXPECT_TRUE(shell.Says("failed " + name));
  EXPECT_TRUE(shell.Says("root E\n"));
  EXPECT_LE(deaths, 4 * 5) << "and not a hundred each";
}

// A machine too small for two large packages at once: each succeeds when it is tried without the
// other.
TEST(KillingTest, LargeOnesThatHaveTooLittleMemoryTogetherAreTriedOneAfterTheOther) {
  KillingShell shell("A\nB\nC\nD\n");
  shell.Request({"A", "B", "C", "D"});
  shell.Save("D");
  for (const std::string name : {"A", "B", "C"}) shell.Kill(name);
  for (int i = 0; i < 100 && !shell.Says("ended"); ++i) {
    int open = 0;
    for (const std::string name : {"A", "B", "C"}) open += shell.IsOpen(name);
    ASSERT_LE(open, 1);
    for (const std::string name : {"A", "B", "C"}) {
      if (shell.IsOpen(name)) shell.Save(name);
    }
    shell.Pass(absl::Seconds(1));
  }
  EXPECT_TRUE(shell.Says("root A B C D\n")) << shell.TakeLog();
}

// Both died. What the one reads is made by the other, for whom it must not wait.
TEST(KillingTest, ASuspectThatWaitsForAnotherDoesNotKeepThatAway) {
  KillingShell shell("A\nB\n");
  shell.Request({"A", "B"});
  shell.Kill("B");
  shell.Kill("A");
  ASSERT_TRUE(shell.IsTriedAgain("A"));
  shell.Need("A", "B");
  ASSERT_TRUE(shell.IsTriedAgain("B")) << shell.TakeLog();
  shell.Save("B");
  ASSERT_TRUE(shell.IsTriedAgain("A"));
}

TEST(KillingTest, AllPlatformsThatWereLeftFail) {
  KillingShell shell("A\nB\n", {.platform_count = 3});
  shell.Request({"A", "B"});
  shell.Saved("A", 0);
  for (PlatformIndex p = 0; p < 3; ++p) shell.Saved("B", p);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(shell.IsTriedAgain("A"));
    shell.Kill("A");
  }
  EXPECT_TRUE(shell.Says("root A B\n")) << "what was saved before stays: " << shell.TakeLog();
}

// A node that is taken back, or loses its power, had many jobs that have nothing to do with it.
TEST(KillingTest, JobsOfALostWorkerAreTriedSideBySide) {
  KillingShell shell("A\nB\nC\n", NoneOfItsOwn());
  shell.Send(OnMachine("m1", kOne));
  shell.Request({"A", "B", "C"});
  shell.Send(WorkerLost{kOne, "power", true});
  shell.Send(OnMachine("m1", kTwo));
  shell.Pass(absl::Seconds(1));
  for (const std::string name : {"A", "B", "C"}) EXPECT_EQ(shell.JobOf(name).worker, kTwo) << name;
}

TEST(KillingTest, APackageThatTakesItsWorkersAlongFailsAfterSomeMore) {
  KillingShell shell("A\nB\n", NoneOfItsOwn());
  shell.Send(OnMachine("m1", kOne));
  shell.Request({"A", "B"});
  shell.Save("B");
  for (uint32_t i = 1; i <= Killings::kLossesMax; ++i) {
    EXPECT_FALSE(shell.Says("failed A")) << i;
    ASSERT_TRUE(shell.IsTriedAgain("A")) << i;
    shell.LoseWorkerOf("A");
    shell.Send(OnMachine("m1", WorkerId(kForeignWorkers + i), 1));
  }
  EXPECT_TRUE(shell.Says("failed A")) << shell.TakeLog();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("its worker was lost: signal 9"));
}

}  // namespace
}  // namespace galley::director
