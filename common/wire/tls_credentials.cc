#include "common/wire/tls_credentials.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "grpc/grpc.h"
#include "grpc/grpc_security.h"

namespace galley::wire {
namespace {

// Listener: which pair one listener has seen: gRPC makes a context of OpenSSL from each that is
// new.
struct Listener {
  const TlsPair& pair;
  uint64_t seen = 0;
};

// gRPC calls it before each handshake, for one listener one at a time.
grpc_ssl_certificate_config_reload_status Fetch(void* data,
                                                grpc_ssl_server_certificate_config** config) {
  auto& listener = *static_cast<Listener*>(data);
  const std::optional<TlsTexts> texts = listener.pair.NewerThan(listener.seen);
  if (!texts.has_value()) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{.private_key = texts->key.c_str(),
                                        .cert_chain = texts->certificate.c_str()};
  // gRPC 1.51 ends the process without roots. Where there is no CA no client is asked for a
  // certificate, and nothing is ever checked against these.
  const std::string& roots = texts->ca.empty() ? texts->certificate : texts->ca;
  *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

// The C++ library has credentials that read files by themselves, and those that never change; its C
// core has these.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  FetchedCredentials(std::shared_ptr<const TlsPair> pair,
                     grpc_ssl_client_certificate_request_type request)
      : pair_(std::move(pair)), request_(request) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    Listener& listener = listeners_.emplace_back(Listener{*pair_});
    grpc_server_credentials* credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request_, &Fetch,
                                                                        &listener));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const std::shared_ptr<const TlsPair> pair_;
  const grpc_ssl_client_certificate_request_type request_;
  std::deque<Listener> listeners_;  // their addresses stay
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const TlsPair> pair, grpc_ssl_client_certificate_request_type request) {
  return std::make_shared<FetchedCredentials>(std::move(pair), request);
}

}  // namespace galley::wire
