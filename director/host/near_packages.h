// WithNearPackages: adds the nearest names that cooks know to the error about a package that no
// cook knows.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "director/journal/journal.h"

namespace galley::director {

// Returns `status`; if it is NOT_FOUND, its text ends with the names nearest to the first of
// `packages` that the journal does not have. One scan of the journal. May block.
absl::Status WithNearPackages(Journal& journal, std::span<const std::string> packages,
                              const absl::Status& status);

}  // namespace galley::director
