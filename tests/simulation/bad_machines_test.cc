// Bad machines cost a cook little more than their absence would, and each is told of once.
//
//   GALLEY_BAD_SEEDS=1000 build/tests/bad_machines_test    more seeds than in a plain run
//   GALLEY_BAD_FIRST=42 GALLEY_BAD_SEEDS=1 ...             a single seed again
#include "tests/simulation/bad_machines.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/seeds.h"

namespace galley::simulation {
namespace {

using enum MachineKind;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr uint64_t kSeeds = 60;
constexpr double kRatioMax = 1.15;

std::vector<MachineKind> Good(size_t count) { return std::vector<MachineKind>(count, kGood); }

std::vector<MachineKind> WithBad(size_t good, std::vector<MachineKind> bad, uint64_t seed) {
  std::vector<MachineKind> all = Good(good);
  for (size_t i = 0; i < bad.size(); ++i)
    all.insert(all.begin() + static_cast<ptrdiff_t>((seed * 31 + i * 17) % (all.size() + 1)),
               bad[i]);
  return all;
}

double Seconds(const BadFarmOutcome& outcome) { return absl::ToDoubleSeconds(outcome.took); }

void ExpectRight(const BadFarmOutcome& outcome, uint64_t seed) {
  EXPECT_TRUE(outcome.has_ended) << seed;
  EXPECT_EQ(outcome.error, "") << seed;
  EXPECT_EQ(outcome.failed, 0u) << seed;
  EXPECT_TRUE(outcome.is_right) << seed;
}

TEST(BadMachinesTest, ThreeOfEightThatAreBadCostLittle) {
  const uint64_t first = FromEnvironment("GALLEY_BAD_FIRST", 1);
  const uint64_t count = FromEnvironment("GALLEY_BAD_SEEDS", kSeeds);
  double sum = 0, worst = 0;
  uint64_t worst_seed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Lie lie = static_cast<Lie>(seed % 3);
    const BadFarmOutcome alone = CookOn({.seed = seed, .machines = Good(5), .lie = lie});
    ExpectRight(alone, seed);
    EXPECT_TRUE(alone.told.empty()) << seed << " " << alone.told[0];
    const std::vector<MachineKind> all = WithBad(5, {kFull, kLiar, kSlow}, seed);
    const BadFarmOutcome outcome = CookOn({.seed = seed, .machines = all, .lie = lie});
    ExpectRight(outcome, seed);
    const double ratio = Seconds(outcome) / Seconds(alone);
    if (std::getenv("GALLEY_BAD_TRACE") != nullptr)
      fmt::print("seed {}: {:.1f} s alone, {:.1f} s with the bad ones: {:.3f}\n", seed,
                 Seconds(alone), Seconds(outcome), ratio);
    EXPECT_LE(ratio, kRatioMax) << seed;
    sum += ratio;
    if (ratio > worst) worst_seed = seed;
    worst = std::max(worst, ratio);
    // The machines that are told of, two at most, have a line each.
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string machine = "m" + std::to_string(i);
      const auto of_it = std::ranges::count_if(
          outcome.told, [&](const std::string& line) { return line.ends_with(" " + machine); });
      const bool is_right = all[i] == kGood   ? of_it == 0
                            : all[i] == kFull ? of_it == 1
                            : all[i] == kLiar ? of_it >= 1
                                              : true;
      EXPECT_TRUE(is_right) << "seed " << seed << ", machine " << i << " was told " << of_it
                            << " times";
    }
  }
  fmt::print("{} seeds: {:.3f} of the time of the five alone, the worst {:.3f} (seed {})\n", count,
             sum / static_cast<double>(count), worst, worst_seed);
}

TEST(BadMachinesTest, OneOrSeveralFullDisksFromTheStartInTheMiddleAndHealed) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    for (const size_t full : {1, 3, 7}) {
      const std::vector<MachineKind> all =
          WithBad(8 - full, std::vector<MachineKind>(full, kFull), seed);
      const BadFarm farm{.seed = seed, .machines = all, .jobs_per_slot = 10};
      const BadFarmOutcome alone =
          CookOn({.seed = seed, .machines = Good(8 - full), .jobs_per_slot = 10});
      const BadFarmOutcome from_the_start = CookOn(farm);
      ExpectRight(from_the_start, seed);
      EXPECT_LE(Seconds(from_the_start), 1.2 * Seconds(alone) + 3) << seed << " " << full;
      BadFarm later = farm;
      later.full_from = alone.took / 3;
      ExpectRight(CookOn(later), seed);
      // Full disks lose few jobs, however long the cook takes.
      for (const uint64_t failed : from_the_start.jobs_failed) EXPECT_LE(failed, 20u) << seed;
      BadFarm healed = later;
      healed.full_until = later.full_from + absl::Seconds(10);
      const BadFarmOutcome outcome = CookOn(healed);
      ExpectRight(outcome, seed);
      EXPECT_LE(outcome.took, CookOn(later).took + absl::Seconds(20)) << seed;
    }
  }
}

TEST(BadMachinesTest, AllFullDisksEndTheCookWithinTwoMinutesUnlessOneIsHealed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BadFarm farm{.seed = seed,
                 .machines = std::vector<MachineKind>(1 + seed % 8, kFull),
                 .jobs_per_slot = 10};
    for (const absl::Duration from : {absl::ZeroDuration(), absl::Seconds(5)}) {
      farm.full_from = from;
      const BadFarmOutcome outcome = CookOn(farm);
      EXPECT_THAT(outcome.error, HasSubstr("no machine can work")) << seed;
      EXPECT_THAT(outcome.error, HasSubstr("no space left on device"));
      EXPECT_LE(outcome.took - from, absl::Minutes(2)) << seed;
      EXPECT_EQ(outcome.failed, 0u) << seed;
    }
    farm.full_from = absl::Seconds(2);
    farm.full_until = absl::Seconds(40);
    ExpectRight(CookOn(farm), seed);
  }
}

// With few packages it takes a while until each machine has failed three of them: nobody waits for
// that.
TEST(BadMachinesTest, FortyFullDisksAndFewPackagesEndTheCookWithinTwoMinutesToo) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const BadFarmOutcome outcome =
        CookOn({.seed = seed, .machines = std::vector<MachineKind>(40, kFull), .jobs_per_slot = 1});
    EXPECT_THAT(outcome.error, HasSubstr("no machine can work")) << seed;
    EXPECT_LE(outcome.took, absl::Minutes(2)) << seed;
    EXPECT_EQ(outcome.failed, 0u) << seed;
  }
}

}  // namespace
}  // namespace galley::simulation
