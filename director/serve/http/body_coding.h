// CodeBody: a body in a content coding.
// Threads: none; a pure function. Cost: up to 0.2 s of processor time for 4 MiB.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/http/content_coding.h"

namespace galley::director {

// nullopt: less than 5 % would be saved. Zstandard has a window of at most 8 MiB (RFC 9659).
// REQUIRES: `coding` is not kIdentity; `bytes` has at most 4 MiB.
std::optional<std::string> CodeBody(std::string_view bytes, http::ContentCoding coding);

}  // namespace galley::director
