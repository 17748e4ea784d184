// CookReportTest: the exit code of a cook.
#include "director/host/cook_report.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

CookReport Ended(const CookEnded& ended) {
  CookReport report;
  report.outcome.emplace();
  report.outcome->ended = ended;
  return report;
}

TEST(ExitCodeOfTest, WhatWinsOverWhatIsThatOfTheCommand) {
  CookReport good = Ended({});
  EXPECT_EQ(ExitCodeOf(good), 0);
  good.has_failures = true;
  EXPECT_EQ(ExitCodeOf(good), 1);
  good.stage_failed = true;
  EXPECT_EQ(ExitCodeOf(good), 3);
  CookReport broken = Ended({.infrastructure_error = "no worker would start"});
  broken.has_failures = true;
  EXPECT_EQ(ExitCodeOf(broken), 3);
  EXPECT_EQ(ExitCodeOf(Ended({.is_interrupted = true, .infrastructure_error = "disk full"})), 130);
}

TEST(ExitCodeOfTest, ACookThatDidNotGetSoFarHasTheCodeOfItsEnd) {
  EXPECT_EQ(ExitCodeOf({.end = absl::InvalidArgumentError("no such platform")}), 2);
  EXPECT_EQ(ExitCodeOf({.end = absl::UnavailableError("the store is gone")}), 3);
  EXPECT_EQ(ExitCodeOf({.end = absl::CancelledError("")}), 130);
}

}  // namespace
}  // namespace galley::director
