#include "director/resident/timed_calls.h"

#include <atomic>
#include <memory>

#include "absl/synchronization/notification.h"
#include "common/base/testing/await.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

const absl::Time kStart = absl::UnixEpoch();

// Work: waits until it is told to stop, or may end.
DeviceAnswer Wait(const Cancellation& stop, const std::atomic<bool>& may_end) {
  AwaitOrFail([&] { return stop.is_cancelled() || may_end; }, "an end");
  return DeviceFile();
}

class TimedCallsTest : public testing::Test {
 protected:
  std::shared_ptr<FileCall> Run(absl::Time deadline) {
    auto call = std::make_shared<FileCall>([this](const DeviceAnswer& answer) {
      const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
      refused_ = refusal == nullptr ? -1 : static_cast<int>(refusal->kind);
      answered_.Notify();
    });
    calls_.Run(call, deadline, [this](const Cancellation& stop) { return Wait(stop, may_end_); });
    return call;
  }

  std::atomic<bool> may_end_ = false;
  std::atomic<int> refused_ = -2;  // -1: a file
  absl::Notification answered_;
  OwnDeviceThreads threads_;
  TimedCalls calls_{threads_.MakePool(6), [](absl::Time) {}};
};

TEST_F(TimedCallsTest, WorkGivesTheAnswer) {
  may_end_ = true;
  const auto call = Run(kStart);
  answered_.WaitForNotification();
  EXPECT_EQ(refused_, -1);
}

TEST_F(TimedCallsTest, ADeadlineEndsTheWork) {
  const auto call = Run(kStart + absl::Seconds(1));
  EXPECT_EQ(calls_.due_at(), kStart + absl::Seconds(1));
  calls_.Expire(kStart);
  EXPECT_EQ(refused_, -2);
  calls_.Expire(kStart + absl::Seconds(1));
  answered_.WaitForNotification();
  EXPECT_EQ(refused_, static_cast<int>(RefusalKind::kDeadline));
}

TEST_F(TimedCallsTest, WorkThatGivesNoAnswerLeavesTheCallItsDeadline) {
  absl::Notification worked;
  const auto call = std::make_shared<FileCall>([this](const DeviceAnswer& answer) {
    refused_ = static_cast<int>(std::get<DeviceRefusal>(answer).kind);
  });
  calls_.Start(call, kStart + absl::Seconds(1), [&](const Cancellation&) { worked.Notify(); });
  worked.WaitForNotification();
  EXPECT_EQ(refused_, -2);
  calls_.Expire(kStart + absl::Seconds(1));
  EXPECT_EQ(refused_, static_cast<int>(RefusalKind::kDeadline));
}

TEST_F(TimedCallsTest, TheEndRefusesCallsNowAndLater) {
  const auto call = Run(absl::InfiniteFuture());
  calls_.End({.kind = RefusalKind::kNotReady, .text = "the director ends"});
  answered_.WaitForNotification();
  EXPECT_EQ(refused_, static_cast<int>(RefusalKind::kNotReady));
  bool is_refused = false;
  const auto late = std::make_shared<FileCall>([&](const DeviceAnswer& answer) {
    is_refused = std::holds_alternative<DeviceRefusal>(answer);
  });
  calls_.Run(late, absl::InfiniteFuture(),
             [](const Cancellation&) { return DeviceAnswer(DeviceFile()); });
  EXPECT_TRUE(is_refused);
}

TEST_F(TimedCallsTest, AClientThatLeavesEndsTheWork) {
  const auto call = Run(absl::InfiniteFuture());
  call->Cancel();
  calls_.End({.kind = RefusalKind::kNotReady});  // waits for the work
  EXPECT_EQ(refused_, -2);
}

}  // namespace
}  // namespace galley::director
