#include "tests/simulation/checks.h"

#include <cstdio>

namespace galley::simulation {

void Checks::Trace(std::string_view line) {
  if (is_told_) {
    std::fprintf(stderr, "%9.3f %.*s\n", absl::ToDoubleSeconds(now_), static_cast<int>(line.size()),
                 line.data());
  }
  for (const char c : line) trace_ = (trace_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
}

}  // namespace galley::simulation
