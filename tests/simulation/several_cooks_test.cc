// Several cooks in one cluster, seed by seed. Without variables: seeds 1 to 1,000.
//
//   GALLEY_SIM_FIRST=42 GALLEY_SIM_SEEDS=1 build/tests/several_cooks_test   one seed again
//   GALLEY_SIM_TRACE=1 ...                                                  and all its decisions
#include <algorithm>

#include "gtest/gtest.h"
#include "tests/simulation/seeds.h"
#include "tests/simulation/several_cooks.h"

namespace galley::simulation {
namespace {

TEST(SeveralCooksTest, EachComesToWhatItComesToAlone) {
  const uint64_t seeds = FromEnvironment("GALLEY_SIM_SEEDS", 1'000);
  SeveralCooksOutcome sum;
  const auto run = [](uint64_t seed, bool is_told) {
    return RunSeveralCooks({.seed = seed, .is_told = is_told});
  };
  RunSeeds("several_cooks_test", seeds, run, [&](const SeveralCooksOutcome& outcome) {
    sum.cooks += outcome.cooks;
    sum.compared += outcome.compared;
    sum.counts.shared += outcome.counts.shared;
    sum.counts.crashes += outcome.counts.crashes;
    sum.counts.resumed += outcome.counts.resumed;
    sum.counts.made_again += outcome.counts.made_again;
    sum.counts.apart += outcome.counts.apart;
    sum.counts.handed_over += outcome.counts.handed_over;
    sum.counts.moved += outcome.counts.moved;
    sum.asks.asked += outcome.asks.asked;
    sum.asks.succeeded += outcome.asks.succeeded;
    sum.asks.failed += outcome.asks.failed;
    sum.asks.withdrawn += outcome.asks.withdrawn;
    sum.asks.again += outcome.asks.again;
    sum.devices.opened += outcome.devices.opened;
    sum.devices.read += outcome.devices.read;
    sum.devices.refused += outcome.devices.refused;
    sum.devices.superseded += outcome.devices.superseded;
    sum.devices.cancelled += outcome.devices.cancelled;
    sum.devices.resumed += outcome.devices.resumed;
    sum.devices.roots += outcome.devices.roots;
    sum.devices.events += outcome.devices.events;
    sum.devices.collected += outcome.devices.collected;
    sum.asks.ahead += outcome.asks.ahead;
    sum.counts.at_once = std::max(sum.counts.at_once, outcome.counts.at_once);
  });
  fmt::print(
      "{} cooks, {} compared with what they come to alone, at most {} at once, {} results "
      "shared\n{} directors died, {} jobs resumed, {} results made again, {} roots published "
      "beside those of other files; {} jobs handed over, {} of them moved or backed up\n",
      sum.cooks, sum.compared, sum.counts.at_once, sum.counts.shared, sum.counts.crashes,
      sum.counts.resumed, sum.counts.made_again, sum.counts.apart, sum.counts.handed_over,
      sum.counts.moved);
  fmt::print(
      "{} packages asked for by clients, {} of them ahead of need: {} succeeded, {} failed, {} "
      "withdrawn; {} asks went on behind a director that died\n",
      sum.asks.asked, sum.asks.ahead, sum.asks.succeeded, sum.asks.failed, sum.asks.withdrawn,
      sum.asks.again);
  fmt::print(
      "{} sessions of devices, {} of them went on behind a director that died; {} files read, {} "
      "reads refused ({} superseded), {} cancelled; {} roots, {} events, {} blobs collected\n",
      sum.devices.opened, sum.devices.resumed, sum.devices.read, sum.devices.refused,
      sum.devices.superseded, sum.devices.cancelled, sum.devices.roots, sum.devices.events,
      sum.devices.collected);
  if (seeds >= 1'000) {
    EXPECT_EQ(sum.counts.at_once, 5u);
    EXPECT_GT(sum.compared, sum.cooks / 2);
    EXPECT_GT(sum.counts.shared, sum.cooks / 2);
    EXPECT_GT(sum.counts.crashes, seeds / 30);
    EXPECT_GT(sum.counts.resumed, seeds / 200);
    EXPECT_GT(sum.counts.made_again, seeds / 20);
    EXPECT_GT(sum.counts.apart, 0u);
    EXPECT_LT(sum.counts.moved, sum.counts.handed_over / 10);
    EXPECT_GT(sum.asks.succeeded, seeds / 4);
    EXPECT_GT(sum.asks.failed, seeds / 20);
    EXPECT_GT(sum.asks.withdrawn, seeds / 20);
    EXPECT_GT(sum.asks.again, 0u);
    EXPECT_GT(sum.devices.opened, seeds / 4);
    EXPECT_GT(sum.devices.read, seeds / 2);
    EXPECT_GT(sum.devices.superseded, seeds / 50);
    EXPECT_GT(sum.devices.cancelled, seeds / 100);
    EXPECT_GT(sum.devices.resumed, 0u);
    EXPECT_GT(sum.devices.roots, seeds / 4);
    EXPECT_GT(sum.devices.events, 0u);
    EXPECT_GT(sum.devices.collected, 0u);
    EXPECT_GT(sum.asks.ahead, seeds / 4);
  }
}

}  // namespace
}  // namespace galley::simulation
