// gRPC channels to a director, and statuses across them. The only header of this folder that brings
// gRPC in.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/wire/client_tls.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace galley::wire {

// The largest message that either side takes. Servers set it too
// (ServerBuilder::SetMaxReceiveMessageSize).
inline constexpr int kMessageBytesMax = 64 << 20;

// The time between two keepalive pings of a channel to another machine, and the time for an answer:
// a call does not hang on a machine that is gone.
inline constexpr int kKeepaliveMs = 10'000;

// Call before a server or a channel is made; OpenChannel calls it.
//
// Keeps gRPC running as long as the process: otherwise gRPC would end with its last user, and wait
// up to 10 s for its backup poller, which polls a socket for nobody. Turns off the deadlock
// detection of Debian's absl, which takes a tenth of the cost of a message. Sends gRPC's log to our
// log, at level debug.
void PrepareGrpc();

// `address`: "unix:/path" or "host:port". No connection is made yet; reconnects after at most a
// second.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

// OpenChannel with TLS, if `tls` has a `ca`. `is_far`: the other side is on another machine, also
// behind a Unix socket that is forwarded.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address, const ClientTls& tls,
                                           bool is_far = false);

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace galley::wire
