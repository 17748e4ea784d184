// Executors that cannot be started: whatever the reason, no job is blamed.
#include "worker/session/executor_slot.h"

#include <chrono>
#include <optional>
#include <string>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what a slot failed with; any other word of a job is a fault.
class Failures final : public EventSink {
 public:
  void Take(const SessionEvent& event, uint64_t) override {
    base::MutexLock lock(mutex_);
    if (const auto* failed = std::get_if<SlotFailed>(&event)) failed_ = *failed;
    EXPECT_FALSE(std::holds_alternative<SlotLost>(event));
    EXPECT_FALSE(std::holds_alternative<SlotReported>(event));
    changed_.NotifyAll();
  }
  std::optional<SlotFailed> Wait() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    base::MutexLock lock(mutex_);
    while (!failed_ && std::chrono::steady_clock::now() < end)
      changed_.WaitFor(mutex_, end - std::chrono::steady_clock::now());
    return failed_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<SlotFailed> failed_ GALLEY_GUARDED_BY(mutex_);
};

SlotFailed FailureOf(const std::string& program) {
  const std::string folder = *MakeTemporaryDirectory(::testing::TempDir(), "slot-");
  Failures failures;
  {
    ExecutorSlot slot({.teller = {}, .program = program, .sink = nullptr, .events = &failures});
    v1::ExecutorSetup setup;
    setup.set_scratch_directory(folder + "/scratch");
    slot.Configure(setup, {});
    v1::ExecutorJob job;
    job.mutable_job()->set_attempt(7);
    job.mutable_job()->set_timeout_us(60'000'000);
    job.mutable_job()->set_memory_bytes(1ull << 40);
    slot.Start(job);
    EXPECT_TRUE(failures.Wait().has_value());
  }
  RemoveAll(folder).IgnoreError();
  return failures.Wait().value_or(SlotFailed{});
}

TEST(ExecutorSlotTest, AProgramThatIsNotThereGivesTheJobBack) {
  const SlotFailed failed = FailureOf("/nonexistent/galley-worker");
  EXPECT_THAT(failed.attempts, ElementsAre(7));
  EXPECT_THAT(failed.error, HasSubstr("/nonexistent/galley-worker"));
}

TEST(ExecutorSlotTest, AProgramThatEndsBeforeItIsReadyGivesTheJobBack) {
  const SlotFailed failed = FailureOf("/bin/false");
  EXPECT_THAT(failed.attempts, ElementsAre(7));
  EXPECT_THAT(failed.error, HasSubstr("no executor could be started"));
}

}  // namespace
}  // namespace galley::worker
