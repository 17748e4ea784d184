#include "director/shell/attached_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "director/core/jobs/worker_table.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AttachedWorkersTest, NamesOfTheLauncherAreTheCoresNumbers) {
  AttachedWorkers workers;
  EXPECT_EQ(workers.IdOf("local-1"), WorkerId(0));
  EXPECT_EQ(workers.IdOf("local-12"), WorkerId(11));
  EXPECT_EQ(workers.NameOf(WorkerId(11)), "local-12");
}

TEST(AttachedWorkersTest, EveryOtherNameHasAnIdOfItsOwn) {
  AttachedWorkers workers;
  const WorkerId node = workers.IdOf("node7-4711");
  const WorkerId other = workers.IdOf("local-");
  EXPECT_EQ(node, WorkerId(kForeignWorkers));
  EXPECT_NE(other, node);
  EXPECT_NE(workers.IdOf("local-0"), other);
  EXPECT_NE(workers.IdOf("local-1x"), workers.IdOf("local-1"));
  EXPECT_NE(workers.IdOf("local-99999999999"), workers.IdOf("local-1"));
  EXPECT_EQ(workers.IdOf("node7-4711"), node);
  EXPECT_EQ(workers.NameOf(node), "node7-4711");
}

TEST(AttachedWorkersTest, OneOfAnotherMachineIsLostWhenItWasSilentForLong) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch();
  workers.Attach("node", std::nullopt, begin);
  workers.Attach("speaks", std::nullopt, begin);
  workers.Attach("local-1", 5, begin);
  workers.Heard("speaks", begin + absl::Seconds(1));
  workers.Heard("unknown", begin);
  EXPECT_THAT(workers.RemoveSilentSince(begin - absl::Seconds(1), absl::InfinitePast()), IsEmpty());
  EXPECT_THAT(workers.RemoveSilentSince(begin, absl::InfinitePast()), ElementsAre("node"));
  EXPECT_THAT(workers.RemoveSilentSince(begin, absl::InfinitePast()), IsEmpty());
  EXPECT_THAT(workers.Names(), ElementsAre("local-1", "speaks"));
}

TEST(AttachedWorkersTest, OneThatIsBackIsNotLostForItsSilenceBefore) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch();
  workers.Attach("node", std::nullopt, begin);
  workers.Attach("node", std::nullopt, begin + absl::Seconds(2));
  EXPECT_THAT(workers.RemoveSilentSince(begin, absl::InfinitePast()), IsEmpty());
}

// Many workers attach at once, or the network is gone.
TEST(AttachedWorkersTest, WhenMostOfManyAreSilentItTakesLonger) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch(), soon = begin + absl::Seconds(3),
                   later = begin + absl::Seconds(12);
  for (int i = 0; i < 10; ++i) workers.Attach("node-" + std::to_string(i), std::nullopt, begin);
  workers.Attach("speaks", std::nullopt, later);
  EXPECT_THAT(workers.RemoveSilentSince(soon, begin - absl::Seconds(1)), IsEmpty());
  workers.Heard("node-0", soon);
  EXPECT_THAT(workers.RemoveSilentSince(soon - absl::Seconds(1), begin), testing::SizeIs(9));
  EXPECT_THAT(workers.Names(), ElementsAre("node-0", "speaks"));
}

TEST(AttachedWorkersTest, SomeOfManyAreLostSoon) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch();
  for (int i = 0; i < 20; ++i) workers.Attach("node-" + std::to_string(i), std::nullopt, begin);
  for (int i = 0; i < 10; ++i) workers.Heard("node-" + std::to_string(i), begin + absl::Seconds(1));
  EXPECT_THAT(workers.RemoveSilentSince(begin, absl::InfinitePast()), testing::SizeIs(10));
}

TEST(AttachedWorkersTest, AWorkerThatHasASegmentHasFiles) {
  AttachedWorkers workers;
  workers.Attach("node", std::nullopt, absl::UnixEpoch());
  workers.Attach("local-1", 5, absl::UnixEpoch());
  EXPECT_FALSE(workers.HasFiles("node"));
  EXPECT_TRUE(workers.HasFiles("local-1"));
  EXPECT_TRUE(workers.HasFiles("local-2")) << "it is about to come back";
  workers.SetSegment("local-1", 6);
  EXPECT_EQ(workers.SegmentOf("local-1"), 6u);
  workers.Remove("local-1");
  EXPECT_EQ(workers.SegmentOf("local-1"), std::nullopt);
}

}  // namespace
}  // namespace galley::director
