// ClientTls: the certificate and key of a TLS client, and the authorities that it trusts.
#pragma once

#include <string>

namespace galley::wire {

// PEM texts; no `ca`: no TLS.
struct ClientTls {
  std::string ca, certificate, key;
};

}  // namespace galley::wire
