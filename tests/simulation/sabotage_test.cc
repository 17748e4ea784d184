// Bugs that are put in on purpose (common/base/sabotage.h): each is found within 1,000 seeds. The
// files that ask about them are compiled a second time for this test, with GALLEY_SABOTAGE.
//
// Each sabotage runs in a process of its own, since a CHECK that fails has found it, too.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/sabotage.h"
#include "gtest/gtest.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/several_cooks.h"

#ifndef GALLEY_SABOTAGE
#error "this test is of the sabotaged code"
#endif

namespace galley::simulation {
namespace {

constexpr uint64_t kSeeds = 4'000;

// A whole cluster with one cook at a time, or one core with several.
enum class Scene { kCluster, kSeveralCooks };

struct Case {
  Sabotage sabotage;
  std::string_view name;
  Scene scene = Scene::kCluster;
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

// Prints each seed before it begins, and what was wrong in the last one.
[[noreturn]] void RunSeeds(const Case& one, int out) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
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
    ::close(STDERR_FILENO);  // of CHECKs
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
  size_t at = 0;
  for (size_t end = 0; (end = said.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = said.substr(at, end - at);
    if (line != std::to_string(seeds + 1)) break;
    ++seeds;
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const bool has_crashed = signal == SIGABRT;  // any other says nothing (memory, a person)
  const std::string wrong = has_crashed ? "crash: a CHECK" : said.substr(at);
  std::printf("%-24s seed %4llu: %s\n", std::string(GetParam().name).c_str(),
              static_cast<unsigned long long>(seeds), wrong.substr(0, wrong.find('\n')).c_str());
  EXPECT_TRUE(has_crashed || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
      << GetParam().name << ": not caught in " << seeds << " seeds"
      << (signal == 0 ? "" : "; ended by signal " + std::to_string(signal));
}

INSTANTIATE_TEST_SUITE_P(
    Each, SabotageTest,
    ::testing::Values(Case{Sabotage::kSkipEpochCheck, "SkipEpochCheck"},
                      Case{Sabotage::kReportEarly, "ReportEarly"},
                      Case{Sabotage::kTrustUploaded, "TrustUploaded"},
                      Case{Sabotage::kOfferToAll, "OfferToAll"},
                      Case{Sabotage::kPlaceAnywhere, "PlaceAnywhere"},
                      Case{Sabotage::kOverfillMachine, "OverfillMachine"},
                      Case{Sabotage::kBumpEpochAtDispatch, "BumpEpochAtDispatch"},
                      Case{Sabotage::kAckBeforeSync, "AckBeforeSync"},
                      Case{Sabotage::kNoFolderSync, "NoFolderSync"},
                      Case{Sabotage::kSkipHashCheck, "SkipHashCheck"},
                      Case{Sabotage::kSkipClosureCheck, "SkipClosureCheck"},
                      Case{Sabotage::kEvictLeasedBlob, "EvictLeasedBlob"},
                      Case{Sabotage::kRetrySync, "RetrySync"},
                      Case{Sabotage::kForgetFailedSync, "ForgetFailedSync"},
                      Case{Sabotage::kForgetInFlight, "ForgetInFlight"},
                      Case{Sabotage::kEndWithPending, "EndWithPending"},
                      Case{Sabotage::kAcceptStaleTerm, "AcceptStaleTerm"},
                      Case{Sabotage::kWelcomeStaleTerm, "WelcomeStaleTerm"},
                      Case{Sabotage::kRetryPoisonForEver, "RetryPoisonForEver"},
                      Case{Sabotage::kHideDispute, "HideDispute"},
                      Case{Sabotage::kForgetFollowers, "ForgetFollowers"},
                      Case{Sabotage::kMakeAgainOnce, "MakeAgainOnce"},
                      Case{Sabotage::kBelieveIndex, "BelieveIndex"},
                      Case{Sabotage::kHideLoss, "HideLoss"},
                      Case{Sabotage::kKeepClaims, "KeepClaims", Scene::kSeveralCooks},
                      Case{Sabotage::kTellWrongCook, "TellWrongCook", Scene::kSeveralCooks},
                      Case{Sabotage::kForgetLaunch, "ForgetLaunch"},
                      Case{Sabotage::kForgetRefusal, "ForgetRefusal"},
                      Case{Sabotage::kProveOnSameMachine, "ProveOnSameMachine"},
                      Case{Sabotage::kCommitBeforeProof, "CommitBeforeProof"},
                      Case{Sabotage::kStarveClass, "StarveClass", Scene::kSeveralCooks},
                      Case{Sabotage::kHoldUpNow, "HoldUpNow", Scene::kSeveralCooks},
                      Case{Sabotage::kForgetAttempt, "ForgetAttempt", Scene::kSeveralCooks},
                      Case{Sabotage::kPublishEmptyRoot, "PublishEmptyRoot"},
                      Case{Sabotage::kPublishTwice, "PublishTwice"},
                      Case{Sabotage::kStageUnpublished, "StageUnpublished"},
                      Case{Sabotage::kTellClosedCook, "TellClosedCook"}),
    [](const auto& test) { return std::string(test.param.name); });

// The seed's number alone says nothing when nothing is sabotaged.
TEST(SabotageNoneTest, WithoutSabotageThisCodeIsRight) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(
        WhatIsWrong(RunCluster({.seed = seed}), RunCluster({.seed = seed, .has_faults = true})),
        "");
  }
}

}  // namespace
}  // namespace galley::simulation
