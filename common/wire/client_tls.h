// What a client shows, and trusts, that speaks TLS.
#pragma once

#include <string>

namespace galley::wire {

// PEM texts; no `ca`: no TLS.
struct ClientTls {
  std::string ca, certificate, key;
};

}  // namespace galley::wire
