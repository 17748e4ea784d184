// ClientTls: what a client that speaks TLS shows, and what it trusts.
#pragma once

#include <string>

namespace galley::wire {

// PEM texts; no `ca`: no TLS.
struct ClientTls {
  std::string ca, certificate, key;
};

}  // namespace galley::wire
