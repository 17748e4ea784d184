// The core forgets its packages when the director's memory is short.
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;

TEST(MemoryShortTest, BetweenTwoCooksAllPackagesAreForgotten) {
  CoreHarness shell("A -> B\nB\n");
  shell.Request({"A"});
  shell.Finish();
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 2u) << "a worker may still report";
  for (const HarnessJob& job : shell.TakeJobs()) shell.Report(job, WorkerReport::Ended{});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 0u);
  shell.TakeLog();
  shell.Request({"A"});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A B\n"));
}

TEST(MemoryShortTest, WhileACookRunsNothingIsForgotten) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 1u);
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A\n"));
}

TEST(MemoryShortTest, NothingIsForgottenWhileACommitNamesAPackage) {
  CoreHarness shell("A\nB\n");
  shell.hold_commits = true;
  shell.Request({"A", "B"});
  shell.Saved("A");
  shell.Send(CancelRequested{});
  shell.Send(MemoryShort{});
  EXPECT_EQ(shell.core().package_count(), 2u);
}

TEST(MemoryShortTest, AnAnswerToAQuestionOfBeforeIsVoid) {
  CoreHarness shell("A\nB\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  ASSERT_EQ(shell.look_ups.size(), 1u);
  const LookUp::Item asked = shell.look_ups.front();
  shell.Send(CancelRequested{});
  shell.Send(MemoryShort{});
  ASSERT_EQ(shell.core().package_count(), 0u);
  shell.Request({"B"});  // it has the id that A had
  LookedUp late;
  late.items.push_back({asked.package, 0, asked.generation, LookedUp::Error{"of A"}});
  shell.Send(late);
  EXPECT_FALSE(shell.Says("of A"));
}

}  // namespace
}  // namespace galley::director
