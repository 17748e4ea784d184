// HandOverTo: gives connections that were accepted elsewhere to a gRPC server.
#pragma once

#include <functional>
#include <memory>

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace galley::wire {

// Adds a listener without a socket to the server that is built. The returned function takes
// ownership of connected, non-blocking sockets; call it only from after BuildAndStart until before
// Shutdown. gRPC ends an unfinished handshake after `GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS`.
// Threads: any.
std::function<void(int fd)> HandOverTo(grpc::ServerBuilder& builder,
                                       std::shared_ptr<grpc::ServerCredentials> credentials);

// HandOverTo without TLS, for a server on one Unix socket; handshakes may take 20 s.
std::function<void(int fd)> HandOverToLocal(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());

}  // namespace galley::wire
