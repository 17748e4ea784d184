// TcpDoor: a gRPC server on one TCP address, with TLS or without. Connections are accepted by
// listen::AcceptLoop, not by gRPC. The TLS files may be replaced while the door is open.
// farm_door.h and client_door.h open the two kinds of doors.
//
// Threads: one, except for NoteCall.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace galley::director {

struct TcpDoorOptions;  // tcp_door_options.h

class TcpDoor {
 public:
  // INVALID_ARGUMENT: the TLS files do not fit; UNAVAILABLE: the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<TcpDoor>> Open(TcpDoorOptions options);
  // Ends all calls, and waits for their end.
  virtual ~TcpDoor() = default;

  virtual const std::string& address() const = 0;  // "host:port", with the bound port
  // PEM: the authority by which clients know the door; empty: no TLS.
  virtual std::string authority() const = 0;
  // Notes that a call came over the connection of `peer`, in gRPC's form: its handshake is over.
  // Threads: any.
  virtual void NoteCall(const std::string& peer) = 0;
  // Ends the streams of all readers soon; no new stream begins.
  virtual void Close() = 0;
  // Reads the TLS files again if they have changed, and logs that. Called now and then.
  virtual void LookAtCertificates() = 0;
};

}  // namespace galley::director
