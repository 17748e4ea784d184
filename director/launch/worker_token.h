// WorkerToken: tokens that workers show when they attach.
// Threads: any.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

// Returns 256 random bits, as text.
std::string NewToken();
// Returns the token in a file; if the file is absent, or holds no token, makes one, with mode 0600.
// FAILED_PRECONDITION: other users may read the file.
absl::StatusOr<std::string> KeptToken(const std::string& file);

}  // namespace galley::director
