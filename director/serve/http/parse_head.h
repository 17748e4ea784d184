// ParseHead: the head of a request, by the parser of Boost.Beast. Nothing else of Beast is used
// anywhere: neither its sockets nor its bodies.
// Threads: none; a pure function.
#pragma once

#include <string_view>
#include <variant>

#include "common/http/request_checks.h"

namespace galley::director {

// `head` goes from the request line to the empty line. The views of the result point into it.
// 505 for a version other than 1.0 and 1.1, 400 for all else that the parser refuses; both end the
// connection. REQUIRES: http::CheckHeadBytes has nothing against `head`.
std::variant<http::RequestHead, http::Refusal> ParseHead(std::string_view head);

}  // namespace galley::director
