#include "director/serve/farm_door.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <utility>

#include "common/base/descriptor_limit.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "director/serve/roles.h"
#include "director/serve/tcp_door_options.h"
#include "director/serve/worker_calls.h"
#include "director/serve/worker_stream.h"

namespace galley::director {
namespace {

// A worker whose machine is gone says nothing: gRPC asks it each second, and it has two seconds to
// answer.
constexpr int kKeepaliveMs = 1'000;
constexpr int kKeepaliveTimeoutMs = 2'000;
// While a write to a connection is under way, gRPC neither ends the connection nor asks anything on
// it: a write to a machine that is gone while bytes fill its link would be under way for a quarter
// of an hour, and the server would not end before.
constexpr absl::Duration kUnacknowledgedMax =
    absl::Milliseconds(kKeepaliveMs + kKeepaliveTimeoutMs);

// WorkersOnly: whoever attaches here is a worker (roles.h); people ask at the director's socket, or
// at the socket for its clients.
class WorkersOnly final : public v1::Director::WithCallbackMethod_Attach<v1::Director::Service> {
 public:
  // `lifetime`: of certificates. `clock`: null: the system's clock.
  WorkersOnly(WorkerCalls& calls, Clock* clock, absl::Duration lifetime)
      : calls_(calls), clock_(clock != nullptr ? *clock : system_clock_), lifetime_(lifetime) {}

  WorkerCalls::Stream* Attach(grpc::CallbackServerContext* context) override {
    NoteCall(*context);
    return calls_.Attach(context, nullptr);
  }
  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                     grpc::ServerWriter<v1::FetchPiece>* writer) override {
    NoteCall(*context);
    return calls_.Fetch(context, *request, *writer);
  }
  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest* request,
                           v1::FindMissingAnswer* answer) override {
    NoteCall(*context);
    return calls_.FindMissing(context, *request, answer);
  }
  grpc::Status Upload(grpc::ServerContext* context, grpc::ServerReader<v1::UploadPiece>* reader,
                      v1::UploadAnswer* answer) override {
    NoteCall(*context);
    return calls_.Upload(context, *reader, answer);
  }
  grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest* request,
                      v1::EnrollAnswer* answer) override {
    NoteCall(*context);
    if (authority_ == nullptr) return NoTls();
    return calls_.Enroll(context, *request, Issuer(), answer);
  }
  grpc::Status Renew(grpc::ServerContext* context, const v1::EnrollRequest* request,
                     v1::EnrollAnswer* answer) override {
    NoteCall(*context);
    if (authority_ == nullptr) return NoTls();
    return calls_.Renew(context, *request, Issuer(), answer);
  }

  // `door` outlives all calls.
  void ComesThrough(TcpDoor& door) { door_ = &door; }
  absl::StatusOr<std::string> MakeAuthority() {
    ASSIGN_OR_RETURN(authority_, wire::NewCertificateAuthority(clock_.Now()));
    return authority_->certificate();
  }

 private:
  // The handshake of the caller is over, whoever it is.
  void NoteCall(const grpc::ServerContextBase& context) {
    if (TcpDoor* const door = door_.load()) door->NoteCall(context.peer());
  }
  static grpc::Status NoTls() {
    return {grpc::StatusCode::UNIMPLEMENTED, "no TLS is spoken here: a token is enough"};
  }
  WorkerCalls::Issue Issuer() {
    return [this](const std::string& text, const std::string& name) {
      return authority_->Issue(text, name, clock_.Now(), lifetime_);
    };
  }

  WorkerCalls& calls_;
  std::atomic<TcpDoor*> door_ = nullptr;  // null: nobody comes yet
  SystemClock system_clock_;
  Clock& clock_;
  const absl::Duration lifetime_;
  std::unique_ptr<wire::CertificateAuthority> authority_;  // null: no TLS
};

}  // namespace

absl::StatusOr<std::unique_ptr<TcpDoor>> OpenFarmDoor(const FarmDoorOptions& options,
                                                      WorkerCalls& calls) {
  const bool has_tls = !options.tls.certificate.empty() && !options.tls.ca.empty();
  if (listen::IsUnixAddress(options.address) ||
      (!has_tls && !listen::IsLocalAddress(options.address))) {
    return FailedPreconditionError(
        "[farm] listen = \"{}\": others than this machine may reach it: it needs TLS (tls_ca, "
        "tls_cert, tls_key)",
        options.address);
  }
  auto workers = std::make_unique<WorkersOnly>(calls, options.clock, options.certificate_lifetime);
  std::string own;
  if (!options.tls.certificate.empty()) {
    ASSIGN_OR_RETURN(own, workers->MakeAuthority());
  }
  TcpDoorOptions tcp{
      .name = "farm",
      .address = options.address,
      .tls = options.tls,
      .more_roots = std::move(own),
      // A shown certificate is checked; a caller without one may only ask for one.
      .request = GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY,
      .gate = GateOfFarm(),
      .message_bytes_max = wire::kMessageBytesMax,
      .arguments = {{GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs},
                    {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs},
                    {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
                    {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, wire::kKeepaliveMs / 2},
                    {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0}},
      .limits = listen::FarmDoorLimits(CurrentDescriptorLimit().soft),
      .user_timeout = kUnacknowledgedMax,
      .on_open = [service = workers.get()](TcpDoor& door) { service->ComesThrough(door); }};
  tcp.services.push_back(std::move(workers));
  return TcpDoor::Open(std::move(tcp));
}

}  // namespace galley::director
