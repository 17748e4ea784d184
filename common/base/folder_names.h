// NamesIn, DigestOfNames: the names in a folder.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

// Lists the names in the order of the file system, until an error; `error`, if given, is set to it.
std::vector<std::string> NamesIn(const std::string& folder, std::error_code* error = nullptr);

// Returns the digest of the names, sorted by bytes, each with a NUL at its end: equal on machines
// that have the same names there. NOT_FOUND: there is no such folder.
absl::StatusOr<Digest> DigestOfNames(const std::string& folder);

}  // namespace galley
