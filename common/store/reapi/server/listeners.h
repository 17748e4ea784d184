// Listeners: checks the addresses of a server: addresses other than loopback need TLS and
// identities. gRPC stays in listeners.cc.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::store {

// INVALID_ARGUMENT: `address` is no address. FAILED_PRECONDITION: the address needs TLS or
// identities.
absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities);

}  // namespace galley::store
