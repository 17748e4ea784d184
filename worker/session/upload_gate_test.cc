#include "worker/session/upload_gate.h"

#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/wire/convert.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/blob_cache.h"
#include "worker/session/testing/fake_director_bytes.h"

namespace galley::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;

class Events final : public EventSink {
 public:
  void Take(SessionEvent event, uint64_t) override {
    const base::MutexLock lock(mutex_);
    if (const auto* freed = std::get_if<SlotFreed>(&event)) {
      freed_.push_back(std::to_string(freed->slot) + " " + std::to_string(freed->attempt));
      return;
    }
    events_.push_back(event);
    changed_.NotifyAll();
  }
  // The slots that became free, with their attempts.
  std::vector<std::string> freed() {
    const base::MutexLock lock(mutex_);
    return freed_;
  }
  std::vector<SessionEvent> Wait(size_t count) {
    const WaitLimit limit(fmt::format("{} events of the gate", count));
    const base::MutexLock lock(mutex_);
    while (events_.size() < count) changed_.Wait(mutex_);
    return events_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<SessionEvent> events_ GALLEY_GUARDED_BY(mutex_);  // without SlotFreed
  std::vector<std::string> freed_ GALLEY_GUARDED_BY(mutex_);
};

class UploadGateTest : public ::testing::Test {
 protected:
  UploadGateTest()
      : folder_(*MakeTemporaryDirectory(::testing::TempDir(), "gate-")),
        cache_(*BlobCache::Open(folder_, 1 << 20)),
        gate_(std::make_unique<UploadGate>(
            director_, cache_, events_,
            [this](uint32_t slot, uint64_t attempt, const std::string& error) {
              const base::MutexLock lock(ended_mutex_);
              ended_.push_back(std::to_string(slot) + " " + std::to_string(attempt) + " " + error);
            })) {}
  ~UploadGateTest() override {
    gate_.reset();
    RemoveAll(folder_).IgnoreError();
  }

  // A result with these outputs, whose blobs lie in the cache.
  SessionEvent Saved(uint64_t attempt, const std::vector<std::string>& outputs) {
    SlotReported reported{.slot = 0, .attempt = attempt, .report = {}};
    v1::Saved& saved = *reported.report.mutable_saved();
    saved.set_platform(3);
    for (const std::string& bytes : outputs) {
      EXPECT_TRUE(cache_.Put(Digest::Of(bytes), bytes).ok());
      wire::ToProto(Digest::Of(bytes), {}, saved.add_blobs());
    }
    return reported;
  }
  static SessionEvent Ended(uint64_t attempt) {
    SlotReported reported{.slot = 0, .attempt = attempt, .report = {}};
    reported.report.mutable_ended();
    return reported;
  }
  static const v1::Report& ReportOf(const SessionEvent& event) {
    return std::get<SlotReported>(event).report;
  }

  const std::string folder_;
  base::Mutex ended_mutex_;
  std::vector<std::string> ended_ GALLEY_GUARDED_BY(ended_mutex_);
  BlobCache cache_;
  FakeDirectorBytes director_;
  Events events_;
  std::unique_ptr<UploadGate> gate_;
};

TEST_F(UploadGateTest, AReportFollowsItsBlobsAndEventsStayInOrder) {
  gate_->Take(Saved(1, {"a", "b", "a"}));
  gate_->Take(Ended(1));
  const std::vector<SessionEvent> events = events_.Wait(2);
  EXPECT_TRUE(ReportOf(events[0]).has_saved());
  EXPECT_TRUE(ReportOf(events[1]).has_ended());
  EXPECT_THAT(ReportOf(events[0]).saved().blobs(), SizeIs(0)) << "the director looks in its store";
  EXPECT_THAT(director_.stored, testing::UnorderedElementsAre(Digest::Of("a"), Digest::Of("b")));
}

TEST_F(UploadGateTest, WhatWasUploadedIsUploadedAgainOnlyIfTheDirectorLostIt) {
  gate_->Take(Saved(1, {"a"}));
  events_.Wait(1);
  gate_->Take(Saved(2, {"a", "b"}));
  events_.Wait(2);
  director_.stored.clear();  // the store lost the blobs; or it is another director's
  gate_->Take(Saved(3, {"a"}));
  events_.Wait(3);
  EXPECT_THAT(director_.uploads,
              ElementsAre(ElementsAre(Digest::Of("a")), ElementsAre(Digest::Of("b")),
                          ElementsAre(Digest::Of("a"))));
  EXPECT_THAT(director_.asked,
              ElementsAre(ElementsAre(Digest::Of("a")), ElementsAre(Digest::Of("a"))))
      << "of the others it was not worth a question";
}

TEST_F(UploadGateTest, ALargeBlobThatTheDirectorHasIsNotSent) {
  const std::string large(UploadQueue::kAskedBytesMin, 'x');
  director_.stored = {Digest::Of(large)};
  gate_->Take(Saved(1, {large}));
  EXPECT_TRUE(ReportOf(events_.Wait(1)[0]).has_saved());
  EXPECT_THAT(director_.uploads, SizeIs(0));
}

TEST_F(UploadGateTest, AnUploadThatBreaksOffIsBegunAgain) {
  director_.fails = {absl::UnavailableError("cut"), absl::UnauthenticatedError("away")};
  gate_->Take(Saved(1, {"a"}));
  EXPECT_TRUE(ReportOf(events_.Wait(1)[0]).has_saved());
  EXPECT_THAT(director_.uploads, SizeIs(3));
}

TEST_F(UploadGateTest, ABlobThatCannotBeUploadedEndsItsJobAndNoOther) {
  director_.Hold();  // so that all wait together behind the first
  gate_->Take(Saved(9, {"first"}));
  director_.AwaitUpload();
  director_.refused = {Digest::Of("large")};
  gate_->Take(Saved(1, {"large"}));
  gate_->Take(Saved(2, {"small"}));
  gate_->Take(Saved(1, {"of another platform"}));
  gate_->Take(Ended(1));
  gate_->Take(Ended(2));
  director_.GoOn();
  const std::vector<SessionEvent> events = events_.Wait(4);
  EXPECT_EQ(std::get<SlotReported>(events[1]).attempt, 2u);
  EXPECT_TRUE(ReportOf(events[1]).has_saved());
  EXPECT_EQ(std::get<SlotReported>(events[2]).attempt, 1u);
  ASSERT_TRUE(ReportOf(events[2]).has_failed()) << "its end, and nothing of it before";
  EXPECT_EQ(ReportOf(events[2]).failed().cause(), v1::Failed::INFRASTRUCTURE);
  EXPECT_THAT(ReportOf(events[2]).failed().error(), HasSubstr("no room"));
  EXPECT_TRUE(ReportOf(events[3]).has_ended());
  const base::MutexLock lock(ended_mutex_);
  EXPECT_THAT(ended_, ElementsAre(HasSubstr("0 1 uploading its outputs: no room")));
}

TEST_F(UploadGateTest, AJobThatIsLostForItIsToldAsLost) {
  director_.refused = {Digest::Of("large")};
  gate_->Take(Saved(1, {"large"}));
  gate_->Take(SlotLost{.slot = 0, .attempt = 1, .error = "it was ended"});
  const std::vector<SessionEvent> events = events_.Wait(1);
  EXPECT_TRUE(std::holds_alternative<SlotLost>(events[0]));
  gate_->Take(Saved(1, {"small"}));  // only this test gives an attempt number twice
  EXPECT_TRUE(ReportOf(events_.Wait(2)[1]).has_saved());
}

TEST_F(UploadGateTest, LargeUploadsAreDividedIntoCalls) {
  director_.Hold();
  gate_->Take(Saved(9, {"first"}));
  director_.AwaitUpload();
  const std::string half(UploadQueue::kCallBytesMax / 2 + 1, 'x'), other(half.size(), 'y');
  gate_->Take(Saved(1, {half}));
  gate_->Take(Saved(2, {other}));
  director_.GoOn();
  events_.Wait(3);
  EXPECT_THAT(director_.uploads, SizeIs(3));
}

TEST_F(UploadGateTest, SmallResultsOvertakeALargeOne) {
  director_.held_bytes_min = UploadQueue::kCallBytesMax;
  director_.Hold();
  gate_->Take(Saved(1, {std::string(UploadQueue::kCallBytesMax, 'x')}));
  director_.AwaitUpload();
  gate_->Take(Ended(1));
  gate_->Take(Saved(2, {"small"}));
  gate_->Take(Ended(2));
  for (const SessionEvent& event : events_.Wait(2))
    EXPECT_EQ(std::get<SlotReported>(event).attempt, 2u);
  director_.GoOn();
  const std::vector<SessionEvent> events = events_.Wait(4);
  EXPECT_TRUE(ReportOf(events[2]).has_saved());
  EXPECT_TRUE(ReportOf(events[3]).has_ended());
  EXPECT_EQ(std::get<SlotReported>(events[3]).attempt, 1u);
}

// Without a driver, to test the order in which things may happen.
TEST_F(UploadGateTest, ALargeResultFollowsWhatCameBeforeItOfItsJob) {
  UploadQueue queue(/*large_bytes_min=*/5);
  ASSERT_TRUE(queue.Wait(Saved(1, {"a"})));
  ASSERT_TRUE(queue.Wait(Saved(1, {"large"})));
  ASSERT_TRUE(queue.Wait(Ended(1)));
  ASSERT_TRUE(queue.Wait(Saved(2, {"large"})));
  std::vector<SessionEvent> large = queue.Next(UploadLane::kLarge);
  ASSERT_THAT(large, SizeIs(1));
  EXPECT_EQ(std::get<SlotReported>(large[0]).attempt, 2u) << "the other one is not its turn";
  std::vector<SessionEvent> small = queue.Next(UploadLane::kSmall);
  ASSERT_THAT(small, SizeIs(1));
  queue.Passed(UploadLane::kLarge, queue.Deliver(large[0], absl::OkStatus()));
  EXPECT_THAT(queue.Next(UploadLane::kLarge), SizeIs(0));
  const UploadQueue::Delivery delivery = queue.Deliver(small[0], absl::OkStatus());
  EXPECT_THAT(queue.Next(UploadLane::kLarge), SizeIs(0)) << "it is delivered, and has not passed";
  queue.Passed(UploadLane::kSmall, delivery);
  large = queue.Next(UploadLane::kLarge);
  ASSERT_THAT(large, SizeIs(2)) << "with its end behind it";
  EXPECT_TRUE(ReportOf(large[0]).has_saved());
  EXPECT_TRUE(ReportOf(large[1]).has_ended());
}

TEST_F(UploadGateTest, WhatEndsALargeResultsJobFollowsIt) {
  UploadQueue queue(/*large_bytes_min=*/5);
  ASSERT_TRUE(queue.Wait(Saved(1, {"large"})));
  ASSERT_TRUE(queue.Wait(SlotLost{.slot = 0, .attempt = 1, .error = "killed"}));
  EXPECT_THAT(queue.Next(UploadLane::kSmall), SizeIs(0));
  EXPECT_THAT(queue.Next(UploadLane::kLarge), SizeIs(2));
  ASSERT_TRUE(queue.Wait(Saved(1, {"a"}))) << "they have not passed yet";
  EXPECT_THAT(queue.Next(UploadLane::kSmall), SizeIs(0));
}

TEST_F(UploadGateTest, ASlotGoesOnWhileWhatItMadeIsUploaded) {
  director_.Hold();
  gate_->Take(Saved(1, {"a"}));
  director_.AwaitUpload();
  gate_->Take(Ended(1));
  gate_->Take(Saved(2, {"b"}));
  EXPECT_THAT(events_.freed(), ElementsAre("0 1"));
  gate_->Take(SlotLost{.slot = 0, .attempt = 2});
  EXPECT_THAT(events_.freed(), ElementsAre("0 1", "0 2"));
  EXPECT_THAT(events_.Wait(0), SizeIs(0)) << "nothing is told before it is there";
  director_.GoOn();
  events_.Wait(4);
}

TEST(UploadQueueTest, ASlotWaitsWhileTooMuchIsToBeUploaded) {
  const auto result_of = [](uint64_t attempt, uint64_t bytes) {
    SlotReported reported{.slot = 3, .attempt = attempt, .report = {}};
    wire::ToProto(*Digest::FromHex(std::string(64, 'a'), static_cast<int64_t>(bytes)), {},
                  reported.report.mutable_saved()->add_blobs());
    return reported;
  };
  const auto end_of = [](uint64_t attempt) {
    SlotReported reported{.slot = 3, .attempt = attempt, .report = {}};
    reported.report.mutable_ended();
    return reported;
  };
  UploadQueue queue;
  const uint64_t half = UploadQueue::kWaitingBytesMax / 2 + 1;
  EXPECT_TRUE(queue.Wait(result_of(1, half)));
  EXPECT_FALSE(queue.FreedBy(result_of(1, half)).has_value()) << "its job goes on";
  EXPECT_TRUE(queue.Wait(end_of(1)));
  ASSERT_TRUE(queue.FreedBy(end_of(1)).has_value());
  EXPECT_EQ(queue.FreedBy(end_of(1))->slot, 3u);
  EXPECT_EQ(queue.FreedBy(end_of(1))->attempt, 1u);
  EXPECT_TRUE(queue.Wait(result_of(2, half)));
  EXPECT_FALSE(queue.FreedBy(end_of(2)).has_value());
  for (const UploadLane lane : kUploadLanes) {
    for (SessionEvent& event : queue.Next(lane))
      queue.Passed(lane, queue.Deliver(std::move(event), absl::OkStatus()));
  }
  EXPECT_TRUE(queue.FreedBy(end_of(2)).has_value());
}

TEST_F(UploadGateTest, ItEndsWhileTheDirectorIsAway) {
  director_.fails = std::deque<absl::Status>(1'000, absl::UnavailableError("away"));
  gate_->Take(Saved(1, {"a"}));
  gate_->Take(Ended(1));
  director_.AwaitUpload();
  const WaitLimit limit("the end of a gate whose director is away");
  gate_->Close();
  EXPECT_THAT(director_.stored, SizeIs(0));
  EXPECT_THAT(director_.fails, SizeIs(Lt(1'000u))) << "an upload was tried";
  EXPECT_THAT(events_.Wait(0), SizeIs(0)) << "nothing is told before it is there";
}

}  // namespace
}  // namespace galley::worker
