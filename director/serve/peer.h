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

}  // namespace galley::director
