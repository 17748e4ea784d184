// gRPC's side of a TlsPair: each new connection is met with the pair that is in force. Connections
// that are there go on.
#pragma once

#include <memory>

#include "common/wire/call_gate.h"
#include "common/wire/tls_pair.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/server_credentials.h"

namespace galley::wire {

// The credentials outlive the server. `gate`: null: all may call.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const TlsPair> pair, grpc_ssl_client_certificate_request_type request,
    CallGate gate = nullptr);
// No TLS, but a gate.
std::shared_ptr<grpc::ServerCredentials> PlainCredentials(CallGate gate);

}  // namespace galley::wire
