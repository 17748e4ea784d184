// FirstBytes: the kind of a client's first bytes to a gRPC server, read without taking them from
// the socket. In HTTP/2 and in TLS the client speaks first; a client that has sent neither is
// silent.
#pragma once

#include <cstddef>
#include <string_view>

namespace galley::listen {

enum class FirstBytes {
  kTooFew,  // may become one of the others
  kHttp2,   // the client's preface, whole
  kTls,     // the beginning of a ClientHello
  kOther,
};

// The most bytes that Judge needs.
inline constexpr size_t kFirstBytesMax = 24;

// Source: RFC 9113, 3.4 (preface); RFC 8446, 4 and 5.1 (record, handshake message).
FirstBytes Judge(std::string_view bytes);

// The answer to a refused client, so that the client can report more than "closed": HTTP/2's
// SETTINGS and GOAWAY(ENHANCE_YOUR_CALM) with a text, or TLS's alert internal_error.
std::string_view RefusalOf(bool has_tls);

}  // namespace galley::listen
