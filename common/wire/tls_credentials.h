// gRPC's side of a TlsPair: each new connection is met with the pair that is in force. Connections
// that are there go on.
#pragma once

#include <memory>

#include "common/wire/tls_pair.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/server_credentials.h"

namespace galley::wire {

// They outlive the server.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const TlsPair> pair, grpc_ssl_client_certificate_request_type request);

}  // namespace galley::wire
