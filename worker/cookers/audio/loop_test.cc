#include "worker/cookers/audio/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status_macros.h"

namespace galley::worker::audio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

std::optional<Loop> LoopOf(const std::vector<std::string>& comments) {
  const auto loop = LoopOfComments(comments, 1'000);
  EXPECT_TRUE(loop.ok()) << loop.status();
  return loop.ok() ? *loop : std::nullopt;
}

std::string ErrorOf(const std::vector<std::string>& comments) {
  return MessageOf(LoopOfComments(comments, 1'000).status());
}

TEST(LoopTest, CommentsSayStartAndLengthOrEnd) {
  EXPECT_THAT(LoopOf({"LOOPSTART=10", "LOOPLENGTH=20"}), Optional(Loop{10, 20}));
  EXPECT_THAT(LoopOf({"LoopStart=10", "title=x", "loopend=30"}), Optional(Loop{10, 20}));
  EXPECT_THAT(LoopOf({"LOOPSTART=10", "LOOPLENGTH=20", "LOOPEND=30"}), Optional(Loop{10, 20}));
  EXPECT_THAT(LoopOf({"LOOPSTART=10"}), Optional(Loop{10, 990}));
  EXPECT_THAT(LoopOf({"LOOPLENGTH=20"}), Optional(Loop{0, 20}));
  EXPECT_EQ(LoopOf({"TITLE=LOOPSTART", "LOOPSTART"}), std::nullopt);
}

TEST(LoopTest, CommentsThatMakeNoSenseAreErrors) {
  EXPECT_EQ(ErrorOf({"LOOPSTART=1:30"}),
            "comment LOOPSTART: expected a number of samples, not \"1:30\"");
  EXPECT_THAT(ErrorOf({"LOOPLENGTH="}), HasSubstr("not \"\""));
  EXPECT_THAT(ErrorOf({"LOOPLENGTH=-5"}), HasSubstr("not \"-5\""));
  EXPECT_THAT(ErrorOf({"LOOPSTART=99999999999999999"}), HasSubstr("expected a number"));
  EXPECT_EQ(ErrorOf({"LOOPSTART=30", "LOOPEND=30"}),
            "the comments LOOPSTART 30 and LOOPEND 30 leave no loop");
  EXPECT_THAT(ErrorOf({"LOOPSTART=1", "LOOPLENGTH=2", "LOOPEND=4"}), HasSubstr("contradict"));
  EXPECT_EQ(ErrorOf({"LOOPSTART=1", "LOOPSTART=2"}), "comment LOOPSTART is there twice: 1 and 2");
}

TEST(LoopTest, LoopsAreHeldWithinTheSound) {
  std::vector<std::string> warnings;
  EXPECT_EQ(*FitLoop({10, 90}, 100, warnings), (Loop{10, 90}));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(*FitLoop({10, 91}, 100, warnings), (Loop{10, 90}));
  EXPECT_THAT(warnings, ElementsAre("the loop ends at frame 101, behind the sound's end; it ends "
                                    "with the sound, at 100"));
  EXPECT_EQ(MessageOf(FitLoop({100, 1}, 100, warnings).status()),
            "the loop starts at frame 100, behind the sound's end (100 frames)");
  EXPECT_EQ(MessageOf(FitLoop({5, 0}, 100, warnings).status()),
            "the loop at frame 5 has a length of 0");
}

TEST(LoopTest, BothEndsAreRoundedToTheNearestFrame) {
  EXPECT_EQ(ScaleFrames(1, 2, 1), 1u);  // a half goes up
  EXPECT_EQ(ScaleFrames(44'100, 44'100, 48'000), 48'000u);
  EXPECT_EQ(ScaleFrames(1'000, 44'100, 48'000), 1'088u);  // 1088.44
  EXPECT_EQ(ScaleFrames(uint64_t{1} << 40, 1'000, 768'000), uint64_t{768} << 40);
  EXPECT_EQ(ScaleLoop({1'000, 2'000}, 44'100, 48'000, 48'000), (Loop{1'088, 2'177}));
}

TEST(LoopTest, AScaledLoopKeepsAFrameAndTheSoundsEnd) {
  EXPECT_EQ(ScaleLoop({100, 1}, 48'000, 8'000, 1'000), (Loop{17, 1}));
  for (uint64_t frames = 1; frames < 300; ++frames) {
    const uint64_t scaled = std::max<uint64_t>(ScaleFrames(frames, 44'100, 8'000), 1);
    for (uint64_t start = 0; start < frames; ++start) {
      const Loop loop = ScaleLoop({start, frames - start}, 44'100, 8'000, scaled);
      ASSERT_EQ(loop.start + loop.length, scaled) << start << " of " << frames;
    }
  }
}

}  // namespace
}  // namespace galley::worker::audio
