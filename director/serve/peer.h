// Who is at the other end of a call, as far as the transport knows.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

namespace galley::director {

struct Peer {
  bool has_tls = false;
  std::string certificate;   // PEM: that it showed, and that an authority of ours is for; or empty
  bool is_launched = false;  // it is one of a CertificateAuthority
};

Peer PeerOf(const grpc::ServerContextBase& context);

// Who calls, for people and the log: the name in a certificate and the address that it comes from
// ("galley anna at 10.0.0.3"); without TLS what the caller says of itself ("anna, process 4711").
std::string CallerOf(const grpc::ServerContextBase& context);

// The metadata in which a client says of itself who it is.
inline constexpr const char* kCallerKey = "galley-caller-bin";

}  // namespace galley::director
