#include "director/host/replayed_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "director/host/testing/fake_listener.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PackageFailed Failed(const std::string& error, FailureCause cause = FailureCause::kVerdict) {
  PackageFailed failed;
  failed.stage = Stage::kLoad;
  failed.error = error;
  failed.cause = cause;
  return failed;
}

TEST(ReplayedMessagesTest, WhatWasToldIsToldAgain) {
  ReplayedMessages told;
  told.Failed("/Game/b", "pc", Failed("broken"));
  told.Failed("/Game/b", "pc", Failed("broken"));
  told.Failed("/Game/a", "", Failed("missing", FailureCause::kProject));
  told.Warned("/Game/c", "pc", "odd [mesh-file]");
  EXPECT_TRUE(told.stands());
  FakeListener sink;
  TellAgain({.warnings = told.warnings(), .failures = told.failures()}, sink);
  EXPECT_THAT(sink.lines, ElementsAre("failed /Game/a : missing", "failed /Game/b pc: broken",
                                      "warning /Game/c pc: odd [mesh-file]"));
}

TEST(ReplayedMessagesTest, AFailureThatIsMendedIsNotToldAgain) {
  ReplayedMessages told;
  told.Failed("/Game/a", "pc", Failed("broken"));
  told.Failed("/Game/a", "mac", Failed("broken"));
  told.Done("/Game/a", "pc");
  EXPECT_THAT(told.failures(), SizeIs(1));
  EXPECT_TRUE(told.stands());
  told.Done("/Game/a", "mac");
  EXPECT_THAT(told.failures(), IsEmpty());
}

TEST(ReplayedMessagesTest, WhatAnotherCookWouldNotTellStandsNot) {
  for (const FailureCause cause :
       {FailureCause::kPackage, FailureCause::kLimit, FailureCause::kRefused,
        FailureCause::kMachine, FailureCause::kUnread}) {
    ReplayedMessages told;
    told.Failed("/Game/a", "pc", Failed("it crashed", cause));
    EXPECT_FALSE(told.stands());
  }
  ReplayedMessages attempted;
  PackageFailed failed = Failed("a cycle", FailureCause::kProject);
  failed.attempt = 7;
  attempted.Failed("/Game/a", "pc", failed);
  EXPECT_FALSE(attempted.stands());
  ReplayedMessages passing;
  passing.Passing();
  EXPECT_FALSE(passing.stands());
  // Nobody knows which of the platforms are left.
  ReplayedMessages in_part;
  in_part.Failed("/Game/a", "", Failed("missing"));
  in_part.Done("/Game/a", "pc");
  EXPECT_FALSE(in_part.stands());
}

}  // namespace
}  // namespace galley::director
