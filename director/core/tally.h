// Tally: what a cook has come to so far, in numbers.
#pragma once

#include "director/core/cook_core.h"
#include "director/core/monitor.h"

namespace galley::director {

struct Tally {
  Counters counters;
  Monitor monitor;
};

}  // namespace galley::director
