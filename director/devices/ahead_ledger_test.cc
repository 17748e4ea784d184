#include "director/devices/ahead_ledger.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley::devices {
namespace {

const Digest kFirst = Digest::Of("first");
const Digest kSecond = Digest::Of("second");

class AheadLedgerTest : public testing::Test {
 protected:
  void Make(const std::string& package, absl::Duration slot_time = absl::Minutes(1),
            uint64_t bytes = 100, const Digest& key = kFirst) {
    ledger_.Make({package, "pc"}, key, {.slot_time = slot_time, .bytes = bytes}, now_);
  }
  void Ask(const std::string& package, const Digest& key = kFirst) {
    ledger_.Ask({package, "pc"}, key);
  }
  void Change(const std::string& package) {
    const std::vector<std::string> changed = {package};
    ledger_.Change(changed);
  }
  void Pass(absl::Duration time) {
    now_ += time;
    ledger_.Expire(now_);
  }
  uint64_t hits() const { return ledger_.counts().hits; }
  uint64_t wasted() const { return ledger_.counts().wasted; }

  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
  AheadLedger ledger_{AheadLimits{.bytes_max = 1'000, .entries_max = 5}};
};

TEST_F(AheadLedgerTest, TheFirstAskIsAHitAndLaterOnesAreNone) {
  Make("a");
  EXPECT_EQ(ledger_.unasked(), 1u);
  Ask("a");
  Ask("a");
  Ask("b");
  EXPECT_EQ(hits(), 1u);
  EXPECT_EQ(ledger_.unasked(), 0u);
  EXPECT_EQ(ledger_.counts(), (AheadCounts{.made = 1, .hits = 1, .wasted = 0, .bytes = 100}));
}

TEST_F(AheadLedgerTest, AHitGivesBackWhatItCost) {
  Make("a", absl::Minutes(6));
  Make("b", absl::Minutes(4));
  EXPECT_TRUE(ledger_.IsSlotTimeSpent(1));
  EXPECT_FALSE(ledger_.IsSlotTimeSpent(2)) << "ten minutes for each slot";
  Ask("b");
  EXPECT_FALSE(ledger_.IsSlotTimeSpent(1));
  EXPECT_EQ(ledger_.slot_time_spent(), absl::Minutes(6));
}

TEST_F(AheadLedgerTest, SlotTimeIsFreeAgainAfterAnHourAndBytesAfterADay) {
  Make("a", absl::Minutes(10), 1'000);
  EXPECT_TRUE(ledger_.AreBytesSpent());
  EXPECT_EQ(ledger_.expires_at(), now_ + absl::Hours(1));
  Pass(absl::Hours(1));
  EXPECT_FALSE(ledger_.IsSlotTimeSpent(1));
  EXPECT_TRUE(ledger_.AreBytesSpent());
  EXPECT_EQ(wasted(), 0u);
  Pass(absl::Hours(23));
  EXPECT_FALSE(ledger_.AreBytesSpent());
  EXPECT_EQ(wasted(), 1u) << "nobody asked for a day";
}

TEST_F(AheadLedgerTest, WhatChangedBeforeAnybodyAskedIsWastedAndPaidFor) {
  Make("a");
  Change("a");
  EXPECT_EQ(wasted(), 0u) << "its result may be the same";
  ledger_.Settle({"a", "pc"}, kSecond);
  EXPECT_EQ(wasted(), 1u);
  EXPECT_EQ(ledger_.slot_time_spent(), absl::Minutes(1));
  Ask("a", kSecond);
  EXPECT_EQ(hits(), 0u);
}

TEST_F(AheadLedgerTest, WhatChangedBackIsStillAHit) {
  Make("a");
  Change("a");
  ledger_.Settle({"a", "pc"}, kFirst);
  Ask("a");
  EXPECT_EQ(hits(), 1u);
  Make("b");
  Make("c");
  ledger_.ChangeAll();
  Ask("b");
  Ask("c", kSecond);
  EXPECT_EQ(hits(), 2u);
  EXPECT_EQ(wasted(), 1u);
}

TEST_F(AheadLedgerTest, WhatIsMadeAgainIsASecondPackage) {
  Make("a");
  Make("a", absl::Minutes(1), 100, kSecond);
  EXPECT_EQ(ledger_.counts().made, 2u);
  EXPECT_EQ(wasted(), 1u);
  EXPECT_EQ(ledger_.slot_time_spent(), absl::Minutes(2));
}

TEST_F(AheadLedgerTest, TheOldestOfTooManyIsWasted) {
  for (int i = 0; i < 7; ++i) Make(fmt::format("p{}", i), absl::Seconds(1), 10);
  EXPECT_EQ(ledger_.unasked(), 5u);
  EXPECT_EQ(wasted(), 2u);
  Ask("p0");
  EXPECT_EQ(hits(), 0u);
  EXPECT_EQ(ledger_.slot_time_spent(), absl::Seconds(7)) << "no sum is too low";
  Ask("p6");
  EXPECT_EQ(ledger_.slot_time_spent(), absl::Seconds(6));
}

TEST_F(AheadLedgerTest, TheStoresLimitGivesThatOfBytes) {
  EXPECT_EQ(AheadLimits::BytesMaxOf(uint64_t{160} << 30), uint64_t{10} << 30);
  EXPECT_EQ(AheadLimits::BytesMaxOf(0), uint64_t{4} << 30);
  EXPECT_EQ(AheadLimits::BytesMaxOf(UINT64_MAX), uint64_t{4} << 30);
}

// Whoever makes nothing while a budget is spent exceeds it by one job at most, whatever is asked
// for, and what was made is always a hit, wasted, or not known yet.
TEST(AheadLedgerPropertyTest, TheBudgetHoldsAndTheCountsAddUp) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const AheadLimits limits{.bytes_max = 1'000, .entries_max = 50};
    AheadLedger ledger(limits);
    absl::Time now = absl::FromUnixSeconds(1'000'000);
    for (int i = 0; i < 2'000; ++i) {
      now += absl::Seconds(random() % 60);
      ledger.Expire(now);
      const AheadKey key{fmt::format("p{}", random() % 100), random() % 2 == 0 ? "pc" : "mobile"};
      const Digest action_key = random() % 2 == 0 ? kFirst : kSecond;
      const std::vector<std::string> packages = {key.package};
      switch (random() % 5) {
        case 0:
          ledger.Ask(key, action_key);
          break;
        case 1:
          ledger.Change(packages);
          break;
        case 2:
          ledger.Settle(key, action_key);
          break;
        default:
          if (ledger.IsSlotTimeSpent(2) || ledger.AreBytesSpent()) break;
          ledger.Make(key, action_key,
                      {.slot_time = absl::Seconds(random() % 120), .bytes = random() % 50}, now);
      }
      const AheadCounts& counts = ledger.counts();
      ASSERT_EQ(counts.made, counts.hits + counts.wasted + ledger.unasked());
      ASSERT_LE(ledger.unasked(), limits.entries_max);
      ASSERT_LT(ledger.slot_time_spent(), 2 * limits.slot_time_max + absl::Seconds(120));
      ASSERT_GE(ledger.slot_time_spent(), absl::ZeroDuration());
      ASSERT_LT(ledger.bytes_spent(), limits.bytes_max + 50);
    }
  }
}

}  // namespace
}  // namespace galley::devices
