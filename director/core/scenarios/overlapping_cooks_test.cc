// Faults that several_cooks_test (the simulation) found in cooks that overlap, told by hand
// (CoreHarness).
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CookOptions Several(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

RootBuilt Conflict(const BuildRoot& asked, PackageId one, PackageId other) {
  RootBuilt built = WholeRoot(asked);
  built.conflicts = {{one, other, "x", "the same path"}};
  return built;
}

CookRequested Asks(uint64_t number, const std::vector<std::string>& names,
                   PlatformMask platforms = 1) {
  CookRequested request{.request = number, .platforms = platforms};
  for (const std::string& name : names)
    request.selected.push_back({name, InstigatorCategory::kCommandLinePackage});
  return request;
}

// Seed 3101305. P was explored when Late was not there, for a cook that still runs.
TEST(OverlappingCooksTest, WhatIsBroughtInByAReferenceThatLeadsSomewhereByNowIsExploredAgain) {
  CoreHarness shell("P -> Late?\nQ -> Late?\nX\n", Several());
  shell.Request({"P", "Q", "X"}, {.request = 1});
  shell.Saved("P");
  shell.Saved("Q");
  shell.ChangeProject("P -> Late?\nQ -> Late?\nX\nLate -> P\n");
  shell.Send(FilesChanged{shell.project(), {"Late"}, {}});
  shell.Request({"Q"}, {.request = 2});
  shell.Saved("Late");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 2: Late P Q"), Not(HasSubstr("warned"))));
}

// Seed 3080000 and on: a crash. What was explored of a platform is forgotten when it is tried
// again; another one is explored meanwhile.
TEST(OverlappingCooksTest, APlatformIsExploredWhileOneThatFailedIsTriedAgain) {
  CoreHarness shell("A -> B\nB\nX\n", Several(3));
  shell.Request({"A", "X"}, {.request = 1, .platforms = 0b011});
  const HarnessJob first = shell.JobOf("A");
  shell.Report(first, WorkerReport::Loaded{0b011, shell.MakeResult("A")});
  shell.Saved(first, 1);
  shell.Failed("A", WorkerReport::Fault::kRefused);
  ASSERT_TRUE(shell.Says("failed A"));
  shell.Request({"A"}, {.request = 2, .platforms = 0b111});
  shell.Report(shell.JobOf("A"), WorkerReport::Loaded{0b100, shell.MakeResult("A")});
  shell.Saved(shell.JobOf("A"), 0);
  shell.Saved(shell.JobOf("A"), 2);
  for (PlatformIndex p = 0; p < 3; ++p) shell.Saved("B", p);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, HasSubstr("root of 2: A B\nroot of 2: A B\nroot of 2: A B\n"));
}

// Seed 3266379. One cook asked for what the generator does not make, another for the generator.
TEST(OverlappingCooksTest, WhatFailedInOneCookAndIsSkippedInAnotherFailedForTheFirst) {
  CoreHarness shell("A -> G/_gen/a?\nG @never\nX\n", Several(2));
  shell.Request({"A", "G/_gen/a", "X"}, {.request = 1, .platforms = 0b01});
  shell.Saved("A");
  ASSERT_TRUE(shell.Says("failed G/_gen/a: G does not generate it")) << shell.TakeLog();
  shell.Request({"G", "G/_gen/a"}, {.request = 2, .platforms = 0b10});
  shell.Saved("X");
  EXPECT_THAT(shell.TakeLog(), HasSubstr("warned A: refers to G/_gen/a, which failed"));
}

// Seed 3242430. The generator is there for the platform of another cook only.
TEST(OverlappingCooksTest, NothingIsPublishedOfWhatOnlyAnotherCookGenerates) {
  CoreHarness shell("G : a\nX\n", Several(2));
  shell.Request({"G", "X"}, {.request = 1, .platforms = 0b01});
  shell.Saved("G");
  shell.Saved("G/_gen/a");
  shell.Request({"G/_gen/a"}, {.request = 2, .platforms = 0b10});
  shell.Saved("G/_gen/a", 1);
  shell.Failed("G", WorkerReport::Fault::kRefused);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("ended [2]"), Not(HasSubstr("root of 2"))));
}

// Seed 3673056. B's file goes while the roots of the first cook are built, and the second cook
// explores A for its own platform: the first one keeps what A refers to.
TEST(OverlappingCooksTest, RootsThatAreBuiltAreOfReferencesAsTheyWereBefore) {
  CoreHarness shell("A -> B\nB\nC\n", Several(2));
  shell.hold_roots = true;
  shell.Request({"A", "C"}, {.request = 1, .platforms = 0b01});
  for (int i = 0; i < 3; ++i) shell.Work();
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Request({"A"}, {.request = 2, .platforms = 0b10});
  shell.ChangeProject("A -> B\nC\n");
  shell.Send(FilesChanged{shell.project(), {"B"}, {}});
  shell.Saved("A", 1);
  const BuildRoot first = shell.roots.front();
  shell.Send(Conflict(first, shell.Id("B"), shell.Id("C")));
  shell.Send(WholeRoot(first));
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("warned A: refers to B, which failed"), HasSubstr("root of 1: A\n")));
}

// A cook that follows soft references claims A while the roots of one that does not are built: all
// that A refers to is followed anew, and a step may end in the middle of that.
TEST(OverlappingCooksTest, RootsThatAreBuiltMissNothingWhileReferencesAreFollowedAnew) {
  CookOptions options = Several(3);
  options.units_per_step = 1;
  CoreHarness shell("A -> B X?\nB\nC\nD\nX\n", options);
  shell.hold_roots = true;
  shell.Request({"A", "C", "D"}, {.request = 1, .platforms = 0b111, .follow_soft = false});
  for (int i = 0; i < 20; ++i) shell.Work();
  ASSERT_EQ(shell.roots.size(), 3u);
  const std::deque<BuildRoot> roots = shell.roots;
  shell.TakeLog();
  for (int between = 0; between < 6; ++between) {
    SCOPED_TRACE(between);
    std::vector<Event> events = {Asks(2 + between, {"A"}, 0b111)};
    for (int i = 0; i < between; ++i) events.emplace_back(Tick{});
    events.emplace_back(Conflict(roots[between % 3], shell.Id("C"), shell.Id("D")));
    shell.SendAtOnce(events);
    EXPECT_EQ(CountOf("root of 1: A\n", shell.TakeLog()), 0u);
    shell.Send(CancelRequested{static_cast<uint64_t>(2 + between)});
  }
}

// Seed 4113409. The only cook that wants the generator ends before the step in which the other
// one's claim would be handed on to it.
TEST(OverlappingCooksTest, AClaimOnWhatIsGeneratedIsOneOnItsGeneratorAtOnce) {
  for (int between = 0; between < 6; ++between) {
    SCOPED_TRACE(between);
    CookOptions options = Several();
    options.units_per_step = 1;
    CoreHarness shell("G : a\nX\nY\nZ\n", options);
    shell.hold_publish = true;
    shell.Request({"G"}, {.request = 1});
    for (int i = 0; i < 20; ++i) shell.Work();
    ASSERT_EQ(shell.publishes.size(), 1u);
    const PublishRoot root = shell.publishes.front();
    shell.hold_publish = false;
    // In this test a step selects one package, and does nothing else.
    std::vector<Event> events = {Asks(2, {"G/_gen/a", "X", "Y", "Z"})};
    for (int i = 0; i < between; ++i) events.emplace_back(Tick{});
    events.emplace_back(
        RootPublished{root.platform, "", root.platform_set, root.round, root.request});
    shell.SendAtOnce(events);
    for (int i = 0; i < 20; ++i) shell.Work();
    EXPECT_THAT(shell.TakeLog(),
                AllOf(HasSubstr("ended [1]"), HasSubstr("root of 2: G/_gen/a X Y Z\n")));
  }
}

// Both classes wait for the same resource: the nightly cook earns its tenth there as well.
TEST(OverlappingCooksTest, ANightlyJobGetsItsTenthOfAResourceThatCommitsWaitForToo) {
  std::string project;
  std::vector<std::string> nightly, commit;
  for (int i = 0; i < 40; ++i) {
    nightly.push_back("N" + std::to_string(i));
    commit.push_back("C" + std::to_string(i));
    project += nightly.back() + " @gpu\n" + commit.back() + " @gpu\n";
  }
  CookOptions options = Several();
  options.resources = {{"gpu", 1}};
  CoreHarness shell(project, options);
  shell.Request(nightly, {.request = 1});
  shell.Request(commit, {.request = 2, .of_class = CookClass::kCommit});
  shell.Work();
  shell.TakeLog();
  for (int i = 0; i < 30; ++i) shell.Work();
  const std::string log = shell.TakeLog();
  EXPECT_GE(CountOf("start N", log), 2u) << log;
  EXPECT_LE(CountOf("start N", log), 4u) << log;
}

// Seed 3075372. A job of the nightly cook that waits for its resource has its share as well.
TEST(OverlappingCooksTest, ANightlyJobThatWaitedForAResourceGetsItsTenthBesideCommits) {
  std::string project = "N0 @gpu\nN1 @gpu\n";
  std::vector<std::string> commit;
  for (int i = 0; i < 40; ++i) {
    commit.push_back("C" + std::to_string(i));
    project += commit.back() + "\n";
  }
  CookOptions options = Several();
  options.window_jobs_max = 1;
  options.resources = {{"gpu", 1}};
  CoreHarness shell(project, options);
  shell.slots = 2;
  shell.Request({"N0", "N1"}, {.request = 1});
  const std::string holds = shell.HasOpenJob("N0") ? "N0" : "N1";
  const std::string waits = holds == "N0" ? "N1" : "N0";
  shell.Request(commit, {.request = 2, .of_class = CookClass::kCommit});
  ASSERT_EQ(shell.StateOf(waits), "SaveStalled");
  shell.Saved(holds);
  for (int i = 0; i < 20; ++i) shell.Work();
  EXPECT_THAT(shell.TakeLog(), HasSubstr("start " + waits));
}

}  // namespace
}  // namespace galley::director
