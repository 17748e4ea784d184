// Tests of the core's counts over its life, and of its numbers of waiting packages.
#include "director/core/core_figures.h"

#include <vector>

#include "director/core/packages/ready_line.h"
#include "director/core/scenarios/core_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using Fault = WorkerReport::Fault;

uint64_t RetriedFor(CoreHarness& shell, RetryCause cause) {
  return shell.core().figures().retried[static_cast<size_t>(cause)];
}

const CookerFigures& CookerOf(const CoreFigures& figures, std::string_view name) {
  for (const CookerFigures& one : figures.cookers) {
    if (one.name == name) return one;
  }
  static const CookerFigures none;
  return none;
}

TEST(TimeCountsTest, BoundsAreInclusiveAndThreeADecade) {
  TimeCounts times;
  times.Add(absl::ZeroDuration());
  times.Add(absl::Milliseconds(1));
  times.Add(absl::Milliseconds(1) + absl::Nanoseconds(1));
  times.Add(absl::Seconds(1000));
  times.Add(absl::Seconds(1001));
  EXPECT_EQ(times.counts[0], 2u);
  EXPECT_EQ(times.counts[1], 1u);
  EXPECT_EQ(times.counts[18], 1u);
  EXPECT_EQ(times.counts[19], 1u);
  EXPECT_EQ(times.sum, absl::Seconds(2001) + absl::Milliseconds(2) + absl::Nanoseconds(1));
  for (size_t i = 3; i < TimeCounts::kBounds.size(); ++i)
    EXPECT_EQ(TimeCounts::kBounds[i], 10 * TimeCounts::kBounds[i - 3]);
}

TEST(CoreFiguresTest, SumsAreByNameAndLeaveWhatWaits) {
  CoreFigures sum{.cookers = {{.name = "audio", .results = {1, 0, 0, 0}}}, .ready = 7};
  sum.AddCounts({.cookers = {{.name = "mesh", .results = {0, 0, 0, 5}},
                             {.name = "audio", .results = {2, 0, 0, 0}}},
                 .retried = {1, 0, 0, 0, 0},
                 .bytes_read = 10,
                 .ready = 100});
  ASSERT_EQ(sum.cookers.size(), 2u);
  EXPECT_EQ(CookerOf(sum, "audio").results[0], 3u);
  EXPECT_EQ(CookerOf(sum, "mesh").results[3], 5u);
  EXPECT_EQ(sum.retried[0], 1u);
  EXPECT_EQ(sum.bytes_read, 10u);
  EXPECT_EQ(sum.ready, 7u);
}

TEST(CoreFiguresTest, ResultsAreCountedByCookerAndOutcome) {
  CoreHarness shell("A % sound\nB % sound\nC % image\nC ! it is grey\n");
  shell.Request({"A", "B", "C"});
  shell.Finish();
  const CoreFigures figures = shell.core().figures();
  EXPECT_THAT(CookerOf(figures, "sound").results, ElementsAre(2, 0, 0, 0));
  EXPECT_THAT(CookerOf(figures, "image").results, ElementsAre(0, 0, 0, 1));
  uint64_t jobs = 0;
  for (const uint64_t count : CookerOf(figures, "sound").jobs.counts) jobs += count;
  EXPECT_EQ(jobs, 2u);
}

TEST(CoreFiguresTest, AFailureOfAPackageThatIsNoneHasNoCooker) {
  CoreHarness shell("A % sound\n");
  shell.Request({"A", "Nowhere"});
  shell.Finish();
  const CoreFigures figures = shell.core().figures();
  EXPECT_THAT(CookerOf(figures, "sound").results, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(CookerOf(figures, "").results, ElementsAre(0, 0, 0, 1));
}

TEST(CoreFiguresTest, ARetryHasItsCause) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Failed("A", Fault::kMemory);
  shell.Failed("A", Fault::kCrashed);
  EXPECT_EQ(RetriedFor(shell, RetryCause::kMemory), 1u);
  EXPECT_EQ(RetriedFor(shell, RetryCause::kCrashed), 1u);
  EXPECT_EQ(RetriedFor(shell, RetryCause::kWorkerLost), 0u);
  shell.Send(WorkerLost{shell.JobOf("A").worker, "signal 9", true});
  EXPECT_EQ(RetriedFor(shell, RetryCause::kWorkerLost), 1u);
}

TEST(CoreFiguresTest, CountsOutliveACook) {
  CoreHarness shell("A % sound\nB % sound\n");
  shell.Request({"A"});
  shell.Finish();
  shell.Request({"B"});
  shell.Finish();
  EXPECT_THAT(CookerOf(shell.core().figures(), "sound").results, ElementsAre(2, 0, 0, 0));
}

TEST(CoreFiguresTest, WorkersCountByWhereTheyComeFrom) {
  CoreHarness shell("A\n", {.workers = 2, .spawn_failures_max = 9});
  shell.hold_workers = true;
  shell.Request({"A"});
  const std::vector<WorkerId> asked(shell.spawned.begin(), shell.spawned.end());
  shell.Send(LauncherReported{asked[0], "no such program"});
  shell.Send(WorkerAttached{asked[1], 1, {}});
  const WorkerId foreign(kForeignWorkers);
  shell.Send(WorkerAttached{foreign, 1, {}});
  shell.Send(WorkerLost{foreign, "gone", true});
  shell.Send(WorkerAttached{foreign, 1, {}});
  shell.Send(WorkerLost{.worker = foreign, .reason = "goodbye", .is_in_order = true});
  const auto pools = shell.core().figures().pools;
  const PoolFigures& local = pools[static_cast<size_t>(Pool::kLocal)];
  const PoolFigures& by_itself = pools[static_cast<size_t>(Pool::kForeign)];
  EXPECT_EQ(local.started, 1u);
  EXPECT_EQ(local.launches_failed, 1u);
  EXPECT_EQ(by_itself.started, 1u);
  EXPECT_EQ(by_itself.lost, 1u);
}

TEST(CoreFiguresTest, PackagesCountByClassAndState) {
  CoreHarness shell("A\nB\n");
  shell.hold_workers = true;
  shell.Request({"A", "B"}, {.of_class = CookClass::kCommit});
  const auto commit = shell.core().figures().packages[static_cast<size_t>(CookClass::kCommit)];
  EXPECT_EQ(commit[static_cast<size_t>(State::kLoad)], 2u);
  EXPECT_EQ(shell.core().figures().ready, 2u);
}

TEST(CoreFiguresTest, TheOldestThatWaitsIsTheOneThatWaitsLongest) {
  CoreHarness shell("A\nB\n");
  shell.hold_workers = true;
  shell.Request({"A"});
  EXPECT_EQ(shell.core().figures().oldest_ready, absl::ZeroDuration());
  shell.Pass(absl::Seconds(5));
  EXPECT_EQ(shell.core().figures().oldest_ready, absl::Seconds(5));
  shell.Send(PackagesDiscovered{{{"B"}}});
  shell.Pass(absl::Seconds(2));
  EXPECT_EQ(shell.core().figures().oldest_ready, absl::Seconds(7));
}

TEST(CoreFiguresTest, NobodyWaitsOnceAllAreHandedOver) {
  CoreHarness shell("A\n");
  shell.Request({"A"});
  shell.Pass(absl::Seconds(5));
  const CoreFigures figures = shell.core().figures();
  EXPECT_EQ(figures.ready, 0u);
  EXPECT_EQ(figures.oldest_ready, absl::ZeroDuration());
}

// ---------------- the line

TEST(ReadyLineTest, WhoLeftAndCameBackStandsAtTheEnd) {
  ReadyLine line;
  std::vector<absl::Time> since(3, absl::InfinitePast());
  const auto waits = [&](const ReadyPlace& place) {
    return since[place.package.index()] == place.since;
  };
  const auto add = [&](uint32_t package, int second) {
    since[package] = absl::FromUnixSeconds(second);
    line.Add(PackageId(package), since[package], 3, waits);
  };
  add(0, 1);
  add(1, 2);
  add(0, 3);  // it was handed over, and is back
  EXPECT_EQ(line.First(waits), absl::FromUnixSeconds(2));
  since[1] = absl::InfinitePast();
  EXPECT_EQ(line.First(waits), absl::FromUnixSeconds(3));
  since[0] = absl::InfinitePast();
  EXPECT_EQ(line.First(waits), std::nullopt);
}

TEST(ReadyLineTest, TheLineDoesNotGrowWithAllThatEverWaited) {
  ReadyLine line;
  const auto waits = [](const ReadyPlace& place) { return place.package == PackageId(0); };
  for (uint32_t i = 0; i < 100'000; ++i) line.Add(PackageId(i), absl::FromUnixSeconds(i), 2, waits);
  EXPECT_LE(line.size(), 2 * 2 + ReadyLine::kSpare + 1);
  EXPECT_EQ(line.First(waits), absl::FromUnixSeconds(0));
}

}  // namespace
}  // namespace galley::director
