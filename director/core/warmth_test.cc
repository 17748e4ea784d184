// Affinity: packages that share inputs go where these are warm.
#include "director/core/warmth.h"

#include <string>
#include <vector>

#include "director/core/core_harness.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Inputs = std::vector<uint64_t>;

TEST(WarmthTest, WhoReadAnInputHoldsIt) {
  Warmth warmth;
  warmth.Note(WorkerId(3), Inputs{1, 2});
  warmth.Note(WorkerId(4), Inputs{2});
  EXPECT_EQ(warmth.Holders(Inputs{1, 2, 9}), std::vector<WorkerId>({WorkerId(3), WorkerId(4)}));
  EXPECT_EQ(warmth.ShareAt(WorkerId(4), Inputs{1, 2}), 0.5);
  warmth.Forget(WorkerId(3));
  EXPECT_EQ(warmth.Holders(Inputs{1, 2}), std::vector<WorkerId>({WorkerId(4)}));
}

TEST(WarmthTest, TheOldestInputsAndHoldersAreForgotten) {
  Warmth warmth;
  for (uint64_t input = 0; input <= Warmth::kInputsMax; ++input)
    warmth.Note(WorkerId(0), Inputs{input});
  EXPECT_EQ(warmth.ShareAt(WorkerId(0), Inputs{0}), 0);
  EXPECT_EQ(warmth.ShareAt(WorkerId(0), Inputs{1}), 1);
  for (uint32_t worker = 0; worker <= Warmth::kHoldersMax; ++worker)
    warmth.Note(WorkerId(worker), Inputs{7});
  EXPECT_EQ(warmth.Holders(Inputs{7}).size(), Warmth::kHoldersMax);
  EXPECT_EQ(warmth.ShareAt(WorkerId(0), Inputs{7}), 0);
}

TEST(WarmthTest, PackagesOfAFolderGoToTheWorkerThatHasItWarmWhileTheLoadsAreNear) {
  CookOptions options;
  options.workers = 2;
  // The first of each folder are as good as equal; then the folders stay apart.
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

}  // namespace
}  // namespace galley::director
