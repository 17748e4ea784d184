// gRPC channels to a director, and statuses across them. The only header of this folder that brings
// gRPC in.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace galley::wire {

// The largest message that either side takes. Servers set it too
// (ServerBuilder::SetMaxReceiveMessageSize).
inline constexpr int kMessageBytesMax = 64 << 20;

// Call before a server is built; OpenChannel does by itself. Debian's absl looks for deadlocks
// among gRPC's own locks at every lock, a tenth of what a message costs.
void QuietenAbslMutex();

// `address`: "unix:/path" or "host:port". No connection is made yet; reconnects after at most a
// second.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace galley::wire
