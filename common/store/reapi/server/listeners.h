// The addresses at which a server listens, and their credentials: other addresses than loopback
// only with TLS and with identities. gRPC stays in listeners.cc.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::store {

// INVALID_ARGUMENT: no address; FAILED_PRECONDITION: what such an address needs and has not.
absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities);

}  // namespace galley::store
