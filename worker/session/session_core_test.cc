// Jobs and reports of the session core; its other specs:
// session_{directors,pending,news,memory}_test.cc.
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(SessionCoreTest, WhatIsRetractedIsDroppedUnlessItRuns) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});  // for two slots
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
  Saved(0, 1, 1);  // this platform had begun
  Done(0, 1);
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1", "2:saved@1", "3:ended@1"));
}

TEST_F(SessionCoreTest, APartOfWhatWaitsIsNeverStarted) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3, {0, 1}), JobOf(4)});  // for two slots
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

TEST_F(OneSlotTest, ShortJobsAreSentAhead) {
  Give(ShortJobs(5));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2)));
  v1::Report ended;
  ended.mutable_ended();
  Step(SlotReported{.slot = 0, .attempt = 1, .report = ended});
  EXPECT_EQ(started_.back(), std::pair(0u, uint64_t{3}));
  Cancel(3);  // the executor has the job
  EXPECT_THAT(stopped_, ElementsAre(std::pair(0, 3)));
}

TEST_F(OneSlotTest, NothingIsSentAheadOfAJobWhoseLengthIsUnknown) {
  std::vector<v1::Job> jobs = ShortJobs(3);
  jobs[0].clear_expected_us();
  Give(jobs);
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
}

TEST_F(OneSlotTest, ASlotThatIsFreedGoesOnBeforeWhatItReportedIsThere) {
  Give({JobOf(1), JobOf(2), JobOf(3)});
  Step(SlotFreed{.slot = 0, .attempt = 1});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2)));
  EXPECT_EQ(core_.in_hand(), 3u);
  TakeReports();
  Step(SlotFreed{.slot = 0, .attempt = 1});  // the slot says it again
  Step(SlotFreed{.slot = 0, .attempt = 99});
  Cancel(1);
  EXPECT_THAT(stopped_, ElementsAre(std::pair(0, 1))) << "the slot does not have it any more";
  Saved(0, 1, 0);
  Done(0, 1);
  EXPECT_THAT(TakeReports(), ElementsAre("1:saved@1", "2:ended@1"));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2))) << "the second runs";
  Step(SlotFreed{.slot = 0, .attempt = 2});
  Step(SlotLost{.slot = 0, .attempt = 2, .cause = v1::Failed::CRASHED});
  EXPECT_THAT(TakeReports(), ElementsAre("3:failed@2", "4:ended@2"));
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(0, 3)));
}

TEST_F(OneSlotTest, TheDirectorHearsOnceWhichAttemptsLeftTheirSlots) {
  Give({JobOf(1), JobOf(2), JobOf(3)});
  sent_.clear();
  Step(SlotFreed{.slot = 0, .attempt = 1});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_THAT(sent_.back().uploading(), ElementsAre(1));
  Step(Tick{});
  EXPECT_THAT(sent_.back().uploading(), IsEmpty());
  Step(SlotFreed{.slot = 0, .attempt = 2});
  EXPECT_THAT(sent_.back().uploading(), ElementsAre(2));
  Step(Disconnected{});
  Attach();
  const auto hello = std::find_if(sent_.begin(), sent_.end(),
                                  [](const auto& message) { return message.has_hello(); });
  ASSERT_NE(hello, sent_.end());
  EXPECT_THAT(hello->begun(), ElementsAre(1, 2, 3));
  EXPECT_THAT(hello->uploading(), ElementsAre(1, 2));
}

TEST_F(OneSlotTest, WhatIsOverWhenItIsToldIsNotUploading) {
  Give({JobOf(1), JobOf(2)});
  sent_.clear();
  std::vector<SessionEffect> effects;
  core_.Step(now_, SlotFreed{.slot = 0, .attempt = 1}, effects);
  Done(0, 1);
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_THAT(sent_.back().uploading(), IsEmpty());
}

class FarSessionTest : public SessionCoreTest {
 protected:
  FarSessionTest() : SessionCoreTest(1, /*is_without_files=*/true) { Attach(); }
  // Jobs with attempts from `first` on, each of which is expected to take `expected_us`.
  static std::vector<v1::Job> Jobs(uint64_t first, int count, int64_t expected_us) {
    std::vector<v1::Job> jobs;
    for (int i = 0; i < count; ++i) {
      jobs.push_back(JobOf(first + i));
      jobs.back().set_expected_us(expected_us);
    }
    return jobs;
  }
  std::vector<uint64_t> TakeAhead() {
    std::vector<uint64_t> attempts;
    for (const v1::Job& job : std::exchange(ahead_, {})) attempts.push_back(job.attempt());
    return attempts;
  }
};

TEST_F(FarSessionTest, WhatJobsReadIsFetchedAheadForThoseThatBeginSoon) {
  Give(Jobs(1, 9, 100'000));
  EXPECT_THAT(TakeAhead(), ElementsAre(1, 2, 3, 4)) << "400 ms";
  Done(0, 1);
  EXPECT_THAT(TakeAhead(), IsEmpty()) << "of two hundred milliseconds it is here";
  Done(0, 2);
  EXPECT_THAT(TakeAhead(), ElementsAre(5, 6, 7));
}

TEST_F(FarSessionTest, OfALongJobItIsFetchedWhileTheOneBeforeRuns) {
  Give(Jobs(1, 3, 9'000'000));
  EXPECT_THAT(TakeAhead(), ElementsAre(1, 2));
  Done(0, 1);
  EXPECT_THAT(TakeAhead(), ElementsAre(3));
}

TEST_F(FarSessionTest, WhatOvertakesIsFetchedAtOnce) {
  Give(Jobs(1, 9, 9'000'000));
  EXPECT_THAT(TakeAhead(), ElementsAre(1, 2));
  std::vector<v1::Job> urgent = Jobs(10, 1, 200'000);
  urgent[0].set_urgency(3);
  Give(urgent);
  EXPECT_THAT(TakeAhead(), ElementsAre(10));
  Done(0, 1);
  EXPECT_EQ(started_.back(), std::pair(0u, uint64_t{10}));
  EXPECT_THAT(TakeAhead(), IsEmpty());
}

TEST_F(FarSessionTest, WhatIsTakenBackMakesRoom) {
  Give(Jobs(1, 9, 100'000));
  TakeAhead();
  v1::ToWorker message = Message();
  for (const uint64_t attempt : {3, 4, 5}) message.add_retract(attempt);
  Step(Received{message});
  EXPECT_THAT(TakeAhead(), ElementsAre(6, 7, 8)) << "and 5 was never fetched";
}

TEST_F(FarSessionTest, TheEffectHasAllThatTheJobIsLikelyToRead) {
  v1::Job job = JobOf(1);
  job.mutable_source()->set_hash("s");
  job.mutable_generated_source()->set_hash("g");
  job.add_likely_reads()->set_path("/Game/b");
  Give({job});
  ASSERT_EQ(ahead_.size(), 1u);
  EXPECT_EQ(ahead_[0].package(), "/Game/a.png");
  EXPECT_EQ(ahead_[0].source().hash(), "s");
  EXPECT_EQ(ahead_[0].generated_source().hash(), "g");
  ASSERT_EQ(ahead_[0].likely_reads_size(), 1);
}

TEST_F(SessionCoreTest, WithFilesNothingIsFetchedAhead) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  EXPECT_THAT(ahead_, IsEmpty());
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

TEST_F(SessionCoreTest, WhileAnotherSlotWorksTheSessionGoesOn) {
  Attach();
  Give(ShortJobs(2));
  for (int i = 0; i < 5; ++i) {
    Step(SlotFailed{.slot = 0, .attempts = {1}, .error = "no such program"});
    Step(Tick{});
  }
  EXPECT_FALSE(exit_.has_value());
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
  Give({JobOf(1)});  // the end of attempt 1 is not persisted yet
  EXPECT_EQ(started_.size(), 1u);
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

TEST_F(SessionCoreTest, WhatALostExecutorHadLookedAtIsTold) {
  Attach();
  Give({JobOf(1)});
  v1::Opened opened;
  opened.set_platform(3);
  Step(SlotLost{.slot = 0,
                .attempt = 1,
                .cause = v1::Failed::MEMORY,
                .error = "too large",
                .log_tail = "",
                .opened = opened});
  EXPECT_THAT(TakeReports(), ElementsAre("1:failed@1", "2:ended@1"));
  EXPECT_EQ(last_failed_.opened().platform(), 3u);
}

TEST_F(SessionCoreTest, WhatAnExecutorDiedOfIsToldAsItIs) {
  Attach();
  uint64_t attempt = 0;
  for (const v1::Failed::Cause cause :
       {v1::Failed::CRASHED, v1::Failed::MEMORY, v1::Failed::TIMEOUT, v1::Failed::INFRASTRUCTURE}) {
    Give({JobOf(++attempt)});
    TakeReports();
    Step(SlotLost{
        .slot = 0, .attempt = attempt, .cause = cause, .error = "why", .log_tail = "the tail"});
    EXPECT_EQ(TakeReports().size(), 2u);
    EXPECT_EQ(last_failed_.cause(), cause);
    EXPECT_TRUE(last_failed_.executor_lost());
  }
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

TEST_F(SessionCoreTest, NoJobBeginsWhileTheDirectorIsTooFarBehind) {
  Attach();
  Give({JobOf(1)});
  for (size_t i = 0; i < kReportsKeptMax; ++i) Saved(0, 1, 0);
  Give({JobOf(2)});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1)));
  Persist({1});
  EXPECT_THAT(started_, ElementsAre(std::pair(0, 1), std::pair(1, 2)));
}

TEST_F(SessionCoreTest, LinesOfBeforeItAttachedAreToldThenAndTheLossWithThem) {
  for (size_t i = 0; i < LogRing::kLinesMax + 5; ++i) Step(Logged{});
  Step(Connected{});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(static_cast<size_t>(sent_[0].log_size()), LogRing::kLinesMax + 1);
  EXPECT_EQ(sent_[0].log(0).text(), "5 log lines were left out");
}

TEST_F(SessionCoreTest, LogLinesWaitForAMessageAndHaveOnlySoMuchRoom) {
  Attach();
  sent_.clear();
  v1::LogLine line;
  line.set_text(std::string(4'000, 'x'));
  for (int i = 0; i < 40; ++i) Step(Logged{line});
  EXPECT_TRUE(sent_.empty()) << "a line alone is no news";
  const int in_tick = static_cast<int>(kLogBytesInTick / LogRing::BytesOf(line)) + 1;
  for (const int expected : {in_tick, in_tick, 40 - 2 * in_tick}) {
    Step(Tick{});
    ASSERT_EQ(sent_.size(), 1u) << "the heartbeat, which holds nothing up";
    EXPECT_EQ(sent_[0].log_size(), expected);
    sent_.clear();
  }
}

TEST_F(SessionCoreTest, ItsLastWordsAllGoWithItsGoodbye) {
  Attach();
  v1::LogLine line;
  line.set_text(std::string(4'000, 'x'));
  for (int i = 0; i < 40; ++i) Step(Logged{line});
  sent_.clear();
  Step(TerminateAsked{});
  ASSERT_FALSE(sent_.empty());
  EXPECT_TRUE(sent_.back().goodbye());
  int lines = 0;
  for (const v1::FromWorker& message : sent_) lines += message.log_size();
  EXPECT_EQ(lines, 40);
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
  Step(Received{message});  // no snapshot: each job fails and ends
  EXPECT_EQ(sent_.size(), 2u);
  EXPECT_EQ(static_cast<size_t>(sent_[0].reports_size()), kReportsInMessageMax);
}

}  // namespace
}  // namespace galley::worker
