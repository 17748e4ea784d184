#include "director/cli/package_story.h"

#include "common/record/result.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using director::LogRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

absl::Time At(double seconds) { return absl::FromUnixSeconds(1'000) + absl::Seconds(seconds); }

LogRecord LineOf(const std::string& worker, double second, uint64_t attempt,
                 const std::string& text) {
  return {.time = At(second),
          .worker = worker,
          .machine = "node-of-" + worker,
          .attempt = attempt,
          .package = attempt == 0 ? "" : "/Game/a",
          .text = text};
}

std::vector<std::string> Texts(const AttemptStory& attempt) {
  std::vector<std::string> texts;
  for (const LogRecord& line : attempt.lines) texts.push_back(line.text);
  return texts;
}

TEST(PackageStoryTest, AttemptsHaveTheirLinesAndTheWorkersOwnOfTheirTime) {
  LogRecord failed = LineOf("w1", 3, 7, "the attempt failed: boom");
  failed.from = LogRecord::From::kDirector;
  failed.since = At(1);
  LogRecord other = LineOf("w1", 2, 8, "of another package");
  other.package = "/Game/b";
  const PackageStory story =
      StoryOf("/Game/a", {},
              {LineOf("w1", 0, 0, "long before"), LineOf("w1", 1.5, 0, "memory is short"), other,
               LineOf("w2", 2, 0, "of another worker"), LineOf("w1", 2.5, 7, "printed"), failed,
               LineOf("w2", 5, 9, "printed again"), LineOf("w1", 60, 0, "long after")});
  ASSERT_THAT(story.attempts, SizeIs(2));
  EXPECT_EQ(story.attempts[0].worker, "w1");
  EXPECT_EQ(story.attempts[0].machine, "node-of-w1");
  EXPECT_EQ(story.attempts[0].from, At(1));
  EXPECT_EQ(story.attempts[0].to, At(3));
  EXPECT_THAT(Texts(story.attempts[0]),
              ElementsAre("memory is short", "printed", "the attempt failed: boom"));
  EXPECT_EQ(story.attempts[1].worker, "w2");
  EXPECT_THAT(Texts(story.attempts[1]), ElementsAre("printed again"));
}

TEST(PackageStoryTest, AFailureOfTheJournalIsAnAttemptEvenIfNothingWasLogged) {
  director::PackageRecord record;
  record.failures["linux"] = {.cook = 3,
                              .time = At(9),
                              .stage = "save",
                              .error = "crashed",
                              .log = "abc/1",
                              .worker = "w1",
                              .attempt = 7};
  const PackageStory story = StoryOf("/Game/a", record, {});
  ASSERT_THAT(story.platforms, SizeIs(1));
  EXPECT_TRUE(story.platforms[0].has_failed);
  EXPECT_EQ(story.platforms[0].error, "crashed");
  EXPECT_EQ(story.platforms[0].log, "abc/1");
  ASSERT_THAT(story.attempts, SizeIs(1));
  EXPECT_EQ(story.attempts[0].to, At(9));
  EXPECT_THAT(story.attempts[0].lines, IsEmpty());
}

TEST(PackageStoryTest, AResultHasItsWarningsAndItsTimeInHand) {
  director::PackageRecord record;
  director::PlatformRecord& linux = record.platforms["linux"];
  record::Result result;
  result.details.warnings = {"it is large"};
  linux.result = record::EncodeResult(result);
  linux.last_cook = {.source = "cooked",
                     .time = At(9),
                     .worker = "w1",
                     .attempt = 7,
                     .in_hand_time = absl::Seconds(4)};
  const PackageStory story = StoryOf("/Game/a", record, {LineOf("w1", 6, 0, "meanwhile")});
  EXPECT_FALSE(story.platforms[0].has_failed);
  EXPECT_THAT(story.platforms[0].warnings, ElementsAre("it is large"));
  EXPECT_THAT(Texts(story.attempts[0]), ElementsAre("meanwhile"));
}

TEST(PackageStoryTest, OnlyTheLastAttemptsAreTold) {
  std::vector<LogRecord> lines;
  for (uint64_t i = 1; i <= 30; ++i)
    lines.push_back(LineOf("w1", static_cast<double>(i), i, fmt::format("{}", i)));
  const PackageStory story = StoryOf("/Game/a", {}, lines);
  ASSERT_THAT(story.attempts, SizeIs(kAttemptsToldMax));
  EXPECT_EQ(story.attempts.front().attempt, 31 - kAttemptsToldMax);
  EXPECT_EQ(story.attempts.back().attempt, 30u);
}

}  // namespace
}  // namespace galley::cli
