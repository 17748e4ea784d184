// WorkerToken: makes the tokens that workers show when they attach.
// Threads: any.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

// Returns 256 random bits, as text.
std::string NewToken();
// Returns the token in a file. If the file is absent, or holds no token, makes the file anew, with
// a new token and mode 0600. FAILED_PRECONDITION: other users have access to the file, or it is
// not a regular file.
absl::StatusOr<std::string> KeptToken(const std::string& file);

}  // namespace galley::director
