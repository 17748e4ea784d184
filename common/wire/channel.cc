#include "common/wire/channel.h"

#include <string_view>

#include "absl/synchronization/mutex.h"
#include "common/base/log.h"
#include "grpc/grpc.h"
#include "grpc/support/log.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace galley::wire {

namespace {

// gRPC writes lines of hundreds of characters on standard error about what the caller is told
// anyway. But for the one before it ends the process: that is all there is.
void LogOfGrpc(gpr_log_func_args* line) {
  const bool is_fatal = std::string_view(line->message).starts_with("assertion failed");
  WriteLog(is_fatal ? LogLevel::kError : LogLevel::kDebug,
           fmt::format("grpc: {}:{}: {}", line->file, line->line, line->message));
}

}  // namespace

void PrepareGrpc() {
  [[maybe_unused]] static const bool is_running = [] {
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    gpr_set_log_function(&LogOfGrpc);
    grpc_init();
    return true;
  }();
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address) {
  return OpenChannel(address, ClientTls());
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address, const ClientTls& tls,
                                           bool is_far) {
  PrepareGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetMaxSendMessageSize(kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // The time that a connection may take. A handshake of TLS takes 2 ms of processor time on each
  // side: a thousand workers that come at once to a machine that is busy wait for their turn.
  // Workers that gave up and began again made it worse.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, tls.ca.empty() ? 5'000 : 20'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // gRPC would begin a call again by itself that the other side had not seen when its connection
  // broke, and a write would wait until there is another one. Who calls tries again.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (is_far || !address.starts_with("unix:")) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  // Channels are not shared: a director that was replaced is met afresh.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto credentials = tls.ca.empty()
                               ? grpc::InsecureChannelCredentials()
                               : grpc::SslCredentials({.pem_root_certs = tls.ca,
                                                       .pem_private_key = tls.key,
                                                       .pem_cert_chain = tls.certificate});
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().data(), status.message().size()));
}

}  // namespace galley::wire
