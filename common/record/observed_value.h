// CheckValue: checks the value of an observation (observation.h has the table).
#pragma once

#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/record/observation.h"

namespace galley::record {

// The digest in the value of a file, cooked or tool observation; nullopt: any other value.
// INVALID_ARGUMENT names the observation, its value and what was expected.
absl::StatusOr<std::optional<Digest>> CheckValue(const Observed& observed);
// True: canonical order, no duplicates.
bool IsStrictlySorted(std::span<const Observed> observed);

}  // namespace galley::record
