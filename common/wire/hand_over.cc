#include "common/wire/hand_over.h"

#include <utility>

#include "grpc/grpc.h"

namespace galley::wire {
namespace {

constexpr int kHandshakeMs = 20'000;
constexpr int kStreamsMax = 32;  // of one of our own processes, at a time

}  // namespace

std::function<void(int fd)> HandOverTo(grpc::ServerBuilder& builder,
                                       std::shared_ptr<grpc::ServerCredentials> credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
  return [acceptor](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  };
}

std::function<void(int fd)> HandOverToLocal(grpc::ServerBuilder& builder,
                                            std::shared_ptr<grpc::ServerCredentials> credentials) {
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  // A call may hold a thread of a synchronous service.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax);
  return HandOverTo(builder, std::move(credentials));
}

}  // namespace galley::wire
