// ProbeTls: tries TLS at an address. gRPC repeats a failing handshake again and again, and tells
// nobody why; ProbeTls says why, and whether the cause can pass by itself.
//
// Names are checked as RFC 6125 says. Threads: any; it blocks.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/wire/client_tls.h"

namespace galley::wire {

// OK: the server's certificate is of an authority in `tls.ca` and for the name in `address`
// ("host:port"), and the server does not refuse `tls.certificate`. UNAVAILABLE: nobody answers,
// which may pass. FAILED_PRECONDITION: a person must change something: another name or authority,
// an expired certificate, no TLS; the text says what was expected and found.
absl::Status ProbeTls(const std::string& address, const ClientTls& tls, absl::Duration wait_max);

// True: the server at `address` speaks TLS. For a client without ClientTls.
bool SpeaksTls(const std::string& address, absl::Duration wait_max);

// Checks that a client that connects to `address` would take the certificate (PEM, the first one):
// it is for that host, and valid now. FAILED_PRECONDITION: it is not, and the message says why.
absl::Status CheckServerName(const std::string& certificate, const std::string& address);

}  // namespace galley::wire
