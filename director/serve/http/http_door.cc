#include "director/serve/http/http_door.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/task_pool.h"
#include "common/http/host.h"
#include "common/listen/listen_address.h"
#include "common/listen/listening_socket.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kTokenHashBytes = 32;
constexpr absl::Duration kTlsLookPause = absl::Seconds(10);  // between two looks at the TLS files

absl::Status CheckOptions(const HttpDoor::Options& options) {
  const std::string& address = options.address;
  if (listen::IsUnixAddress(address) || !listen::HostOf(address)) {
    return InvalidArgumentError("http address \"{}\": expected HOST:PORT, as in \"127.0.0.1:8080\"",
                                address);
  }
  if (!options.token_sha256.empty() && options.token_sha256.size() != kTokenHashBytes)
    return InvalidArgumentError("http: the token's hash has {} bytes, expected {}",
                                options.token_sha256.size(), kTokenHashBytes);
  const bool is_guarded = !options.tls.certificate.empty() && !options.token_sha256.empty();
  if (is_guarded || listen::IsLocalAddress(address)) return absl::OkStatus();
  return InvalidArgumentError(
      "http address \"{}\": others than this machine may reach it: expected a certificate and a "
      "token, or a loopback address, as in \"127.0.0.1:8080\"",
      address);
}

// The hosts for which the door answers.
absl::StatusOr<std::vector<http::Host>> AllowedHosts(const HttpDoor::Options& options) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]"};
  const std::string own(*listen::HostOf(options.address));
  const bool is_wildcard = own == "0.0.0.0" || own.find_first_not_of(":0") == std::string::npos;
  if (!is_wildcard) names.push_back(own.find(':') == own.npos ? own : fmt::format("[{}]", own));
  names.insert(names.end(), options.hosts.begin(), options.hosts.end());
  std::vector<http::Host> hosts;
  for (const std::string& name : names) {
    std::optional<http::Host> host = http::ParseHost(name);
    if (!host) return InvalidArgumentError("http: \"{}\" is not the name of a host", name);
    hosts.push_back(*std::move(host));
  }
  return hosts;
}

class HttpDoorImpl final : public HttpDoor {
 public:
  HttpDoorImpl(Options options, HttpFace& face, Clock& clock)
      : options_(std::move(options)),
        face_(face),
        clock_(clock),
        pool_(std::in_place, options_.pool_threads) {}
  ~HttpDoorImpl() override { Stop(); }

  absl::Status Listen();

  const std::string& address() const override { return address_; }
  HttpDoorFigures figures() const override;
  void LookAtCertificates() override;
  void Look() override {
    for (const auto& loop : loops_) loop->Look();
  }
  void Stop() override;

 private:
  absl::Status StartLoops();

  const Options options_;
  HttpFace& face_;
  Clock& clock_;
  std::string address_;
  std::shared_ptr<wire::TlsPair> tls_;  // null: no TLS
  absl::Time next_look_ = absl::InfinitePast();
  HttpDoorCounters counters_;
  std::optional<base::TaskPool> pool_;  // until Stop
  std::vector<std::unique_ptr<ConnectionLoop>> loops_;
  size_t next_loop_ = 0;  // only on the thread of the first loop, once it accepts
};

absl::Status HttpDoorImpl::Listen() {
  if (!options_.tls.certificate.empty()) {
    ASSIGN_OR_RETURN(wire::TlsTexts texts, wire::ReadTlsFiles(options_.tls));
    tls_ = std::make_shared<wire::TlsPair>(options_.tls, std::move(texts));
  }
  ASSIGN_OR_RETURN(listen::TcpSockets tcp, listen::ListenOnTcp(options_.address));
  address_ =
      fmt::format("{}:{}", options_.address.substr(0, options_.address.rfind(':')), tcp.port);
  RETURN_IF_ERROR(StartLoops());
  for (FileDescriptor& socket : tcp.sockets) {
    loops_[0]->Accept(std::move(socket), [this](FileDescriptor accepted, std::string peer) {
      next_loop_ = (next_loop_ + 1) % loops_.size();
      loops_[next_loop_]->Serve(std::move(accepted), std::move(peer));
    });
  }
  return absl::OkStatus();
}

absl::Status HttpDoorImpl::StartLoops() {
  ASSIGN_OR_RETURN(std::vector<http::Host> hosts, AllowedHosts(options_));
  const size_t threads = std::max<size_t>(options_.threads, 1);
  ConnectionLoop::Options options{.limits = options_.limits};
  options.limits.connections_max = std::max<size_t>(options_.limits.connections_max / threads, 1);
  options.request.default_port = tls_ == nullptr ? 80 : 443;
  options.request.allowed_hosts = hosts;
  options.access.token_sha256 = options_.token_sha256;
  options.access.allowed_hosts = std::move(hosts);
  for (size_t i = 0; i < threads; ++i) {
    ASSIGN_OR_RETURN(std::unique_ptr<ConnectionLoop> loop,
                     ConnectionLoop::Start(options, {.face = &face_,
                                                     .clock = &clock_,
                                                     .pool = &*pool_,
                                                     .counters = &counters_,
                                                     .tls = tls_}));
    loops_.push_back(std::move(loop));
  }
  return absl::OkStatus();
}

HttpDoorFigures HttpDoorImpl::figures() const {
  HttpDoorFigures figures{.sent_bytes = counters_.sent_bytes,
                          .left = counters_.left,
                          .accepted = counters_.accepted,
                          .refused = counters_.refused,
                          .made_room = counters_.made_room,
                          .timed_out = counters_.timed_out,
                          .open = counters_.open,
                          .streams = counters_.streams};
  for (size_t i = 0; i < figures.answers.size(); ++i) figures.answers[i] = counters_.answers[i];
  return figures;
}

void HttpDoorImpl::LookAtCertificates() {
  if (tls_ == nullptr || clock_.Monotonic() < next_look_) return;
  next_look_ = clock_.Monotonic() + kTlsLookPause;
  const absl::StatusOr<bool> is_new = tls_->Look();
  if (!is_new.ok()) {
    LogWarning("http: {}; the certificate of before stays in force", MessageOf(is_new.status()));
  } else if (*is_new) {
    LogInfo("http: another certificate is in force");
  }
  if (const auto expired = tls_->TellExpired(clock_.Now())) LogWarning("http: {}", *expired);
}

void HttpDoorImpl::Stop() {
  for (const auto& loop : loops_) loop->BeginStop();
  for (const auto& loop : loops_) loop->Join();
  pool_.reset();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpDoor>> HttpDoor::Open(Options options, HttpFace& face,
                                                         Clock& clock) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto door = std::make_unique<HttpDoorImpl>(std::move(options), face, clock);
  RETURN_IF_ERROR(door->Listen());
  return std::unique_ptr<HttpDoor>(std::move(door));
}

}  // namespace galley::director
