// AcceptLoop: accepts the connections of a server. It peeks at the first bytes of each connection,
// and hands over connections that speak. So neither a flood of connections nor silent connections
// can take the descriptors that the rest of the process needs. After the hand-over the AcceptLoop
// does not touch the bytes.
//
// doorkeeper.h says which connections are refused and which are closed. A refused connection gets
// an answer (first_bytes.h, RefusalOf); a silent connection is just closed. If the process has no
// descriptor left, a descriptor that is kept in reserve serves to accept connections and close
// them. The log has one line when connections begin to be turned away, and one with the counts
// after a second without any.
//
// A connection that was handed over counts until its descriptor is closed: then fstat fails, or
// shows another inode. This is checked each second, and before a connection is refused by a full
// server.
//
// Threads: its own thread, which also calls hand_over; methods from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/listen/door_figures.h"
#include "common/listen/doorkeeper.h"

namespace galley::listen {

class AcceptLoop {
 public:
  struct Listener {
    FileDescriptor socket;  // listening, not blocking
    bool has_tls = false;
    std::function<void(int fd)> hand_over;  // takes the descriptor
  };
  struct Options {
    std::string name;  // in the log
    DoorLimits limits;
    // How long TCP keeps a connection whose peer acknowledges nothing; 0: the system's default.
    absl::Duration user_timeout = absl::ZeroDuration();
  };

  // `clock` outlives the AcceptLoop.
  static std::unique_ptr<AcceptLoop> Make(const Options& options, Clock& clock);
  // Calls Stop.
  virtual ~AcceptLoop() = default;

  // Called once. RESOURCE_EXHAUSTED: no descriptor or thread is left.
  virtual absl::Status Start(std::vector<Listener> listeners) = 0;
  // Stops listening and closes silent connections. Connections that were handed over stay. Called
  // by one thread.
  virtual void Stop() = 0;
  // Notes that a peer, as gRPC names it ("ipv4:10.0.0.1:4711"), has made a call. Cheap.
  virtual void NoteCall(std::string_view peer) = 0;
  virtual DoorFigures figures() const = 0;
  // Checks deadlines and closed connections now; for tests that move the clock.
  virtual void Look() = 0;
};

}  // namespace galley::listen
