// DigestOfNames: tells whether a folder has the same names on two machines.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

// In the order of the file system, and as far as the folder can be read; `error`: why no further.
std::vector<std::string> NamesIn(const std::string& folder, std::error_code* error = nullptr);

// The digest of the names, by which it can be told whether two machines have the same there: the
// names sorted by bytes, each with a NUL at its end. NOT_FOUND: there is no such folder.
absl::StatusOr<Digest> DigestOfNames(const std::string& folder);

}  // namespace galley
