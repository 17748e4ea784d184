// Executors that cannot be started: whatever the reason, no job is blamed. Also the messages to a
// running executor.
#include "worker/session/executor_slot.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps the errors of SlotFailed; any other event about a job fails the test.
class Failures final : public EventSink {
 public:
  void Take(SessionEvent event, uint64_t) override {
    base::MutexLock lock(mutex_);
    if (const auto* failed = std::get_if<SlotFailed>(&event)) failed_ = *failed;
    EXPECT_FALSE(std::holds_alternative<SlotLost>(event));
    EXPECT_FALSE(std::holds_alternative<SlotReported>(event));
  }
  std::optional<SlotFailed> Wait() {
    AwaitOrFail([this] { return failed().has_value(); }, "a job that is given back");
    return failed();
  }

 private:
  std::optional<SlotFailed> failed() {
    base::MutexLock lock(mutex_);
    return failed_;
  }

  base::Mutex mutex_;
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

// An executor that notes the kinds of its messages (1: setup, 2: job), and answers no job before it
// has two.
constexpr std::string_view kNotingExecutor = R"(#!/usr/bin/env python3
import os, socket, sys
link = socket.socket(fileno=3)
def send(what):
    link.sendall(b"\x01" + len(what).to_bytes(8, "little") + what)
def take(size):
    data = b""
    while len(data) < size:
        piece = link.recv(size - len(data))
        if not piece: sys.exit(0)
        data += piece
    return data
send(b"\x3a\x00")
kinds = ""
jobs = 0
while True:
    size = int.from_bytes(take(9)[1:], "little")
    kinds += str(take(size)[0] >> 3)
    jobs += kinds[-1] == "2"
    with open(os.path.dirname(os.path.abspath(__file__)) + "/kinds.new", "w") as file: file.write(kinds)
    os.rename(file.name, file.name[:-4])
    if jobs == 2: send(b"\x32\x00"), send(b"\x32\x00")
)";

class Ends final : public EventSink {
 public:
  void Take(SessionEvent event, uint64_t) override {
    base::MutexLock lock(mutex_);
    count_ += std::holds_alternative<SlotReported>(event);
    changed_.NotifyAll();
  }
  void WaitFor(int count) {
    const WaitLimit limit(std::to_string(count) + " reports of the executor");
    base::MutexLock lock(mutex_);
    while (count_ < count) changed_.Wait(mutex_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  int count_ GALLEY_GUARDED_BY(mutex_) = 0;
};

TEST(ExecutorSlotTest, ANewSetupGoesBeforeTheJobsThatAreSentAhead) {
  const std::string folder = *MakeTemporaryDirectory(::testing::TempDir(), "slot-");
  const std::string program = folder + "/noting";
  ASSERT_TRUE(WriteFileAtomic(program, kNotingExecutor).ok());
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  Ends ends;
  {
    ExecutorSlot slot({.teller = {}, .program = program, .sink = nullptr, .events = &ends});
    v1::ExecutorSetup setup;
    setup.set_scratch_directory(folder + "/scratch");
    const auto start = [&](uint64_t attempt) {
      v1::ExecutorJob job;
      job.mutable_job()->set_attempt(attempt);
      job.mutable_job()->set_timeout_us(60'000'000);
      job.mutable_job()->set_memory_bytes(1ull << 40);
      slot.Start(job);
    };
    slot.Configure(setup, {});
    start(7);
    ASSERT_TRUE(AwaitOrFail([&] { return ReadFile(folder + "/kinds").value_or("") == "12"; },
                            "the first setup and its job"));
    slot.Configure(setup, {});  // the setup of another director
    start(8);
    ends.WaitFor(2);
  }
  // A collection may follow.
  EXPECT_THAT(*ReadFile(folder + "/kinds"), ::testing::StartsWith("1212"));
  RemoveAll(folder).IgnoreError();
}

}  // namespace
}  // namespace galley::worker
