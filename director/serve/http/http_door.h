// HttpDoor: the HTTP server of a director: HTTP/1.1 with or without TLS on one TCP address, in
// front of an HttpFace.
//
// A few threads have an event loop each (connection_loop.h). The first accepts connections and
// deals them out in turn. There is no SO_REUSEPORT: with it a second director of the same user
// could listen on the same port, and either would get some of the clients.
//
// An address that others than this machine can reach needs TLS and a token. The door answers for
// "localhost", 127.0.0.1, [::1], the host in its address, and `hosts`; all with any port, since
// ports are forwarded.
//
// Limits: HttpDoorLimits; request_reader.h; 16 ranges; responses of a connection go out one by one.
// A slow client costs a buffer of 128 KiB or a coded body, of which HttpDoorLimits bounds the sum.
//
// Threads: one, but figures() is for any. The face is called on the door's threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/wire/tls_pair.h"
#include "director/serve/http/connection_loop.h"
#include "director/serve/http/http_face.h"
#include "director/serve/http/http_figures.h"

namespace galley::director {

class HttpDoor {
 public:
  struct Options {
    std::string address;             // "127.0.0.1:8080"; port 0: any
    wire::TlsFiles tls;              // no certificate: no TLS; ca: clients show a certificate
    std::string token_sha256;        // of the bearer token, 32 bytes; "": no token is wanted
    std::vector<std::string> hosts;  // further names: "cook.studio"
    HttpDoorLimits limits;
    size_t threads = 2;
    size_t pool_threads = 8;  // that read and code bodies
  };

  // INVALID_ARGUMENT: the address or a host is malformed, the address needs TLS and a token, or the
  // TLS files do not fit; UNAVAILABLE: the address cannot be listened on; RESOURCE_EXHAUSTED: no
  // descriptor or thread is left. `face` and `clock` outlive the door.
  static absl::StatusOr<std::unique_ptr<HttpDoor>> Open(Options options, HttpFace& face,
                                                        Clock& clock);
  // Calls Stop.
  virtual ~HttpDoor() = default;

  virtual const std::string& address() const = 0;  // "host:port", with the bound port
  virtual HttpDoorFigures figures() const = 0;
  // Reads the TLS files again, and logs if they have changed or cannot be used. Called now and
  // then.
  virtual void LookAtCertificates() = 0;
  // Checks deadlines now; for tests that move the clock. REQUIRES: Stop was not called.
  virtual void Look() = 0;
  // Listens no more. Requests that wait for the face get a 503, and their responders are told;
  // streams end; answers that are being sent have HttpDoorLimits::stop_time. Returns when all have
  // ended, with the reads of their bodies. The face is not called any more, and responders that are
  // left do nothing.
  virtual void Stop() = 0;
};

}  // namespace galley::director
