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

// A channel to another machine asks so often whether the other side is there, and gives it as long
// to answer: a call does not hang on a machine that is gone.
inline constexpr int kKeepaliveMs = 10'000;

// Call before a server or a channel is made; OpenChannel does by itself.
//
// From then on gRPC runs as long as the process: it would end itself with its last user, and wait
// up to 10 s for a thread that polls a socket on behalf of nobody (its backup poller). And Debian's
// absl, which looks for deadlocks among gRPC's own locks at every lock, a tenth of what a message
// costs, is told not to. What it logs goes to our log, at the level of debugging.
void PrepareGrpc();

// `address`: "unix:/path" or "host:port". No connection is made yet; reconnects after at most a
// second.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

// The same with TLS, if any. `is_far`: the other side is on another machine, also behind a Unix
// socket that something forwards.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address, const ClientTls& tls,
                                           bool is_far = false);

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace galley::wire
