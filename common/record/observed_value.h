// The values that observations may have (observation.h has the table).
#pragma once

#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/record/observation.h"

namespace galley::record {

// The digest in the value of a file, cooked or tool observation; nullopt for every other value.
// INVALID_ARGUMENT names the observation, what its value is and what was expected.
absl::StatusOr<std::optional<Digest>> CheckValue(const Observed& observed);
// Canonical order, nothing twice.
bool IsStrictlySorted(std::span<const Observed> observed);

}  // namespace galley::record
