#include "director/serve/farm_door.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/listen/accept_loop.h"
#include "common/listen/listen_address.h"
#include "common/listen/listening_socket.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "common/wire/hand_over.h"
#include "common/wire/tls_credentials.h"
#include "director/serve/peer.h"
#include "director/serve/worker_calls.h"
#include "director/serve/worker_stream.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::chrono::seconds kEndGrace(2);
constexpr absl::Duration kLookPeriod = absl::Seconds(10);  // at the files of TLS
// A worker whose machine is gone says nothing: it is asked each second, and has two to answer.
constexpr int kKeepaliveMs = 1'000;
constexpr int kKeepaliveTimeoutMs = 2'000;
// gRPC ends no connection, and asks nothing on it, while a write to it is under way: one to a
// machine that is gone while bytes fill its link would be under way for a quarter of an hour, and
// the server would not end before.
constexpr absl::Duration kUnacknowledgedMax =
    absl::Milliseconds(kKeepaliveMs + kKeepaliveTimeoutMs);
constexpr int kHandshakeMs = 20'000;
constexpr int kStreamsMax = 32;  // of one connection, at a time: a call holds a thread

// Whoever attaches here is a worker: questions of people are asked at the director's socket.
class WorkersOnly final : public v1::Director::WithCallbackMethod_Attach<v1::Director::Service> {
 public:
  // `lifetime`: of certificates.
  WorkersOnly(WorkerCalls& calls, Clock& clock, absl::Duration lifetime)
      : calls_(calls), clock_(clock), lifetime_(lifetime) {}

  WorkerCalls::Stream* Attach(grpc::CallbackServerContext* context) override {
    return IsNobody(*context) ? RefuseStream(Nobody()) : calls_.Attach(context, nullptr);
  }
  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                     grpc::ServerWriter<v1::FetchPiece>* writer) override {
    return IsNobody(*context) ? Nobody() : calls_.Fetch(context, *request, *writer);
  }
  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest* request,
                           v1::FindMissingAnswer* answer) override {
    return IsNobody(*context) ? Nobody() : calls_.FindMissing(context, *request, answer);
  }
  grpc::Status Upload(grpc::ServerContext* context, grpc::ServerReader<v1::UploadPiece>* reader,
                      v1::UploadAnswer* answer) override {
    return IsNobody(*context) ? Nobody() : calls_.Upload(context, *reader, answer);
  }
  grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest* request,
                      v1::EnrollAnswer* answer) override {
    if (authority_ == nullptr) return NoTls();
    return calls_.Enroll(context, *request, Issuer(), answer);
  }
  grpc::Status Renew(grpc::ServerContext* context, const v1::EnrollRequest* request,
                     v1::EnrollAnswer* answer) override {
    if (IsNobody(*context)) return Nobody();
    if (authority_ == nullptr) return NoTls();
    return calls_.Renew(context, *request, Issuer(), answer);
  }

  // `door`: outlives all calls.
  void ComesThrough(listen::AcceptLoop& door) { door_ = &door; }
  absl::StatusOr<std::string> MakeAuthority() {
    ASSIGN_OR_RETURN(authority_, wire::NewCertificateAuthority(clock_.Now()));
    return authority_->certificate();
  }

 private:
  // Who shows no certificate where TLS is spoken: before anything is read of it, so that it holds
  // no thread. Its handshake is over, whoever it is.
  bool IsNobody(const grpc::ServerContextBase& context) {
    if (listen::AcceptLoop* const door = door_.load()) door->NoteCall(context.peer());
    const Peer peer = PeerOf(context);
    return peer.has_tls && peer.certificate.empty();
  }
  static grpc::Status Nobody() {
    return {grpc::StatusCode::UNAUTHENTICATED, "a certificate is needed here"};
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
  std::atomic<listen::AcceptLoop*> door_ = nullptr;        // null: nobody comes yet
  Clock& clock_;
  const absl::Duration lifetime_;
  std::unique_ptr<wire::CertificateAuthority> authority_;  // null: no TLS
};

class FarmDoorImpl final : public FarmDoor {
 public:
  FarmDoorImpl(const Options& options, WorkerCalls& calls)
      : service_(calls, options.clock != nullptr ? *options.clock : clock_,
                 options.certificate_lifetime) {}
  ~FarmDoorImpl() override {
    if (door_ != nullptr) door_->Stop();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kEndGrace);
    server_->Wait();
  }

  const std::string& address() const override { return address_; }
  std::string authority() const override { return tls_ == nullptr ? "" : tls_->authority(); }

  void LookAtCertificates() override {
    if (tls_ == nullptr || clock_.Monotonic() < next_look_) return;
    next_look_ = clock_.Monotonic() + kLookPeriod;
    const absl::StatusOr<bool> is_new = tls_->Look();
    if (!is_new.ok()) {
      LogWarning("farm: {}; the certificate of before stays in force", MessageOf(is_new.status()));
    } else if (*is_new) {
      LogInfo("farm: another certificate is in force");
    }
    if (const auto expired = tls_->TellExpired(clock_.Now())) LogWarning("farm: {}", *expired);
  }

  absl::Status Listen(const Options& options) {
    const std::string& address = options.address;
    wire::PrepareGrpc();
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    if (!options.tls.certificate.empty()) {
      ASSIGN_OR_RETURN(wire::TlsTexts texts, wire::ReadTlsFiles(options.tls));
      ASSIGN_OR_RETURN(std::string own, service_.MakeAuthority());
      tls_ = std::make_shared<wire::TlsPair>(options.tls, std::move(texts), std::move(own));
      // One that is shown is checked; who shows none may ask for one, and for nothing else.
      credentials = wire::TlsCredentials(tls_, GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
    }
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(wire::kMessageBytesMax);
    for (const auto& [argument, value] : std::vector<std::pair<std::string, int>>{
             {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs},
             {GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax},
             {GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs},
             {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs},
             {GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0},
             {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, wire::kKeepaliveMs / 2},
             {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0}})
      builder.AddChannelArgument(argument, value);
    const auto hand_over = wire::HandOverTo(builder, std::move(credentials));
    builder.RegisterService(&service_);
    ASSIGN_OR_RETURN(listen::TcpSockets tcp, listen::ListenOnTcp(address));
    server_ = builder.BuildAndStart();
    if (server_ == nullptr)
      return absl::UnavailableError(fmt::format("{} cannot be served", address));
    std::vector<listen::AcceptLoop::Listener> listeners;
    for (FileDescriptor& socket : tcp.sockets)
      listeners.push_back(
          {.socket = std::move(socket), .has_tls = tls_ != nullptr, .hand_over = hand_over});
    address_ = fmt::format("{}:{}", address.substr(0, address.rfind(':')), tcp.port);
    door_ =
        listen::AcceptLoop::Make({.name = "farm",
                                  .limits = listen::FarmDoorLimits(CurrentDescriptorLimit().soft),
                                  .user_timeout = kUnacknowledgedMax},
                                 clock_);
    service_.ComesThrough(*door_);
    return door_->Start(std::move(listeners));
  }

 private:
  SystemClock clock_;
  WorkersOnly service_;
  std::string address_;
  std::shared_ptr<wire::TlsPair> tls_;  // null: no TLS
  absl::Time next_look_ = absl::InfinitePast();
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FarmDoor>> FarmDoor::Open(const Options& options,
                                                         WorkerCalls& calls) {
  const bool has_tls = !options.tls.certificate.empty() && !options.tls.ca.empty();
  if (listen::IsUnixAddress(options.address) ||
      (!has_tls && !listen::IsLocalAddress(options.address))) {
    return absl::FailedPreconditionError(fmt::format(
        "[farm] listen = \"{}\": others than this machine may reach it: it needs TLS (tls_ca, "
        "tls_cert, tls_key)",
        options.address));
  }
  auto door = std::make_unique<FarmDoorImpl>(options, calls);
  RETURN_IF_ERROR(door->Listen(options));
  return std::unique_ptr<FarmDoor>(std::move(door));
}

}  // namespace galley::director
