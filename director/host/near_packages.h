// WithNearPackages: adds the nearest names of the journal to an error about an unknown package.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "director/journal/journal.h"

namespace galley::director {

// Returns `status`. If it is NOT_FOUND, its text ends with the names nearest to the first of
// `packages` that the journal does not have. Cost: one scan of the journal. May block.
absl::Status WithNearPackages(Journal& journal, std::span<const std::string> packages,
                              const absl::Status& status);

}  // namespace galley::director
