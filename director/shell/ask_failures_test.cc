#include "director/shell/ask_failures.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const AskFailures::Where kAsked = {"/Game/a.txt", "windows"};
const FailureRecord kCrashed = {.error = "crashed", .cause = "package", .attempt = 7};
constexpr absl::Time kNow = absl::UnixEpoch();

TEST(AskFailuresTest, NewsAreDueAfterAWhile) {
  AskFailures failures;
  failures.Failed(kAsked, kCrashed, kNow);
  EXPECT_FALSE(failures.IsDue(kNow));
  EXPECT_TRUE(failures.IsDue(kNow + AskFailures::kInterval));
  const std::vector<FailureUpdate> news = failures.Take({});
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].package, "/Game/a.txt");
  EXPECT_EQ(news[0].platform, "windows");
  EXPECT_EQ(news[0].failure, kCrashed);
  EXPECT_FALSE(failures.IsDue(kNow + absl::Hours(1)));
}

TEST(AskFailuresTest, AFailureThatIsToldAgainIsWrittenOnce) {
  AskFailures failures;
  failures.Failed(kAsked, kCrashed, kNow);
  failures.Take({});
  FailureRecord again = kCrashed;
  again.attempt = 0;
  failures.Failed(kAsked, again, kNow);
  EXPECT_THAT(failures.Take({}), IsEmpty());
  again.error = "ran out of time";
  failures.Failed(kAsked, again, kNow);
  EXPECT_THAT(failures.Take({}), SizeIs(1));
}

TEST(AskFailuresTest, WhatIsDoneFailsNoLonger) {
  AskFailures failures;
  failures.Failed(kAsked, kCrashed, kNow);
  failures.Take({});
  failures.Done(kAsked, /*is_known=*/false, kNow);
  const std::vector<FailureUpdate> news = failures.Take({});
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].failure, std::nullopt);
  failures.Done(kAsked, /*is_known=*/false, kNow);
  EXPECT_THAT(failures.Take({}), IsEmpty());
  failures.Done(kAsked, /*is_known=*/true, kNow);
  EXPECT_THAT(failures.Take({}), SizeIs(1)) << "an earlier director wrote it";
}

TEST(AskFailuresTest, AfterAResultTheSameFailureIsNewAgain) {
  for (const bool is_of_a_cook : {true, false}) {
    AskFailures failures;
    failures.Failed(kAsked, kCrashed, kNow);
    failures.Take({});
    if (is_of_a_cook) {
      failures.Forget(kAsked);
    } else {
      failures.Take({kAsked});
    }
    failures.Failed(kAsked, kCrashed, kNow);
    EXPECT_THAT(failures.Take({}), SizeIs(1));
  }
}

TEST(AskFailuresTest, AsManyAreRememberedAsAreAllowed) {
  AskFailures failures;
  for (size_t i = 0; i <= AskFailures::kToldMax; ++i)
    failures.Failed({std::to_string(i), "windows"}, kCrashed, kNow);
  failures.Take({});
  failures.Failed({"0", "windows"}, kCrashed, kNow);
  EXPECT_THAT(failures.Take({}), SizeIs(1));
}

}  // namespace
}  // namespace galley::director
