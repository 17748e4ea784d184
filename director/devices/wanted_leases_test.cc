#include "director/devices/wanted_leases.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace galley::devices {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
const Digest kRootOne = Digest::Of("one");
const Digest kRootTwo = Digest::Of("two");

using Released = std::vector<std::string>;

TEST(WantedLeasesTest, TheStoreIsToldDifferencesOnly) {
  WantedLeases leases;
  leases.Want("p/a", kRootOne, kStart);
  leases.Want("p/b", kRootTwo, kStart);
  const store::LeaseChanges first = leases.TakeChanges();
  ASSERT_EQ(first.taken.size(), 2u);
  EXPECT_EQ(first.taken[0], (store::RootLease{"p/a", kRootOne, kStart + WantedLeases::kLength}));
  EXPECT_TRUE(first.released.empty());
  EXPECT_TRUE(leases.TakeChanges().taken.empty());
  leases.Want("p/a", kRootTwo, kStart);
  leases.Drop("p/b");
  const store::LeaseChanges second = leases.TakeChanges();
  ASSERT_EQ(second.taken.size(), 1u);
  EXPECT_EQ(second.taken[0].root, kRootTwo);
  EXPECT_EQ(second.released, (Released{"p/b"}));
}

TEST(WantedLeasesTest, WhatCameAndWentBetweenIsNotTold) {
  WantedLeases leases;
  leases.Want("p/a", kRootOne, kStart);
  leases.Drop("p/a");
  leases.Drop("p/never");
  const store::LeaseChanges changes = leases.TakeChanges();
  EXPECT_TRUE(changes.taken.empty() && changes.released.empty());
  EXPECT_EQ(leases.size(), 0u);
}

TEST(WantedLeasesTest, ALeaseIsRenewedWhenItWouldNotOutlastASession) {
  WantedLeases leases;
  leases.Want("p/a", kRootOne, kStart);
  leases.TakeChanges();
  const absl::Time early = kStart + WantedLeases::kLength - WantedLeases::kRenewal;
  leases.Want("p/a", kRootOne, early);
  EXPECT_TRUE(leases.TakeChanges().taken.empty());
  leases.Want("p/a", kRootOne, early + absl::Seconds(1));
  const store::LeaseChanges changes = leases.TakeChanges();
  ASSERT_EQ(changes.taken.size(), 1u);
  EXPECT_EQ(changes.taken[0].until, early + absl::Seconds(1) + WantedLeases::kLength);
}

TEST(WantedLeasesTest, LeasesOfAnEarlierDirectorThatNobodyWantsAreReleased) {
  WantedLeases leases;
  leases.NoteHeld({{"p/a", kRootOne, kStart}, {"p/b", kRootTwo, kStart}});
  leases.Want("p/a", kRootOne, kStart);
  const store::LeaseChanges changes = leases.TakeChanges();
  ASSERT_EQ(changes.taken.size(), 1u);  // for longer
  EXPECT_EQ(changes.released, (Released{"p/b"}));
}

TEST(WantedLeasesTest, ChangesThatTheStoreDidNotTakeComeAgain) {
  WantedLeases leases;
  leases.Want("p/a", kRootOne, kStart);
  leases.TakeChanges();
  leases.Want("p/b", kRootTwo, kStart);
  leases.Drop("p/a");
  const store::LeaseChanges lost = leases.TakeChanges();
  leases.NoteLost(lost);
  const store::LeaseChanges again = leases.TakeChanges();
  EXPECT_EQ(again.taken, lost.taken);
  EXPECT_EQ(again.released, lost.released);
  EXPECT_TRUE(leases.TakeChanges().released.empty());
}

TEST(WantedLeasesTest, ANameSaysWhoseALeaseIs) {
  const std::string tree(64, 'a');
  for (const LeaseOwner& owner :
       {LeaseOwner{.session = "Abc-_9"}, LeaseOwner{.session = "x", .takes_last_good = true},
        LeaseOwner{.tree = tree}}) {
    const std::string name = LeaseName("3f9a2c11", owner);
    EXPECT_TRUE(store::ValidateLeaseName(name).ok()) << name;
    EXPECT_EQ(ParseLeaseName("3f9a2c11", name), owner);
    EXPECT_FALSE(ParseLeaseName("3f9a2c1", name));
    EXPECT_FALSE(ParseLeaseName("other", name));
  }
  for (const std::string& name :
       {std::string(), std::string("p"), std::string("p/device-session/"),
        std::string("p/device-session/a/b"), "p/device-session/" + std::string(65, 'a'),
        "p/device-tree/" + tree.substr(1), std::string("p/pin/a")}) {
    EXPECT_FALSE(ParseLeaseName("p", name)) << name;
  }
}

}  // namespace
}  // namespace galley::devices
