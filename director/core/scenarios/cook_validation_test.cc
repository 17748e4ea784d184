// Warnings of a judgement are told at the end of the cook, as they are then (CoreHarness).
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A cook of A and B that waits for its first root. A refers to a missing package.
class CookValidationTest : public ::testing::Test {
 protected:
  CookValidationTest() : shell_("A -> Gone?\nB\n") {
    shell_.hold_roots = true;
    shell_.Request({"A", "B"});
    shell_.Work();
  }
  void Lose(const std::string& name) {
    RootBuilt built = WholeRoot(shell_.roots.back());
    built.lost = {{.package = shell_.Id(name), .path = name + ".bin", .digest = Digest::Of(name)}};
    shell_.Send(built);
    shell_.Work();
  }
  // The log up to the cook's end.
  std::string End() {
    shell_.Send(WholeRoot(shell_.roots.back()));
    const std::string log = shell_.TakeLog();
    EXPECT_THAT(log, HasSubstr("ended\n"));
    return log;
  }

  CoreHarness shell_;
};

TEST_F(CookValidationTest, ASoftReferenceToNothingIsWarnedOfAtTheEnd) {
  EXPECT_THAT(shell_.TakeLog(), Not(HasSubstr("warned")));
  EXPECT_THAT(End(), HasSubstr("warned A: refers to 'Gone' (soft)"));
}

// The file was edited after it was judged, and the loss opens the cook for the edit.
TEST_F(CookValidationTest, WhatAnEditMendedIsNotWarnedOf) {
  shell_.ChangeProject("A\nB\n");
  shell_.Send(FilesChanged{shell_.project(), {"A"}, {}});
  Lose("B");
  EXPECT_THAT(End(), Not(HasSubstr("warned")));
}

TEST_F(CookValidationTest, WhatIsMadeAgainAfterALossIsWarnedOfOnce) {
  Lose("A");
  const std::string log = End();
  const size_t first = log.find("warned A: refers to 'Gone' (soft)");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("warned", first + 1), std::string::npos) << log;
}

TEST(JudgingOfFailFastTest, WhatWasJudgedBeforeItStoppedIsWarnedOf) {
  CoreHarness shell("A -> Gone?\nB\n");
  shell.Request({"A", "B"}, {.fail_fast = true});
  shell.Saved("A");
  shell.Failed("B", WorkerReport::Fault::kRefused, "bad");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("warned A: refers to 'Gone' (soft)"));
  EXPECT_THAT(log, HasSubstr("ended"));
}

}  // namespace
}  // namespace galley::director
