// ReadFileHead: the first bytes of a file.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace galley {

// At most `bytes_max` bytes. FAILED_PRECONDITION unless a regular file; else the error of open or
// read.
absl::StatusOr<std::string> ReadFileHead(const std::string& path, size_t bytes_max);

}  // namespace galley
