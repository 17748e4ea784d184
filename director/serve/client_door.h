// ClientDoor: where clients of other machines ask a resident director (`galley serve --listen`):
// who shows a certificate with a role (roles.h). Calls of workers are not served here.
//
// What comes here comes from another machine, whose files and whose user are not the director's: a
// cook that it asks for is staged where the project says and never takes away files that Galley did
// not put there; else it is PERMISSION_DENIED. A call that finds no thread left is
// RESOURCE_EXHAUSTED: so many clients at a time are kClientCallsMax, however many come.
// Threads: one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/wire/tls_pair.h"

namespace galley::director {

class ClientCalls;
class DirectorDoor;

class ClientDoor {
 public:
  static constexpr int kClientCallsMax = 256;
  static constexpr int kMessageBytesMax = 16 << 20;  // a list of changed files, say

  struct Options {
    std::string address;  // "host:port"
    wire::TlsFiles tls;
  };
  // `calls` and `door`, who answers questions about packages, outlive it. FAILED_PRECONDITION:
  // there are no files of TLS; INVALID_ARGUMENT: they do not fit; UNAVAILABLE: the address cannot
  // be listened on.
  static absl::StatusOr<std::unique_ptr<ClientDoor>> Open(const Options& options,
                                                          ClientCalls& calls, DirectorDoor& door);
  // Ends all calls, and waits for them.
  virtual ~ClientDoor() = default;

  virtual const std::string& address() const = 0;  // with the port that it has
  // Ends the streams of all readers soon; new ones are none.
  virtual void Close() = 0;
  // Now and then: takes what the files of TLS hold now, and says so in the log.
  virtual void LookAtCertificates() = 0;
};

}  // namespace galley::director
