// Directors: how a session meets, loses and leaves them.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(OneSlotTest, AnUnfitSessionWaitsForADirectorToTell) {
  Give(ShortJobs(1));
  Step(Disconnected{});
  for (int i = 0; i < 3; ++i) {
    Step(SlotFailed{.slot = 0, .attempts = {1}, .error = "no such program"});
    Step(Tick{});
  }
  EXPECT_FALSE(exit_.has_value());
  EXPECT_EQ(core_.NextFlush(), absl::InfiniteFuture());
  Attach();
  EXPECT_EQ(sent_.back().unfit(), "no such program");
  EXPECT_TRUE(exit_.has_value());
}

TEST_F(SessionCoreTest, HelloComesFirstAndOnlyOnce) {
  Step(Connected{});
  Step(Tick{});
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].hello().worker_id(), "local-1");
  EXPECT_EQ(sent_[0].hello().token(), "secret");
  EXPECT_EQ(sent_[0].sequence(), 1u);
  EXPECT_FALSE(sent_[1].has_hello());
  EXPECT_EQ(sent_[1].sequence(), 2u);
}

TEST_F(SessionCoreTest, NothingIsSentWithoutAStream) {
  Step(Tick{});
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(SessionCoreTest, ADoubledMessageDoesNothing) {
  Attach();
  v1::ToWorker message = Message();
  *message.add_start() = JobOf(1);
  Step(Received{message});
  Step(Received{message});
  EXPECT_EQ(core_.in_hand(), 1u);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(SessionCoreTest, ForASegmentThatCannotBeWrittenToItAttachesAgain) {
  Attach();
  Give({JobOf(1)});
  Step(SegmentUnusable{"it has a writer already"});
  EXPECT_EQ(hang_ups_, 1);
  Step(SegmentUnusable{"still without a director, who will give another"});
  EXPECT_EQ(hang_ups_, 1);
  Attach();
  EXPECT_EQ(core_.in_hand(), 1u) << "its job waits for the segment";
}

TEST_F(SessionCoreTest, AMessageThatIsMissingEndsTheStream) {
  Attach();
  ++sequence_;  // a message is lost
  Give({JobOf(1)});
  EXPECT_EQ(hang_ups_, 1);
  EXPECT_EQ(core_.in_hand(), 0u) << "what came behind the gap is told again after the next attach";
  Attach();
  Give({JobOf(1)});
  EXPECT_EQ(core_.in_hand(), 1u);
}

TEST_F(SessionCoreTest, WhatIsNotPersistedIsSentAgainAfterReconnect) {
  Attach();
  Give({JobOf(7)});
  Saved(0, 7, 0);
  Done(0, 7);
  TakeReports();
  Persist({1});
  EXPECT_THAT(TakeReports(), IsEmpty());
  Step(Disconnected{});
  Attach();
  EXPECT_THAT(TakeReports(), ElementsAre("2:ended@7"));
  Persist({2});
  EXPECT_EQ(core_.reports_kept(), 0u);
}

TEST_F(SessionCoreTest, ReconnectSaysHelloAndWhatIsInHand) {
  Attach();
  Give({JobOf(7), JobOf(9), JobOf(11)});
  Step(Disconnected{});
  sent_.clear();
  Step(Connected{});
  ASSERT_FALSE(sent_.empty());
  EXPECT_TRUE(sent_[0].has_hello());
  EXPECT_THAT(sent_[0].in_hand(), ElementsAre(7, 9, 11));
  EXPECT_EQ(sent_[0].check(), 27u);
}

TEST_F(SessionCoreTest, ResendAllRepeatsReportsAndInHand) {
  Attach();
  Give({JobOf(7), JobOf(9)});
  Saved(0, 7, 0);
  TakeReports();
  v1::ToWorker message = Message();
  message.set_resend_all(true);
  Step(Received{message});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_THAT(sent_[0].in_hand(), ElementsAre(7, 9));
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@7"));
}

// Every snapshot names a table of all files; new jobs are of the newest snapshot.
TEST_F(SessionCoreTest, OnlyTheNewestSnapshotIsKept) {
  Attach();
  v1::ToWorker message = Message();
  message.mutable_snapshot()->set_number(2);
  message.mutable_snapshot()->set_table_file("/state/2.table");
  Step(Received{message});
  v1::Job job = JobOf(1);
  job.set_snapshot(1);
  Give({job});
  EXPECT_THAT(TakeReports(), ElementsAre("1:failed@1", "2:ended@1"));
}

TEST_F(SessionCoreTest, TheNextDirectorNumbersItsSnapshotsAnew) {
  Attach();
  v1::ToWorker message = Message();
  message.mutable_snapshot()->set_number(3);
  message.mutable_snapshot()->set_table_file("/state/1.3.table");
  Step(Received{message});
  std::vector<v1::Job> early = {JobOf(7), JobOf(8), JobOf(9)};
  for (v1::Job& job : early) job.set_snapshot(3);
  Give(early);
  Step(Disconnected{});
  Attach();
  message = Message();
  message.mutable_snapshot()->set_number(2);
  message.mutable_snapshot()->set_table_file("/state/2.2.table");
  v1::Job late = JobOf(10);
  late.set_snapshot(2);
  Step(Received{message});
  Give({late});
  Done(0, 7);
  Done(1, 8);
  const std::string old_file = "/state/1.3.table";
  EXPECT_EQ(files_, (std::vector<std::string>{old_file, old_file, old_file, "/state/2.2.table"}));
}

TEST_F(SessionCoreTest, ADrainedSessionSaysGoodbyeOnceAllIsPersisted) {
  Attach();
  Give({JobOf(1)});
  v1::ToWorker message = Message();
  message.set_drain(true);
  Step(Received{message});
  EXPECT_FALSE(exit_.has_value());
  Saved(0, 1, 0);
  Done(0, 1);
  EXPECT_FALSE(exit_.has_value());
  Persist({1, 2});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 0);
  EXPECT_TRUE(sent_.back().goodbye());
}

TEST_F(SessionCoreTest, ADrainedSessionWhoseStarterIsToStartAnotherEndsWith75) {
  Attach();
  v1::ToWorker message = Message();
  message.set_drain(true);
  message.set_start_another(true);
  Step(Received{message});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 75);
  EXPECT_TRUE(sent_.back().goodbye());
}

TEST_F(SessionCoreTest, TerminationEndsWhatIsInHandAndSaysGoodbye) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Step(TerminateAsked{});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_TRUE(sent_.back().goodbye());
  EXPECT_THAT(TakeReports(), ElementsAre("1:ended@1", "2:ended@2", "3:ended@3"));
}

TEST_F(SessionCoreTest, TooLongWithoutADirectorEndsTheSession) {
  Attach();
  Step(Disconnected{});
  now_ += absl::Seconds(19);
  Step(Tick{});
  EXPECT_FALSE(exit_.has_value());
  now_ += absl::Seconds(2);
  Step(Tick{});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 3);
}

TEST_F(SessionCoreTest, AFailedReconnectDoesNotRestartTheClock) {
  Attach();
  Step(Disconnected{});
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(1);
    Step(Connected{});  // a stream is made before anybody is at its other end
    Step(Tick{});
    Step(Disconnected{});
  }
  EXPECT_FALSE(exit_.has_value());
  now_ += absl::Seconds(1);
  Step(Connected{});
  Step(Tick{});
  EXPECT_TRUE(exit_.has_value());
}

TEST_F(SessionCoreTest, ALaterDirectorHearsWhatIsInHandAndWhatNobodyPersisted) {
  Attach(3);
  Give({JobOf(1), JobOf(2), JobOf(3), JobOf(4)});
  Saved(0, 1, 0);
  Done(0, 1);
  Persist({1});
  Step(Disconnected{});
  now_ += absl::Seconds(15);
  Step(Tick{});
  sent_.clear();
  Attach(4);
  ASSERT_FALSE(sent_.empty());
  const v1::FromWorker first = sent_.front();
  EXPECT_EQ(first.hello().persisted(), 1u);
  EXPECT_THAT(first.in_hand(), ElementsAre(2, 3, 4));
  EXPECT_THAT(first.begun(), ElementsAre(2, 3));
  EXPECT_THAT(TakeReports(), ElementsAre("2:ended@1"));
  Saved(1, 2, 0);  // the running job went on
  EXPECT_THAT(TakeReports(), ElementsAre("3:saved@2"));
}

TEST_F(SessionCoreTest, AJobGoesOnWithTheSnapshotOfTheDirectorThatGaveIt) {
  Attach(3);
  Give({JobOf(1), JobOf(2), JobOf(3)});  // for two slots
  Step(Disconnected{});
  Step(Connected{});
  sequence_ = 0;
  v1::ToWorker message = Message();
  message.mutable_welcome()->set_term(4);
  message.mutable_snapshot()->set_number(1);
  message.mutable_snapshot()->set_table_file("/state/of-term-4.table");
  Step(Received{message});
  Done(0, 1);
  ASSERT_EQ(started_.size(), 3u);
  EXPECT_EQ(last_job_.snapshot_file(), "/state/1.table");
  Give({JobOf(4)});
  Done(0, 3);
  EXPECT_EQ(last_job_.snapshot_file(), "/state/of-term-4.table");
}

TEST_F(SessionCoreTest, NothingThatAStaleDirectorSaysIsDone) {
  Attach(4);
  Give({JobOf(1)});
  Step(Disconnected{});
  sent_.clear();
  Step(Connected{});
  sequence_ = 0;
  v1::ToWorker stale = Message();
  stale.mutable_welcome()->set_term(3);
  stale.mutable_snapshot()->set_number(1);
  *stale.add_start() = JobOf(7);
  stale.add_cancel(1);
  Step(Received{stale});
  EXPECT_EQ(hang_ups_, 1);
  Give({JobOf(8)});  // the session goes on
  v1::ToWorker abort = Message();
  abort.set_abort(true);
  Step(Received{abort});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
  EXPECT_THAT(stopped_, IsEmpty());
  EXPECT_FALSE(exit_.has_value());
  sent_.clear();
  Saved(0, 1, 0);
  EXPECT_THAT(TakeReports(), IsEmpty());  // this director is told nothing
  Step(Disconnected{});
  Attach(5);
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1"));
}

TEST_F(SessionCoreTest, AStaleDirectorIsNoDirector) {
  Attach(4);
  Step(Disconnected{});
  now_ += absl::Seconds(15);
  Step(Connected{});
  sequence_ = 0;
  v1::ToWorker stale = Message();
  stale.mutable_welcome()->set_term(3);
  Step(Received{stale});
  now_ += absl::Seconds(6);
  Step(Tick{});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->reason, "no director for 20 s");
}

TEST_F(SessionCoreTest, AbortDropsEverythingAndExits) {
  Attach();
  Give({JobOf(1)});
  TakeReports();
  v1::ToWorker message = Message();
  message.set_abort(true);
  *message.add_start() = JobOf(2);
  Step(Received{message});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 0);
  Saved(0, 1, 0);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
  EXPECT_THAT(TakeReports(), IsEmpty());
}

TEST_F(SessionCoreTest, ARefusedWorkerEndsWithItsReason) {
  Step(Refused{"another cooker identity"});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 3);
  EXPECT_THAT(exit_->reason, ::testing::HasSubstr("another cooker identity"));
}

}  // namespace
}  // namespace galley::worker
