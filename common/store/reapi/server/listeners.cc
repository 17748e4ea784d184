#include "common/store/reapi/server/listeners.h"

#include "common/base/errors.h"
#include "common/listen/listen_address.h"

namespace galley::store {

absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities) {
  if (!listen::IsUnixAddress(address) && !listen::HostOf(address).has_value()) {
    return InvalidArgumentError(
        "{}: expected HOST:PORT, [HOST]:PORT or unix:PATH as address to listen on", address);
  }
  if (listen::IsLocalAddress(address) || (has_tls && has_identities)) return absl::OkStatus();
  return FailedPreconditionError(
      "{}: others than this machine may reach it: it needs {}", address,
      has_tls ? "identities (--identities)" : "TLS (--tls-cert, --tls-key)");
}

}  // namespace galley::store
