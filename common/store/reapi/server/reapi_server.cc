#include "common/store/reapi/server/reapi_server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/listen/accept_loop.h"
#include "common/listen/listen_address.h"
#include "common/listen/listening_socket.h"
#include "common/store/reapi/server/error_details.h"
#include "common/store/reapi/server/group_commit.h"
#include "common/store/reapi/server/methods.h"
#include "common/store/reapi/server/reapi_call.h"
#include "common/store/reapi/server/task_pool.h"
#include "common/store/reapi/server/unix_listener.h"
#include "common/wire/channel.h"
#include "common/wire/hand_over.h"
#include "common/wire/tls_credentials.h"
#include "fmt/format.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace galley::store {
namespace {

constexpr int kMessageBytesMax = (4 << 20) + (64 << 10);
constexpr int kMetadataBytesMax = 16 << 10;
constexpr int kStreamsMax = 128;  // Bazel opens 100
constexpr size_t kQuotaBytes = size_t{256} << 20;
constexpr absl::Duration kRetryDelay = absl::Seconds(1);
constexpr absl::Duration kKeepaliveTimeout = absl::Seconds(20);
constexpr std::chrono::seconds kGrace{1}, kSweepInterval{1};

Credentials CredentialsOf(const grpc::CallbackServerContext& context) {
  Credentials credentials{.peer = context.peer()};
  const auto header = context.client_metadata().find("authorization");
  if (header != context.client_metadata().end())
    credentials.authorization = std::string(header->second.data(), header->second.size());
  const auto auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return credentials;
  for (const char* property :
       {GRPC_PEER_URI_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : auth->FindPropertyValues(property))
      credentials.certificate_names.emplace_back(name.data(), name.size());
  }
  return credentials;
}

class GrpcReapiServer final : public ReapiServer, private grpc::CallbackGenericService {
 public:
  GrpcReapiServer(Store& store, Clock& clock, const ReapiServerOptions& options)
      : options_(options),
        clock_(clock),
        identities_file_(options.identities_file),
        uploads_(store, options.reapi, clock, options.uploads),
        methods_(ReapiMethods(store, options.reapi, uploads_)),
        replies_(options.reply_bytes_max),
        commits_(store),
        pool_(std::in_place,
              options.threads != 0 ? options.threads
                                   : 2 * std::max(1u, std::thread::hardware_concurrency()),
              options.tasks_max),
        door_(listen::AcceptLoop::Make(
            {.name = "reapi", .limits = options.door, .user_timeout = kKeepaliveTimeout}, clock)),
        gate_(std::make_shared<const Gate>(options.identities)) {}

  ~GrpcReapiServer() override {
    door_->Stop();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + kGrace);
    {
      const base::MutexLock lock(mutex_);
      is_ending_ = true;
    }
    ending_.NotifyAll();
    if (sweeper_.joinable()) sweeper_.join();
    pool_.reset();  // before what its tasks use
  }

  absl::Status Start() {
    wire::PrepareGrpc();
    RETURN_IF_ERROR(MakeCredentials());
    grpc::ServerBuilder builder;
    std::vector<listen::AcceptLoop::Listener> listeners;
    for (const std::string& address : options_.addresses)
      RETURN_IF_ERROR(ListenAt(address, builder, listeners));
    SetLimits(builder);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr)
      return absl::InternalError("no server can be made (--verbose says more)");
    RETURN_IF_ERROR(door_->Start(std::move(listeners)));
    for (const auto& listener : unix_listeners_) RETURN_IF_ERROR(listener->Publish());
    if (options_.sweeps_by_itself) sweeper_ = std::thread([this] { SweepEachSecond(); });
    return absl::OkStatus();
  }

  std::vector<std::string> addresses() const override { return addresses_; }
  size_t open_calls() const override { return calls_.size(); }
  size_t open_uploads() const override { return uploads_.open(); }
  listen::DoorFigures door() const override { return door_->figures(); }
  void Sweep() override {
    calls_.Sweep(clock_.Monotonic());
    uploads_.Sweep();
    TakeIdentities();
    TakeCertificate();
  }

 private:
  bool has_tls() const { return !options_.tls.certificate.empty() || !options_.tls.key.empty(); }

  absl::Status MakeCredentials() {
    if (!has_tls()) return absl::OkStatus();
    ASSIGN_OR_RETURN(wire::TlsTexts texts, wire::ReadTlsFiles(options_.tls));
    tls_pair_ = std::make_shared<wire::TlsPair>(options_.tls, std::move(texts));
    tls_looked_ = clock_.Monotonic();
    TellExpired();
    const bool has_tokens = std::ranges::any_of(options_.identities, [](const Identity& identity) {
      return !identity.token_sha256.empty();
    });
    tls_credentials_ = wire::TlsCredentials(
        tls_pair_, options_.tls.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                   : has_tokens            ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    return absl::OkStatus();
  }

  // Adds its sockets. One of this machine's needs no TLS, and few clients could speak it there.
  absl::Status ListenAt(const std::string& address, grpc::ServerBuilder& builder,
                        std::vector<listen::AcceptLoop::Listener>& listeners) {
    RETURN_IF_ERROR(CheckListener(address, has_tls(), !options_.identities.empty()));
    const bool is_unix = listen::IsUnixAddress(address), needs_tls = has_tls() && !is_unix;
    const auto hand_over =
        wire::HandOverTo(builder, needs_tls ? tls_credentials_ : grpc::InsecureServerCredentials());
    if (is_unix) {
      ASSIGN_OR_RETURN(auto listener, UnixListener::Prepare(PathOfUnixAddress(address)));
      unix_listeners_.push_back(std::move(listener));
      ASSIGN_OR_RETURN(FileDescriptor socket,
                       listen::ListenOnUnix(unix_listeners_.back()->bind_path()));
      listeners.push_back({.socket = std::move(socket), .hand_over = hand_over});
      addresses_.push_back(address);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(listen::TcpSockets tcp, listen::ListenOnTcp(address));
    for (FileDescriptor& socket : tcp.sockets)
      listeners.push_back(
          {.socket = std::move(socket), .has_tls = needs_tls, .hand_over = hand_over});
    addresses_.push_back(WithPort(address, tcp.port));
    return absl::OkStatus();
  }

  void SetLimits(grpc::ServerBuilder& builder) const {
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.SetResourceQuota(grpc::ResourceQuota("reapi").Resize(kQuotaBytes));
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    for (const auto& [argument, value] : std::vector<std::pair<std::string, int>>{
             {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
              static_cast<int>(absl::ToInt64Milliseconds(options_.door.patience))},
             {GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax},
             {GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax},
             {GRPC_ARG_MAX_CONNECTION_IDLE_MS, 600'000},
             {GRPC_ARG_KEEPALIVE_TIME_MS, 60'000},
             {GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
              static_cast<int>(absl::ToInt64Milliseconds(kKeepaliveTimeout))},
             {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
             {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000},
             {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2}})
      builder.AddChannelArgument(argument, value);
  }

  static std::string WithPort(const std::string& address, uint16_t port) {
    if (!address.ends_with(":0")) return address;
    return address.substr(0, address.size() - 1) + std::to_string(port);
  }

  // The one door of all calls.
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    door_->NoteCall(context->peer());
    const auto method = methods_.find(context->method());
    const CallLimits limits = method == methods_.end() ? kUnaryLimits : method->second.limits;
    const auto call = std::make_shared<ReapiCall>(ReapiCall::Deps{.pool = *pool_,
                                                                  .commits = commits_,
                                                                  .calls = calls_,
                                                                  .replies = replies_,
                                                                  .clock = clock_,
                                                                  .on_step = options_.on_step},
                                                  *context, limits);
    if (!calls_.Add(call, options_.calls_max)) {
      call->Refuse(BusyError(fmt::format("{} calls are open", options_.calls_max), kRetryDelay));
    } else if (method == methods_.end()) {
      call->Refuse(absl::UnimplementedError("this method is not served"));
    } else if (const auto caller =
                   CurrentGate()->Admit(CredentialsOf(*context), method->second.right);
               caller.ok()) {
      call->Start(method->second.make(*caller));
    } else {
      call->Refuse(caller.status());
    }
    return call.get();
  }

  std::shared_ptr<const Gate> CurrentGate() {
    const base::MutexLock lock(mutex_);
    return gate_;
  }

  // Identities that cannot be used leave the ones before them in force.
  void TakeIdentities() {
    absl::StatusOr<std::optional<std::vector<Identity>>> changed = identities_file_.Changed();
    if (!changed.ok()) {
      LogWarning("reapi: the identities of before stay in force: {}", MessageOf(changed.status()));
    } else if (changed->has_value()) {
      LogInfo("reapi: identities={} of {}", (*changed)->size(), options_.identities_file);
      TellUnreachable(**changed);
      auto gate = std::make_shared<const Gate>(**std::move(changed));
      const base::MutexLock lock(mutex_);
      gate_.swap(gate);
    }
  }

  // If nobody is asked for a certificate, a caller without a token is nobody.
  void TellUnreachable(const std::vector<Identity>& identities) const {
    if (!options_.tls.ca.empty()) return;
    for (const Identity& identity : identities) {
      if (!identity.token_sha256.empty()) continue;
      LogWarning("reapi: identity {}: its certificate is never asked for without --tls-ca",
                 identity.name);
    }
  }

  // A certificate that cannot be used leaves the one before it in force.
  void TakeCertificate() {
    if (tls_pair_ == nullptr || clock_.Monotonic() - tls_looked_ < options_.tls_interval) return;
    tls_looked_ = clock_.Monotonic();
    const absl::StatusOr<bool> is_new = tls_pair_->Look();
    if (!is_new.ok()) {
      LogWarning("reapi: the certificate and key of before stay in force: {}",
                 MessageOf(is_new.status()));
    } else if (*is_new) {
      LogInfo("reapi: certificate={} key={}: taken anew", options_.tls.certificate,
              options_.tls.key);
    }
    TellExpired();
  }

  void TellExpired() {
    if (const auto expired = tls_pair_->TellExpired(clock_.Now()); expired.has_value())
      LogWarning("reapi: {}", *expired);
  }

  void SweepEachSecond() {
    while (true) {
      {
        const base::MutexLock lock(mutex_);
        if (is_ending_) return;
        ending_.WaitFor(mutex_, kSweepInterval);
        if (is_ending_) return;
      }
      Sweep();
    }
  }

  const ReapiServerOptions options_;
  Clock& clock_;
  IdentitiesFile identities_file_;
  Uploads uploads_;
  const std::map<std::string, Method, std::less<>> methods_;
  OpenCalls calls_;
  ReplyBudget replies_;
  GroupCommit commits_;
  std::optional<TaskPool> pool_;
  std::shared_ptr<wire::TlsPair> tls_pair_;  // null: no TLS
  absl::Time tls_looked_;                    // of Sweep, one at a time
  std::shared_ptr<grpc::ServerCredentials> tls_credentials_;
  std::vector<std::unique_ptr<UnixListener>> unix_listeners_;
  const std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
  base::Mutex mutex_;
  base::CondVar ending_;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const Gate> gate_ GALLEY_GUARDED_BY(mutex_);
  std::thread sweeper_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReapiServer>> ReapiServer::Start(Store& store, Clock& clock,
                                                                const ReapiServerOptions& options) {
  auto server = std::make_unique<GrpcReapiServer>(store, clock, options);
  RETURN_IF_ERROR(server->Start());
  return std::unique_ptr<ReapiServer>(std::move(server));
}

}  // namespace galley::store
