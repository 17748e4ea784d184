// Seeds: which seeds a test runs, by the environment, and how to repeat one of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/simulation/decision_digest.h"

namespace galley::simulation {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Whether people want to see all decisions.
inline bool IsTraceShown() { return std::getenv("GALLEY_SIM_TRACE") != nullptr; }

inline std::string ReplayLine(uint64_t seed, std::string_view test) {
  return fmt::format("replay: GALLEY_SIM_FIRST={} GALLEY_SIM_SEEDS=1 build/tests/{}", seed, test);
}

// Runs `seeds` seeds from GALLEY_SIM_FIRST on, until five are wrong. `run(seed, is_told)` returns
// the outcome of a seed, with `wrong`, `trace` and `decisions`; `add(outcome)` sums outcomes up.
template <typename Run, typename Add>
void RunSeeds(std::string_view test, uint64_t seeds, const Run& run, const Add& add) {
  const uint64_t first = FromEnvironment("GALLEY_SIM_FIRST", 1);
  int violations = 0;
  for (uint64_t seed = first; seed < first + seeds && violations < 5; ++seed) {
    if (IsTraceShown()) fmt::print(stderr, "seed {}\n", seed);
    const auto outcome = run(seed, IsTraceShown());
    if (AreDecisionsShown()) fmt::print("decisions: seed {} {:016x}\n", seed, outcome.decisions);
    std::string wrong = outcome.wrong;
    if (wrong.empty() && seed % 100 == 0 && run(seed, false).trace != outcome.trace)
      wrong = "safety: two runs of one seed differ";
    if (!wrong.empty()) ++violations;
    EXPECT_EQ(wrong, "") << "seed " << seed << "; " << ReplayLine(seed, test);
    add(outcome);
  }
}

}  // namespace galley::simulation
