// TcpDoor: a gRPC server on TCP whose connections come through our own door, with TLS or without.
// With TLS the files may be exchanged while it runs. One address for each object. Which doors there
// are, and who may call what there: farm_door.h, client_door.h.
//
// Threads: one, but for NoteCall.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

struct TcpDoorOptions;  // tcp_door_options.h

class TcpDoor {
 public:
  // INVALID_ARGUMENT: the files of TLS do not fit; UNAVAILABLE: the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<TcpDoor>> Open(TcpDoorOptions options);
  // Ends all calls, and waits for them.
  virtual ~TcpDoor() = default;

  virtual const std::string& address() const = 0;  // "host:port", with the port that it has
  // PEM: the authority by which clients know it; empty: no TLS.
  virtual std::string authority() const = 0;
  // A call came over this connection (gRPC's name of its peer): its handshake is over.
  // Threads: any.
  virtual void NoteCall(const std::string& peer) = 0;
  // Ends the streams of all readers soon; new ones are none.
  virtual void Close() = 0;
  // Now and then: takes what the files of TLS hold now, and says so in the log.
  virtual void LookAtCertificates() = 0;
};

}  // namespace galley::director
