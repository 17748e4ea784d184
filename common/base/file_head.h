// ReadFileHead: the first bytes of a file.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace galley {

// Reads at most `bytes_max` bytes. FAILED_PRECONDITION: not a regular file; other errors: as open
// or read.
absl::StatusOr<std::string> ReadFileHead(const std::string& path, size_t bytes_max);

}  // namespace galley
