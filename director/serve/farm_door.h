// OpenFarmDoor: the TCP door where workers of other machines attach ([farm] listen). The door
// serves only the calls of workers.
//
// With TLS both sides show certificates, and the files may be replaced while the door is open. A
// worker that no launcher started has a certificate from the authority in [farm] tls_ca. A launched
// worker gets its certificate for the token of its ticket (Enroll), from an authority that lives as
// long as the door. Without TLS the door listens only on addresses of this machine.
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
  // Lifetime of the certificates of launched workers.
  absl::Duration certificate_lifetime = kFarmCertificateLifetime;
  Clock* clock = nullptr;  // outlives the door; null: the system's clock
};
// `calls` outlives the door. FAILED_PRECONDITION: without TLS, an address that other machines may
// reach; INVALID_ARGUMENT: the TLS files do not fit; UNAVAILABLE: the address cannot be listened
// on.
absl::StatusOr<std::unique_ptr<TcpDoor>> OpenFarmDoor(const FarmDoorOptions& options,
                                                      WorkerCalls& calls);

}  // namespace galley::director
