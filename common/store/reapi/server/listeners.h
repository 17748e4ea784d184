// Where a server listens, and with what credentials: other addresses than loopback only with TLS
// and with identities. gRPC stays in listeners.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::store {

struct TlsFiles {
  std::string certificate;  // the server's chain; "": no TLS
  std::string key;
  std::string ca;  // of clients' certificates; "": they show none
};

// "unix:/path".
bool IsUnixAddress(std::string_view address);
// True for a Unix address, and for "host:port" with a loopback host.
bool IsLocalAddress(std::string_view address);

// INVALID_ARGUMENT: no address; FAILED_PRECONDITION: what such an address needs and has not.
absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities);

}  // namespace galley::store
