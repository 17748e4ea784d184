// Sabotages: bugs that are put in on purpose (common/base/sabotage.h); each is found within 4,000
// seeds. The files that ask about sabotages are compiled a second time for this test, with
// GALLEY_SABOTAGE.
//
// A sabotage runs in a process of its own, since a CHECK that fails has found it, too.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/sabotage.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/several_cooks.h"

#ifndef GALLEY_SABOTAGE
#error "this test is of the sabotaged code"
#endif

namespace galley::simulation {
namespace {

constexpr uint64_t kSeeds = 4'000;

// The limit of a case, so that its sabotage is named where a seed never ends.
constexpr unsigned kSecondsMax = 500;

// Scene: one cook at a time, or several cooks beside each other, with clients and devices, in a
// whole cluster.
enum class Scene { kCluster, kSeveralCooks };

struct Case {
  Sabotage sabotage;
  std::string_view name;
  Scene scene = Scene::kCluster;
  // The seed that is tried first, and then those behind it, all around: where it is a rare one.
  uint64_t first = 1;
};

class SabotageTest : public ::testing::TestWithParam<Case> {};

std::string WhatIsWrongIn(Scene scene, Sabotage sabotage, uint64_t seed) {
  if (scene == Scene::kSeveralCooks) {
    sabotage_now = sabotage;
    return RunSeveralCooks({.seed = seed}).wrong;
  }
  sabotage_now = Sabotage::kNone;
  const Outcome calm = RunCluster({.seed = seed});
  sabotage_now = sabotage;
  return WhatIsWrong(calm, RunCluster({.seed = seed, .has_faults = true}));
}

// Prints each seed before it begins, and the violation of the last seed.
[[noreturn]] void RunSeeds(const Case& one, int out) {
  for (uint64_t i = 0; i < kSeeds; ++i) {
    const uint64_t seed = (one.first - 1 + i) % kSeeds + 1;
    const std::string begun = std::to_string(seed) + "\n";
    if (::write(out, begun.data(), begun.size()) < 0) std::_Exit(2);
    const std::string wrong = WhatIsWrongIn(one.scene, one.sabotage, seed);
    if (wrong.empty()) continue;
    if (::write(out, wrong.data(), wrong.size()) < 0) std::_Exit(2);
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST_P(SabotageTest, IsCaught) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::close(STDERR_FILENO);  // a CHECK prints there
    ::alarm(kSecondsMax);
    RunSeeds(GetParam(), ends[1]);
  }
  ::close(ends[1]);
  std::string said;
  char part[4096];
  for (ssize_t size = 0; (size = ::read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<size_t>(size));
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  uint64_t seeds = 0;
  std::string last;  // seed
  size_t at = 0;
  for (size_t end = 0; (end = said.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = said.substr(at, end - at);
    if (line != std::to_string((GetParam().first - 1 + seeds) % kSeeds + 1)) break;
    last = line;
    ++seeds;
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool has_crashed = signal == SIGABRT;  // other signals say nothing (memory, a person)
  const std::string wrong = has_crashed ? "crash: a CHECK" : said.substr(at);
  fmt::print("{:<24} seed {:>4}: {}\n", GetParam().name, last, wrong.substr(0, wrong.find('\n')));
  EXPECT_TRUE(has_crashed || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
      << GetParam().name << ": not caught in " << seeds << " seeds"
      << (signal == 0 ? "" : "; ended by signal " + std::to_string(signal));
}

#define OF_ONE(name) (Case{Sabotage::k##name, #name})
#define OF_ONE_FROM(name, first) (Case{Sabotage::k##name, #name, Scene::kCluster, first})
#define OF_SEVERAL(name) (Case{Sabotage::k##name, #name, Scene::kSeveralCooks})
INSTANTIATE_TEST_SUITE_P(
    Each, SabotageTest,
    ::testing::Values(
        OF_ONE_FROM(SkipEpochCheck, 3'598), OF_ONE(ReportEarly), OF_ONE(TrustUploaded),
        OF_ONE(OfferToAll), OF_ONE(PlaceAnywhere), OF_ONE(OverfillMachine),
        OF_ONE(BumpEpochAtDispatch), OF_ONE(AckBeforeSync), OF_ONE(NoFolderSync),
        OF_ONE(SkipHashCheck), OF_ONE(SkipClosureCheck), OF_ONE(EvictLeasedBlob), OF_ONE(RetrySync),
        OF_ONE(ForgetFailedSync), OF_ONE(ForgetInFlight), OF_ONE(EndWithPending),
        OF_ONE(AcceptStaleTerm), OF_ONE(WelcomeStaleTerm), OF_ONE(RetryPoisonForEver),
        OF_ONE_FROM(HideDispute, 1'354), OF_ONE(ForgetFollowers), OF_ONE(MakeAgainOnce),
        OF_ONE(BelieveIndex), OF_ONE(HideLoss), OF_SEVERAL(KeepClaims), OF_SEVERAL(TellWrongCook),
        OF_SEVERAL(TakeAnyVariant), OF_ONE(ForgetLaunch), OF_ONE(ForgetRefusal),
        OF_ONE(ProveOnSameMachine), OF_ONE(CommitBeforeProof), OF_SEVERAL(StarveClass),
        OF_SEVERAL(HoldUpNow), OF_SEVERAL(ForgetAttempt), OF_ONE(PublishEmptyRoot),
        OF_ONE(PublishTwice), OF_ONE(StageUnpublished), OF_ONE(TellClosedCook),
        OF_SEVERAL(KeepAsks), OF_SEVERAL(BelieveLastCook), OF_SEVERAL(AskInTurn),
        OF_SEVERAL(AnswerWithdrawn), OF_SEVERAL(ServeLaterWorld), OF_SEVERAL(ChangeOldNode),
        OF_SEVERAL(ForgetSessionLease), OF_SEVERAL(TellUnleased), OF_SEVERAL(KeepAheadJobs)),
    [](const auto& test) { return std::string(test.param.name); });

// Without a sabotage the same code must be right; else finding one would mean nothing.
TEST(SabotageNoneTest, WithoutSabotageThisCodeIsRight) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(
        WhatIsWrong(RunCluster({.seed = seed}), RunCluster({.seed = seed, .has_faults = true})),
        "");
    EXPECT_EQ(RunSeveralCooks({.seed = seed}).wrong, "");
  }
}

}  // namespace
}  // namespace galley::simulation
