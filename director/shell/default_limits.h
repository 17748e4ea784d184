// DefaultLimits: the limits of a job whose rule sets no limits.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/project/resolver.h"
#include "director/journal/kept_limits.h"

namespace galley::director {

struct DefaultLimits {
  uint64_t memory_bytes = 0;
  absl::Duration timeout;
};

// Returns the limit of a job with these needs, in the unit of KeptLimit::limit.
uint64_t LimitOf(KeptLimit::Kind kind, const project::Needs& needs, const DefaultLimits& defaults);

}  // namespace galley::director
