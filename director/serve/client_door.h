// OpenClientDoor: the TCP door of a resident director for clients of other machines (`galley serve
// --listen`). Clients show a certificate with a role (roles.h). The door serves no calls of
// workers.
//
// A client of another machine has other files and another user than the director, so its cook is
// staged in the project's output folder, and never removes files that Galley did not put there; an
// ask for anything else is PERMISSION_DENIED. At most kClientCallsMax calls run at a time; a
// further call is RESOURCE_EXHAUSTED.
// Threads: one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/wire/tls_pair.h"
#include "director/serve/tcp_door.h"

namespace galley::director {

class ClientCalls;
class DirectorDoor;

inline constexpr int kClientCallsMax = 256;

struct ClientDoorOptions {
  std::string address;  // "host:port"
  wire::TlsFiles tls;
};
// `calls` and `door` outlive the TcpDoor; `door` answers questions about packages.
// FAILED_PRECONDITION: TLS files are missing; INVALID_ARGUMENT: the address or the TLS files are
// invalid; UNAVAILABLE: the address cannot be listened on.
absl::StatusOr<std::unique_ptr<TcpDoor>> OpenClientDoor(const ClientDoorOptions& options,
                                                        ClientCalls& calls, DirectorDoor& door);

}  // namespace galley::director
