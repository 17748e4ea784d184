// Peer: who is at the other end of a call, as far as the transport knows.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

namespace galley::director {

struct Peer {
  bool has_tls = false;
  std::string certificate;   // PEM: the shown certificate, from one of our authorities; or empty
  bool is_launched = false;  // the certificate comes from a CertificateAuthority
};

Peer PeerOf(const grpc::ServerContextBase& context);

// Returns who calls, for people and the log: the name in a certificate and the address of the
// caller ("galley anna at 10.0.0.3"); without TLS the caller's own words ("anna, process 4711").
std::string CallerOf(const grpc::ServerContextBase& context);

// The metadata in which a client names itself.
inline constexpr const char* kCallerKey = "galley-caller-bin";

}  // namespace galley::director
