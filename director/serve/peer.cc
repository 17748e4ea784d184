#include "director/serve/peer.h"

#include <grpc/grpc_security_constants.h>

#include <memory>

#include "common/wire/certificate_authority.h"

namespace galley::director {
namespace {

std::string PropertyOf(const grpc::AuthContext& of, const char* name) {
  const auto values = of.FindPropertyValues(name);
  return values.empty() ? std::string() : std::string(values.front().data(), values.front().size());
}

}  // namespace

Peer PeerOf(const grpc::ServerContextBase& context) {
  const std::shared_ptr<const grpc::AuthContext> of = context.auth_context();
  if (of == nullptr) return {};
  const std::string transport = PropertyOf(*of, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  if (transport != GRPC_SSL_TRANSPORT_SECURITY_TYPE) return {};
  Peer peer{.has_tls = true};
  if (!of->IsPeerAuthenticated()) return peer;
  peer.certificate = PropertyOf(*of, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  peer.is_launched = wire::IsOfALaunch(peer.certificate);
  return peer;
}

}  // namespace galley::director
