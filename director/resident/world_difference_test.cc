#include "director/resident/world_difference.h"

#include "director/resident/shown_world.h"
#include "director/resident/testing/device_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

class WorldDifferenceTest : public DeviceTest {
 protected:
  WorldDifference Between(const WorldPtr& before, const WorldPtr& after,
                          std::vector<std::string> referring = {}) {
    gone_.clear();
    return DifferenceOf(*before, *after, *journal_, [&](const std::vector<std::string>& gone) {
      gone_ = gone;
      return referring;
    });
  }

  std::vector<std::string> gone_;  // for which referencers were asked
};

TEST_F(WorldDifferenceTest, APackageDiffersByItsSourceOrItsSidecar) {
  Write("content/a.png", "a");
  Write("content/b.png", "b");
  Write("content/c.png", "c");
  const WorldPtr before = MakeNow();
  Write("content/a.png", "other");
  Write("content/b.png.cook", "cooker = \"copy\"\n");
  const WorldPtr after = MakeNow();
  EXPECT_THAT(Between(before, after).packages, ElementsAre("/Game/a.png", "/Game/b.png"));
}

TEST_F(WorldDifferenceTest, SameFilesAreNoDifference) {
  Write("content/a.png", "a");
  const WorldPtr before = MakeNow();
  EXPECT_TRUE(Between(before, MakeNow()).empty());
}

TEST_F(WorldDifferenceTest, AFileJustWrittenDiffersIfItWasReadBefore) {
  clock_.ahead_s = -3600;
  Write("content/a.png", "a");
  Write("content/b.png", "b");
  const WorldPtr before = MakeNow();
  ASSERT_TRUE(before->snapshot->DigestOf("/Game/b.png").ok());
  EXPECT_TRUE(Between(before, MakeNow()).empty());
  Write("content/c.png", "c");
  const WorldPtr read = MakeNow();
  // The file may have been edited since, within one tick of the clock.
  ASSERT_TRUE(read->snapshot->LearnDigest("/Game/c.png", Digest::Of("x")).ok());
  EXPECT_THAT(Between(read, MakeNow()).packages, ElementsAre("/Game/c.png"));
}

TEST_F(WorldDifferenceTest, WhatRefersToAPackageThatIsGoneDiffers) {
  Write("content/a.png", "a");
  Write("content/b.level", "b");
  const WorldPtr before = MakeNow();
  ASSERT_TRUE(RemoveAll(Host("content/a.png")).ok());
  EXPECT_THAT(Between(before, MakeNow(), {"/Game/b.level"}).packages,
              ElementsAre("/Game/a.png", "/Game/b.level"));
  EXPECT_THAT(gone_, ElementsAre("/Game/a.png"));
}

TEST_F(WorldDifferenceTest, APackageOnlyByItsSidecarIsGoneWithIt) {
  Write("content/a.other", "a");
  Write("content/a.other.cook", "cooker = \"copy\"\n");
  Write("content/none", "no package");
  const WorldPtr before = MakeNow();
  ASSERT_TRUE(RemoveAll(Host("content/a.other.cook")).ok());
  ASSERT_TRUE(RemoveAll(Host("content/none")).ok());
  EXPECT_THAT(Between(before, MakeNow(), {"/Game/b.level"}).packages,
              testing::IsSupersetOf({"/Game/a.other", "/Game/b.level"}));
  EXPECT_THAT(gone_, ElementsAre("/Game/a.other"));
}

TEST_F(WorldDifferenceTest, WhatRefersToAPackageThatIsNeverCookedNowDiffers) {
  Write("content/a.png", "a");
  Write("content/b.level", "b");
  const WorldPtr before = MakeNow();
  project_.cook.never.push_back({"/Game/a.png"});
  rules_ = nullptr;
  EXPECT_THAT(Between(before, MakeNow(), {"/Game/b.level"}).packages,
              ElementsAre("/Game/a.png", "/Game/b.level"));
  EXPECT_THAT(gone_, ElementsAre("/Game/a.png"));
}

TEST_F(WorldDifferenceTest, OfVeryManyFilesNothingIsKnownToBeTheSame) {
  const WorldPtr before = MakeNow();
  for (const char* name : {"a", "b", "c"}) Write(std::string("content/") + name + ".png", name);
  const WorldPtr after = MakeNow();
  const auto within = [&](size_t difference_max) {
    const ReferringPackages none = [](const std::vector<std::string>&) {
      return std::vector<std::string>();
    };
    return DifferenceOf(*before, *after, *journal_, none, difference_max);
  };
  EXPECT_EQ(within(3).packages.size(), 3u);
  EXPECT_EQ(within(2), (WorldDifference{.is_all = true}));
}

TEST_F(WorldDifferenceTest, InAnotherEnvironmentNothingIsKnownToBeTheSame) {
  const WorldPtr before = MakeNow();
  auto after = std::make_shared<World>(*MakeNow());
  after->environment["LEVEL"] = "1";
  EXPECT_TRUE(Between(before, after).is_all);
}

TEST_F(WorldDifferenceTest, TheIdentityIsThatOfTheFilesAndTheRules) {
  Write("content/a.png", "a");
  const Digest rules = Digest::Of("rules");
  const Digest identity = ShowWorld(1, MakeNow(), rules)->identity;
  EXPECT_EQ(ShowWorld(2, MakeNow(), rules)->identity, identity) << "of the next director";
  EXPECT_NE(ShowWorld(1, MakeNow(), Digest::Of("other"))->identity, identity);
  Write("content/a.png", "b");
  EXPECT_NE(ShowWorld(1, MakeNow(), rules)->identity, identity);
}

TEST_F(WorldDifferenceTest, TheIdentityOfAnEditedWorldIsThatOfTheSameWorldSeenAnew) {
  Write("content/a.png", "a");
  Write("content/b.png", "b");
  Write("content/c.png", "c");
  const Digest rules = Digest::Of("rules");
  const ShownWorldPtr before = ShowWorld(1, MakeNow(), rules);
  ASSERT_TRUE(before->world->snapshot->DigestOf("/Game/c.png").ok());
  Write("content/a.png", "edited");
  Write("content/c.png", "c");
  Write("content/new.png", "n");
  ASSERT_TRUE(RemoveAll(Host("content/b.png")).ok());
  const WorldPtr after = MakeNow();
  const WorldDifference difference = Between(before->world, after);
  EXPECT_THAT(difference.packages, ElementsAre("/Game/a.png", "/Game/b.png", "/Game/new.png"));
  EXPECT_THAT(difference.files,
              ElementsAre("/Game/a.png", "/Game/b.png", "/Game/c.png", "/Game/new.png"));
  EXPECT_EQ(ShowNext(*before, 2, after, rules, difference.files)->identity,
            ShowWorld(2, after, rules)->identity);
}

class ShownPackageTest : public DeviceTest {
 protected:
  std::optional<devices::ShownPackage> Show(const std::string& package) {
    shown_ = ShowWorld(1, MakeNow(), Digest::Of("rules"));
    auto shows = ShowPackage(*shown_, *shown_->Find("linux"), package, nullptr);
    EXPECT_TRUE(shows.ok()) << shows.status();
    return shows.value();
  }
  ShownWorldPtr shown_;
};

TEST_F(ShownPackageTest, ASmallCopiedFileIsShownAsItIs) {
  Write("content/a.txt", "text");
  const auto shows = Show("/Game/a.txt");
  ASSERT_TRUE(shows.has_value());
  ASSERT_TRUE(shows->file.has_value());
  EXPECT_EQ(shows->file->digest, Digest::Of("text"));
  EXPECT_EQ(SmallCopyOf(*shown_, *shown_->Find("linux"), "/Game/a.txt"), shows->file);
}

TEST_F(ShownPackageTest, ALargeCopiedFileAndOtherPackagesAreLinks) {
  Write("content/large.txt", std::string(devices::kStaticFileBytesMax + 1, 'x'));
  Write("content/a.png", "a");
  EXPECT_FALSE(Show("/Game/large.txt")->file.has_value());
  EXPECT_FALSE(Show("/Game/a.png")->file.has_value());
}

TEST_F(ShownPackageTest, APackageThatIsJudgedAwayIsNotShown) {
  Write("content/a.png", "a");
  Write("content/a.png.cook", "cooker = \"nobody\"\n");
  EXPECT_EQ(Show("/Game/a.png"), std::nullopt);
  EXPECT_EQ(Show("/Game/none.png"), std::nullopt);
}

TEST_F(ShownPackageTest, SmallCopiesArePutIntoTheStoreOnce) {
  Write("content/a.txt", "text");
  std::vector<devices::ShownPackage> packages = {*Show("/Game/a.txt")};
  ASSERT_TRUE(PutSmallCopies(*shown_, packages, memory_, nullptr).ok());
  EXPECT_EQ(*memory_.Get(Digest::Of("text")).value(), "text");
  ASSERT_TRUE(RemoveAll(Host("content/a.txt")).ok());
  EXPECT_TRUE(PutSmallCopies(*shown_, packages, memory_, nullptr).ok()) << "it is there";
}

}  // namespace
}  // namespace galley::director
