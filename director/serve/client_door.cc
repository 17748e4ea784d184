#include "director/serve/client_door.h"

#include <utility>

#include "common/base/errors.h"
#include "common/listen/listen_address.h"
#include "common/wire/channel.h"
#include "director/serve/director_door.h"
#include "director/serve/resident_service.h"
#include "director/serve/roles.h"
#include "director/serve/tcp_door_options.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {
namespace {

constexpr int kClientMessageBytesMax = 16 << 20;  // for example a list of changed files

class QuestionsOnly final : public v1::Director::Service {
 public:
  explicit QuestionsOnly(DirectorDoor& door) : door_(door) {}
  grpc::Status Ask(grpc::ServerContext*, const v1::PackageQuestion* question,
                   v1::PackageAnswer* answer) override {
    return wire::ToGrpc(door_.Ask(*question, answer));
  }

 private:
  DirectorDoor& door_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TcpDoor>> OpenClientDoor(const ClientDoorOptions& options,
                                                        ClientCalls& calls, DirectorDoor& door) {
  if (listen::IsUnixAddress(options.address) || !listen::HostOf(options.address).has_value()) {
    return InvalidArgumentError("--listen {}: expected HOST:PORT", options.address);
  }
  if (options.tls.certificate.empty() || options.tls.key.empty() || options.tls.ca.empty()) {
    return FailedPreconditionError(
        "--listen {}: who calls there is known by a certificate only: set tls_ca, tls_cert and "
        "tls_key in [farm] (`deploy/dev-certs` makes some)",
        options.address);
  }
  auto resident = std::make_unique<ResidentService>(calls, ResidentService::From::kAnotherMachine);
  TcpDoorOptions tcp{
      .name = "clients",
      .address = options.address,
      .tls = options.tls,
      .gate = GateOfClients(),
      .message_bytes_max = kClientMessageBytesMax,
      .threads_max = kClientCallsMax,
      // A client that waits for a long time pings, and must not be cut off for that.
      .arguments = {{GRPC_ARG_KEEPALIVE_TIME_MS, wire::kKeepaliveMs},
                    {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, wire::kKeepaliveMs},
                    {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, wire::kKeepaliveMs / 2},
                    {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0}},
      .user_timeout = absl::Milliseconds(2 * wire::kKeepaliveMs),
      .on_close = [service = resident.get()] { service->Close(); }};
  tcp.services.push_back(std::move(resident));
  tcp.services.push_back(std::make_unique<QuestionsOnly>(door));
  return TcpDoor::Open(std::move(tcp));
}

}  // namespace galley::director
