// Listening sockets, made here and not by gRPC, whose own listener never accepts again once it ran
// out of descriptors (gRPC 1.51, tcp_server_posix.cc, on_read).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::listen {

struct TcpSockets {
  std::vector<FileDescriptor> sockets;  // a name may have several addresses
  uint16_t port = 0;                    // the same for all sockets
};

// `address`: "host:port" or "[host]:port"; port 0: any. Either wildcard (0.0.0.0, [::]) means IPv4
// and IPv6, as gRPC has it. At least one address of the host is listened on. UNAVAILABLE "<address>
// cannot be listened on: <why>".
absl::StatusOr<TcpSockets> ListenOnTcp(const std::string& address);

// Listens at `path`. REQUIRES: nothing is at `path`. UNAVAILABLE as above.
absl::StatusOr<FileDescriptor> ListenOnUnix(const std::string& path);

}  // namespace galley::listen
