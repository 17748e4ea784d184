// TlsServer: the TLS of a server with one certificate: makes the transport of each connection.
//
// TLS 1.2 or later, HTTP/1.1 by ALPN where the client asks for it, no renegotiation. With
// authorities of clients, a client must show a certificate of theirs.
// Threads: one owner; transports may outlive it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/wire/tls_pair.h"
#include "director/serve/http/transport.h"

namespace galley::director {

class TlsServer {
 public:
  // INVALID_ARGUMENT: OpenSSL does not take the texts.
  static absl::StatusOr<std::shared_ptr<TlsServer>> Make(const wire::TlsTexts& texts);
  virtual ~TlsServer() = default;

  // `socket` as in MakePlainTransport. null: no memory is left.
  virtual std::unique_ptr<Transport> Accept(int socket) = 0;
};

}  // namespace galley::director
