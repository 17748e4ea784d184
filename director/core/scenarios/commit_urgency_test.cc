// When a group of results should not wait for more.
#include "director/core/scenarios/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// A and B are in a worker's hands.
class CommitUrgencyTest : public testing::Test {
 protected:
  CommitUrgencyTest() { shell_.hold_commits = true; }
  void Request(InstigatorCategory category = InstigatorCategory::kCommandLinePackage) {
    CookRequested request;
    for (const char* name : {"A", "B"}) request.selected.push_back({name, category});
    shell_.Request({}, request);
  }
  CoreHarness shell_{"A\nB\n"};
};

TEST_F(CommitUrgencyTest, AResultThatNobodyWaitsForMayWait) {
  Request();
  shell_.Saved("A");
  EXPECT_EQ(shell_.urgent_persists, 0u);
}

TEST_F(CommitUrgencyTest, OneThatSomebodyWaitsForMayNot) {
  Request();
  shell_.Report(HarnessJob(shell_.JobOf("B")), WorkerReport::Needs{"A", 0});
  EXPECT_EQ(shell_.urgent_persists, 0u) << "A has no result yet";
  shell_.Saved("A");
  EXPECT_EQ(shell_.urgent_persists, 1u);
}

TEST_F(CommitUrgencyTest, NorOneThatSomebodyBeginsToWaitFor) {
  Request();
  shell_.Saved("A");
  shell_.Report(HarnessJob(shell_.JobOf("B")), WorkerReport::Needs{"A", 0});
  EXPECT_EQ(shell_.urgent_persists, 1u);
  EXPECT_EQ(shell_.commits.size(), 1u) << "it is told once";
}

TEST_F(CommitUrgencyTest, NorWhatADeviceAsksFor) {
  Request(InstigatorCategory::kCookOnTheFly);
  shell_.Saved("A");
  EXPECT_EQ(shell_.urgent_persists, 1u);
}

TEST_F(CommitUrgencyTest, NorWhatADeviceBeginsToAskFor) {
  Request();
  shell_.Saved("A");
  shell_.Send(PackagesDiscovered{{{"A", InstigatorCategory::kCookOnTheFly}}});
  EXPECT_EQ(shell_.urgent_persists, 1u);
}

TEST(SmallCookTest, ACookThatLacksCommitsOnlyIsNotHeldUpByTheJobsOfOthers) {
  CoreHarness shell("A\nB\n", {.workers = 1, .cooks_max = 2});
  shell.hold_commits = true;
  shell.Request({"A"}, {.request = 1});
  shell.Request({"B"}, {.request = 2});
  EXPECT_EQ(shell.urgent_persists, 0u);
  shell.Saved("B");
  EXPECT_GT(shell.urgent_persists, 0u);
}

TEST_F(CommitUrgencyTest, WhenTheCookIsInterruptedNoMoreResultsCome) {
  Request();
  shell_.Saved("A");
  EXPECT_TRUE(shell_.core().has_jobs());
  shell_.Send(CancelRequested{});
  EXPECT_FALSE(shell_.core().has_jobs());
}

}  // namespace
}  // namespace galley::director
