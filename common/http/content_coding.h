// Content codings: in which coding the bytes of an answer are sent.
//
// Threads: none; pure functions.   Source: RFC 9110, 8.4.1, 12.4.2 and 12.5.3; RFC 9659.
#pragma once

#include <optional>
#include <string_view>

namespace galley::http {

enum class ContentCoding {
  kIdentity,  // the bytes as they are
  kGzip,
  kZstd,  // with a window of at most 8 MiB
};

// The coding's name in Content-Encoding: "zstd", "gzip" or "identity", which is not sent.
std::string_view NameOf(ContentCoding coding);

// The first of zstd and gzip that `accept_encoding` accepts; identity if it accepts neither, also
// where it refuses identity, since a client can do more with bytes than with a 406.
//
// A coding is accepted where it, or "*" in its place, is listed without a weight of 0. Other
// weights do not change the order: a client that accepts zstd gets it, also if it prefers gzip. An
// element with a malformed weight refuses its coding, and so does one weight of 0 among several
// elements of a coding. nullopt: the request has no Accept-Encoding, and identity is chosen, though
// RFC 9110 would allow all codings: such clients are often too simple for any.
ContentCoding ChooseContentCoding(std::optional<std::string_view> accept_encoding);

}  // namespace galley::http
