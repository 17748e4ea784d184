// WithNearPackages: the error about a package that no cook knows gets the nearest names that cooks
// know.
#pragma once

#include <span>
#include <string>

#include "absl/status/status.h"
#include "director/journal/journal.h"

namespace galley::director {

// `status` as it is, unless it is NOT_FOUND. Then its text ends with the names nearest to the first
// of `packages` that the journal does not have. One scan of the journal. May block.
absl::Status WithNearPackages(Journal& journal, std::span<const std::string> packages,
                              const absl::Status& status);

}  // namespace galley::director
