// OpenFarmDoor: the door where workers of other machines attach ([farm] listen): a gRPC server on
// TCP that passes the calls of workers on, and no others.
//
// With TLS both sides show certificates, and the files may be exchanged while it runs. Workers that
// came by themselves have theirs from the authority that [farm] tls_ca names; those that were
// launched ask for theirs with the token of their ticket (Enroll), and get one of an authority that
// lives as long as the door. Without TLS only addresses of this machine are listened on.
// Threads: one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/wire/tls_pair.h"
#include "director/serve/tcp_door.h"

namespace galley::director {

class WorkerCalls;

inline constexpr absl::Duration kFarmCertificateLifetime = absl::Hours(7 * 24);

struct FarmDoorOptions {
  std::string address;  // "host:port"
  wire::TlsFiles tls;   // no certificate: no TLS
  // Of launched workers.
  absl::Duration certificate_lifetime = kFarmCertificateLifetime;
  Clock* clock = nullptr;  // outlives it; null: the system's
};
// `calls`: outlives it. FAILED_PRECONDITION: an address that others than this machine may reach,
// without TLS; INVALID_ARGUMENT: the files of TLS do not fit; UNAVAILABLE: it cannot be listened
// on.
absl::StatusOr<std::unique_ptr<TcpDoor>> OpenFarmDoor(const FarmDoorOptions& options,
                                                      WorkerCalls& calls);

}  // namespace galley::director
