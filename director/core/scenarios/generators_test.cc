// Generators: where generators and their packages are cooked, and cycles of generators.
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;

TEST(GeneratorsTest, GeneratorAndGeneratedAreCookedByDifferentWorkers) {
  CoreHarness shell("G : a\n", {.workers = 2});
  shell.slots = 1;
  shell.Request({"G"});
  shell.Loaded("G");
  ASSERT_TRUE(shell.HasOpenJob("G/_gen/a"));
  EXPECT_NE(shell.JobOf("G").worker, shell.JobOf("G/_gen/a").worker);
  shell.Saved("G/_gen/a");  // before its generator
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root G G/_gen/a\n"));
}

TEST(GeneratorsTest, WhatWasGeneratedIsCookedThoughItsGeneratorsWorkerIsLost) {
  CoreHarness shell("G : a\n", {.workers = 2});
  shell.slots = 1;
  shell.Request({"G"});
  shell.Loaded("G");
  shell.Send(WorkerLost{shell.JobOf("G").worker, "killed", true});
  shell.Saved("G/_gen/a");
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root G G/_gen/a\n"));
}

TEST(GeneratorsTest, WhatWasAskedForBeforeItsGeneratorCameIsGenerated) {
  CoreHarness shell("A\n");
  shell.Request({"A", "G/_gen/a"});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed G/_gen/a: unknown package"));
  shell.ChangeProject("A\nG : a\n");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.Finish();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root A G/_gen/a\n"));
}

TEST(GeneratorsTest, WhatAPackageThatIsNotGeneratedWouldGenerateFails) {
  CoreHarness shell("A\nG : a\n");
  shell.Request({"A", "G/_gen/x/_gen/y"});
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed G/_gen/x: G does not generate it"));
  EXPECT_THAT(log, HasSubstr("root A\n"));
  EXPECT_THAT(log, HasSubstr("ended\n"));
}

TEST(GeneratorsTest, OneThatIsListedNoMoreThoughSomebodyRefersToItFailsThatOne) {
  CoreHarness shell("A -> G/_gen/b\nG : a b\n");
  shell.Request({"A", "G"});
  shell.Saved("G");
  shell.Saved("A");
  shell.ChangeProject("A -> G/_gen/b\nG : a\n");
  shell.Send(FilesChanged{shell.project(), {"G"}, {}});
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed A: refers to 'G/_gen/b' (hard): expected a package"));
  EXPECT_THAT(log, HasSubstr("root G G/_gen/a\n"));
}

TEST(GeneratorsTest, AGeneratorThatReadsWhatItHasNotListedYetIsACycle) {
  CoreHarness shell("G : a\n");
  shell.Request({"G"});
  shell.Report(HarnessJob(shell.JobOf("G")), WorkerReport::Needs{"G/_gen/a", 0});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("failed G: cycle of generators: G -> G/_gen/a -> G\n"));
}

TEST(GeneratorsTest, GeneratorsThatReadWhatTheOtherWillGenerateAreACycle) {
  CoreHarness shell("G : a\nH : b\n");
  shell.Request({"G", "H"});
  shell.Report(HarnessJob(shell.JobOf("G")), WorkerReport::Needs{"H/_gen/b", 0});
  shell.Report(HarnessJob(shell.JobOf("H")), WorkerReport::Needs{"G/_gen/a", 0});
  const std::string log = shell.TakeLog();
  const std::string cycle = "cycle of generators: G -> H/_gen/b -> H -> G/_gen/a -> G\n";
  EXPECT_THAT(log, HasSubstr("failed G: " + cycle));
  EXPECT_THAT(log, HasSubstr("failed H: " + cycle));
  EXPECT_THAT(log, HasSubstr("ended\n"));
}

TEST(GeneratorsTest, GeneratorsThatGenerateEachOtherForEverAreStopped) {
  CoreHarness shell("G : a\nG/_gen/a : a\nG/_gen/a/_gen/a : a\n", {.generators_max = 2});
  shell.Request({"G"});
  shell.Finish();
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("failed G/_gen/a: cycle of generators? 2 generate one another"));
  EXPECT_THAT(log, HasSubstr("root G\n"));
  EXPECT_FALSE(shell.Id("G/_gen/a/_gen/a").valid());
}

}  // namespace
}  // namespace galley::director
