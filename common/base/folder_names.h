// DigestOfNames: tells whether a folder has the same names on two machines.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

// The digest of the names in `folder`, sorted by bytes, each with a NUL at its end. NOT_FOUND:
// there is no such folder.
absl::StatusOr<Digest> DigestOfNames(const std::string& folder);

}  // namespace galley
