#include "tests/simulation/several_cooks.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "director/core/testing/name_filter.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/cooks_stage.h"
#include "tests/simulation/devices_stage.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

constexpr CookClass kClasses[] = {CookClass::kNow, CookClass::kCommit, CookClass::kNightly,
                                  CookClass::kAhead};

// The share of seeds in which clients ask. In wide worlds there are jobs before which an ask goes.
constexpr uint64_t kWithClientsPercent = 30, kWithClientsWidePercent = 60;
// The share of seeds, of those that are not wide, in which devices have sessions.
constexpr uint64_t kWithDevicesPercent = 12;

CookRequested RandomRequest(uint64_t number, const World& world, Random& random) {
  CookRequested request{.request = number,
                        .platforms = static_cast<PlatformMask>(1 + random.Below(3)),
                        .by_the_book = number % 3 == 0,
                        .force = random.Percent(10),
                        .fail_fast = random.Percent(5),
                        .follow_soft = !random.Percent(20),
                        .is_staged = random.Percent(50),
                        .of_class = kClasses[random.Below(4)]};
  const uint64_t most = world.is_wide() ? world.packages.size() : 4;
  for (uint64_t i = 1 + random.Below(most); i > 0; --i) {
    const auto at = std::next(world.packages.begin(),
                              static_cast<std::ptrdiff_t>(random.Below(world.packages.size())));
    std::string name = at->first;
    if (!at->second.generated.empty() && random.Percent(20)) name += "/" + at->second.generated[0];
    request.selected.push_back({name, random.Percent(50) ? InstigatorCategory::kCommandLinePackage
                                                         : InstigatorCategory::kCookMap});
  }
  return request;
}

// Packages that a cook leaves out, and its culture.
std::shared_ptr<const CookFilter> RandomFilter(const World& world, Random& random) {
  NameFilter::Names never;
  for (uint64_t i = random.Percent(60) ? 1 + random.Below(3) : 0; i > 0; --i)
    never.insert(World::NameOf(random.Below(world.packages.size())));
  Cultures cultures;
  if (random.Percent(60)) {
    const size_t culture = random.Below(World::kVariantCultures.size());
    cultures = std::vector<std::string>{std::string(World::kVariantCultures[culture])};
  }
  return std::make_shared<const NameFilter>(std::move(never), std::move(cultures));
}

// Plans what happens to the cooks, and when.
void PlanTrouble(Random& random, CooksStage& stage) {
  const auto some_times = [&](uint64_t percent, uint64_t most, void (CooksStage::*what)()) {
    for (uint64_t i = random.Percent(percent) ? random.Below(most + 1) : 0; i > 0; --i)
      stage.schedule().After(random.Some(4000), [&stage, what] { (stage.*what)(); });
  };
  some_times(70, 5, &CooksStage::Edit);
  some_times(30, 2, &CooksStage::LoseAWorker);
  some_times(30, 3, &CooksStage::BreakAStream);
  some_times(25, 4, &CooksStage::LoseSome);
  some_times(35, 2, &CooksStage::Crash);
}

}  // namespace

SeveralCooksOutcome RunSeveralCooks(const SeveralCooksOptions& options) {
  InitLog("simulation", options.is_told ? LogLevel::kInfo : LogLevel::kOff, "");
  Random random(options.seed);
  SeveralCooksOutcome outcome;
  outcome.cooks = 2 + random.Below(7);
  World world = World::OfSeveralCooks(random);
  // Draws of their own, so that everything else of a seed is as it was without filters.
  Random filters(~options.seed);
  const bool have_filters = filters.Percent(50);
  world.DrawVariants(filters);
  Random clients(options.seed * 31 + 17);
  const bool have_clients =
      clients.Percent(world.is_wide() ? kWithClientsWidePercent : kWithClientsPercent);
  Random devices(options.seed * 43 + 29);
  const bool have_devices = !world.is_wide() && devices.Percent(kWithDevicesPercent);
  if (have_devices) {
    world.extension.clear();
    world.conflicts.clear();  // the rules of a real project stage no two packages at one path
  }
  DevicesStage stage({.seed = options.seed * 7 + 1,
                      .cooks_max = static_cast<uint32_t>(2 + random.Below(4)),
                      .is_calm = false,
                      .is_told = options.is_told},
                     world, {options.seed * 31 + 18, options.seed * 43 + 30});
  std::map<uint64_t, CookRequested> requests;
  for (uint64_t number = 1; number <= outcome.cooks; ++number) {
    requests[number] = RandomRequest(number, world, random);
    if (have_filters && filters.Percent(60)) requests[number].filter = RandomFilter(world, filters);
  }
  for (const auto& [number, request] : requests) {
    const absl::Duration when = random.Some(3000);
    stage.schedule().After(when, [&stage, request = request] { stage.Ask({.request = request}); });
    if (random.Percent(20))
      stage.schedule().After(when + random.Some(1000),
                             [&stage, number = number] { stage.Cancel(number); });
  }
  PlanTrouble(random, stage);
  if (have_clients) stage.PlanAsks();
  if (have_devices) stage.PlanDevices();
  stage.RunUntilOver(outcome.cooks);
  if (have_clients && stage.checks().broken().empty()) stage.AskAlone();
  if (have_devices && stage.checks().broken().empty()) stage.FinishDevices();
  if (stage.checks().broken().empty()) stage.CheckNothingIsLeft();
  outcome.wrong = stage.checks().broken();
  outcome.trace = stage.checks().trace();
  outcome.decisions = stage.checks().decisions.value();
  outcome.counts = stage.counts();
  outcome.asks = stage.ask_counts();
  outcome.devices = stage.device_counts();
  for (const auto& [number, ending] : stage.endings()) {
    if (!outcome.wrong.empty() || !ending.is_whole || ending.roots.empty()) continue;
    CooksStage alone({.seed = 1, .is_told = options.is_told}, stage.WorldOf(number));
    alone.Ask({.request = requests.at(number)});
    alone.RunUntilOver(1);
    ++outcome.compared;
    outcome.wrong = alone.checks().broken();
    if (!outcome.wrong.empty()) continue;
    outcome.wrong = DifferenceOf(alone.endings().at(number), ending, requests.at(number));
  }
  return outcome;
}

}  // namespace galley::simulation
