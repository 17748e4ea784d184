#include "common/wire/tls_credentials.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "common/base/status_macros.h"
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

std::vector<std::string> ValuesOf(const grpc_auth_context* context, const char* name) {
  std::vector<std::string> values;
  auto at = grpc_auth_context_find_properties_by_name(context, name);
  while (const grpc_auth_property* one = grpc_auth_property_iterator_next(&at))
    values.emplace_back(one->value, one->value_length);
  return values;
}

CallerView ViewOf(const grpc_auth_context* context) {
  CallerView view;
  const auto transport = ValuesOf(context, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  view.has_tls = !transport.empty() && transport.front() == GRPC_SSL_TRANSPORT_SECURITY_TYPE;
  // Only a certificate that was verified makes the peer authenticated.
  view.has_certificate = view.has_tls && grpc_auth_context_peer_is_authenticated(context) != 0;
  if (view.has_certificate) view.uris = ValuesOf(context, GRPC_PEER_URI_PROPERTY_NAME);
  return view;
}

// gRPC calls it for each call, when its metadata have come.
void AskGate(void* gate, grpc_auth_context* context, const grpc_metadata* metadata, size_t count,
             grpc_process_auth_metadata_done_cb done, void* data) {
  std::string_view path;
  for (size_t i = 0; i < count; ++i) {
    const auto text = [](const grpc_slice& slice) {
      return std::string_view(reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
                              GRPC_SLICE_LENGTH(slice));
    };
    if (text(metadata[i].key) == ":path") path = text(metadata[i].value);
  }
  const absl::Status may = (*static_cast<const CallGate*>(gate))(ViewOf(context), path);
  const std::string why = MessageOf(may);
  done(data, nullptr, 0, nullptr, 0, static_cast<grpc_status_code>(may.code()),
       may.ok() ? nullptr : why.c_str());
}

// `gate` outlives them.
void SetGate(grpc_server_credentials* credentials, const CallGate& gate) {
  if (!gate) return;
  grpc_server_credentials_set_auth_metadata_processor(
      credentials,
      {.process = &AskGate, .destroy = [](void*) {}, .state = const_cast<CallGate*>(&gate)});
}

class GatedPlainCredentials final : public grpc::ServerCredentials {
 public:
  explicit GatedPlainCredentials(CallGate gate) : gate_(std::move(gate)) {}
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* credentials = grpc_insecure_server_credentials_create();
    SetGate(credentials, gate_);
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const CallGate gate_;
};

// The C++ library has credentials that read files by themselves, and those that never change; its C
// core has these.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  FetchedCredentials(std::shared_ptr<const TlsPair> pair,
                     grpc_ssl_client_certificate_request_type request, CallGate gate)
      : pair_(std::move(pair)), request_(request), gate_(std::move(gate)) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    Listener& listener = listeners_.emplace_back(Listener{*pair_});
    grpc_server_credentials* credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request_, &Fetch,
                                                                        &listener));
    SetGate(credentials, gate_);
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const std::shared_ptr<const TlsPair> pair_;
  const grpc_ssl_client_certificate_request_type request_;
  const CallGate gate_;
  std::deque<Listener> listeners_;  // their addresses stay
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const TlsPair> pair, grpc_ssl_client_certificate_request_type request,
    CallGate gate) {
  return std::make_shared<FetchedCredentials>(std::move(pair), request, std::move(gate));
}

std::shared_ptr<grpc::ServerCredentials> PlainCredentials(CallGate gate) {
  return std::make_shared<GatedPlainCredentials>(std::move(gate));
}

}  // namespace galley::wire
