// CallGate: decides who may make which call of a gRPC server. The gate is asked before a message of
// the call is read and before a service sees the call (TlsCredentials, PlainCredentials).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace galley::wire {

// The caller, as far as the transport knows.
struct CallerView {
  bool has_tls = false;
  bool has_certificate = false;   // signed by an authority of the server
  std::vector<std::string> uris;  // of the certificate (subjectAltName)
};

// `path`: "/package.Service/Method". An error is the answer to the caller. Threads: any, many at
// once; must not block.
using CallGate = std::function<absl::Status(const CallerView& caller, std::string_view path)>;

}  // namespace galley::wire
