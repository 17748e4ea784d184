// A director that died leaves to the next one whom it blamed, and jobs and reports in the hands of
// workers that live on. A test plays the shell by hand (CoreHarness).
#include "director/core/core_harness.h"
#include "director/core/workers.h"
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

}  // namespace
}  // namespace galley::director
