// The target of a request: "/v1/linux/Game/a%20b.ktx2?x=1" becomes segments of a path and a query.
//
// Escapes are decoded once, after the path was split, and each segment must then be a plain name,
// so that no caller decodes, normalises or checks again. Other paths are refused instead of mended.
// Threads: none; pure functions.   Source: RFC 9112, 3.2; RFC 3986, 2.1, 3.3 and 3.4.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::http {

inline constexpr size_t kTargetBytesMax = 8 * 1024;

struct RequestTarget {
  // Decoded, without the slashes between them. Each is valid UTF-8, not empty, "." or "..", and has
  // no slash, backslash, NUL or other control character. Empty for "/".
  std::vector<std::string> segments;
  // The text after '?', with its escapes. nullopt: there is no '?'.
  std::optional<std::string> query;
};

// INVALID_ARGUMENT: the target is not "/<path>" or "/<path>?<query>", is longer than
// kTargetBytesMax, or its path is not plain once it is decoded. The message is a sentence in ASCII
// that says which, and the answer is 400. A request that CheckRequest let through is short enough.
//
// Printable ASCII that RFC 3986 wants to be escaped, like '[' and '|', stands for itself: browsers
// and curl send it so. '#' is refused, since no client sends a fragment, and so are bytes that are
// not printable ASCII. The escapes of the query are checked, too, but stay.
absl::StatusOr<RequestTarget> ParseRequestTarget(std::string_view target);

}  // namespace galley::http
