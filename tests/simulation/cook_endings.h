// Cook endings: compares what cooks came to.
#pragma once

#include <string>

#include "director/core/events.h"
#include "tests/simulation/cooks_stage.h"

namespace galley::simulation {

// How `among` (a cook among others, or what stands) differs from the same cook alone; empty: they
// agree in everything that a cook tells for good.
std::string DifferenceOf(const CookEnding& alone, const CookEnding& among,
                         const director::CookRequested& request);

}  // namespace galley::simulation
