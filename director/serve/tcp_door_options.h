// TcpDoorOptions: one kind of TcpDoor. gRPC headers: only serve/*.cc include this.
#pragma once

#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/listen/accept_loop.h"
#include "common/wire/call_gate.h"
#include "common/wire/tls_pair.h"
#include "director/serve/tcp_door.h"

namespace galley::director {

struct TcpDoorOptions {
  std::string name;        // in the log
  std::string address;     // "host:port"
  wire::TlsFiles tls;      // no certificate: no TLS
  std::string more_roots;  // PEM: authorities of clients' certificates beside those of the files
  grpc_ssl_client_certificate_request_type request =
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  wire::CallGate gate;
  int message_bytes_max = 0;
  int threads_max = 0;  // of calls: one more is refused; 0: any number
  std::vector<std::pair<std::string, int>> arguments;  // of gRPC's channels
  std::optional<listen::DoorLimits> limits;            // none: LocalDoorLimits
  absl::Duration user_timeout;                         // listen::AcceptLoop::Options
  // Answer the calls; they end after the last call.
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::function<void(TcpDoor& door)> on_open;  // before the first call; may be empty
  std::function<void()> on_close;              // by Close; may be empty
};

}  // namespace galley::director
