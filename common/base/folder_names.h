// The names in a folder, so that it can be told whether two machines have the same there.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

// The digest of the names, sorted by bytes, each with a NUL at its end. NOT_FOUND: there is no such
// folder.
absl::StatusOr<Digest> DigestOfNames(const std::string& folder);

}  // namespace galley
