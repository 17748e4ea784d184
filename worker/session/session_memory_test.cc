// Memory: what a session learns of it, which jobs wait for it, and what the director is told.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

// The memory that is left shows a new job's memory only after a while.
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

// A pending job keeps its memory, and the young job beside it has not taken its own yet.
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

// The director gave the jobs for a single slot, one after the other.
TEST_F(OneSlotMemoryTest, WhatDoesNotFitBesideAPendingJobWaitsAndWhatDoesOvertakesIt) {
  const auto job = [](uint64_t attempt, uint64_t memory_bytes) {
    v1::Job given = JobOf(attempt);
    given.set_expected_memory_bytes(memory_bytes);
    return given;
  };
  // Job 1 has not taken its memory yet.
  for (int i = 0; i < 3; ++i) Sample(8 * kGiB, false, 8 * kGiB);
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
  Step(SlotFreed{.slot = 0, .attempt = 1});
  Step(Tick{});
  EXPECT_THAT(sent_.back().pending().begun(), ElementsAre(1)) << "what it made is on its way";
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
