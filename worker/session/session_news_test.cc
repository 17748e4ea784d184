// News: when a session tells its director.
#include <algorithm>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

// Measures the wait until the director is told; infinite: there is nothing to tell.
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
  // Gives jobs; the first two begin.
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

// A cook has many results for which other packages wait: their messages keep a distance.
TEST_F(NewsTest, OnlyWhatAPersonWaitsForIsToldWithoutADistanceToOtherMessages) {
  v1::Job asked = JobOf(1), of_a_chain = JobOf(2);
  asked.set_is_awaited(true);
  asked.set_urgency(kBlockingUrgency);
  of_a_chain.set_is_awaited(true);
  of_a_chain.set_urgency(kBlockingUrgency - 1);
  Attach();
  Give({asked, of_a_chain});
  EXPECT_EQ(WaitAfter(SlotReported{.slot = 1, .attempt = 2, .report = SavedReport()}),
            absl::ZeroDuration());
  EXPECT_FALSE(core_.IsAwaited());
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::ZeroDuration());
  EXPECT_TRUE(core_.IsAwaited());
  std::vector<SessionEffect> effects;
  core_.Flush(effects);
  EXPECT_FALSE(core_.IsAwaited());
}

TEST_F(NewsTest, NothingWaitsLongerThanAQuarterOfTheWorkThatIsLeft) {
  GiveJobs(4, 80'000);  // two jobs wait for the two slots
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::Milliseconds(20));
}

// Otherwise a message would tell that a slot went on, and the next message that its job is over.
TEST_F(NewsTest, ThatASlotWentOnIsToldBeforeLongAndWithWhatElseThereIs) {
  GiveJobs(2, 1'000'000);
  EXPECT_EQ(WaitAfter(SlotFreed{.slot = 0, .attempt = 1}), kUploadingWait);
  now_ += kUploadingWait / 2;
  EXPECT_EQ(WaitAfter(1, SavedReport()), absl::ZeroDuration());
}

TEST_F(NewsTest, WhileThereIsWorkThatASlotWentOnIsNoHurry) {
  GiveJobs(10, 1'000'000);
  EXPECT_EQ(WaitAfter(SlotFreed{.slot = 0, .attempt = 1}), kNewsWaitMax);
}

TEST_F(NewsTest, TheEndOfACancelledJobIsToldAtOnce) {
  GiveJobs(10, 1'000'000);
  Cancel(1);
  EXPECT_EQ(WaitAfter(SlotLost{.slot = 0,
                               .attempt = 1,
                               .cause = v1::Failed::CAUSE_UNKNOWN,
                               .error = "cancelled",
                               .log_tail = ""}),
            absl::ZeroDuration());
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

}  // namespace
}  // namespace galley::worker
