#include "director/resident/leased_roots.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

const devices::Audience kDesktop{.platform = "desktop", .cultures = {}};
const devices::Audience kPhone{.platform = "phone", .cultures = {}};
const Digest kOld = Digest::Of("old"), kNew = Digest::Of("new");

store::LeaseChanges Taken(const std::string& name, const Digest& root) {
  store::LeaseChanges changes;
  changes.taken.push_back({.name = name, .root = root});
  return changes;
}

TEST(LeasedRootsTest, ARootIsThereUntilItsLastLeaseGoes) {
  LeasedRoots leased;
  leased.NoteChanges(Taken("a", kOld));
  leased.NoteChanges(Taken("b", kOld));
  ASSERT_NE(leased.Find("a"), nullptr);
  EXPECT_EQ(*leased.Find("a"), kOld);
  leased.NoteChanges({.released = {"a"}});
  EXPECT_EQ(leased.Find("a"), nullptr);
  EXPECT_TRUE(leased.Has(kOld));
  leased.NoteChanges({.released = {"b"}});
  EXPECT_FALSE(leased.Has(kOld));
}

TEST(LeasedRootsTest, ALeaseThatMovesKeepsItsNewRootOnly) {
  LeasedRoots leased;
  leased.NoteChanges(Taken("a", kOld));
  leased.NoteChanges(Taken("a", kNew));
  EXPECT_FALSE(leased.Has(kOld));
  EXPECT_TRUE(leased.Has(kNew));
}

TEST(LeasedRootsTest, TheNewestRootIsTheLastOneThatWasLeased) {
  LeasedRoots leased;
  leased.SetNewest(kDesktop, kOld);
  EXPECT_EQ(leased.NewestLeased(kDesktop), Digest());
  leased.NoteChanges(Taken("a", kOld));
  leased.SetNewest(kDesktop, kNew);
  EXPECT_EQ(leased.NewestLeased(kDesktop), kOld);
  leased.NoteChanges(Taken("b", kNew));
  EXPECT_EQ(leased.NewestLeased(kDesktop), kNew);
  leased.NoteChanges({.released = {"b"}});
  EXPECT_EQ(leased.NewestLeased(kDesktop), Digest()) << "nothing keeps it";
}

TEST(LeasedRootsTest, AnAudienceThatIsDroppedHasNoNewestRoot) {
  LeasedRoots leased;
  leased.SetNewest(kDesktop, kOld);
  leased.SetNewest(kPhone, kNew);
  leased.NoteChanges(Taken("a", kOld));
  leased.NoteChanges(Taken("b", kNew));
  leased.KeepOnly({kDesktop});
  EXPECT_EQ(leased.NewestLeased(kDesktop), kOld);
  EXPECT_EQ(leased.NewestLeased(kPhone), Digest());
  leased.Drop(kDesktop);
  EXPECT_EQ(leased.NewestLeased(kDesktop), Digest());
}

}  // namespace
}  // namespace galley::director
