// Server credentials of a TlsPair: each new connection gets the pair in force; existing connections
// go on.
#pragma once

#include <memory>

#include "common/wire/call_gate.h"
#include "common/wire/tls_pair.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/server_credentials.h"

namespace galley::wire {

// The credentials outlive the server. `gate` null: every call is allowed.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const TlsPair> pair, grpc_ssl_client_certificate_request_type request,
    CallGate gate = nullptr);
// Credentials without TLS, with a gate.
std::shared_ptr<grpc::ServerCredentials> PlainCredentials(CallGate gate);

}  // namespace galley::wire
