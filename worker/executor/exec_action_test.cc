#include "worker/executor/exec_action.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/executor/action_inputs.h"
#include "worker/executor/testing/executor_world.h"

namespace galley::worker {
namespace {

using ::testing::HasSubstr;

class ExecActionTest : public ExecutorTestWorld {
 protected:
  std::string CookAndLayOut(const std::string& script) {
    Write("/Game/inc/a.txt", "A");
    Write("/Game/x/p.script", script);
    Scan();
    EXPECT_TRUE(std::holds_alternative<JobDone>(Cook("/Game/x/p.script", {0})));
    return LayOutAction();
  }
};

TEST_F(ExecActionTest, OutputsAndDetailsAreThoseOfTheLiveCookByteForByte) {
  const std::string directory = CookAndLayOut(
      "reference b.png\n--\nread ../inc/a.txt\nread /Game/inc/a.txt\nread gone\nexists "
      "../inc\nlist ../inc\nplatform texture\n"
      "name\nwarn hm\nout .t\nout .d/more.txt\n");
  const auto outcome = ExecAction(directory, cookers_);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->is_verdict);
  const SaveReport& live = kept_.saves[0];
  ASSERT_EQ(live.outputs.size(), 2u);
  for (const CookedFile& file : live.outputs)
    EXPECT_EQ(*ReadFile(directory + "/out/output" + file.suffix), *file.bytes);
  EXPECT_EQ(*ReadFile(directory + "/out/details"), record::EncodeDetails(live.details));
}

TEST_F(ExecActionTest, AVerdictIsTheSameVerdict) {
  const auto outcome = ExecAction(CookAndLayOut("read ../inc/a.txt\nverdict nonsense\n"), cookers_);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->is_verdict);
  EXPECT_EQ(outcome->error, "nonsense");
}

TEST_F(ExecActionTest, AnInputThatDiffersIsNamed) {
  const std::string directory = CookAndLayOut("read ../inc/a.txt\nout .t\n");
  ASSERT_TRUE(WriteFileAtomic(directory + "/input/rel/1/inc/a.txt", "B").ok());
  const auto outcome = ExecAction(directory, cookers_);
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(outcome.status().message()), HasSubstr("rel/1/inc/a.txt"));
}

TEST_F(ExecActionTest, ASuperfluousFileIsRefused) {
  const std::string directory = CookAndLayOut("out .t\n");
  ASSERT_TRUE(WriteFileAtomic(directory + "/input/extra", "B").ok());
  EXPECT_EQ(ExecAction(directory, cookers_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ExecActionTest, AMalformedActionIsRefused) {
  const std::string directory = CookAndLayOut("out .t\n");
  ASSERT_TRUE(WriteFileAtomic(directory + "/action", "\xff\xff").ok());
  EXPECT_EQ(ExecAction(directory, cookers_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExecActionTest, AnotherCookerThanTheRecipesIsRefused) {
  const std::string directory = CookAndLayOut("out .t\n");
  EXPECT_EQ(CookInRoot(directory + "/input", "texture", cookers_).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(CookInRoot(directory + "/input", "script", cookers_).ok());
  EXPECT_TRUE(FileExists(directory + "/input/out/output.t"));
}

TEST_F(ExecActionTest, ALookThatWasNotObservedIsAnError) {
  const std::string directory = CookAndLayOut("read ../inc/a.txt\nout .t\n");
  const auto inputs = ActionInputs::Open(directory + "/input");
  ASSERT_TRUE(inputs.ok());
  const auto look = (*inputs)->Observe(
      0, {.kind = record::ObservationKind::kExists, .subject = "b", .detail = ""}, Want::kValue);
  EXPECT_EQ(look.status().message(), "not observed: exists(b)");
}

TEST_F(ExecActionTest, ASourceThatChangedWhileItIsStreamedIsAnError) {
  const std::string directory = CookAndLayOut("out .t\n");
  const auto inputs = ActionInputs::Open(directory + "/input");
  ASSERT_TRUE(inputs.ok());
  ASSERT_EQ((*inputs)->Source(0)->bytes, nullptr);
  std::string streamed;
  const TakePiece take = [&](std::string_view piece) {
    streamed += piece;
    return absl::OkStatus();
  };
  ASSERT_TRUE((*inputs)->StreamSource(take).ok());
  EXPECT_EQ(streamed, "out .t\n");
  EXPECT_EQ((*inputs)->bytes_loaded().cold, streamed.size());
  ASSERT_TRUE(WriteFileAtomic(directory + "/input/source", "out .u\n").ok());
  const absl::Status changed = (*inputs)->StreamSource(take);
  EXPECT_EQ(changed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(changed.message()), HasSubstr("input/source"));
}

TEST_F(ExecActionTest, ShownMountsHoldWhatWasObservedAtItsVirtualPath) {
  const std::string directory = CookAndLayOut("read ../inc/a.txt\nname\nout .t\n");
  const auto inputs = ActionInputs::Open(directory + "/input");
  ASSERT_TRUE(inputs.ok());
  ASSERT_TRUE((*inputs)->ShowMounts(root_ + "/show").ok());
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/inc/a.txt"), "A");
  EXPECT_EQ(*ReadFile(root_ + "/show/Game/x/p.script"), "read ../inc/a.txt\nname\nout .t\n");
}

}  // namespace
}  // namespace galley::worker
