// Pending jobs: jobs whose programs only wait.
#include <optional>
#include <utility>
#include <vector>

#include "common/record/recipe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

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
  // The pending attempts that the director was told last; nullopt: it was told nothing since the
  // last call.
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
        {.cooker = "command", .identity = "2", .extension = "txt", .settings = "{}"}));
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
  Waits(0, 1);  // the slot tells twice
  EXPECT_EQ(started_.size(), 2u) << "the second waits, and holds the slot";
  EXPECT_FALSE(sent_.back().pending().is_held()) << "it is the slot that the third waits for";
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

// The last messages of a stream that was replaced may come after those of its successor.
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

}  // namespace
}  // namespace galley::worker
