#include "director/serve/tcp_door.h"

#include <grpcpp/resource_quota.h>

#include <chrono>
#include <utility>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/listen/listening_socket.h"
#include "common/wire/channel.h"
#include "common/wire/hand_over.h"
#include "common/wire/tls_credentials.h"
#include "director/serve/tcp_door_options.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::chrono::seconds kTcpEndGrace(2);
constexpr absl::Duration kTlsLookPeriod = absl::Seconds(10);  // between two looks at the TLS files
constexpr int kTcpHandshakeMs = 20'000;
constexpr int kTcpStreamsMax = 32;  // on one connection, at a time: a call holds a thread

class TcpDoorImpl final : public TcpDoor {
 public:
  explicit TcpDoorImpl(TcpDoorOptions options) : options_(std::move(options)) {}
  ~TcpDoorImpl() override;

  absl::Status Listen();

  const std::string& address() const override { return address_; }
  std::string authority() const override { return tls_ == nullptr ? "" : tls_->authority(); }
  void NoteCall(const std::string& peer) override { door_->NoteCall(peer); }
  void Close() override {
    if (options_.on_close) options_.on_close();
  }
  void LookAtCertificates() override;

 private:
  const TcpDoorOptions options_;
  SystemClock clock_;
  std::string address_;
  std::shared_ptr<wire::TlsPair> tls_;  // null: no TLS
  absl::Time next_look_ = absl::InfinitePast();
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
};

TcpDoorImpl::~TcpDoorImpl() {
  if (door_ != nullptr) door_->Stop();
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now() + kTcpEndGrace);
  server_->Wait();
}

absl::Status TcpDoorImpl::Listen() {
  const std::string& address = options_.address;
  wire::PrepareGrpc();
  std::shared_ptr<grpc::ServerCredentials> credentials = wire::PlainCredentials(options_.gate);
  if (!options_.tls.certificate.empty()) {
    ASSIGN_OR_RETURN(wire::TlsTexts texts, wire::ReadTlsFiles(options_.tls));
    tls_ = std::make_shared<wire::TlsPair>(options_.tls, std::move(texts), options_.more_roots);
    credentials = wire::TlsCredentials(tls_, options_.request, options_.gate);
  }
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(options_.message_bytes_max);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kTcpHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kTcpStreamsMax);
  for (const auto& [argument, value] : options_.arguments)
    builder.AddChannelArgument(argument, value);
  if (options_.threads_max > 0) {
    grpc::ResourceQuota quota(options_.name);
    quota.SetMaxThreads(options_.threads_max);
    builder.SetResourceQuota(quota);
  }
  const auto hand_over = wire::HandOverTo(builder, std::move(credentials));
  for (const auto& service : options_.services) builder.RegisterService(service.get());
  ASSIGN_OR_RETURN(listen::TcpSockets tcp, listen::ListenOnTcp(address));
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return UnavailableError("{} cannot be served", address);
  std::vector<listen::AcceptLoop::Listener> listeners;
  for (FileDescriptor& socket : tcp.sockets)
    listeners.push_back(
        {.socket = std::move(socket), .has_tls = tls_ != nullptr, .hand_over = hand_over});
  address_ = fmt::format("{}:{}", address.substr(0, address.rfind(':')), tcp.port);
  door_ = listen::AcceptLoop::Make(
      {.name = options_.name,
       .limits = options_.limits.value_or(listen::LocalDoorLimits(CurrentDescriptorLimit().soft)),
       .user_timeout = options_.user_timeout},
      clock_);
  if (options_.on_open) options_.on_open(*this);
  return door_->Start(std::move(listeners));
}

void TcpDoorImpl::LookAtCertificates() {
  if (tls_ == nullptr || clock_.Monotonic() < next_look_) return;
  next_look_ = clock_.Monotonic() + kTlsLookPeriod;
  const absl::StatusOr<bool> is_new = tls_->Look();
  if (!is_new.ok()) {
    LogWarning("{}: {}; the certificate of before stays in force", options_.name,
               MessageOf(is_new.status()));
  } else if (*is_new) {
    LogInfo("{}: another certificate is in force", options_.name);
  }
  if (const auto expired = tls_->TellExpired(clock_.Now()))
    LogWarning("{}: {}", options_.name, *expired);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TcpDoor>> TcpDoor::Open(TcpDoorOptions options) {
  auto door = std::make_unique<TcpDoorImpl>(std::move(options));
  RETURN_IF_ERROR(door->Listen());
  return std::unique_ptr<TcpDoor>(std::move(door));
}

}  // namespace galley::director
