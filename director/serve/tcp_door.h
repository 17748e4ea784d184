// TcpDoor: a gRPC server on TCP whose connections come through our own door, with TLS or without.
// With TLS the files may be exchanged while it runs. One address for each object.
//
// Threads: one.
#pragma once

#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/listen/accept_loop.h"
#include "common/wire/call_gate.h"
#include "common/wire/tls_pair.h"

namespace galley::director {

class TcpDoor {
 public:
  struct Options {
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
  };
  explicit TcpDoor(Options options) : options_(std::move(options)) {}
  // Ends all calls, and waits for them.
  ~TcpDoor();

  // Once. INVALID_ARGUMENT: the files of TLS do not fit; UNAVAILABLE: the address cannot be
  // listened on. `services` outlive it.
  absl::Status Listen(const std::vector<grpc::Service*>& services);

  const std::string& address() const { return address_; }  // with the port that it has
  // PEM: the authority by which clients know it; empty: no TLS.
  std::string authority() const { return tls_ == nullptr ? "" : tls_->authority(); }
  // A call came over this connection (gRPC's name of its peer): its handshake is over.
  // Threads: any.
  void NoteCall(const std::string& peer) { door_->NoteCall(peer); }
  // Now and then: takes what the files of TLS hold now, and says so in the log.
  void LookAtCertificates();

 private:
  const Options options_;
  SystemClock clock_;
  std::string address_;
  std::shared_ptr<wire::TlsPair> tls_;  // null: no TLS
  absl::Time next_look_ = absl::InfinitePast();
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace galley::director
