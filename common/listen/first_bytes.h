// FirstBytes: what a client of a gRPC server says first, before anything of it is taken from the
// socket. A client speaks first, both in HTTP/2 and in TLS: one that has said nothing of either is
// silent.
#pragma once

#include <cstddef>
#include <string_view>

namespace galley::listen {

enum class FirstBytes {
  kTooFew,  // what there is begins like one of the others
  kHttp2,   // the client's preface, whole
  kTls,     // the beginning of a ClientHello
  kOther,
};

// So many bytes decide, at most.
inline constexpr size_t kFirstBytesMax = 24;

// Source: RFC 9113, 3.4 (preface); RFC 8446, 4 and 5.1 (record, handshake message).
FirstBytes Judge(std::string_view bytes);

// The answer that a client hears which finds no room, so that it can say more than "closed":
// HTTP/2's SETTINGS and GOAWAY(ENHANCE_YOUR_CALM) with a text, or TLS's alert internal_error.
std::string_view RefusalOf(bool has_tls);

}  // namespace galley::listen
