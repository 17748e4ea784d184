// CallGate: asked before each call of a gRPC server, when nothing of the call's messages was read
// yet and no service knows of it (TlsCredentials, PlainCredentials). So there is one place where it
// is decided who may call what.
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
  bool has_certificate = false;   // it showed one, of an authority of the server's
  std::vector<std::string> uris;  // that the certificate is for (subjectAltName)
};

// `path`: "/package.Service/Method". An error is what the caller is told. Threads: any, many at
// once; must not wait.
using CallGate = std::function<absl::Status(const CallerView& caller, std::string_view path)>;

}  // namespace galley::wire
