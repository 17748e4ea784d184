// OpenClientDoor: the door where clients of other machines ask a resident director (`galley serve
// --listen`): clients that show a certificate with a role (roles.h). The door serves no calls of
// workers.
//
// A client of another machine has other files and another user than the director: a cook for such a
// client is staged where the project says, and never takes away files that Galley did not put
// there; other asks are PERMISSION_DENIED. A call that finds no thread left is RESOURCE_EXHAUSTED:
// at most kClientCallsMax clients are served at a time, however many come.
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
// `calls`, and `door`, which answers questions about packages, outlive the door.
// FAILED_PRECONDITION: there are no TLS files; INVALID_ARGUMENT: the TLS files do not fit;
// UNAVAILABLE: the address cannot be listened on.
absl::StatusOr<std::unique_ptr<TcpDoor>> OpenClientDoor(const ClientDoorOptions& options,
                                                        ClientCalls& calls, DirectorDoor& door);

}  // namespace galley::director
