// Peer: who is at the other end of a call, as far as the transport knows.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

namespace galley::director {

struct Peer {
  bool has_tls = false;
  std::string certificate;   // PEM: the verified certificate; empty: none was shown
  bool is_launched = false;  // the certificate comes from a CertificateAuthority
};

Peer PeerOf(const grpc::ServerContextBase& context);

// Returns who calls, for people and the log: with TLS the name in the certificate and the address,
// "galley anna at 10.0.0.3"; without TLS the caller's name for itself, "anna, process 4711".
std::string CallerOf(const grpc::ServerContextBase& context);

// The metadata key under which a client names itself.
inline constexpr const char* kCallerKey = "galley-caller-bin";

}  // namespace galley::director
