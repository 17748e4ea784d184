#include "worker/session/death.h"

#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DeathTest, ASegmentationFaultIsACrash) {
  const DeathVerdict verdict = Judge({.exit = {.signal = SIGSEGV}});
  EXPECT_EQ(verdict.cause, v1::Failed::CRASHED);
  EXPECT_THAT(verdict.error, HasSubstr("signal 11"));
}

TEST(DeathTest, AnExitCodeIsACrash) {
  EXPECT_THAT(Judge({.exit = {.code = 7}}).error, HasSubstr("exit code 7"));
}

TEST(DeathTest, AKillThatWasNotOursIsTheMachines) {
  EXPECT_EQ(Judge({.exit = {.signal = SIGKILL}}).cause, v1::Failed::INFRASTRUCTURE);
  EXPECT_TRUE(Judge({.exit = {.signal = SIGKILL}}).was_killed);
  EXPECT_FALSE(Judge({.exit = {.signal = SIGTERM}}).was_killed) << "a crash of its own";
  EXPECT_FALSE(Judge({.exit = {.signal = SIGKILL}, .was_out_of_memory = true}).was_killed);
}

TEST(DeathTest, AKillOfTheKernelForWantOfMemoryIsTheJobs) {
  const DeathVerdict verdict = Judge({.exit = {.signal = SIGKILL}, .was_out_of_memory = true});
  EXPECT_EQ(verdict.cause, v1::Failed::MEMORY);
  EXPECT_THAT(verdict.error, HasSubstr("oom_kill"));
  EXPECT_EQ(Judge({.exit = {.signal = SIGSEGV}, .was_out_of_memory = true}).cause,
            v1::Failed::CRASHED);
}

TEST(DeathTest, OnlyWhatWasMeasuredAboveItsOwnLimitHasOutgrownIt) {
  EXPECT_TRUE(HasOutgrown({.exit = {.signal = SIGKILL}, .killed_for = KilledFor::kMemory}));
  EXPECT_FALSE(HasOutgrown({.exit = {.signal = SIGKILL}, .was_out_of_memory = true}))
      << "the control group's memory is not the package's alone";
  EXPECT_FALSE(HasOutgrown({.exit = {.signal = SIGSEGV}}));
  for (const TimeUp up : {TimeUp::kWaiting, TimeUp::kClock, TimeUp::kProcessor}) {
    EXPECT_EQ(HasOutgrown(
                  {.exit = {.signal = SIGKILL}, .killed_for = KilledFor::kTimeout, .time_up = up}),
              up == TimeUp::kProcessor);
  }
}

TEST(DeathTest, AKillForMemoryNamesTheLimit) {
  const DeathVerdict verdict = Judge(
      {.exit = {.signal = SIGKILL}, .killed_for = KilledFor::kMemory, .memory_bytes_max = 12345});
  EXPECT_EQ(verdict.cause, v1::Failed::MEMORY);
  EXPECT_THAT(verdict.error, AllOf(HasSubstr("12.1 KiB"), HasSubstr("memory sets the limit")));
}

TEST(DeathTest, AKillForTimeIsATimeout) {
  const DeathVerdict verdict = Judge({.exit = {.signal = SIGKILL},
                                      .killed_for = KilledFor::kTimeout,
                                      .timeout = absl::Seconds(2)});
  EXPECT_EQ(verdict.cause, v1::Failed::TIMEOUT);
  EXPECT_THAT(verdict.error, AllOf(HasSubstr("2000 ms"), HasSubstr("timeout_s sets it")));
}

TEST(DeathTest, AKillForTimeSaysWhatTheTimeWentInto) {
  const auto text = [](TimeUp up) {
    return Judge({.exit = {.signal = SIGKILL},
                  .killed_for = KilledFor::kTimeout,
                  .timeout = absl::Seconds(2),
                  .time_up = up})
        .error;
  };
  EXPECT_THAT(text(TimeUp::kProcessor), HasSubstr("2000 ms of processor time"));
  EXPECT_THAT(text(TimeUp::kWaiting), HasSubstr("it waits"));
  EXPECT_THAT(text(TimeUp::kClock),
              HasSubstr("within 600000 ms, in which it got less than 2000 ms"));
}

}  // namespace
}  // namespace galley::worker
