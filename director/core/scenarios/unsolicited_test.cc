// A worker's cook reads a package that no cook asked for.
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportId SavedReading(CoreHarness& shell, const std::string& name,
                      const std::vector<std::string>& read) {
  WorkerReport::Saved saved{.platform = 0, .result = shell.MakeResult(name)};
  saved.read = read;
  return shell.Report(HarnessJob(shell.JobOf(name)), saved);
}

TEST(UnsolicitedTest, OneThatIsOnlyReadIsAWarningThatNamesTheReader) {
  CoreHarness shell("A\nInclude\n");
  shell.Request({"A"});
  SavedReading(shell, "A", {"Include"});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("warned A: reads Include, a package that is not in the cook"));
  EXPECT_THAT(log, HasSubstr("root A\n")) << "it does not join";
  EXPECT_EQ(shell.core().counters().in_cook, 1u);
}

TEST(UnsolicitedTest, WhatAKnownResultReadIsToldAsWell) {
  CoreHarness shell("A\nInclude\n");
  shell.hold_look_ups = true;
  shell.Request({"A"});
  const LookUp::Item asked = shell.look_ups.at(0);
  shell.Send(LookedUp{{{asked.package, 0, asked.generation,
                        LookedUp::Hit{shell.MakeResult("A"), true, {"Include"}}}}});
  EXPECT_THAT(shell.TakeLog(),
              HasSubstr("warned A: reads Include, a package that is not in the cook"));
}

TEST(UnsolicitedTest, OneThatIsReferredToHardJoinsWithoutAWarning) {
  CoreHarness shell("A -> Include\nInclude\n");
  shell.Request({"A"});
  SavedReading(shell, "A", {"Include"});
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root A Include\n"));
  EXPECT_THAT(log, Not(HasSubstr("warned")));
  EXPECT_EQ(shell.core().InstigatorsOf(shell.Id("Include")).at(0).category,
            InstigatorCategory::kHardDependency);
}

TEST(UnsolicitedTest, OneThatJoinsLaterForAnotherReasonIsNoWarning) {
  CoreHarness shell("A\nB -> Include\nInclude\n");
  shell.Request({"A", "B"});
  SavedReading(shell, "A", {"Include"});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("warned")));
}

TEST(UnsolicitedTest, OneThatIsNeverCookedIsMeantToBeReadOnly) {
  CoreHarness shell("A\nInclude @never\n");
  shell.Request({"A"});
  SavedReading(shell, "A", {"Include"});
  EXPECT_THAT(shell.TakeLog(), Not(HasSubstr("warned")));
}

TEST(UnsolicitedTest, WhatTheLastCookOfTheReaderReadCounts) {
  CoreHarness shell("A\nInclude\nZ\n");
  shell.Request({"A", "Z"});
  SavedReading(shell, "A", {"Include"});
  shell.Send(FilesChanged{shell.project(), {"A"}, {}});
  SavedReading(shell, "A", {});
  shell.Saved("Z");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root A Z\n"));
  EXPECT_THAT(log, Not(HasSubstr("warned")));
}

TEST(UnsolicitedTest, WhatIsKeptForWarningsIsBounded) {
  CoreHarness shell("A\nB\nInclude\n");
  shell.Request({"A", "B"});
  std::vector<std::string> many = {"Include"};
  for (int i = 0; i < 20'000; ++i) many.push_back("none-" + std::to_string(100'000 + i));
  SavedReading(shell, "A", many);
  SavedReading(shell, "B", {"Include"});
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("warned A: reads Include"));
  EXPECT_THAT(log, HasSubstr("warned A: and other packages read 10002 more names"));
}

}  // namespace
}  // namespace galley::director
