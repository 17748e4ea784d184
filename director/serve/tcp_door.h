// TcpDoor: a gRPC server on TCP whose connections come through our own door, with TLS or without.
// With TLS the files may be exchanged while the door is open. One address for each object.
// farm_door.h and client_door.h say which doors there are, and who may call what there.
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
  // Notes that a call came over this connection (gRPC's name of its peer): its handshake is over.
  // Threads: any.
  virtual void NoteCall(const std::string& peer) = 0;
  // Ends the streams of all readers soon; no new stream begins.
  virtual void Close() = 0;
  // Called now and then: takes the present contents of the TLS files, and logs that.
  virtual void LookAtCertificates() = 0;
};

}  // namespace galley::director
