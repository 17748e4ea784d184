// ProbeTls: what a client that speaks TLS finds at an address. gRPC tries a handshake that fails
// again and again, and tells nobody why; this says why, and whether that can heal by itself.
//
// Names are checked as RFC 6125 says. Threads: any; it blocks.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/wire/client_tls.h"

namespace galley::wire {

// OK: a server whose certificate is of an authority in `tls.ca`, for the name in `address`
// ("host:port"), and which does not refuse `tls.certificate`. UNAVAILABLE: nobody answers, which
// may heal. FAILED_PRECONDITION: who answers will not do until a person changes something: another
// name or authority, a certificate that is over, no TLS; the text says what was expected and found.
absl::Status ProbeTls(const std::string& address, const ClientTls& tls, absl::Duration wait_max);

// Whether who answers at `address` speaks TLS: for a client that was given none.
bool SpeaksTls(const std::string& address, absl::Duration wait_max);

// Checks that a client that was given `address` would take the certificate (PEM, the first one): it
// is for that host, and valid now. FAILED_PRECONDITION: it is not, and the message says why.
absl::Status CheckServerName(const std::string& certificate, const std::string& address);

}  // namespace galley::wire
