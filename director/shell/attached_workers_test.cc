#include "director/shell/attached_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "director/core/workers.h"

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

TEST(AttachedWorkersTest, OneThatCameByItselfIsLostWhenItWasAwayForLong) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch();
  workers.Attach("node", std::nullopt);
  workers.Attach("back", std::nullopt);
  workers.Attach("local-1", 5);
  for (const char* name : {"node", "back", "local-1"}) workers.Detach(name, begin);
  workers.Attach("back", std::nullopt);
  const auto nobody = [](const std::string&) { return false; };
  EXPECT_THAT(workers.RemoveAwaySince(begin - absl::Seconds(1), nobody), IsEmpty());
  EXPECT_THAT(workers.RemoveAwaySince(begin, nobody), ElementsAre("node"));
  EXPECT_THAT(workers.RemoveAwaySince(begin, nobody), IsEmpty());
  EXPECT_THAT(workers.Names(), ElementsAre("back", "local-1"));
}

TEST(AttachedWorkersTest, AnEndThatIsToldLateIsNoEnd) {
  AttachedWorkers workers;
  const absl::Time begin = absl::UnixEpoch();
  workers.Attach("node", std::nullopt);
  workers.Detach("node", begin);  // of the stream before
  EXPECT_THAT(workers.RemoveAwaySince(begin, [](const std::string&) { return true; }), IsEmpty());
  EXPECT_THAT(workers.RemoveAwaySince(begin, [](const std::string&) { return false; }), IsEmpty());
  EXPECT_THAT(workers.Names(), ElementsAre("node"));
}

TEST(AttachedWorkersTest, AWorkerThatHasASegmentHasFiles) {
  AttachedWorkers workers;
  workers.Attach("node", std::nullopt);
  workers.Attach("local-1", 5);
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
