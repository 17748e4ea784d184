#include "director/remake/limited_run.h"

#include "director/remake/testing/kept_record.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::HasSubstr;

class LimitedRunTest : public KeptRecordTest {
 protected:
  LimitedProgram Run(std::string_view lines) {
    return {.argv = {Program(lines)}, .output_file = In("log")};
  }
  Cancellation stop_;
};

TEST_F(LimitedRunTest, TheEndAndTheLastWordsAreTold) {
  LimitedProgram program = Run("echo \"$WORD\"; echo there >&2; exit 7\n");
  program.environment = {"WORD=hello"};
  const auto end = RunLimited(program, stop_);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit.code, 7);
  EXPECT_THAT(end->said, HasSubstr("hello"));
  EXPECT_THAT(end->said, HasSubstr("there"));
}

TEST_F(LimitedRunTest, APatienceEnds) {
  LimitedProgram program = Run("sleep 600\n");
  program.wait_max = absl::Milliseconds(100);
  EXPECT_EQ(RunLimited(program, stop_).status().code(), absl::StatusCode::kDeadlineExceeded);
}

// The memory of a child of the program counts.
TEST_F(LimitedRunTest, MemoryEnds) {
  LimitedProgram program = Run("sleep 600 & wait\n");
  program.memory_bytes_max = 1;
  EXPECT_EQ(RunLimited(program, stop_).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(LimitedRunTest, AFileThatOutgrowsTheLimitEndsTheProgram) {
  LimitedProgram program = Run("exec head -c 100000 /dev/zero > \"$0.out\"\n");
  program.file_bytes_max = 50'000;
  const auto end = RunLimited(program, stop_);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->exit.ok());
  EXPECT_LE(StatFile(In("program.out"))->size_bytes, 50'000u);
}

TEST_F(LimitedRunTest, NobodyWaitsAnyMore) {
  stop_.Cancel();
  EXPECT_EQ(RunLimited(Run("sleep 600\n"), stop_).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(LimitedRunTest, AProgramThatIsAbsentIsNamed) {
  const auto end = RunLimited({.argv = {In("none")}, .output_file = In("log")}, stop_);
  EXPECT_THAT(std::string(end.status().message()), HasSubstr("none"));
}

}  // namespace
}  // namespace galley::director
