// Affinity: packages that share inputs go where these are warm.
#include "director/core/workers/input_affinity.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "director/core/jobs/worker_table.h"
#include "director/core/scenarios/core_harness.h"
#include "director/core/workers/placement_candidate.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Inputs = std::vector<uint64_t>;
using Holders = std::vector<InputAffinity::Holder>;

TEST(InputAffinityTest, WhoReadAnInputHoldsIt) {
  InputAffinity warmth;
  warmth.Note(WorkerId(3), Inputs{1, 2});
  warmth.Note(WorkerId(4), Inputs{2});
  EXPECT_EQ(warmth.Holders(Inputs{1, 2, 8, 9}), Holders({{WorkerId(3), 0.5}, {WorkerId(4), 0.25}}));
  warmth.Note(WorkerId(4), Inputs{8, 9});
  EXPECT_EQ(warmth.Holders(Inputs{1, 2, 8, 9}), Holders({{WorkerId(4), 0.75}, {WorkerId(3), 0.5}}));
  warmth.Forget(WorkerId(3));
  EXPECT_EQ(warmth.Holders(Inputs{1, 2}), Holders({{WorkerId(4), 0.5}}));
}

TEST(InputAffinityTest, TheOldestInputsAndHoldersAreForgotten) {
  InputAffinity warmth;
  for (uint64_t input = 0; input <= InputAffinity::kInputsMax; ++input)
    warmth.Note(WorkerId(0), Inputs{input});
  EXPECT_EQ(warmth.Holders(Inputs{0}), Holders());
  EXPECT_EQ(warmth.Holders(Inputs{1}), Holders({{WorkerId(0), 1}}));
  for (uint32_t worker = 0; worker <= InputAffinity::kHoldersMax; ++worker)
    warmth.Note(WorkerId(worker), Inputs{7});
  const Holders holders = warmth.Holders(Inputs{7});
  EXPECT_EQ(holders.size(), InputAffinity::kHoldersMax);
  EXPECT_EQ(holders.front().worker, WorkerId(1)) << "0 was the first";
}

TEST(InputAffinityTest, AnInputThatIsReadAgainIsNoOldOne) {
  InputAffinity warmth;
  for (uint64_t input = 0; input < InputAffinity::kInputsMax; ++input)
    warmth.Note(WorkerId(0), Inputs{input});
  warmth.Note(WorkerId(0), Inputs{0});
  warmth.Note(WorkerId(0), Inputs{1000});
  EXPECT_EQ(warmth.Holders(Inputs{0}), Holders({{WorkerId(0), 1}}));
  EXPECT_EQ(warmth.Holders(Inputs{1}), Holders()) << "the oldest";
}

TEST(InputAffinityTest, PackagesOfAFolderGoToTheWorkerThatHasItWarmWhileTheLoadsAreNear) {
  CookOptions options;
  options.workers = 2;
  // The first packages of the folders are as good as equal; then the folders stay apart.
  CoreHarness shell(
      "/a/1 ~ 100000\n/b/1 ~ 99000\n/a/2 ~ 98000\n/b/2 ~ 97000\n/b/3 ~ 96000\n/a/3 ~ 95000\n",
      options);
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Request({"/a/1", "/b/1", "/a/2", "/b/2", "/b/3", "/a/3"});
  for (const std::string name : {"/a/1", "/b/1", "/a/2", "/b/2", "/b/3", "/a/3"}) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name))
        shell.Send(LookedUp{{{item.package, 0, item.generation,
                              LookedUp::Miss{.last_load = absl::Milliseconds(90),
                                             .last_save = absl::Milliseconds(10)}}}});
    }
  }
  EXPECT_NE(shell.JobOf("/a/1").worker, shell.JobOf("/b/1").worker);
  for (const std::string number : {"2", "3"}) {
    EXPECT_EQ(shell.JobOf("/a/" + number).worker, shell.JobOf("/a/1").worker);
    EXPECT_EQ(shell.JobOf("/b/" + number).worker, shell.JobOf("/b/1").worker);
  }
}

TEST(InputAffinityTest, WhileAllHaveWorkAJobWaitsHalfAsLongAgainForWarmInputsAndNoLonger) {
  struct Case {
    double least_s, warm_load_s, warm;
    size_t chosen;
  };
  for (const Case& one : {Case{1, 1.4, 1, 1}, Case{1, 1.6, 1, 0}, Case{1, 1.2, 0.5, 1},
                          Case{1, 1.3, 0.5, 0}, Case{0, 0.1, 1, 0}}) {
    const std::vector<PlacementCandidate> views = {{.worker = WorkerId(0),
                                                    .load = absl::Seconds(one.least_s),
                                                    .delay = absl::Seconds(one.least_s)},
                                                   {.worker = WorkerId(1),
                                                    .load = absl::Seconds(one.warm_load_s),
                                                    .delay = absl::Seconds(one.warm_load_s),
                                                    .warm = one.warm}};
    EXPECT_EQ(ChooseCandidate(views).worker.value(), one.chosen)
        << one.least_s << " " << one.warm_load_s;
  }
}

TEST(InputAffinityTest, WhileASlotIsFreeAJobWaitsForWarmInputsOnlyWhereItEndsSooner) {
  struct Case {
    int delay_ms, saved_ms;
    size_t chosen;
  };
  for (const Case& one : {Case{50, 90, 1}, Case{90, 90, 0}, Case{200, 90, 0}, Case{50, 0, 0}}) {
    // A long job runs in the other slot of the first.
    const std::vector<PlacementCandidate> views = {
        {.worker = WorkerId(0), .load = absl::Seconds(5)},
        {.worker = WorkerId(1),
         .load = absl::Milliseconds(one.delay_ms),
         .delay = absl::Milliseconds(one.delay_ms),
         .saved = absl::Milliseconds(one.saved_ms),
         .warm = 1}};
    EXPECT_EQ(ChooseCandidate(views).worker.value(), one.chosen)
        << one.delay_ms << " " << one.saved_ms;
  }
}

size_t Chosen(const std::vector<PlacementCandidate>& views) {
  return ChooseCandidate(views).worker.value();
}

// Long jobs run in other slots.
TEST(InputAffinityTest, AmongTheFreeNoneIsWaitedForThoughItIsWarm) {
  EXPECT_EQ(Chosen({{.worker = WorkerId(0), .load = absl::Seconds(1)},
                    {.worker = WorkerId(1), .load = absl::Seconds(1.4), .warm = 1}}),
            0u);
}

TEST(InputAffinityTest, ABusyWorkerMustBeatWhatAFreeOneSaves) {
  EXPECT_EQ(Chosen({{.worker = WorkerId(0),
                     .load = absl::Seconds(5),
                     .saved = absl::Milliseconds(90),
                     .warm = 1},
                    {.worker = WorkerId(1),
                     .load = absl::Milliseconds(50),
                     .delay = absl::Milliseconds(50),
                     .saved = absl::Milliseconds(100),
                     .warm = 1}}),
            0u);
}

TEST(InputAffinityTest, OneThatIsTooSmallIsNotFree) {
  EXPECT_EQ(Chosen({{.worker = WorkerId(0), .load = absl::Seconds(1), .is_large_enough = false},
                    {.worker = WorkerId(1), .load = absl::Seconds(1), .delay = absl::Seconds(1)},
                    {.worker = WorkerId(2),
                     .load = absl::Seconds(1.4),
                     .delay = absl::Seconds(1.4),
                     .warm = 1}}),
            2u);
}

// Two workers of one slot. The first has `/a/1`, which takes so long; then comes `/a/2`, whose load
// takes 90 ms unless it finds its inputs warm.
CoreHarness BesideAnIdleOne(absl::Duration first) {
  CookOptions options;
  options.workers = 2;
  CoreHarness shell("/a/1\n/a/2\n", options);
  shell.slots = 1;
  shell.hold_look_ups = true;
  shell.Request({"/a/1", "/a/2"});
  const auto miss = [&](const std::string& name, absl::Duration load, absl::Duration save) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name))
        shell.Send(LookedUp{{{item.package, 0, item.generation,
                              LookedUp::Miss{.last_load = load, .last_save = save}}}});
    }
  };
  miss("/a/1", first / 2, first / 2);
  miss("/a/2", absl::Milliseconds(90), absl::Milliseconds(10));
  return shell;
}

TEST(InputAffinityTest, AJobThatEndsSoonerBehindAShortOneStaysThere) {
  CoreHarness shell = BesideAnIdleOne(absl::Milliseconds(50));
  EXPECT_EQ(shell.TakeLog(), "spawn 0\nspawn 1\nstart /a/1 0\nstart /a/2 0\n");
  EXPECT_EQ(shell.core().counters().jobs_retracted, 0u);
  shell.Pass(absl::Seconds(1));
  EXPECT_EQ(shell.TakeLog(), "retract /a/2\nstart /a/2 1\n") << "the short one is none";
}

TEST(InputAffinityTest, AJobThatWouldWaitLongerThanWarmInputsSaveGoesToTheIdle) {
  CoreHarness shell = BesideAnIdleOne(absl::Milliseconds(200));
  EXPECT_EQ(shell.TakeLog(), "spawn 0\nspawn 1\nstart /a/1 0\nstart /a/2 1\n");
}

// Worker 0 runs `/a/1`; nothing is known of `/a/2` but that it is large.
TEST(InputAffinityTest, AnUnknownLoadIsAPartOfTheWholeButNotALongOne) {
  for (const bool is_short : {true, false}) {
    CoreHarness shell("/a/1\n/a/2 ~ 8000000\n", {.workers = 2});
    shell.slots = 1;
    shell.hold_look_ups = true;
    shell.Request({"/a/1", "/a/2"});
    const auto miss = [&](const std::string& name, int ms) {
      for (const LookUp::Item& item : shell.look_ups) {
        if (item.package == shell.Id(name))
          shell.Send(LookedUp{{{item.package, 0, item.generation,
                                LookedUp::Miss{.last_save = absl::Milliseconds(ms)}}}});
      }
    };
    miss("/a/1", is_short ? 30 : 200);
    miss("/a/2", 0);
    ASSERT_EQ(shell.JobOf("/a/1").worker, WorkerId(0));
    EXPECT_EQ(shell.JobOf("/a/2").worker, WorkerId(is_short ? 0 : 1));
  }
}

TEST(InputAffinityTest, WhatOneGeneratorListsGoesToOneWorker) {
  CoreHarness shell("/t : p/a q/b\n/c/1\n", {.workers = 2});
  const std::string first = "/t/_gen/p/a", second = "/t/_gen/q/b";
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Request({"/t", first, second, "/c/1"});
  const auto miss = [&](const std::string& name, int ms) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package != shell.Id(name)) continue;
      shell.Send(LookedUp{{{item.package, 0, item.generation,
                            LookedUp::Miss{.last_load = absl::Milliseconds(ms),
                                           .last_save = absl::Milliseconds(10)}}}});
      return;
    }
  };
  miss("/t", 10);
  shell.Saved("/t");
  miss(first, 90);
  miss("/c/1", 80);
  miss(second, 90);
  EXPECT_NE(shell.JobOf("/c/1").worker, shell.JobOf(first).worker);
  EXPECT_EQ(shell.JobOf(second).worker, shell.JobOf(first).worker);
}

// `/a/1` reads 40 outputs and goes to worker 0, `/c/1` to worker 1. Returns where a package goes
// that reads `count` of those 40, the first or the last of them.
WorkerId WorkerOfOneThatReads(size_t count, bool is_first) {
  std::vector<std::string> outputs;
  std::string project = "/a/1\n/b/1\n/c/1\n";
  for (int i = 0; i < 40; ++i) {
    outputs.push_back("/in/" + std::to_string(i));
    project += outputs.back() + "\n";
  }
  CoreHarness shell(project, {.workers = 2});
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Request({"/a/1", "/b/1", "/c/1"});
  const auto answer = [&](const std::string& name, decltype(LookedUp::Item::outcome) outcome) {
    std::optional<LookUp::Item> last;
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name)) last = item;
    }
    shell.Send(LookedUp{{{last->package, 0, last->generation, std::move(outcome)}}});
  };
  const auto miss = [&](const std::string& name, int ms) {
    answer(name, LookedUp::Miss{.last_load = absl::Milliseconds(ms),
                                .last_save = absl::Milliseconds(10)});
    return shell.JobOf(name).worker;
  };
  answer("/a/1", LookedUp::NeedsCooked{outputs});
  const auto begin = is_first ? outputs.begin() : outputs.end() - static_cast<ptrdiff_t>(count);
  answer("/b/1", LookedUp::NeedsCooked{{begin, begin + static_cast<ptrdiff_t>(count)}});
  for (const std::string& name : outputs) answer(name, LookedUp::Hit{shell.MakeResult(name), true});
  EXPECT_EQ(miss("/a/1", 90), WorkerId(0));
  EXPECT_EQ(miss("/c/1", 80), WorkerId(1));
  return miss("/b/1", 90);
}

TEST(InputAffinityTest, PackagesThatReadTheSameOutputsGoToOneWorker) {
  EXPECT_EQ(WorkerOfOneThatReads(12, /*is_first=*/true), WorkerId(0));
}

TEST(InputAffinityTest, APackageIsKnownByTheFirstFewOfTheOutputsThatItReads) {
  EXPECT_EQ(WorkerOfOneThatReads(12, /*is_first=*/false), WorkerId(1));
}

TEST(InputAffinityTest, AmongManyThatAreAsFreeTheWarmOneIsFound) {
  constexpr uint32_t kWorkers = kCandidatesMax + 4;
  CookOptions options;
  options.workers = 1;
  CoreHarness shell("/a/1\n/a/2\n", options);
  shell.hold_workers = true;
  shell.Request({"/a/1"});
  const WorkerId warm(kForeignWorkers + kWorkers);
  shell.Send(WorkerAttached{.worker = warm, .slots = 64, .session = 1});
  ASSERT_EQ(shell.JobOf("/a/1").worker, warm);
  for (uint32_t i = 0; i < kWorkers; ++i)
    shell.Send(WorkerAttached{.worker = WorkerId(kForeignWorkers + i), .slots = 4, .session = 1});
  shell.Send(PackagesDiscovered{{{"/a/2", InstigatorCategory::kCommandLinePackage}}});
  EXPECT_EQ(shell.JobOf("/a/2").worker, warm);
}

class TwoCookers : public TextProject {
 public:
  using TextProject::TextProject;
  std::optional<CatalogEntry> Find(std::string_view name) const override {
    std::optional<CatalogEntry> entry = TextProject::Find(name);
    if (entry) entry->cooker = name.ends_with(".png") ? "texture" : "audio";
    return entry;
  }
};

TEST(InputAffinityTest, OneCookersFolderIsNotWarmForAnother) {
  const std::string project = "/a/1.png ~ 100000\n/a/2.wav ~ 99000\n";
  CookOptions options;
  options.workers = 2;
  CoreHarness shell(project, options);
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Send(FilesChanged{std::make_shared<TwoCookers>(project), {}, {}});
  shell.Request({"/a/1.png", "/a/2.wav"});
  for (const std::string name : {"/a/1.png", "/a/2.wav"}) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package == shell.Id(name))
        shell.Send(LookedUp{{{item.package, 0, item.generation,
                              LookedUp::Miss{.last_load = absl::Milliseconds(90),
                                             .last_save = absl::Milliseconds(10)}}}});
    }
  }
  EXPECT_NE(shell.JobOf("/a/1.png").worker, shell.JobOf("/a/2.wav").worker);
}

// Shaders of one folder and of several, which read one of two includes in the last cook.
TEST(InputAffinityTest, PackagesThatReadTheSameFilesGoToTheWorkerThatHasThemWarm) {
  const std::vector<std::pair<std::string, Inputs>> shaders = {
      {"/a/1", {71}}, {"/b/1", {82, 83}}, {"/c/2", {71}},     {"/d/2", {82, 83}},
      {"/d/3", {71}}, {"/e/3", {82, 83}}, {"/e/4", {71, 90}}, {"/a/4", {80, 82, 83}}};
  CookOptions options;
  options.workers = 2;
  std::string project;
  std::vector<std::string> names;
  for (const auto& [name, read] : shaders) names.push_back(name);
  for (const std::string& name : names) project += name + "\n";
  CoreHarness shell(project, options);
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Request(names);
  for (const auto& [name, read] : shaders) {
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package != shell.Id(name)) continue;
      shell.Send(LookedUp{{{item.package, 0, item.generation,
                            LookedUp::Miss{.last_load = absl::Milliseconds(90),
                                           .last_save = absl::Milliseconds(10),
                                           .last_read = read}}}});
    }
  }
  const WorkerId first = shell.JobOf("/a/1").worker, second = shell.JobOf("/b/1").worker;
  EXPECT_NE(first, second);
  for (const std::string name : {"/c/2", "/d/3", "/e/4"})
    EXPECT_EQ(shell.JobOf(name).worker, first) << name;
  for (const std::string name : {"/d/2", "/e/3", "/a/4"})
    EXPECT_EQ(shell.JobOf(name).worker, second) << name;
}

TEST(InputAffinityTest, WhatPlatformsReadCountsTogether) {
  CookOptions options;
  options.workers = 2;
  options.platform_count = 2;
  Inputs many(LookedUp::kLastReadMax);
  for (size_t i = 0; i < many.size(); ++i) many[i] = 1000 + i;
  const std::vector<std::string> names = {"/a/1", "/b/1", "/c/2", "/d/2"};
  CoreHarness shell("/a/1\n/b/1\n/c/2\n/d/2\n", options);
  shell.slots = 8;
  shell.hold_look_ups = true;
  shell.Request(names);
  const auto miss = [&](const std::string& name, const Inputs& first, const Inputs& second) {
    const auto with = [](const Inputs& read) {
      return LookedUp::Miss{.last_load = absl::Milliseconds(90),
                            .last_save = absl::Milliseconds(10),
                            .last_read = read};
    };
    for (const LookUp::Item& item : shell.look_ups) {
      if (item.package != shell.Id(name)) continue;
      shell.Send(LookedUp{{{item.package, 0, item.generation, with(first)},
                           {item.package, 1, item.generation, with(second)}}});
    }
  };
  miss("/a/1", {1}, {2});
  miss("/b/1", {3}, many);
  miss("/c/2", {}, {3});
  miss("/d/2", {2}, {});
  EXPECT_NE(shell.JobOf("/a/1").worker, shell.JobOf("/b/1").worker);
  EXPECT_EQ(shell.JobOf("/c/2").worker, shell.JobOf("/b/1").worker);
  EXPECT_EQ(shell.JobOf("/d/2").worker, shell.JobOf("/a/1").worker);
}

}  // namespace
}  // namespace galley::director
