#include "director/shell/unwalled_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

absl::Time At(int seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

class ProgramRunsTest : public testing::Test {
 protected:
  void Begin(AttemptId attempt, const std::string& package, int begin,
             const std::string& why = "no", const std::string& worker = "local-1") {
    runs_.Begin(attempt, {.package = package, .worker = worker, .begin = At(begin), .why = why});
  }
  std::vector<std::string> PackagesAt(int when, int since = 0) const {
    return runs_.PackagesAt(At(when), At(since));
  }
  UnwalledRuns runs_;
};

TEST_F(ProgramRunsTest, WhatWasDoneThenIsOfThePackagesThatRanThen) {
  Begin(1, "/Game/b", 10);
  Begin(2, "/Game/a", 15);
  runs_.End(1, At(20));
  EXPECT_THAT(PackagesAt(9), IsEmpty());
  EXPECT_THAT(PackagesAt(12), ElementsAre("/Game/b"));
  EXPECT_THAT(PackagesAt(16), ElementsAre("/Game/a", "/Game/b"));
  EXPECT_THAT(PackagesAt(30), ElementsAre("/Game/a"));  // still runs
}

TEST_F(ProgramRunsTest, AFilesTimeMayBeATickBeforeTheJobsBegin) {
  Begin(1, "/Game/a", 10);
  EXPECT_THAT(runs_.PackagesAt(At(10) - absl::Milliseconds(4), At(0)), ElementsAre("/Game/a"));
}

TEST_F(ProgramRunsTest, JobsOfCooksBeforeAreNotNamed) {
  Begin(1, "/Game/a", 10);
  EXPECT_THAT(PackagesAt(12, /*since=*/11), IsEmpty());
  EXPECT_THAT(runs_.LackingSince(At(11)).workers, IsEmpty());
}

TEST_F(ProgramRunsTest, TheJobsOfALostWorkerAreOver) {
  Begin(1, "/Game/a", 10);
  Begin(2, "/Game/b", 10, "no", "local-2");
  runs_.Lost("local-1", At(20));
  EXPECT_THAT(PackagesAt(30), ElementsAre("/Game/b"));
}

TEST_F(ProgramRunsTest, OnlyThoseLackWallsWhoWantThem) {
  Begin(1, "/Game/a", 10, "");
  EXPECT_THAT(runs_.LackingSince(At(0)).workers, IsEmpty());
  Begin(2, "/Game/a", 10, "why", "local-2");
  Begin(3, "/Game/c", 10, "other", "local-3");
  EXPECT_THAT(runs_.LackingSince(At(0)).workers, ElementsAre("local-2", "local-3"));
  EXPECT_EQ(runs_.LackingSince(At(0)).why, "why");
}

TEST_F(ProgramRunsTest, TheOldestAreForgotten) {
  for (AttemptId i = 1; i <= UnwalledRuns::kRunsMax + 1; ++i) Begin(i, "/Game/a", int(i));
  EXPECT_THAT(PackagesAt(1), IsEmpty());
  runs_.End(1, At(3));  // has no effect
  runs_.End(UnwalledRuns::kRunsMax + 1, At(UnwalledRuns::kRunsMax + 2));
}

}  // namespace
}  // namespace galley::director
