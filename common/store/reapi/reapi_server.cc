#include "common/store/reapi/reapi_server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/store/reapi/error_details.h"
#include "common/store/reapi/group_commit.h"
#include "common/store/reapi/methods.h"
#include "common/store/reapi/reapi_call.h"
#include "common/store/reapi/task_pool.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace galley::store {
namespace {

constexpr int kMessageBytesMax = (4 << 20) + (64 << 10);
constexpr int kMetadataBytesMax = 16 << 10;
constexpr int kStreamsMax = 128;  // Bazel opens 100
constexpr size_t kQuotaBytes = size_t{256} << 20;
constexpr absl::Duration kRetryDelay = absl::Seconds(1);
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

// gRPC reads the files again when they have changed; connections that are there go on.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const TlsFiles& files, bool has_tokens,
                                                        absl::Duration interval) {
  const auto seconds = static_cast<unsigned>(absl::ToInt64Seconds(interval));
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.ca, seconds));
  options.watch_identity_key_cert_pairs();
  if (!files.ca.empty()) options.watch_root_certs();
  options.set_cert_request_type(files.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                : has_tokens
                                    ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                    : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

class GrpcReapiServer final : public ReapiServer, private grpc::CallbackGenericService {
 public:
  GrpcReapiServer(Store& store, Clock& clock, const ReapiServerOptions& options)
      : options_(options),
        clock_(clock),
        identities_file_(options.identities_file),
        uploads_(store, options.reapi, clock, options.uploads),
        methods_(ReapiMethods(store, options.reapi, uploads_)),
        commits_(store),
        pool_(std::in_place,
              options.threads != 0 ? options.threads
                                   : 2 * std::max(1u, std::thread::hardware_concurrency()),
              options.tasks_max),
        gate_(std::make_shared<const Gate>(options.identities)) {}

  ~GrpcReapiServer() override {
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
    ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials, MakeCredentials());
    wire::PrepareGrpc();
    grpc::ServerBuilder builder;
    std::vector<int> ports(options_.addresses.size(), 0);
    for (size_t i = 0; i < ports.size(); ++i) {
      RETURN_IF_ERROR(
          CheckListener(options_.addresses[i], has_tls(), !options_.identities.empty()));
      builder.AddListeningPort(options_.addresses[i], credentials, &ports[i]);
    }
    SetLimits(builder);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(fmt::format(
          "{} cannot be listened on: is something else there, or are the certificate and its key "
          "wrong?",
          fmt::join(options_.addresses, ", ")));
    }
    for (size_t i = 0; i < ports.size(); ++i)
      addresses_.push_back(WithPort(options_.addresses[i], ports[i]));
    if (options_.sweeps_by_itself) sweeper_ = std::thread([this] { SweepEachSecond(); });
    return absl::OkStatus();
  }

  std::vector<std::string> addresses() const override { return addresses_; }
  size_t open_calls() const override { return calls_.size(); }
  size_t open_uploads() const override { return uploads_.open(); }
  void Sweep() override {
    calls_.Sweep(clock_.Monotonic());
    uploads_.Sweep();
    TakeIdentities();
  }

 private:
  bool has_tls() const { return !options_.tls.certificate.empty() || !options_.tls.key.empty(); }

  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials() const {
    if (!has_tls()) return grpc::InsecureServerCredentials();
    RETURN_IF_ERROR(CheckTlsFiles(options_.tls));
    const bool has_tokens =
        std::any_of(options_.identities.begin(), options_.identities.end(),
                    [](const Identity& identity) { return !identity.token_sha256.empty(); });
    return TlsCredentials(options_.tls, has_tokens, options_.tls_interval);
  }

  void SetLimits(grpc::ServerBuilder& builder) const {
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.SetResourceQuota(grpc::ResourceQuota("reapi").Resize(kQuotaBytes));
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    for (const auto& [argument, value] : std::vector<std::pair<std::string, int>>{
             {GRPC_ARG_ALLOW_REUSEPORT, 0},
             {GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax},
             {GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax},
             {GRPC_ARG_MAX_CONNECTION_IDLE_MS, 600'000},
             {GRPC_ARG_KEEPALIVE_TIME_MS, 60'000},
             {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000},
             {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
             {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000},
             {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2}})
      builder.AddChannelArgument(argument, value);
  }

  static std::string WithPort(const std::string& address, int port) {
    if (!address.ends_with(":0")) return address;
    return address.substr(0, address.size() - 1) + std::to_string(port);
  }

  // The one door of all calls.
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const auto method = methods_.find(context->method());
    const CallLimits limits = method == methods_.end() ? kUnaryLimits : method->second.limits;
    const auto call = std::make_shared<ReapiCall>(ReapiCall::Deps{.pool = *pool_,
                                                                  .commits = commits_,
                                                                  .calls = calls_,
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

  // Those that cannot be used leave the ones before them in force.
  void TakeIdentities() {
    absl::StatusOr<std::optional<std::vector<Identity>>> changed = identities_file_.Changed();
    if (!changed.ok()) {
      LogWarning("reapi: the identities of before stay in force: {}", MessageOf(changed.status()));
    } else if (changed->has_value()) {
      LogInfo("reapi: identities={} of {}", (*changed)->size(), options_.identities_file);
      auto gate = std::make_shared<const Gate>(**std::move(changed));
      const base::MutexLock lock(mutex_);
      gate_.swap(gate);
    }
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
  GroupCommit commits_;
  std::optional<TaskPool> pool_;
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
