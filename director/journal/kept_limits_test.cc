#include "director/journal/kept_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

class KeptLimitsTest : public testing::Test {
 protected:
  void SetUp() override { state_ = *MakeTemporaryDirectory(testing::TempDir(), "limits-"); }
  void TearDown() override { RemoveAll(state_).IgnoreError(); }

  KeptLimit Limit(const std::string& key, const std::string& include = "absent") const {
    return {.weak_key = Digest::Of(key),
            .observed = {{{record::ObservationKind::kFile, "a.h", ""}, include}},
            .kind = KeptLimit::Kind::kTime,
            .limit = 1000,
            .since = now_,
            .package = "/Game/" + key,
            .stage = 2,
            .error = "slow",
            .log = "log",
            .machine = "here"};
  }
  absl::Status Keep(const KeptLimit& limit) const {
    KeptLimits limits(state_);
    const absl::Status kept = limits.Keep(limit);
    return kept.ok() ? limits.Save() : kept;
  }
  static std::vector<std::string> PackagesOf(const std::vector<KeptLimit>& limits) {
    std::vector<std::string> packages;
    for (const KeptLimit& limit : limits) packages.push_back(limit.package);
    return packages;
  }
  std::vector<KeptLimit> Of(const std::string& key, const std::string& machine = "here") const {
    return KeptLimits(state_).Of(Digest::Of(key), machine, now_);
  }

  std::string state_;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
};

TEST_F(KeptLimitsTest, AreThereForTheNextCook) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  ASSERT_TRUE(Keep(Limit("b")).ok());
  const std::vector<KeptLimit> found = Of("a");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].observed, Limit("a").observed);
  EXPECT_EQ(found[0].kind, KeptLimit::Kind::kTime);
  EXPECT_EQ(found[0].limit, 1000u);
  EXPECT_EQ(found[0].since, now_);
  EXPECT_EQ(found[0].stage, 2);
  EXPECT_EQ(found[0].error, "slow");
  EXPECT_EQ(found[0].log, "log");
}

TEST_F(KeptLimitsTest, OfAnotherMachineAreNotUsed) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  EXPECT_THAT(Of("a", "there"), IsEmpty());
}

TEST_F(KeptLimitsTest, AreKeptForSevenDays) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  now_ += absl::Hours(7 * 24) - absl::Seconds(1);
  EXPECT_THAT(Of("a"), SizeIs(1));
  now_ += absl::Seconds(1);
  EXPECT_THAT(Of("a"), IsEmpty());
}

// The clock was set back since.
TEST_F(KeptLimitsTest, FromTheFutureAreNotUsed) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  now_ -= absl::Seconds(1);
  EXPECT_THAT(Of("a"), IsEmpty());
  ASSERT_TRUE(Keep(Limit("b")).ok());
  now_ += absl::Hours(1);
  EXPECT_THAT(Of("a"), IsEmpty()) << "it is gone";
}

TEST_F(KeptLimitsTest, AreWrittenWhenTheyAreSaved) {
  KeptLimits limits(state_);
  ASSERT_TRUE(limits.Keep(Limit("a")).ok());
  EXPECT_THAT(limits.Of(Digest::Of("a"), "here", now_), SizeIs(1));
  EXPECT_THAT(Of("a"), IsEmpty());
  ASSERT_TRUE(limits.Save().ok());
  EXPECT_THAT(Of("a"), SizeIs(1));
}

TEST_F(KeptLimitsTest, OneThatHadLookedAtTooMuchIsNotKept) {
  KeptLimit large = Limit("a");
  large.observed[0].value.assign(KeptLimits::kLimitBytesMax, 'x');
  EXPECT_EQ(Keep(large).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Of("a"), IsEmpty());
}

TEST_F(KeptLimitsTest, TheyAreBoundedInBytes) {
  constexpr size_t kEach = KeptLimits::kLimitBytesMax / 2;
  constexpr size_t kCount = KeptLimits::kBytesMax / kEach;
  KeptLimits limits(state_);
  for (size_t i = 0; i < 2 * kCount; ++i) {
    KeptLimit limit = Limit(std::to_string(i));
    limit.error.assign(kEach, 'x');
    ASSERT_TRUE(limits.Keep(limit).ok());
  }
  size_t found = 0;
  for (size_t i = 0; i < 2 * kCount; ++i)
    found += limits.Of(Digest::Of(std::to_string(i)), "here", now_).size();
  EXPECT_LT(found, kCount);
  EXPECT_GT(found, kCount - 3);
  EXPECT_THAT(limits.Of(Digest::Of(std::to_string(2 * kCount - 1)), "here", now_), SizeIs(1))
      << "the newest stays";
}

TEST_F(KeptLimitsTest, EachIsKeptOnceAndTheNewestComesFirst) {
  KeptLimits limits(state_);
  ASSERT_TRUE(limits.Keep(Limit("a", "folder")).ok());
  ASSERT_TRUE(limits.Keep(Limit("a")).ok());
  now_ += absl::Hours(1);
  ASSERT_TRUE(limits.Keep(Limit("a", "folder")).ok());
  ASSERT_TRUE(limits.Save().ok());
  const std::vector<KeptLimit> found = Of("a");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].since, now_);
  EXPECT_EQ(found[0].observed[0].value, "folder");
}

TEST_F(KeptLimitsTest, TheOldestGoFirst) {
  std::vector<KeptLimit> many(KeptLimits::kLimitsMax, Limit("a"));
  for (size_t i = 0; i < many.size(); ++i) many[i].limit = i;
  ASSERT_TRUE(WriteFileAtomic(JoinPath(state_, "kept_limits"), EncodeKeptLimits(many)).ok());
  ASSERT_TRUE(Keep(Limit("b")).ok());
  EXPECT_THAT(Of("a"), SizeIs(KeptLimits::kLimitsMax - 1));
  EXPECT_EQ(Of("a").back().limit, 1u);
}

TEST_F(KeptLimitsTest, OfAKeyThatWasCookedWithinItsLimitsTheyAreWithdrawn) {
  KeptLimits limits(state_);
  ASSERT_TRUE(limits.Keep(Limit("a")).ok());
  ASSERT_TRUE(limits.Keep(Limit("b")).ok());
  limits.Withdraw(Digest::Of("a"), Limit("a", "another").observed);
  EXPECT_THAT(limits.Of(Digest::Of("a"), "here", now_), SizeIs(1)) << "it saw another value";
  limits.Withdraw(Digest::Of("a"), Limit("a").observed);
  ASSERT_TRUE(limits.Save().ok());
  EXPECT_THAT(Of("a"), IsEmpty());
  EXPECT_THAT(PackagesOf(Of("b")), ElementsAre("/Game/b"));
  limits.Withdraw(Digest::Of("c"), {});
  EXPECT_TRUE(limits.is_saved()) << "nothing to write";
}

TEST_F(KeptLimitsTest, AllAreCleared) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  KeptLimits limits(state_);
  limits.Clear();
  ASSERT_TRUE(limits.Save().ok());
  EXPECT_THAT(Of("a"), IsEmpty());
}

TEST_F(KeptLimitsTest, WhatCouldNotBeWrittenIsWrittenTheNextTime) {
  KeptLimits limits(state_);
  ASSERT_TRUE(limits.Keep(Limit("a")).ok());
  ASSERT_TRUE(RemoveAll(state_).ok());
  EXPECT_FALSE(limits.Save().ok());
  ASSERT_TRUE(CreateDirectories(state_).ok());
  EXPECT_FALSE(limits.is_saved());
  ASSERT_TRUE(limits.Save().ok());
  EXPECT_THAT(Of("a"), SizeIs(1));
}

// Stubs with different neighbours.
TEST_F(KeptLimitsTest, OfOneKeyThereAreFew) {
  KeptLimits limits(state_);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(limits.Keep(Limit("a", std::to_string(i))).ok());
    ASSERT_TRUE(limits.Keep(Limit("b" + std::to_string(i))).ok());
  }
  const std::vector<KeptLimit> found = limits.Of(Digest::Of("a"), "here", now_);
  ASSERT_THAT(found, SizeIs(KeptLimits::kLimitsOfAKeyMax));
  EXPECT_EQ(found.front().observed[0].value, "39");
  EXPECT_THAT(limits.Of(Digest::Of("b0"), "here", now_), SizeIs(1));
}

TEST_F(KeptLimitsTest, ADamagedFileIsAsNone) {
  ASSERT_TRUE(Keep(Limit("a")).ok());
  const std::string file = JoinPath(state_, "kept_limits");
  std::string bytes = *ReadFile(file);
  bytes.back() ^= 1;
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  EXPECT_EQ(DecodeKeptLimits(bytes).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Of("a"), IsEmpty());
  ASSERT_TRUE(Keep(Limit("b")).ok());
  EXPECT_THAT(Of("b"), SizeIs(1));
}

TEST_F(KeptLimitsTest, OfAnotherVersionTheyAreAsNone) {
  std::string bytes = EncodeKeptLimits({Limit("a")});
  bytes[bytes.find("v1") + 1] = '2';
  EXPECT_EQ(DecodeKeptLimits(bytes).status().code(), absl::StatusCode::kDataLoss);
}

// The first version wrote the file.
TEST(KeptLimitsGoldenTest, TheFirstVersionIsStillRead) {
  const std::vector<KeptLimit> limits = {{.weak_key = Digest::Of("key"),
                                          .observed = {},
                                          .kind = KeptLimit::Kind::kMemory,
                                          .limit = 5,
                                          .since = absl::FromUnixMillis(7),
                                          .package = "/Game/a",
                                          .stage = 1,
                                          .error = "e",
                                          .log = "",
                                          .machine = "m"}};
  const std::string bytes = EncodeKeptLimits(limits);
  EXPECT_EQ(bytes.substr(0, bytes.find(' ')), "galley.kept-limits.v1");
  EXPECT_EQ(bytes.substr(bytes.find('\n') + 1),
            "\x0a\x5b\x0a\x42" + Digest::Of("key").ToString() +
                "\x18\x01\x20\x05\x28\x07\x32\x07/Game/a\x38\x01\x42\x01"
                "e\x52\x01m");
  EXPECT_THAT(*DecodeKeptLimits(bytes), SizeIs(1));
}

TEST(MachineIdentityTest, SaysWhichMachineAndHowMuchMemory) {
  EXPECT_THAT(MachineIdentity(), testing::MatchesRegex(".* .+ [0-9]+"));
  EXPECT_EQ(MachineIdentity(), MachineIdentity());
}

}  // namespace
}  // namespace galley::director
