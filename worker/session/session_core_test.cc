#include "worker/session/session_core.h"

#include <string>
#include <utility>
#include <vector>

#include "common/record/recipe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

// A session and a director with a memory: what was started, stopped, sent.
class SessionCoreTest : public ::testing::Test {
 protected:
  explicit SessionCoreTest(uint32_t slots = 2)
      : core_({.worker_id = "local-1",
               .token = "secret",
               .machine = "m",
               .cookers_json = "{}",
               .slots = slots}) {}

  void Step(const SessionEvent& event) {
    std::vector<SessionEffect> effects;
    core_.Step(now_, event, effects);
    core_.Flush(effects);
    for (SessionEffect& effect : effects) Take(effect);
  }

  void Take(SessionEffect& effect) {
    if (auto* start = std::get_if<StartJob>(&effect))
      started_.emplace_back(start->slot, start->job.job().attempt());
    if (auto* start = std::get_if<StartJob>(&effect)) last_job_ = start->job;
    if (auto* start = std::get_if<StartJob>(&effect)) files_.push_back(start->job.snapshot_file());
    if (auto* stop = std::get_if<StopJob>(&effect))
      stopped_.emplace_back(stop->slot, stop->attempt);
    if (auto* left = std::get_if<LeaveOut>(&effect)) left_out_.push_back(left->part);
    if (auto* sent = std::get_if<SendMessage>(&effect)) sent_.push_back(sent->message);
    if (std::holds_alternative<HangUp>(effect)) ++hang_ups_;
    if (auto* exit = std::get_if<ExitSession>(&effect)) exit_ = *exit;
  }

  v1::ToWorker Message() {
    v1::ToWorker message;
    message.set_sequence(++sequence_);
    return message;
  }

  void Attach(uint32_t term = 1) {
    Step(Connected{});
    sequence_ = 0;
    v1::ToWorker message = Message();
    message.mutable_welcome()->set_term(term);
    message.mutable_welcome()->set_timeout_us_default(5'000'000);
    message.mutable_snapshot()->set_number(1);
    message.mutable_snapshot()->set_table_file("/state/1.table");
    Step(Received{message});
  }

  static v1::Job JobOf(uint64_t attempt, std::vector<uint32_t> platforms = {0}) {
    v1::Job job;
    job.set_attempt(attempt);
    job.set_package("/Game/a.png");
    job.set_snapshot(1);
    for (const uint32_t platform : platforms) job.add_targets()->set_platform(platform);
    return job;
  }

  void Give(std::vector<v1::Job> jobs) {
    v1::ToWorker message = Message();
    for (v1::Job& job : jobs) *message.add_start() = std::move(job);
    Step(Received{message});
  }

  void Cancel(uint64_t attempt) {
    v1::ToWorker message = Message();
    message.add_cancel(attempt);
    Step(Received{message});
  }

  void Persist(std::vector<uint64_t> reports) {
    v1::ToWorker message = Message();
    for (const uint64_t report : reports) message.add_persisted(report);
    Step(Received{message});
  }

  void Saved(uint32_t slot, uint64_t attempt, uint32_t platform) {
    v1::Report report;
    report.mutable_saved()->set_platform(platform);
    Step(SlotReported{.slot = slot, .attempt = attempt, .report = report});
  }

  void Done(uint32_t slot, uint64_t attempt) {
    v1::Report report;
    report.mutable_ended();
    Step(SlotReported{.slot = slot, .attempt = attempt, .report = report});
  }

  // "1:saved@7" for report 1 of attempt 7, of all messages since the last call.
  std::vector<std::string> TakeReports() {
    std::vector<std::string> texts;
    for (const v1::FromWorker& message : std::exchange(sent_, {})) {
      for (const v1::Report& report : message.reports()) {
        const char* what = report.has_saved()    ? "saved"
                           : report.has_loaded() ? "loaded"
                           : report.has_failed() ? "failed"
                           : report.has_needs()  ? "needs"
                           : report.has_stale()  ? "stale"
                                                 : "ended";
        texts.push_back(std::to_string(report.report()) + ":" + what + "@" +
                        std::to_string(report.attempt()));
        if (report.has_failed()) last_failed_ = report.failed();
      }
    }
    return texts;
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  SessionCore core_;
  uint64_t sequence_ = 0;
  int hang_ups_ = 0;
  std::vector<std::pair<uint32_t, uint64_t>> started_;
  std::vector<std::pair<uint32_t, uint64_t>> stopped_;
  std::vector<v1::JobPart> left_out_;
  std::vector<v1::FromWorker> sent_;
  v1::ExecutorJob last_job_;
  std::vector<std::string> files_;  // snapshots of the jobs that were started
  v1::Failed last_failed_;
  std::optional<ExitSession> exit_;
};

TEST_F(SessionCoreTest, WhatIsRetractedIsDroppedUnlessItRuns) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});  // two slots
  v1::ToWorker message = Message();
  message.add_retract(2);
  message.add_retract(3);
  message.add_retract(99);
  Step(Received{message});
  EXPECT_THAT(stopped_, IsEmpty());
  EXPECT_EQ(core_.in_hand(), 2u);
  ASSERT_EQ(sent_.back().reports_size(), 1);
  EXPECT_EQ(sent_.back().reports(0).attempt(), 3u);
  EXPECT_TRUE(sent_.back().reports(0).has_ended());
}

void AddPart(uint64_t attempt, const std::vector<uint32_t>& platforms, v1::ToWorker& message) {
  v1::JobPart& part = *message.add_retract_part();
  part.set_attempt(attempt);
  for (const uint32_t platform : platforms) part.add_platforms(platform);
}

TEST_F(SessionCoreTest, APartOfWhatRunsIsLeftOutAndNotMissed) {
  Attach();
  Give({JobOf(1, {0, 1, 2})});
  TakeReports();
  v1::ToWorker message = Message();
  AddPart(1, {1, 2}, message);
  AddPart(99, {1}, message);
  Step(Received{message});
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_[0].attempt(), 1u);
  EXPECT_THAT(left_out_[0].platforms(), ElementsAre(1, 2));
  Saved(0, 1, 0);
  Saved(0, 1, 1);  // it had begun
  Done(0, 1);
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1", "2:saved@1", "3:ended@1"));
}

TEST_F(SessionCoreTest, APartOfWhatWaitsIsNeverStarted) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3, {0, 1}), JobOf(4)});  // two slots
  TakeReports();
  v1::ToWorker message = Message();
  AddPart(3, {1}, message);
  AddPart(4, {0}, message);
  Step(Received{message});
  EXPECT_THAT(left_out_, IsEmpty());
  EXPECT_THAT(TakeReports(), ElementsAre("1:ended@4")) << "nothing is left of it";
  Saved(0, 1, 0);
  Done(0, 1);
  EXPECT_EQ(last_job_.job().attempt(), 3u);
  ASSERT_EQ(last_job_.job().targets_size(), 1);
  EXPECT_EQ(last_job_.job().targets(0).platform(), 0u);
}

std::vector<v1::Job> ShortJobs(int count) {
  std::vector<v1::Job> jobs(static_cast<size_t>(count));
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].set_attempt(i + 1);
    jobs[i].set_snapshot(1);
    jobs[i].set_expected_us(8'000);  // two in 20 ms
  }
  return jobs;
}

class OneSlotTest : public SessionCoreTest {
 protected:
  OneSlotTest() : SessionCoreTest(1) { Attach(); }
};

TEST_F(OneSlotTest, ShortJobsAreSentAhead) {
  Give(ShortJobs(5));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2)));
  v1::Report ended;
  ended.mutable_ended();
  Step(SlotReported{.slot = 0, .attempt = 1, .report = ended});
  EXPECT_EQ(started_.back(), std::pair(0u, uint64_t{3}));
  Cancel(3);  // it is in the executor's hands
  EXPECT_THAT(stopped_, ElementsAre(std::pair(0, 3)));
}

TEST_F(OneSlotTest, NothingIsSentAheadOfAJobWhoseLengthIsUnknown) {
  std::vector<v1::Job> jobs = ShortJobs(3);
  jobs[0].clear_expected_us();
  Give(jobs);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
}

TEST_F(SessionCoreTest, OfSeveralSlotsNoneGetsJobsAhead) {
  Attach();
  Give(ShortJobs(5));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2)));
}

TEST_F(OneSlotTest, WithoutAnExecutorItTriesAgainSaysSoEndsAndBlamesNoJob) {
  Give(ShortJobs(2));
  const SlotFailed failed{.slot = 0, .attempts = {1, 2}, .error = "no such program"};
  Step(failed);
  EXPECT_EQ(started_.size(), 2u);  // not at once
  Step(Tick{});
  EXPECT_THAT(started_,
              ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(0, 1), std::pair(0, 2)));
  Step(failed);
  Step(Tick{});
  EXPECT_FALSE(exit_.has_value());
  Step(failed);
  EXPECT_EQ(sent_.back().unfit(), "no such program");
  EXPECT_EQ(sent_.back().reports_size(), 0);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 3);
  EXPECT_TRUE(exit_->said_goodbye);
}

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

TEST_F(SessionCoreTest, WhileAnotherSlotWorksTheSessionGoesOn) {
  Attach();
  Give(ShortJobs(2));
  for (int i = 0; i < 5; ++i) {
    Step(SlotFailed{.slot = 0, .attempts = {1}, .error = "no such program"});
    Step(Tick{});
  }
  EXPECT_FALSE(exit_.has_value());
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

TEST_F(SessionCoreTest, JobsStartInTheOrderGivenOnTheLowestFreeSlot) {
  Attach();
  Give({JobOf(30), JobOf(10), JobOf(20)});
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 30ul), std::pair(1u, 10ul)));
  Saved(1, 10, 0);
  Done(1, 10);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 30ul), std::pair(1u, 10ul), std::pair(1u, 20ul)));
}

SlotReported EndOf(uint64_t attempt) {
  v1::Report ended;
  ended.mutable_ended();
  return {.slot = 0, .attempt = attempt, .report = ended};
}

TEST_F(OneSlotTest, AnUrgentJobGoesBeforeWhatWaitsAndBehindThoseAsUrgent) {
  std::vector<v1::Job> jobs;
  for (uint64_t attempt = 1; attempt <= 5; ++attempt) {
    jobs.push_back(JobOf(attempt));
    jobs.back().set_urgency(attempt >= 4 ? 3 : 1);
  }
  Give({jobs[0], jobs[1], jobs[2]});
  Give({jobs[3]});
  Give({jobs[4]});
  for (const uint64_t attempt : {1, 4, 5, 2}) Step(EndOf(attempt));
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(0u, 4u), std::pair(0u, 5u),
                                    std::pair(0u, 2u), std::pair(0u, 3u)));
}

TEST_F(OneSlotTest, WhatWasSentAheadHasBegunAndIsNotOvertaken) {
  std::vector<v1::Job> jobs;
  for (uint64_t attempt = 1; attempt <= 4; ++attempt) {
    jobs.push_back(JobOf(attempt));
    jobs.back().set_expected_us(attempt <= 2 ? 1'000 : 900'000);
  }
  jobs[3].set_urgency(3);
  Give({jobs[0], jobs[1], jobs[2]});
  Give({jobs[3]});
  Step(EndOf(1));
  Step(EndOf(2));
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(0u, 2u), std::pair(0u, 4u)));
}

TEST_F(SessionCoreTest, DefaultsOfWelcomeFillAJobsLimits) {
  Attach();
  Give({JobOf(1)});
  EXPECT_EQ(last_job_.job().timeout_us(), 5'000'000);
  EXPECT_EQ(last_job_.job().memory_bytes(), kMemoryBytesDefault);
  EXPECT_EQ(last_job_.snapshot_file(), "/state/1.table");
}

TEST_F(SessionCoreTest, AJobSentTwiceRunsOnce) {
  Attach();
  Give({JobOf(1)});
  Give({JobOf(1)});
  Saved(0, 1, 0);
  Done(0, 1);
  Give({JobOf(1)});  // its end is not persisted yet
  EXPECT_EQ(started_.size(), 1u);
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
  ++sequence_;  // lost on the way
  Give({JobOf(1)});
  EXPECT_EQ(hang_ups_, 1);
  EXPECT_EQ(core_.in_hand(), 0u) << "what came behind the gap is told again after the next attach";
  Attach();
  Give({JobOf(1)});
  EXPECT_EQ(core_.in_hand(), 1u);
}

TEST_F(SessionCoreTest, ReportsAreNumberedWithoutHoles) {
  Attach();
  Give({JobOf(7, {0, 1}), JobOf(8)});
  Saved(0, 7, 0);
  Saved(1, 8, 0);
  Saved(0, 7, 1);
  Done(1, 8);
  Done(0, 7);
  EXPECT_THAT(TakeReports(),
              ElementsAre("1:saved@7", "2:saved@8", "3:saved@7", "4:ended@8", "5:ended@7"));
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

TEST_F(SessionCoreTest, ACancelledJobThatWaitsIsDropped) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Cancel(3);
  EXPECT_THAT(stopped_, IsEmpty());
  EXPECT_THAT(TakeReports(), ElementsAre("1:ended@3"));
  Done(0, 1);
  EXPECT_EQ(started_.size(), 2u);
}

TEST_F(SessionCoreTest, ACancelledJobThatRunsIsStoppedAndEndsWithoutAFailure) {
  Attach();
  Give({JobOf(1)});
  Cancel(1);
  Cancel(1);
  EXPECT_THAT(stopped_, ElementsAre(std::pair(0u, 1ul)));
  EXPECT_THAT(TakeReports(), IsEmpty());
  Step(SlotLost{.slot = 0,
                .attempt = 1,
                .cause = v1::Failed::CAUSE_UNKNOWN,
                .error = "cancelled",
                .log_tail = ""});
  EXPECT_THAT(TakeReports(), ElementsAre("1:ended@1"));
}

TEST_F(SessionCoreTest, ALostExecutorFailsThePlatformsThatWereLeft) {
  Attach();
  Give({JobOf(1, {0, 1, 2})});
  Saved(0, 1, 1);
  Step(SlotLost{.slot = 0,
                .attempt = 1,
                .cause = v1::Failed::CRASHED,
                .error = "signal 11",
                .log_tail = "the tail"});
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1", "2:failed@1", "3:ended@1"));
  EXPECT_THAT(last_failed_.platforms(), ElementsAre(0, 2));
  EXPECT_EQ(last_failed_.cause(), v1::Failed::CRASHED);
  EXPECT_EQ(last_failed_.log_tail(), "the tail");
}

TEST_F(SessionCoreTest, TheSlotOfALostExecutorTakesTheNextJob) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Step(
      SlotLost{.slot = 1, .attempt = 2, .cause = v1::Failed::CRASHED, .error = "", .log_tail = ""});
  EXPECT_EQ(started_.back(), (std::pair(1u, 3ul)));
}

TEST_F(SessionCoreTest, NeedsEndsTheAttempt) {
  Attach();
  Give({JobOf(1)});
  v1::Report report;
  report.mutable_needs()->set_package("/Game/b.png");
  Step(SlotReported{.slot = 0, .attempt = 1, .report = report});
  EXPECT_THAT(TakeReports(), ElementsAre("1:needs@1", "2:ended@1"));
  EXPECT_EQ(core_.in_hand(), 0u);
}

TEST_F(SessionCoreTest, StaleEndsTheAttempt) {
  Attach();
  Give({JobOf(1)});
  v1::Report report;
  report.mutable_stale()->set_path("/Game/a.png");
  Step(SlotReported{.slot = 0, .attempt = 1, .report = report});
  EXPECT_THAT(TakeReports(), ElementsAre("1:stale@1", "2:ended@1"));
}

TEST_F(SessionCoreTest, WhatAJobMovedIsToldWithWhatItSaidItIn) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  v1::Report report;
  report.mutable_needs()->set_package("/Game/b.png");
  report.mutable_bytes()->set_read(7);
  Step(SlotReported{.slot = 0, .attempt = 1, .report = report});
  report.mutable_failed()->set_cause(v1::Failed::TIMEOUT);
  report.mutable_bytes()->set_read(9);
  Step(SlotReported{.slot = 1, .attempt = 2, .report = report});
  Step(SlotLost{.slot = 0, .attempt = 3, .cause = v1::Failed::CRASHED});
  std::vector<uint64_t> read;
  for (const v1::FromWorker& message : sent_) {
    for (const v1::Report& one : message.reports()) read.push_back(one.bytes().read());
  }
  EXPECT_THAT(read, ElementsAre(7, 0, 9, 0, 0, 0)) << "each followed by its end";
}

TEST_F(SessionCoreTest, AVerdictDoesNotEndTheJob) {
  Attach();
  Give({JobOf(1, {0, 1})});
  v1::Report report;
  report.mutable_failed()->set_cause(v1::Failed::VERDICT);
  report.mutable_failed()->add_platforms(0);
  Step(SlotReported{.slot = 0, .attempt = 1, .report = report});
  EXPECT_EQ(core_.in_hand(), 1u);
  Saved(0, 1, 1);
  Done(0, 1);
  EXPECT_THAT(TakeReports(), ElementsAre("1:failed@1", "2:saved@1", "3:ended@1"));
}

TEST_F(SessionCoreTest, AnEndWithPlatformsLeftIsAFailure) {
  Attach();
  Give({JobOf(1, {0, 1})});
  Saved(0, 1, 0);
  Done(0, 1);
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1", "2:failed@1", "3:ended@1"));
  EXPECT_THAT(last_failed_.platforms(), ElementsAre(1));
}

TEST_F(SessionCoreTest, AReportOfAnotherSlotIsNotBelieved) {
  Attach();
  Give({JobOf(1)});
  Saved(1, 1, 0);
  EXPECT_THAT(TakeReports(), IsEmpty());
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

TEST_F(SessionCoreTest, AJobForAnUnknownSnapshotFailsAsInfrastructure) {
  Attach();
  v1::Job job = JobOf(1);
  job.set_snapshot(9);
  Give({job});
  EXPECT_THAT(TakeReports(), ElementsAre("1:failed@1", "2:ended@1"));
  EXPECT_EQ(last_failed_.cause(), v1::Failed::INFRASTRUCTURE);
}

TEST_F(SessionCoreTest, MoreJobsThanTheLimitAreFailedAtOnce) {
  Attach();
  std::vector<v1::Job> jobs;
  for (uint64_t attempt = 1; attempt <= kJobsMax + 1; ++attempt) jobs.push_back(JobOf(attempt));
  Give(std::move(jobs));
  EXPECT_EQ(core_.in_hand(), kJobsMax);
  EXPECT_THAT(TakeReports(), ElementsAre("1:failed@4097", "2:ended@4097"));
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
  Saved(1, 2, 0);  // what ran went on
  EXPECT_THAT(TakeReports(), ElementsAre("3:saved@2"));
}

TEST_F(SessionCoreTest, AJobGoesOnWithTheSnapshotOfTheDirectorThatGaveIt) {
  Attach(3);
  Give({JobOf(1), JobOf(2), JobOf(3)});  // two slots
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
  Give({JobOf(8)});  // it goes on
  v1::ToWorker abort = Message();
  abort.set_abort(true);
  Step(Received{abort});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
  EXPECT_THAT(stopped_, IsEmpty());
  EXPECT_FALSE(exit_.has_value());
  sent_.clear();
  Saved(0, 1, 0);
  EXPECT_THAT(TakeReports(), IsEmpty());  // it is told nothing either
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

TEST_F(SessionCoreTest, ARefusedWorkerEndsWithItsReason) {
  Step(Refused{"another cooker identity"});
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->code, 3);
  EXPECT_THAT(exit_->reason, ::testing::HasSubstr("another cooker identity"));
}

TEST_F(SessionCoreTest, LogLinesAreBoundedAndTheLossIsTold) {
  for (size_t i = 0; i < kLogLinesKeptMax + 5; ++i) Step(Logged{});
  Step(Connected{});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(static_cast<size_t>(sent_[0].log_size()), kLogLinesKeptMax + 1);
  EXPECT_EQ(sent_[0].log(sent_[0].log_size() - 1).text(), "5 log lines were left out");
}

TEST_F(SessionCoreTest, ManyReportsGoInSeveralMessages) {
  Step(Connected{});
  sequence_ = 0;
  v1::ToWorker message = Message();
  message.mutable_welcome();
  std::vector<uint64_t> attempts;
  for (uint64_t attempt = 1; attempt <= kReportsInMessageMax; ++attempt)
    *message.add_start() = JobOf(attempt);
  sent_.clear();
  Step(Received{message});  // no snapshot: each fails and ends
  EXPECT_EQ(sent_.size(), 2u);
  EXPECT_EQ(static_cast<size_t>(sent_[0].reports_size()), kReportsInMessageMax);
}

// ------------------------------------------------------------------ pending jobs

class PendingTest : public SessionCoreTest {
 protected:
  explicit PendingTest(uint32_t slots = 1) : SessionCoreTest(slots) { Attach(); }

  void Waits(uint32_t slot, uint64_t attempt, bool is_pending = true) {
    Step(SlotPending{.slot = slot, .attempt = attempt, .is_pending = is_pending});
  }
  void Ends(uint32_t slot, uint64_t attempt) {
    Saved(slot, attempt, 0);
    Done(slot, attempt);
  }
  // What the director was told last; nullopt: nothing, since the last call.
  std::optional<std::vector<uint64_t>> Told() {
    std::optional<std::vector<uint64_t>> told;
    for (const v1::FromWorker& message : std::exchange(sent_, {})) {
      if (!message.has_pending()) continue;
      told.emplace(message.pending().attempts().begin(), message.pending().attempts().end());
    }
    return told;
  }
  static v1::Job Program(v1::Job job) {
    job.mutable_targets(0)->set_recipe(record::EncodeRecipe(
        {.cooker = "command", .identity = "1", .extension = "txt", .settings = "{}"}));
    return job;
  }
};

class TwoSlotsPendingTest : public PendingTest {
 protected:
  TwoSlotsPendingTest() : PendingTest(2) {}
};

TEST_F(PendingTest, AJobThatWaitsLeavesItsSlotToTheNext) {
  Give({JobOf(1), JobOf(2), JobOf(3)});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
  Waits(0, 1);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2)));
  Ends(1, 2);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(1, 3)));
  Ends(0, 1);
  EXPECT_EQ(core_.in_hand(), 1u);
}

TEST_F(PendingTest, WhenItGoesOnNoJobBeginsUntilOneOfTheTwoHasEnded) {
  Give({JobOf(1), JobOf(2), JobOf(3), JobOf(4)});
  Waits(0, 1);
  Waits(0, 1, false);
  EXPECT_EQ(started_.size(), 2u);
  Ends(1, 2);
  EXPECT_EQ(started_.size(), 2u) << "the first has the slot again";
  Ends(0, 1);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(0, 3)));
}

TEST_F(PendingTest, AtMostAsManyArePendingAsThereAreSlotsThoseThatWaitedFirst) {
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Told();
  Waits(0, 1);
  EXPECT_THAT(Told(), Optional(ElementsAre(1)));
  Waits(1, 2);
  Waits(0, 1);  // told twice
  EXPECT_EQ(started_.size(), 2u) << "the second waits, and holds the slot";
  EXPECT_THAT(Told(), Optional(ElementsAre(1)));
  Ends(0, 1);
  EXPECT_THAT(Told(), Optional(ElementsAre(2)));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(0, 3)));
}

TEST_F(TwoSlotsPendingTest, TwoSlotsMayHaveTwoPendingJobs) {
  Give({JobOf(1), JobOf(2), JobOf(3), JobOf(4), JobOf(5)});
  Waits(0, 1);
  Waits(1, 2);
  EXPECT_THAT(started_,
              ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(2, 3), std::pair(3, 4)));
  Waits(1, 2, false);
  Ends(3, 4);
  EXPECT_EQ(started_.size(), 4u);
  Ends(2, 3);
  EXPECT_THAT(started_.back(), (std::pair<uint32_t, uint64_t>(2, 5)));
}

TEST_F(PendingTest, TheDirectorIsToldWhatIsPendingWhenItChangesAndWithEachHello) {
  EXPECT_THAT(Told(), Optional(IsEmpty())) << "the first hello";
  Give({JobOf(1)});
  EXPECT_EQ(Told(), std::nullopt);
  Waits(0, 1);
  EXPECT_THAT(Told(), Optional(ElementsAre(1)));
  Step(Disconnected{});
  Attach();
  EXPECT_THAT(Told(), Optional(ElementsAre(1)));
  Waits(0, 1, false);
  EXPECT_THAT(Told(), Optional(IsEmpty()));
  Waits(0, 1);
  Ends(0, 1);
  EXPECT_THAT(Told(), Optional(IsEmpty()));
}

// Words of a stream whose place another took may come last.
TEST_F(PendingTest, WhileAJobIsPendingTheDirectorIsToldEachSecond) {
  Give({JobOf(1)});
  Told();
  Step(Tick{});
  EXPECT_EQ(Told(), std::nullopt);
  Waits(0, 1);
  Told();
  for (int i = 0; i < 3; ++i) {
    Step(Tick{});
    EXPECT_THAT(Told(), Optional(ElementsAre(1)));
  }
  Waits(0, 1, false);
  Told();
  Step(Tick{});
  EXPECT_EQ(Told(), std::nullopt) << "that none is was said";
}

TEST_F(PendingTest, WordsOfAnotherAttemptOrSlotAreNotBelieved) {
  Give({JobOf(1), JobOf(2)});
  Told();
  Waits(1, 1);
  Waits(0, 2);
  Waits(0, 77);
  EXPECT_EQ(started_.size(), 1u);
  EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(PendingTest, APendingJobIsStoppedLostAndKeptLikeAnyOther) {
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Waits(0, 1);
  v1::ToWorker message = Message();
  message.add_retract(1);
  Step(Received{message});
  EXPECT_EQ(core_.in_hand(), 3u) << "it has begun";
  Cancel(1);
  EXPECT_THAT(stopped_, ElementsAre(std::pair(0, 1)));
  Step(SlotLost{.slot = 0, .attempt = 1});
  EXPECT_EQ(started_.size(), 2u) << "the second holds the slot";
  EXPECT_THAT(Told(), Optional(IsEmpty()));
  Ends(1, 2);
  EXPECT_THAT(started_.back(), (std::pair<uint32_t, uint64_t>(0, 3)));
}

TEST_F(PendingTest, NothingIsSentAheadBehindAJobThatStartsPrograms) {
  std::vector<v1::Job> jobs;
  for (uint64_t attempt = 1; attempt <= 5; ++attempt) {
    jobs.push_back(JobOf(attempt));
    jobs.back().set_expected_us(1'000);
  }
  jobs[1] = Program(jobs[1]);
  Give(jobs);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2)));
  Ends(0, 1);
  EXPECT_EQ(started_.size(), 2u);
  Waits(0, 2);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(1, 3),
                                    std::pair(1, 4), std::pair(1, 5)))
      << "ahead of the one that runs";
}

TEST_F(PendingTest, NothingIsSentAheadWhileTwoRun) {
  std::vector<v1::Job> jobs;
  for (uint64_t attempt = 1; attempt <= 4; ++attempt) {
    jobs.push_back(JobOf(attempt));
    jobs.back().set_expected_us(1'000);
  }
  Give({Program(jobs[0]), Program(jobs[1]), jobs[2]});
  Waits(0, 1);
  Waits(1, 2);
  Ends(0, 1);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(0, 3)));
  Waits(1, 2, false);
  Give({jobs[3]});
  EXPECT_EQ(started_.size(), 3u);
  Ends(1, 2);
  EXPECT_THAT(started_.back(), (std::pair<uint32_t, uint64_t>(0, 4))) << "ahead of the one";
}

TEST_F(PendingTest, OneWhoseExecutorCouldNotBeStartedWaitsForNothing) {
  Give({JobOf(1)});
  Waits(0, 1);
  Step(SlotFailed{.slot = 0, .attempts = {1}, .error = "no such program"});
  EXPECT_THAT(Told(), Optional(IsEmpty()));
}

// ------------------------------------------------------------------ memory

// When it is told: the wait from now on; infinite: there is nothing to say.
class NewsTest : public SessionCoreTest {
 protected:
  absl::Duration WaitAfter(const SessionEvent& event) {
    std::vector<SessionEffect> effects;
    core_.Step(now_, event, effects);
    return std::max(core_.NextFlush() - now_, absl::ZeroDuration());
  }
  absl::Duration WaitAfter(uint64_t attempt, const v1::Report& report) {
    return WaitAfter(SlotReported{.slot = 0, .attempt = attempt, .report = report});
  }
  // Of them the first two begin.
  void GiveJobs(int count, int64_t expected_us, bool is_awaited = false) {
    std::vector<v1::Job> jobs;
    for (int i = 1; i <= count; ++i) {
      jobs.push_back(JobOf(i));
      jobs.back().set_expected_us(expected_us);
      jobs.back().set_is_awaited(is_awaited);
    }
    Attach();
    Give(std::move(jobs));
  }

  static v1::Report SavedReport() {
    v1::Report report;
    report.mutable_saved();
    return report;
  }
};

TEST_F(NewsTest, ThereIsNothingToSayBeforeAndAfterItWasSaid) {
  EXPECT_EQ(core_.NextFlush(), absl::InfiniteFuture());
  EXPECT_EQ(WaitAfter(Connected{}), absl::ZeroDuration());
  std::vector<SessionEffect> effects;
  core_.Flush(effects);
  EXPECT_EQ(core_.NextFlush(), absl::InfiniteFuture());
}

TEST_F(NewsTest, WhatNobodyWaitsForIsToldTogether) {
  GiveJobs(10, 1'000'000);
  EXPECT_EQ(WaitAfter(1, SavedReport()), kNewsWaitMax);
  now_ += kNewsWaitMax / 4;
  v1::Report loaded;
  loaded.mutable_loaded();
  EXPECT_EQ(WaitAfter(1, loaded), 3 * kNewsWaitMax / 4) << "from the first of them";
}

TEST_F(NewsTest, NothingWaitsLongerThanAQuarterOfTheWorkThatIsLeft) {
  GiveJobs(4, 80'000);  // two wait, for two slots
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::Milliseconds(20));
}

TEST_F(NewsTest, ASessionThatMayRunDryTellsAtOnce) {
  GiveJobs(2, 1'000'000);
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::ZeroDuration());
}

TEST_F(NewsTest, WhatLeftTheQueueIsNotCounted) {
  GiveJobs(4, 80'000);
  v1::ToWorker message = Message();
  message.add_retract(3);
  Step(Received{message});
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::Milliseconds(10));
  Step(TerminateAsked{});
  EXPECT_EQ(core_.in_hand(), 0u);
}

TEST_F(NewsTest, WhatSomebodyWaitsForIsToldAtOnce) {
  GiveJobs(10, 1'000'000, /*is_awaited=*/true);
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::ZeroDuration());
}

TEST_F(NewsTest, FoundPackagesAreToldAtOnce) {
  GiveJobs(10, 1'000'000);
  v1::Report loaded;
  loaded.mutable_loaded()->set_names_packages(true);
  EXPECT_EQ(WaitAfter(1, loaded), absl::ZeroDuration());
}

TEST_F(NewsTest, TroubleIsToldAtOnce) {
  GiveJobs(10, 1'000'000);
  v1::Report needs;
  needs.mutable_needs();
  EXPECT_EQ(WaitAfter(1, needs), absl::ZeroDuration());
  Step(Tick{});
  v1::Report stale;
  stale.mutable_stale();
  EXPECT_EQ(WaitAfter(SlotReported{.slot = 1, .attempt = 2, .report = stale}),
            absl::ZeroDuration());
}

TEST_F(NewsTest, WhatIsGivenBackIsToldAtOnce) {
  GiveJobs(10, 1'000'000);
  v1::ToWorker message = Message();
  message.add_retract(10);
  EXPECT_EQ(WaitAfter(Received{message}), absl::ZeroDuration());
}

TEST_F(NewsTest, ThatAMessageCameIsSaidWithTheNext) {
  GiveJobs(10, 1'000'000);
  EXPECT_EQ(WaitAfter(Received{Message()}), absl::InfiniteDuration());
  Step(Tick{});
  EXPECT_EQ(sent_.back().acknowledged(), sequence_);
}

class MemoryTest : public SessionCoreTest {
 protected:
  explicit MemoryTest(uint32_t slots = 2) : SessionCoreTest(slots) {}

  static constexpr uint64_t kGiB = uint64_t{1} << 30;

  void Sample(uint64_t left_bytes, bool holds_last_slot = false, uint64_t limit_bytes = 16 * kGiB) {
    Step(MemorySampled{.room = {.limit_bytes = limit_bytes,
                                .limit_source = "machine",
                                .left_bytes = left_bytes,
                                .left_source = "machine"},
                       .executor_bytes = kGiB,
                       .holds_last_slot = holds_last_slot});
  }
};

TEST_F(MemoryTest, HelloSaysTheLimitAndLaterWhatChangesMuch) {
  Sample(8 * kGiB);
  Attach();
  ASSERT_FALSE(sent_.empty());
  EXPECT_EQ(sent_.front().hello().memory_bytes(), 16 * kGiB);
  EXPECT_EQ(sent_.front().memory_limit_bytes(), 0u) << "hello has told it";
  sent_.clear();
  Sample(8 * kGiB, false, 15 * kGiB);
  EXPECT_THAT(sent_, IsEmpty());
  Sample(4 * kGiB, false, 8 * kGiB);
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].memory_limit_bytes(), 8 * kGiB);
}

TEST_F(MemoryTest, WhileTooLittleIsLeftNoJobBeginsBesideOneThatRuns) {
  Attach();
  Give({JobOf(1)});
  Sample(kGiB - 1);
  Give({JobOf(2)});
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u)));
  Sample(kGiB - 1, /*holds_last_slot=*/true);
  EXPECT_EQ(started_.size(), 1u) << "one slot works already";
  Sample(2 * kGiB);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(1u, 2u)));
}

// What a job will take shows in what is left only after a while.
TEST_F(MemoryTest, ABurstOfJobsWaitsUntilTheMemoryOfTheFirstIsSeen) {
  Attach();
  Sample(kGiB + kGiB / 2);
  Give({JobOf(1), JobOf(2)});
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u)));
  Sample(kGiB + kGiB / 2);
  EXPECT_EQ(started_.size(), 1u) << "it may have begun just before";
  Sample(kGiB + kGiB / 2);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(1u, 2u)));
}

TEST_F(MemoryTest, OneSlotOfOneSessionAlwaysWorks) {
  Attach();
  Sample(0);
  EXPECT_FALSE(core_.WantsLastSlot()) << "it has no work";
  Give({JobOf(1), JobOf(2)});
  EXPECT_THAT(started_, IsEmpty());
  EXPECT_TRUE(core_.WantsLastSlot());
  Sample(0, /*holds_last_slot=*/true);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u)));
  Done(0, 1);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(0u, 2u)));
  Done(0, 2);
  EXPECT_FALSE(core_.WantsLastSlot());
}

class OneSlotMemoryTest : public MemoryTest {
 protected:
  OneSlotMemoryTest() : MemoryTest(1) { Attach(); }
};

// A pending job keeps its memory, and the young one beside it has not taken its own.
TEST_F(OneSlotMemoryTest, BesideAPendingJobAnotherBeginsOnlyWhereMemoryIsLeft) {
  Sample(kGiB + kGiB / 2);
  Give({JobOf(1), JobOf(2), JobOf(3)});
  const SlotPending waits{.slot = 0, .attempt = 1, .is_pending = true};
  Step(waits);
  EXPECT_EQ(started_.size(), 1u) << "what it takes is not seen yet";
  Sample(kGiB - 1);
  Sample(kGiB - 1);
  EXPECT_EQ(started_.size(), 1u) << "too little is left";
  Sample(2 * kGiB);
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(1u, 2u)));
}

// The director gave both for the one slot, one after the other.
TEST_F(OneSlotMemoryTest, WhatDoesNotFitBesideAPendingJobWaitsAndWhatDoesOvertakesIt) {
  const auto job = [](uint64_t attempt, uint64_t memory_bytes) {
    v1::Job given = JobOf(attempt);
    given.set_expected_memory_bytes(memory_bytes);
    return given;
  };
  for (int i = 0; i < 3; ++i) Sample(8 * kGiB, false, 8 * kGiB);  // the first has not taken it yet
  Give({job(1, 6 * kGiB), job(2, 6 * kGiB), job(3, 3 * kGiB), job(4, 2 * kGiB), job(5, 0)});
  for (int i = 0; i < 3; ++i) Sample(8 * kGiB, false, 8 * kGiB);
  Step(SlotPending{.slot = 0, .attempt = 1, .is_pending = true});
  EXPECT_THAT(started_, ElementsAre(std::pair(0u, 1u), std::pair(1u, 4u)));
  Done(1, 4);
  for (int i = 0; i < 3; ++i) Sample(8 * kGiB, false, 8 * kGiB);
  EXPECT_THAT(started_.back(), (std::pair<uint32_t, uint64_t>(1, 5))) << "nobody knows";
  Done(0, 1);
  Done(1, 5);
  EXPECT_THAT(started_.back(), (std::pair<uint32_t, uint64_t>(0, 2)));
}

TEST_F(MemoryTest, WhatHasBegunIsToldWhileJobsAreHeldUpForWantOfMemory) {
  Attach();
  Give({JobOf(1)});
  Sample(kGiB - 1);
  Give({JobOf(2), JobOf(3)});
  sent_.clear();
  Step(Tick{});
  ASSERT_TRUE(sent_.back().has_pending());
  EXPECT_TRUE(sent_.back().pending().is_held());
  EXPECT_THAT(sent_.back().pending().begun(), ElementsAre(1));
  sent_.clear();
  Sample(8 * kGiB);
  ASSERT_TRUE(sent_.back().has_pending()) << "at once: what begins is not to be taken away";
  EXPECT_FALSE(sent_.back().pending().is_held());
  EXPECT_THAT(sent_.back().pending().begun(), IsEmpty());
  sent_.clear();
  Step(Tick{});
  EXPECT_FALSE(sent_.back().has_pending());
}

TEST_F(MemoryTest, PausesAndCollectionsAreCountedAndTold) {
  Attach();
  sent_.clear();
  Sample(0);
  using What = CollectionStep::What;
  const auto collect = [&](What what, CollectReason reason) {
    Step(SlotCollected{.slot = 1, .step = {what, reason}, .before_bytes = 9, .after_bytes = 5});
  };
  collect(What::kSoft, CollectReason::kSoftLimit);
  collect(What::kFull, CollectReason::kHardLimit);
  collect(What::kRestart, CollectReason::kHardLimit);
  collect(What::kRestart, CollectReason::kHardLimit);
  collect(What::kFull, CollectReason::kPackageCount);
  collect(What::kFull, CollectReason::kIdle);
  ASSERT_FALSE(sent_.empty());
  const v1::Collections told = sent_.back().collections();
  EXPECT_EQ(told.pauses(), 1u);
  EXPECT_EQ(told.soft_limit(), 1u);
  EXPECT_EQ(told.hard_limit(), 1u);
  EXPECT_EQ(told.restarts(), 2u);
  EXPECT_EQ(told.package_count(), 1u);
  EXPECT_EQ(told.idle(), 1u);
  std::string log;
  for (const v1::FromWorker& message : sent_) {
    for (const v1::LogLine& line : message.log()) log += line.text() + "\n";
  }
  EXPECT_THAT(log, HasSubstr("memory paused: 0 bytes are left (machine)"));
  EXPECT_THAT(log, HasSubstr("slot=1 memory collection reason=soft_limit before_bytes=9"));
  EXPECT_THAT(log, HasSubstr("slot=1 memory restart reason=hard_limit"));
  EXPECT_THAT(log, HasSubstr("reason=idle"));
  sent_.clear();
  Step(Tick{});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_FALSE(sent_[0].has_collections()) << "nothing changed";
  Step(Disconnected{});
  Attach();
  EXPECT_EQ(sent_[1].collections().idle(), 1u) << "another director is told all";
}

TEST_F(MemoryTest, AnExecutorsLimitsAreThoseOfAJobOrItsShareOfTheMachine) {
  Sample(8 * kGiB, false, 4 * kGiB);
  Step(Connected{});
  std::vector<SessionEffect> effects;
  v1::ToWorker message;
  message.set_sequence(1);
  message.mutable_welcome()->set_memory_bytes_default(kGiB);
  core_.Step(now_, Received{message}, effects);
  ASSERT_FALSE(effects.empty());
  EXPECT_EQ(std::get<ConfigureSlots>(effects[0]).collection.hard_bytes, kGiB / 2);
  effects.clear();
  message.set_sequence(2);
  message.mutable_welcome()->set_memory_bytes_default(0);
  core_.Step(now_, Received{message}, effects);
  EXPECT_EQ(std::get<ConfigureSlots>(effects[0]).collection.hard_bytes, kGiB)
      << "half of what each of two slots may have";
}

}  // namespace
}  // namespace galley::worker
