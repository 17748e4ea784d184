// TcpDoorOptions: the options of a TcpDoor. Includes gRPC, so only serve/*.cc include this header.
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
  std::string name;     // name in the log
  std::string address;  // "host:port"
  wire::TlsFiles tls;   // no certificate: no TLS
  // PEM: authorities of clients' certificates, in addition to the TLS files.
  std::string more_roots;
  grpc_ssl_client_certificate_request_type request =
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  wire::CallGate gate;
  int message_bytes_max = 0;
  int threads_max = 0;  // for calls; beyond it a call is refused; 0: no limit
  std::vector<std::pair<std::string, int>> arguments;  // channel arguments of gRPC
  std::optional<listen::DoorLimits> limits;            // nullopt: LocalDoorLimits
  absl::Duration user_timeout;                         // listen::AcceptLoop::Options
  // The services that answer the calls; destroyed after the last call.
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::function<void(TcpDoor& door)> on_open;  // called before the first call; may be empty
  std::function<void()> on_close;              // called by Close; may be empty
};

}  // namespace galley::director
