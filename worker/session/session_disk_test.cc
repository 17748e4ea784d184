// Disks: a session begins no job that would find no room.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/session_core_fixture.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DiskTest : public SessionCoreTest {
 protected:
  // The attempts that the sent messages gave back for want of room.
  std::vector<uint64_t> GivenBack() const {
    std::vector<uint64_t> attempts;
    for (const v1::FromWorker& message : sent_) {
      for (const v1::Report& report : message.reports()) {
        if (report.has_failed() && report.failed().cause() == v1::Failed::NO_ROOM &&
            report.failed().error() == "full")
          attempts.push_back(report.attempt());
      }
    }
    return attempts;
  }
};

TEST_F(DiskTest, OnAFullDiskNoJobBeginsAndEachIsGivenBackWithTheReason) {
  Attach();
  Step(DiskSampled{"full"});
  Give({JobOf(1), JobOf(2), JobOf(3)});
  EXPECT_THAT(started_, IsEmpty());
  EXPECT_THAT(GivenBack(), ElementsAre(1u, 2u, 3u));
  EXPECT_EQ(core_.in_hand(), 0u);
}

TEST_F(DiskTest, WhatRunsGoesOnAndWhatWaitsIsGivenBack) {
  Attach();
  Give({JobOf(1), JobOf(2), JobOf(3)});
  ASSERT_EQ(started_.size(), 2u);
  Step(DiskSampled{"full"});
  EXPECT_THAT(GivenBack(), ElementsAre(3u));
  EXPECT_EQ(core_.in_hand(), 2u);
}

TEST_F(DiskTest, WhenThereIsRoomAgainJobsBegin) {
  Attach();
  Step(DiskSampled{"full"});
  Step(DiskSampled{""});
  Give({JobOf(1)});
  EXPECT_EQ(started_.size(), 1u);
}

}  // namespace
}  // namespace galley::worker
