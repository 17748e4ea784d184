#include "common/base/program_output.h"

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

ProgramToRun Shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

// Whether the process ends within half a second. A process that nobody has reaped has ended, too.
bool Ends(pid_t process) {
  const std::string file = "/proc/" + std::to_string(process) + "/stat";
  for (int i = 0; i < 50; ++i) {
    const auto stat = ReadFile(file);
    if (!stat.ok() || stat->find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ProgramOutputTest, ReturnsWhatItPrintsAndHowItEnded) {
  const auto ended = RunToEnd(Shell("echo one; echo two; exit 3"));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->output, "one\ntwo\n");
  EXPECT_EQ(ended->exit.code, 3);
}

TEST(ProgramOutputTest, GetsTheEnvironmentThatIsGiven) {
  ProgramToRun program = Shell("echo $A$HOME");
  program.environment = {"A=x"};
  program.inherit_environment = false;
  EXPECT_EQ(RunToEnd(program)->output, "x\n");
}

TEST(ProgramOutputTest, OneThatDoesNotEndIsKilled) {
  ProgramToRun program = Shell("echo begun; exec sleep 1000");
  program.wait_max = absl::Milliseconds(50);
  EXPECT_EQ(RunToEnd(program).status().code(), absl::StatusCode::kUnavailable);
  // A process that closed its output and goes on is not waited for, either.
  program = Shell("exec >&-; exec sleep 1000");
  program.wait_max = absl::Milliseconds(50);
  EXPECT_EQ(RunToEnd(program).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ProgramOutputTest, OneThatPrintsTooMuchIsKilled) {
  ProgramToRun program = Shell("yes");
  program.output_bytes_max = 100'000;
  EXPECT_EQ(RunToEnd(program).status().code(), absl::StatusCode::kUnavailable);
}

TEST(ProgramOutputTest, GetsItsInput) {
  ProgramToRun program = Shell("wc -c");
  program.input = std::string(100'000, 'x');
  EXPECT_EQ(RunToEnd(program)->output, "100000\n");
}

TEST(ProgramOutputTest, ItsErrorsAreTakenBesideItsOutput) {
  ProgramToRun program = Shell("echo one; echo two >&2; exit 1");
  program.with_errors = true;
  const auto ended = RunToEnd(program);
  EXPECT_EQ(ended->output, "one\n");
  EXPECT_EQ(ended->errors, "two\n");
  EXPECT_EQ(HowItEnded(*ended), "exit code 1; it said: two");
  program = Shell("yes error >&2 & yes output; wait");
  program.with_errors = true;
  program.output_bytes_max = 200'000;
  EXPECT_EQ(RunToEnd(program).status().code(), absl::StatusCode::kUnavailable) << "both are read";
  program = Shell("echo why >&2; exec sleep 1000");
  program.with_errors = true;
  program.wait_max = absl::Milliseconds(300);
  EXPECT_THAT(std::string(RunToEnd(program).status().message()), testing::HasSubstr("said: why"));
  program = Shell("yes why");
  program.with_errors = true;
  program.output_bytes_max = 100'000;
  EXPECT_THAT(std::string(RunToEnd(program).status().message()), testing::HasSubstr("said: ..."));
}

TEST(ProgramOutputTest, WhatItLeavesInTheBackgroundIsNotWaitedFor) {
  ProgramToRun program = Shell("sleep 1000 & echo $!");
  program.wait_max = absl::Seconds(60);
  const auto ended = RunToEnd(program);
  ASSERT_TRUE(ended.ok()) << ended.status();
  const pid_t left = std::stoi(ended->output);
  EXPECT_TRUE(Ends(left)) << "it is in the group, and is ended with it";
}

TEST(ProgramOutputTest, WhatLeavesItsProcessGroupGoesOn) {
  const auto ended = RunToEnd(Shell("echo $(setsid sh -c 'echo $$; exec sleep 1000 >&- 2>&-' &)"));
  ASSERT_TRUE(ended.ok()) << ended.status();
  const pid_t daemon = std::stoi(ended->output);
  EXPECT_FALSE(Ends(daemon));
  EXPECT_EQ(::kill(daemon, SIGKILL), 0);
}

TEST(ProgramOutputTest, EndsWhenItIsStopped) {
  Cancellation stop;
  stop.Cancel();
  ProgramToRun program = Shell("exec sleep 1000");
  program.stop = &stop;
  EXPECT_EQ(RunToEnd(program).status().code(), absl::StatusCode::kCancelled);
}

TEST(ProgramOutputTest, AProgramThatIsNotThereIsUnavailable) {
  EXPECT_EQ(RunToEnd({.argv = {"/nowhere/program"}}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(ProgramOutputTest, ASinkHearsWhatIsPrintedWhenItIsPrintedAndMayEndTheProgram) {
  std::string heard[2];
  ProgramToRun program{.argv = {"/bin/sh", "-c", "pwd; echo no >&2; exec sleep 600"},
                       .with_errors = true,
                       .working_directory = "/"};
  program.sink = [&](bool is_of_errors, std::string_view bytes) -> absl::Status {
    heard[is_of_errors ? 1 : 0] += bytes;
    const bool has_all = !heard[0].empty() && !heard[1].empty();
    return has_all && bytes.empty() ? absl::CancelledError("nobody listens") : absl::OkStatus();
  };
  const auto ended = RunToEnd(program);
  EXPECT_EQ(ended.status(), absl::CancelledError("nobody listens"));
  EXPECT_EQ(heard[0], "/\n");
  EXPECT_EQ(heard[1], "no\n");
}

}  // namespace
}  // namespace galley
