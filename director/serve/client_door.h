// OpenClientDoor: the door where clients of other machines ask a resident director (`galley serve
// --listen`): who shows a certificate with a role (roles.h). Calls of workers are not served here.
//
// What comes here comes from another machine, whose files and whose user are not the director's: a
// cook that it asks for is staged where the project says and never takes away files that Galley did
// not put there; else it is PERMISSION_DENIED. A call that finds no thread left is
// RESOURCE_EXHAUSTED: so many clients at a time are kClientCallsMax, however many come.
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
// `calls` and `door`, who answers questions about packages, outlive it. FAILED_PRECONDITION: there
// are no files of TLS; INVALID_ARGUMENT: they do not fit; UNAVAILABLE: the address cannot be
// listened on.
absl::StatusOr<std::unique_ptr<TcpDoor>> OpenClientDoor(const ClientDoorOptions& options,
                                                        ClientCalls& calls, DirectorDoor& door);

}  // namespace galley::director
