#include "tests/simulation/checks.h"

#include <cstdio>

namespace galley::simulation {

void Checks::Trace(std::string_view line) {
  if (is_told_) {
    std::fprintf(stderr, "%9.3f %.*s\n", absl::ToDoubleSeconds(now_), static_cast<int>(line.size()),
                 line.data());
  }
  trace_ = Fnv1a(line, trace_);
}

}  // namespace galley::simulation
