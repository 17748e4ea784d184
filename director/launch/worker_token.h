// Tokens that workers show when they attach.
// Threads: any.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

// 256 random bits, as text.
std::string NewToken();
// The token that a file holds; one that is not there, or holds none, is made, with mode 0600.
// FAILED_PRECONDITION: others may read it.
absl::StatusOr<std::string> KeptToken(const std::string& file);

}  // namespace galley::director
