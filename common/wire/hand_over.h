// How connections that were accepted elsewhere come to a gRPC server.
#pragma once

#include <functional>
#include <memory>

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace galley::wire {

// Adds a listener without a socket to the server that is built. The answer takes connected sockets
// that do not block, and owns them, while that server runs: from after BuildAndStart until before
// Shutdown. gRPC itself gives an unfinished handshake `GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS`.
// Threads: any.
std::function<void(int fd)> HandOverTo(grpc::ServerBuilder& builder,
                                       std::shared_ptr<grpc::ServerCredentials> credentials);

// The same without TLS, for a server on one Unix socket; with a patience of 20 s for handshakes.
std::function<void(int fd)> HandOverToLocal(
    grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());

}  // namespace galley::wire
