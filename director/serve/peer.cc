#include "director/serve/peer.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "common/base/log.h"
#include "common/wire/certificate_authority.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string PropertyOf(const grpc::AuthContext& of, const char* name) {
  const auto values = of.FindPropertyValues(name);
  return values.empty() ? std::string() : std::string(values.front().data(), values.front().size());
}

// The caller is a part of a log line, and a column of a table.
constexpr size_t kCallerBytesMax = 200;

// "ipv4:10.0.0.3:4711" -> "10.0.0.3".
std::string AddressOf(std::string_view peer) {
  peer.remove_prefix(std::min(peer.size(), peer.find(':') + 1));
  std::string address(peer.substr(0, peer.rfind(':')));
  absl::StrReplaceAll({{"%5B", "["}, {"%5D", "]"}}, &address);
  return address;
}

std::string SaidOfItself(const grpc::ServerContextBase& context) {
  const auto said = context.client_metadata().find(kCallerKey);
  if (said == context.client_metadata().end()) return "its own user";
  return EscapeControl(
      std::string_view(said->second.data(), std::min(said->second.size(), kCallerBytesMax)));
}

}  // namespace

std::string CallerOf(const grpc::ServerContextBase& context) {
  if (!PeerOf(context).has_tls) return SaidOfItself(context);
  const std::shared_ptr<const grpc::AuthContext> of = context.auth_context();
  return fmt::format(
      "{} at {}",
      EscapeControl(PropertyOf(*of, GRPC_X509_CN_PROPERTY_NAME).substr(0, kCallerBytesMax)),
      AddressOf(context.peer()));
}

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
